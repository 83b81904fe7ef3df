"""Measure the CPU time of exports per document and format, and of a script that reads the corpus with gzip and json.

    python benchmarks/export.py [--documents 20000] [--json]

The corpus is made from the texts of the demo: 3 to 14 paragraphs per document, in ten languages. A second crawl of the
same size, with other pages, is for the export of two crawls together.
"""

import argparse
import base64
import contextlib
import gzip
import hashlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from windrow import config  # noqa: E402
from windrow.corpus import document  # noqa: E402
from windrow.corpus.document import Source  # noqa: E402
from windrow.corpus.formats import FORMATS  # noqa: E402
from windrow.corpus.shards import Shards  # noqa: E402
from windrow.jobs.export import write  # noqa: E402
from windrow.jobs.export.write import ExportOptions  # noqa: E402
from windrow.judge.language import codes  # noqa: E402
from windrow.records import Page, Paragraph, Place  # noqa: E402

TEXTS = ROOT / "src" / "windrow" / "demo" / "texts"
BATCH = 256  # documents per flush


def make(directory: Path, count: int, first: int = 0) -> dict[str, float]:
    """Make a corpus of pages that are numbered from `first`; return the cost of each step in µs per document."""
    directory.mkdir(exist_ok=True)
    chance, spent = random.Random(first + 1), dict.fromkeys(("draft", "line", "flush"), 0.0)
    files = {codes.parse(path.stem): path.read_text("utf-8").split("\n") for path in sorted(TEXTS.glob("*.txt"))}
    texts = {language: [line for line in lines if len(line) > 80] for language, lines in files.items()}
    (directory / "crawl.toml").touch()
    with contextlib.closing(Shards(directory, config.CorpusOptions(), "n0")) as shards:
        for number in range(count):
            language = chance.choice([name for name, lines in texts.items() if lines])
            paragraphs = [
                Paragraph(text, own="good") for text in chance.choices(texts[language], k=chance.randint(3, 14))
            ]
            page = Page(title=f"page {number}", charset="utf-8", language=codes.short(language))
            started = time.process_time()
            draft = document.draft(page, paragraphs, language, [language] * len(paragraphs), ())
            spent["draft"] += time.process_time() - started
            started = time.process_time()
            line = document.line(draft, source(first + number, language))
            spent["line"] += time.process_time() - started
            started = time.process_time()
            shards.append(language, line)
            if number % BATCH == BATCH - 1 or number == count - 1:
                shards.flush()
            spent["flush"] += time.process_time() - started
    return {name: seconds / count * 1e6 for name, seconds in spent.items()}


def source(number: int, language: str) -> Source:
    place = Place("warc/WINDROW-n0-20261115104421-00000.warc.gz", number * 1000, 900)
    name, url = f"<urn:uuid:00000000-0000-4000-8000-{number:012}>", f"http://www{number % 500}.example.org/{number}"
    return Source(
        id=name,
        url=url,
        time=1794739461.0 + number,
        ip="192.0.2.1",
        place=place,
        digest=base64.b32encode(hashlib.sha1(url.encode()).digest()).decode(),
        language=language,
        scores={"language": 0.98},
    )


def plain(directory: Path) -> None:
    """Do what a script would do that needs only the text."""
    with gzip.open(directory / "plain.txt.gz", "wt", compresslevel=2) as output:
        for path in sorted((directory / "corpus").rglob("*.gz")):
            with gzip.open(path, "rt") as lines:
                for line in lines:
                    output.write("\n".join(paragraph["text"] for paragraph in json.loads(line)["paragraphs"]) + "\n")


def job(
    directory: Path, format: str, style: str = "both", langdiff: str = "paragraph", inputs: Sequence[Path] = ()
) -> Callable[[], None]:
    output = directory / f"out-{style}-{langdiff}-{len(inputs)}{FORMATS[format].suffix}"
    options = ExportOptions(inputs=inputs or (directory,), output=output, format=format, style=style, langdiff=langdiff)

    def run() -> None:
        write.check(options)
        write.run(options, write.find(options), lambda count: None)

    return run


def into_directory(directory: Path) -> Callable[[], None]:
    options = ExportOptions(inputs=(directory,), output=directory / "out", format="jsonl")
    return lambda: (write.run(options, write.find(options), lambda count: None), None)[1]


def jobs(directory: Path) -> dict[str, Callable[[], None]]:
    found = {"jsonl, as it is": job(directory, "jsonl", style="windrow")}
    found |= {format: job(directory, format) for format in FORMATS}
    for format in ("prevertical", "vertical"):
        found[f"{format}, quick"] = job(directory, format, langdiff="document")
    found["jsonl, with card"] = into_directory(directory)
    return found


def cost(run: Callable[[], None], count: int) -> float:
    started = time.process_time()
    run()
    return (time.process_time() - started) / count * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "first"
        rows = make(directory, arguments.documents)
        rows["gzip and json"] = cost(lambda: plain(directory), arguments.documents)
        for what, run in jobs(directory).items():
            rows[what] = cost(run, arguments.documents)
        make(Path(name) / "second", arguments.documents, arguments.documents)
        both = job(directory, "jsonl", style="windrow", inputs=(directory, Path(name) / "second"))
        rows["two crawls"] = cost(both, 2 * arguments.documents)
        size = sum(path.stat().st_size for path in (directory / "corpus").rglob("*.gz"))
    if arguments.json:
        print(json.dumps({"documents": arguments.documents, "gzipped_bytes": size, "microseconds": rows}, indent=2))
        return
    print(f"{arguments.documents:,} documents, {size:,} bytes gzipped; µs of CPU per document")
    for name, figure in rows.items():
        print(f"{name:<16} {figure:>8.1f}")


if __name__ == "__main__":
    main()
