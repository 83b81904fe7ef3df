"""The judges on pages of the `medium` web: CPU µs per page, with and without the C kernels, against CLD2 alone.

    python benchmarks/judge.py --web /tmp/medium [--pages 2000] [--language deu] [--json]

/tmp/medium is an unpacked ../shared/web/medium.tar.xz. Pages are drawn from all of the web, those without text
included, and extracted first by the default extractor, which is not counted. `worker` is everything that a worker does
with an extracted page: all judges, the key of its text, the hashes of its n-grams; the rows above it call each part
alone. `owner` is onion's rule with the table of all n-grams, page after page.
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

from windrow import config, dedup, extraction, urls  # noqa: E402
from windrow.config import Config  # noqa: E402
from windrow.dedup import generation, ngrams, onion  # noqa: E402
from windrow.dedup.ngrams import Ngrams  # noqa: E402
from windrow.dedup.onion import DuplicateRule  # noqa: E402
from windrow.dedup.table import NgramTable  # noqa: E402
from windrow.judge import JUDGES, Facts, shape  # noqa: E402
from windrow.judge.panel import Panel  # noqa: E402
from windrow.records import Capture, Page, Task  # noqa: E402

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
    kernels = ngrams._ngrams, shape._shape
    ngrams._ngrams = onion._ngrams = generation._ngrams = shape._shape = None  # type: ignore[assignment]
    try:
        yield
    finally:
        ngrams._ngrams = onion._ngrams = generation._ngrams = kernels[0]
        shape._shape = kernels[1]


def spent(job: Callable[[], Any], pages: int) -> float:
    """Return the CPU µs per page: the better of two runs, because other work on the machine only adds."""
    found = []
    for _ in range(2):
        start = time.process_time()
        job()
        found.append((time.process_time() - start) / pages * 1e6)
    return min(found)


def mark(documents: list[Ngrams], rule: DuplicateRule) -> None:
    table = NgramTable()
    for number, document in enumerate(documents):
        onion.mark(table, document, rule)
        if number % COMMIT == 0:
            table.take()


def measure(pages: list[Page], options: Config) -> dict[str, float]:
    panel = Panel(options)
    texts = [[one.text for one in page.paragraphs if one.kept] for page in pages]
    full = [(page, Facts(url="", texts=text)) for page, text in zip(pages, texts, strict=True) if text]
    rule = DuplicateRule.of(options.dedup)

    def refine(page: Page) -> Ngrams | None:
        judged = panel(page, "")
        if not judged.paragraphs:
            return None
        kept = [one.text for one in judged.paragraphs]
        dedup.text_key(kept)
        return ngrams.of(kept, rule.ngram)

    kept = [[one.text for one in panel(page, "").paragraphs] for page in pages]
    documents = [found for page in pages if (found := refine(page)) is not None]
    found: dict[str, float] = {}
    for name, build in JUDGES.items():
        judge = build(options)
        found[name] = spent(lambda judge=judge: [judge(*case) for case in full], len(pages))  # type: ignore[misc]
    found["n-grams"] = spent(lambda: [ngrams.of(text, rule.ngram) for text in kept if text], len(pages))
    found["worker"] = spent(lambda: [refine(page) for page in pages], len(pages))
    found["owner"] = spent(lambda: mark(documents, rule), len(pages))
    return {**found, "whole": found["worker"] + found["owner"]}


def cld2(texts: Iterable[list[str]]) -> None:
    """Read each page once, all of it, without the language of single paragraphs."""
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
    parser.add_argument("--language", default="", help="the accepted language; default: all")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not (given.web / "pages.tsv.gz").exists():
        sys.exit(f"there is no {given.web}/pages.tsv.gz; unpack ../shared/web/medium.tar.xz there")
    accepted = config.LanguageOptions(accepted=(given.language,) if given.language else ())
    options = dataclasses.replace(Config(), language=accepted)
    read = extraction.extractor(options)
    pages = [read(capture) for capture in captures(given.web, given.pages)]
    texts = [[one.text for one in page.paragraphs if one.kept] for page in pages]
    results: dict[str, dict[str, float]] = {"kernels": measure(pages, options)}
    with without_kernels():
        results["without"] = measure(pages, options)
    results["cld2"] = {"whole pages": spent(lambda: cld2(texts), len(pages))}
    results["pages"] = {
        "pages": len(pages),
        "with text": sum(map(bool, texts)),
        "characters per page": sum(len(text) for one in texts for text in one) / len(pages),
    }
    show(results, given.json)


def show(results: dict[str, dict[str, float]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(results, indent=1))
        return
    facts = results["pages"]
    text = f"{facts['with text']:,.0f} with text, {facts['characters per page']:,.0f} characters per page"
    print(f"{facts['pages']:,.0f} pages, {text}; CPU µs per page:")
    print(f"  {'':20}{'kernels':>10}{'without':>10}")
    for name, value in results["kernels"].items():
        print(f"  {name:20}{value:10.1f}{results['without'][name]:10.1f}{results['without'][name] / value:8.1f}×")
    print(f"  CLD2 reading whole pages once: {results['cld2']['whole pages']:.1f}")


if __name__ == "__main__":
    main()
