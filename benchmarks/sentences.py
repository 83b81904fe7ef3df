"""Measure how far Windrow's sentences agree with those of other tools on the paragraphs of a corpus, and their cost.

    python benchmarks/sentences.py CRAWL --language de [--paragraphs 3000] [--show 20]

It compares the places within paragraphs where a sentence ends with those of pysbd, syntok and nltk's Punkt (trained on
the same paragraphs), if they are installed and know the language. None of them is the truth: --show prints places where
one of two tools ends a sentence and the other does not. The cost is CPU time per paragraph.
"""

import argparse
import itertools
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from windrow.corpus import reader  # noqa: E402
from windrow.corpus.segment import sentences  # noqa: E402
from windrow.judge.language import codes  # noqa: E402

Split = Callable[[str], Iterable[str]]
AROUND = 40  # characters shown before and after a place


def paragraphs(crawl: Path, language: str, count: int) -> list[str]:
    """Return different paragraphs of at least two words."""
    found = {
        paragraph.text
        for document in reader.documents(crawl)
        if document.language == language
        for paragraph in document.paragraphs
        if not paragraph.language and " " in paragraph.text
    }
    return random.Random(1).sample(sorted(found), min(count, len(found)))


def peers(language: str, texts: list[str]) -> Iterator[tuple[str, Split]]:
    short = codes.short(language)
    try:
        import pysbd

        yield "pysbd", pysbd.Segmenter(language=short, clean=False).segment
    except (ImportError, ValueError):
        pass
    if short in ("de", "en", "es"):
        try:
            from syntok import segmenter

            yield (
                "syntok",
                lambda text: [
                    "".join(token.spacing + token.value for token in found)
                    for part in segmenter.analyze(text)
                    for found in part
                ],
            )
        except ImportError:
            pass
    try:
        from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTrainer

        trained = PunktTrainer("\n".join(texts)).get_params()
        yield "Punkt", PunktSentenceTokenizer(trained).tokenize
    except ImportError:
        pass


def ends(found: Iterable[str]) -> set[int]:
    """Return where sentences end, without the last, counted in characters that are not spaces."""
    lengths = list(itertools.accumulate(len("".join(sentence.split())) for sentence in found))
    return set(lengths[:-1])


def timed(split: Split, texts: list[str]) -> tuple[list[set[int]], float]:
    started = time.process_time()
    found = [list(split(text)) for text in texts]
    return [ends(one) for one in found], (time.process_time() - started) / len(texts) * 1e6


def shown(text: str, place: int) -> str:
    position = (
        next(itertools.islice((number for number, sign in enumerate(text) if not sign.isspace()), place - 1, None)) + 1
    )
    return f"{text[max(0, position - AROUND) : position]} ⏐ {text[position : position + AROUND].strip()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawl", type=Path)
    parser.add_argument("--language", default="deu")
    parser.add_argument("--paragraphs", type=int, default=3000)
    parser.add_argument("--show", type=int, default=0)
    arguments = parser.parse_args()
    language = codes.parse(arguments.language)
    texts = paragraphs(arguments.crawl, language, arguments.paragraphs)
    rows = {"windrow": timed(lambda text: [sentence for sentence, _ in sentences.split(text, language)], texts)}
    rows |= {name: timed(split, texts) for name, split in peers(language, texts)}
    ended = sum(map(len, rows["windrow"][0]))
    print(f"{codes.name(language)}: {len(texts):,} paragraphs; Windrow ends {ended:,} sentences within them")
    for name, (_, cost) in rows.items():
        print(f"{name:<8} {cost:8.1f} µs per paragraph")
    for one, other in itertools.combinations(rows, 2):
        compare(f"{one} and {other}", rows[one][0], rows[other][0])
    for name in itertools.islice(rows, 1, None):
        show(texts, rows["windrow"][0], rows[name][0], name, arguments.show)


def compare(names: str, one: list[set[int]], other: list[set[int]]) -> None:
    both = sum(len(first & second) for first, second in zip(one, other, strict=True))
    total = sum(map(len, one)) + sum(map(len, other))
    same = sum(first == second for first, second in zip(one, other, strict=True))
    print(f"{names}: F1 {2 * both / (total or 1):.3f}, equal paragraphs {same / len(one):.1%}")


def show(texts: list[str], one: list[set[int]], other: list[set[int]], name: str, count: int) -> None:
    rows = [
        ("windrow", text, place)
        for text, first, second in zip(texts, one, other, strict=True)
        for place in first - second
    ]
    rows += [
        (name, text, place) for text, first, second in zip(texts, one, other, strict=True) for place in second - first
    ]
    for tool, text, place in random.Random(2).sample(rows, min(count, len(rows))):
        print(f"{tool:<8} {shown(text, place)}")


if __name__ == "__main__":
    main()
