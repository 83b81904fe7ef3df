"""Language detection: accuracy and CPU of Windrow, CLD2 alone and py3langid alone, on the same texts in one run.

    python benchmarks/language.py
    python benchmarks/language.py --web /tmp/medium          also the pages of an unpacked ../shared/web/medium.tar.xz
    python benchmarks/language.py --json

Texts: the Declaration of Human Rights (../shared/conformance/udhr.tar.xz) in the languages that both tools know, whole
and cut to 120, 60 and 30 characters; then pages of 15 paragraphs of which 3 are in another language. CPU is that of
this process; every tool is loaded first. Of pages without a label of their own (--web), only the CPU is shown and how
often Windrow agrees with the label of that web's makers.
"""

import argparse
import gzip
import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pycld2
import turbohtml
from py3langid.langid import MODEL_FILE, LanguageIdentifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.judge import declarations
from windrow.extraction import walk
from windrow.extraction.readers import decode
from windrow.judge.language import codes, detect, tools
from windrow.judge.language.settings import LanguageSettings

SHARED = Path(__file__).resolve().parents[2] / "shared"
Tool = Callable[[list[str]], str]
Row = dict[str, float | str]


def detectors() -> dict[str, Tool]:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    settings = LanguageSettings()
    for warm in (["Guten Tag"], ["x y"]):
        detect.detect(warm, settings)
    return {
        "windrow": lambda texts: detect.detect(texts, settings).language,
        "cld2": lambda texts: codes.label(pycld2.detect("\n".join(texts))[2][0][1]),
        "py3langid": lambda texts: codes.label(identifier.classify("\n".join(texts))[0]),
    }


def same(one: str, other: str) -> bool:
    return codes.covers(one, other) or codes.covers(other, one)


def translations() -> dict[str, list[str]]:
    """Return paragraphs by language, without variants and without languages that the tools do not distinguish."""
    both = [code for code, names in tools.known().items() if len(names) == 2]
    chosen = {}
    for name, articles in declarations.translations(SHARED / "conformance" / "udhr.tar.xz").items():
        code, paragraphs = codes.find(name) or "", list(itertools.chain(*articles))
        distinct = (
            any(codes.covers(code, one) for one in both)
            and codes.macro(code) not in ("zho", "que")
            and code not in ("azb", "bjn", "min")
        )
        if "_" not in name and distinct and len(paragraphs) > 30:
            chosen[code] = paragraphs
    return chosen


def cut(texts: dict[str, list[str]], length: int) -> list[tuple[str, list[str]]]:
    if length == 0:
        return [(code, paragraphs) for code, paragraphs in texts.items()]
    return [
        (code, [one[:length]])
        for code, paragraphs in texts.items()
        for one in [one for one in paragraphs if len(one) >= length][:10]
    ]


def measure(name: str, tool: Tool, cases: list[tuple[str, list[str]]]) -> Row:
    start = time.process_time()
    answers = [tool(texts) for _, texts in cases]
    spent = time.process_time() - start
    right = sum(same(truth, answer) for (truth, _), answer in zip(cases, answers, strict=True))
    return {"tool": name, "texts": len(cases), "right": right / len(cases), "microseconds": spent / len(cases) * 1e6}


def mixed(texts: dict[str, list[str]]) -> list[Row]:
    """Share of foreign paragraphs found, and of own ones left: by Windrow, and by CLD2 from its ranges of bytes."""
    chosen = random.Random(5)
    pages = []
    texts = {code: [text for text in paragraphs if len(text) >= 40] for code, paragraphs in texts.items()}
    for code, own in texts.items():
        other = chosen.choice([one for one in texts if not same(one, code)])
        lines = [
            (chosen.choice(source)[: chosen.choice((40, 60, 100, 200, 400))], one)
            for source, one in [(own, code)] * 12 + [(texts[other], other)] * 3
        ]
        chosen.shuffle(lines)
        pages.append((code, lines))
    settings = LanguageSettings()
    return [
        _mixed("windrow", pages, lambda lines: list(detect.detect(lines, settings).paragraphs)),
        _mixed("cld2, ranges", pages, _ranges),
    ]


def _mixed(name: str, pages: list[tuple[str, list[tuple[str, str]]]], tool: Callable[[list[str]], list[str]]) -> Row:
    start = time.process_time()
    answers = [tool([text for text, _ in lines]) for _, lines in pages]
    spent = time.process_time() - start
    pairs = [
        (code, truth, answer)
        for (code, lines), found in zip(pages, answers, strict=True)
        for (_, truth), answer in zip(lines, found, strict=True)
    ]
    foreign = [not same(code, answer) for code, truth, answer in pairs if truth != code]
    own = [same(code, answer) for code, truth, answer in pairs if truth == code]
    rates: Row = {"foreign found": sum(foreign) / len(foreign), "own left": sum(own) / len(own)}
    return {"tool": name, "pages": len(pages), **rates, "microseconds": spent / len(pages) * 1e6}


