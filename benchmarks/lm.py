"""Language models: training, loading and scoring, with kenlm in the same run if it is installed.

    python benchmarks/lm.py                                made-up text of 10 million words
    python benchmarks/lm.py --text pages.warc.gz …         text, HTML or WARC files instead
    python benchmarks/lm.py --words 1000000 --json

The model is trained by `windrow lm train` in a process of its own, whose CPU and peak memory are shown. Then pages are
scored, from their paragraphs to their perplexities: CPU per page and per 500 words, the best of three passes. Of files
the pages are their own; of made-up text, pieces of 500 words. kenlm gets the ARPA file of the same model and sentences
that are divided into words already, and `difference` is the greatest difference of log10 per word between the two.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

import numpy as np  # noqa: E402

from windrow.jobs.inputs import texts  # noqa: E402
from windrow.judge.focus import model  # noqa: E402
from windrow.judge.focus.model import NgramModel  # noqa: E402

Figures = dict[str, float | str]
_PAGES = 2000  # pages that are scored
_SENTENCE = 18  # words of a made-up sentence


def made_up(words: int) -> Iterator[str]:
    """Yield lines of one sentence each. Words have the frequencies of Zipf's law, and each has favourite followers."""
    draw = np.random.default_rng(1)
    vocabulary = 200_000
    names = [_name(number) for number in range(vocabulary)]
    followers = draw.zipf(1.1, (vocabulary, 40)) % vocabulary
    for _ in range(0, words, _SENTENCE * 10_000):
        state = draw.zipf(1.1, 10_000) % vocabulary
        columns = []
        for _ in range(_SENTENCE):
            columns.append(state)
            liked = followers[state, np.minimum(draw.zipf(1.5, len(state)) - 1, 39)]
            state = np.where(draw.random(len(state)) < 0.75, liked, draw.zipf(1.1, len(state)) % vocabulary)
        for row in np.stack(columns, 1).tolist():
            yield " ".join([names[number] for number in row]) + "."


def _name(number: int) -> str:
    letters = ""
    while number >= 0:
        letters, number = letters + chr(97 + number % 26), number // 26 - 1
    return letters


def train(files: Sequence[str], output: Path) -> Figures:
    """Run `windrow lm train`."""
    command = [sys.executable, "-m", "windrow.cli", "lm", "train", *files, "-o", str(output), "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "src")})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(done.stdout)
    return {
        "words": found["words"],
        "ngrams": sum(found["ngrams"]),
        "train_cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "train_peak_mb": round(after.ru_maxrss / 1000),
        "model_mb": round(found["bytes"] / 1e6, 1),
    }


def cpu(work: object) -> float:
    start = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - start


def score(scorer: NgramModel, pages: list[list[str]]) -> Figures:
    words = sum(scorer.score_texts(page).words for page in pages)
    best = min(cpu(lambda: [scorer.score_texts(page) for page in pages]) for _ in range(3))
    return {
        "pages": len(pages),
        "words_per_page": round(words / len(pages)),
        "page_us": round(best / len(pages) * 1e6, 1),
        "500_words_us": round(best / words * 500 * 1e6, 1),
    }


def peer(scorer: NgramModel, path: Path, pages: list[list[str]]) -> Figures:
    """Measure kenlm with the same model, and compare."""
    try:
        import kenlm
    except ImportError:
        return {"kenlm": "not installed: pip install 'windrow-corpus[lm]'"}
    arpa = path.with_suffix(".arpa")
    found: Figures = {"arpa_write_cpu_s": round(cpu(lambda: model.write(model.tables(path), arpa)), 1)}
    loaded: list[kenlm.Model] = []
    found["kenlm_load_cpu_s"] = round(cpu(lambda: loaded.append(kenlm.Model(str(arpa)))), 2)
    sentences = [[" ".join(one) for one in scorer.tokeniser.sequences(page)] for page in pages]
    best = min(cpu(lambda: [[loaded[0].score(one) for one in page] for page in sentences]) for _ in range(3))
    found["kenlm_page_us_without_tokenising"] = round(best / len(pages) * 1e6, 1)
    worst = 0.0
    for page, own in zip(sentences, pages, strict=True):
        ours = scorer.score_texts(own)
        if ours.words:
            theirs = math.fsum(loaded[0].score(one) for one in page)
            worst = max(worst, abs(theirs - ours.log10 - ours.ends_log10) / (ours.words + ours.ends))
    found["difference"] = float(f"{worst:.2g}")
    return found


def measure(arguments: argparse.Namespace) -> Figures:
    with tempfile.TemporaryDirectory(prefix="windrow-") as directory:
        path, text = Path(directory) / "model.lm", Path(directory) / "text.txt"
        files = arguments.text or [str(text)]
        if not arguments.text:
            text.write_text("\n".join(made_up(arguments.words)) + "\n")
        found = train(files, path)
        loaded: list[NgramModel] = []
        found["load_cpu_s"] = round(cpu(lambda: loaded.append(model.read(path))), 3)
        pages = [page for page in _pages(files, bool(arguments.text)) if page]
        pages = pages[:: 1 + len(pages) // _PAGES]
        return {**found, **score(loaded[0], pages), **peer(loaded[0], path, pages)}


def _pages(files: Sequence[str], own: bool) -> Iterator[list[str]]:
    """Yield the paragraphs of each page; of plain text, pieces of about 500 words."""
    for source in texts.sources(files, lambda _: None):
        lines = list(source.lines)
        words = sum(len(line.split()) for line in lines)
        step = max(1, len(lines) * 500 // max(1, words)) if words > 100_000 or not own else len(lines)
        yield from (lines[start : start + step] for start in range(0, len(lines), max(1, step)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", nargs="+", help="text, HTML or WARC files")
    parser.add_argument("--words", type=int, default=10_000_000, help="of the made-up text")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments)
    if arguments.json:
        print(json.dumps(found))
        return
    for name, figure in found.items():
        print(f"{name.replace('_', ' '):34} {figure}")


if __name__ == "__main__":
    main()
