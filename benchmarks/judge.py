"""The judge stage on pages of the `medium` web: CPU µs a page by part, with the C kernels and without, beside CLD2 alone on the same text.

    python benchmarks/judge.py --web /tmp/medium [--pages 2000] [--language deu] [--json]

/tmp/medium is an unpacked ../shared/web/medium.tar.xz. Pages are drawn from all of the web, those without text among them, and read by the
default extractor first, which is not counted. `worker` is all that is asked of a page by itself (signals, language, quality, marks of
machine translation, the hashes of its n-grams) in one call, as a crawl makes it; the parts above it are each called alone. `owner` is
onion's rule with the table of all n-grams, page after page. Without kernels the owner takes the pages that a worker sends together.
"""

import argparse
import dataclasses
import gzip
import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pycld2

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from windrow import config, extract, urls  # noqa: E402
from windrow.config import Config  # noqa: E402
from windrow.data import Capture, Page, Task  # noqa: E402
from windrow.dedup import ngrams, table  # noqa: E402
from windrow.dedup.ngrams import Grams, Rule  # noqa: E402
from windrow.dedup.table import Table  # noqa: E402
from windrow.judge import quality, shape, signals  # noqa: E402
from windrow.judge.language import detect  # noqa: E402
from windrow.judge.pages import Judge  # noqa: E402

COMMIT = 256  # pages
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def captures(web: Path, number: int) -> Iterator[Capture]:
    with gzip.open(web / "pages.tsv.gz", "rt") as rows:
        places = [line.split("\t")[:2] for line in rows][1:]
    for host, path in random.Random(7).sample(places, min(number, len(places))):
        file, url = web / "www" / host / path.lstrip("/"), urls.parse(f"http://{host}{path}")
        if url is not None and file.is_file():
            yield Capture(Task(url), 200, b"", HEAD, file.read_bytes(), 0.0, 0.0, "", "http/1.1")


@contextmanager
def without_kernels() -> Iterator[None]:
    kept = ngrams._ngrams, table._ngrams, shape._shape
    ngrams._ngrams = table._ngrams = shape._shape = None  # type: ignore[assignment]
    try:
        yield
    finally:
        ngrams._ngrams, table._ngrams, shape._shape = kept


def spent(job: Callable[[], Any], pages: int) -> float:
    """CPU µs a page; the better of two runs, since other work on the machine only adds."""
    found = []
    for _ in range(2):
        start = time.process_time()
        job()
        found.append((time.process_time() - start) / pages * 1e6)
    return min(found)


def settle(documents: list[Grams], rule: Rule, lot: int) -> None:
    held, pages = Table(), 0
    for start in range(0, len(documents), lot):
        ngrams.settle_all(held, documents[start : start + lot], rule)
        pages += lot
        if pages >= COMMIT:
            held.take()
            pages = 0


def measure(pages: list[Page], options: Config, lot: int) -> dict[str, float]:
    judge, settings = Judge(options), detect.prepare(options.language)
    texts = [[one.text for one in page.paragraphs if one.kind == "good"] for page in pages]
    full = [(page, text) for page, text in zip(pages, texts, strict=True) if text]
    rule = Rule(options.dedup.ngram, options.dedup.threshold, options.dedup.smoothing)
    documents = [ruling.grams for page in pages if (ruling := judge(page, ())).grams is not None]
    kept = [[one.text for one in judge(page, ()).paragraphs] for page in pages]
    jobs: dict[str, Callable[[], Any]] = {
        "signals": lambda: [
            signals.refuses(signals.read((), page.metas, "windrow"), options.signals) for page, _ in full
        ],
        "language": lambda: [detect.keep(detect.judge(text, settings), settings) for _, text in full],
        "quality": lambda: [
            quality.judge(text, options.quality, quality.good_share(page.paragraphs)) for page, text in full
        ],
        "translation marks": lambda: [
            quality.machine_translated({"lang": page.language}, page.metas, text) for page, text in full
        ],
        "n-grams": lambda: [ngrams.grams(text, rule.ngram) for text in kept if text],
        "worker": lambda: [judge(page, ()) for page in pages],
        "owner": lambda: settle([one for one in documents if one is not None], rule, lot),
    }
    found = {name: spent(job, len(pages)) for name, job in jobs.items()}
    return {**found, "whole": found["worker"] + found["owner"]}


def cld2(texts: Iterable[list[str]]) -> None:
    """What reading each page once, all of it, would cost; it tells no paragraphs apart."""
    for text in texts:
        if text:
            try:
                pycld2.detect("\n".join(text), isPlainText=True)
            except pycld2.error:
                continue


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--language", default="", help="the accepted one; none: all")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not (given.web / "pages.tsv.gz").exists():
        sys.exit(f"there is no {given.web}/pages.tsv.gz; unpack ../shared/web/medium.tar.xz there")
    accepted = config.Language(accepted=(given.language,) if given.language else ())
    options = dataclasses.replace(Config(), language=accepted)
    read = extract.extractor(options)
    pages = [read(capture) for capture in captures(given.web, given.pages)]
    texts = [[one.text for one in page.paragraphs if one.kind == "good"] for page in pages]
    results: dict[str, dict[str, float]] = {"kernels": measure(pages, options, 1)}
    with without_kernels():
        results["without"] = measure(pages, options, 16)
    results["cld2"] = {"whole pages": spent(lambda: cld2(texts), len(pages))}
    results["pages"] = {
        "pages": len(pages),
        "with text": sum(map(bool, texts)),
        "characters a page": sum(len(text) for one in texts for text in one) / len(pages),
    }
    show(results, given.json)


def show(results: dict[str, dict[str, float]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(results, indent=1))
        return
    facts = results["pages"]
    text = f"{facts['with text']:,.0f} with text, {facts['characters a page']:,.0f} characters a page"
    print(f"{facts['pages']:,.0f} pages, {text}; CPU µs a page:")
    print(f"  {'':20}{'kernels':>10}{'without':>10}")
    for name, value in results["kernels"].items():
        print(f"  {name:20}{value:10.1f}{results['without'][name]:10.1f}{results['without'][name] / value:8.1f}×")
    print(f"  CLD2 reading whole pages once: {results['cld2']['whole pages']:.1f}")


if __name__ == "__main__":
    main()