def reliability(texts: dict[str, list[str]], number: int = 4000) -> list[Row]:
    """Compare the score with the true share, on documents of known mixture: one line to 40, in one to three languages.

    A third of the lines are cut to 15 to 60 characters, as headings and lists are.
    """
    chosen, settings = random.Random(9), LanguageSettings()
    bins: dict[int, list[tuple[float, float]]] = {}
    good = 0, 0
    for _ in range(number):
        names = chosen.sample(sorted(texts), chosen.choice((1, 1, 1, 2, 2, 3)))
        weights = [chosen.random() ** 2 + 0.02 for _ in names]
        names_of = chosen.choices(names, weights, k=chosen.choice((1, 2, 3, 5, 8, 15, 40)))
        lines = [chosen.choice(texts[name]) for name in names_of]
        lines = [line[: chosen.randint(15, 60)] if chosen.random() < 0.33 else line for line in lines]
        found = detect.detect(lines, settings)
        own = sum(size for size, name in zip(found.sizes, names_of, strict=True) if same(name, found.language))
        share = own / sum(found.sizes)
        bins.setdefault(min(9, int(found.score * 10)), []).append((found.score, share))
        good = good[0] + (share >= 0.95), good[1] + (share >= 0.95 and found.score >= 0.9)
    rows: list[Row] = [
        {
            "tool": f"score {low / 10:.1f}-{low / 10 + 0.1:.1f}",
            "documents": len(pairs),
            "mean score": sum(score for score, _ in pairs) / len(pairs),
            "true share": sum(share for _, share in pairs) / len(pairs),
        }
        for low, pairs in sorted(bins.items(), reverse=True)
    ]
    return [*rows, {"tool": "share >= 0.95", "documents": good[0], "score >= 0.9": good[1] / good[0]}]


def _ranges(lines: list[str]) -> list[str]:
    """What CLD2 says of the bytes of each line when it reads the page at once; unsure: the page's language."""
    _, _, best, ranges = pycld2.detect("\n".join(lines), returnVectors=True)
    page, place, found = codes.label(best[0][1]), 0, []
    for line in lines:
        end = place + len(line.encode())
        shares: dict[str, int] = {}
        for start, length, _, label in ranges:
            shares[label] = shares.get(label, 0) + max(0, min(end, start + length) - max(place, start))
        answer = codes.label(max(shares, key=lambda label: shares[label], default="un"))
        found.append(page if answer == "und" else answer)
        place = end + 1
    return found


def pages(web: Path, number: int) -> Iterable[tuple[str, list[str]]]:
    """Yield the label and the paragraphs of a sample of pages, without links and short lines."""
    with gzip.open(web / "pages.tsv.gz", "rt") as table:
        head, *rows = [line.rstrip("\n").split("\t") for line in table]
    for row in random.Random(11).sample(rows, min(number, len(rows))):
        page = dict(zip(head, row, strict=False))
        path = web / "www" / page["host"] / page["path"].lstrip("/")
        if path.is_file() and page["detected"] not in ("short", "unknown"):
            text, _ = decode.decode(path.read_bytes(), "text/html")
            found = walk.walk(walk.markup(turbohtml.parse(text, positions=False)))
            texts = [
                line
                for line, linked in zip(found.texts, found.column("link_chars"), strict=True)
                if len(line) > 25 and linked < 0.4 * len(line)
            ]
            yield codes.label(page["detected"]), texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", type=Path)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not (SHARED / "conformance" / "udhr.tar.xz").exists():
        sys.exit(
            f"there is no {SHARED}/conformance/udhr.tar.xz; this benchmark needs the shared data beside the repository"
        )
    texts, compared = translations(), detectors()
    results: dict[str, list[Row]] = {}
    for length in (0, 120, 60, 30):
        title = f"{length} characters" if length else f"whole declarations, {len(texts)} languages"
        results[title] = [measure(name, tool, cut(texts, length)) for name, tool in compared.items()]
    results["foreign paragraphs"] = mixed(texts)
    results["the score `language` and the true share"] = reliability(texts)
    if options.web:
        sample = list(pages(options.web, options.pages))
        results[f"pages of {options.web.name}, agreement"] = [
            measure(name, tool, sample) for name, tool in compared.items()
        ]
    show(results, options.json)


def show(results: dict[str, list[Row]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(results, indent=1))
        return
    for title, rows in results.items():
        print(title)
        for row in rows:
            print(
                f"  {row['tool']:14}"
                + "".join(f"{_cell(key, value):>24}" for key, value in row.items() if key != "tool")
            )


def _cell(key: str, value: float | str) -> str:
    return (
        f"{value:.4f} {key}"
        if isinstance(value, float) and value <= 1
        else f"{value:,.0f} {key}"
        if not isinstance(value, str)
        else value
    )


if __name__ == "__main__":
    main()
