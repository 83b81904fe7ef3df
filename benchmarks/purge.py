"""Measure a purge of every tenth host of a crawl: time, bytes overwritten, and bytes of other files written meanwhile.

    python benchmarks/purge.py [--pages 20000] [--json]

The crawl is made by hand: pages of 20 kB of demo text on 100 hosts, in the order in which a crawl visits them, with a
document per page. `copy` is what writing the changed files anew would take: the bytes of all files that hold a listed
page.
"""

import argparse
import contextlib
import json
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from windrow import config, log, urls  # noqa: E402
from windrow.archive import Writer  # noqa: E402
from windrow.corpus import document  # noqa: E402
from windrow.corpus.document import Source  # noqa: E402
from windrow.corpus.shards import Shards  # noqa: E402
from windrow.crawler.orders import purge  # noqa: E402
from windrow.log.writer import Log  # noqa: E402
from windrow.records import Capture, Entry, Frame, Page, Paragraph, Reason, Report, Task, Url  # noqa: E402

TEXTS = ROOT / "src" / "windrow" / "demo" / "texts" / "en.txt"
HOSTS, LISTED = 100, 10
COMMIT = 256  # pages


def make(directory: Path, pages: int) -> None:
    """Write a crawl directory with these pages."""
    chance = random.Random(1)
    texts = [line for line in TEXTS.read_text("utf-8").split("\n") if len(line) > 80]
    (directory / "crawl.toml").touch()
    (directory / "takedown.txt").write_text("".join(f"h{number}.example.org\n" for number in range(LISTED)))
    writer = Writer(directory, config.ArchiveOptions(), "n0", {})
    journal = Log(directory / "log", ("", 0))
    with contextlib.closing(Shards(directory, config.CorpusOptions(), "n0")) as shards, contextlib.closing(writer):
        entries: list[Entry] = []
        for seq in range(1, pages + 1):
            url = urls.parse(f"http://h{chance.randrange(HOSTS)}.example.org/{seq}")
            assert url is not None
            entries.append(page(url, seq, chance.choices(texts, k=60), (writer, shards)))
            if seq % COMMIT == 0 or seq == pages:
                lengths = {**writer.flush(), **shards.flush()}
                number = -(-seq // COMMIT)
                seeds = tuple(entry.report.task for entry in entries)
                frame = Frame(number=number, time=1e9 + number, entries=tuple(entries), lengths=lengths, seeds=seeds)
                journal.append(log.encode(frame))
                entries = []
        writer.sync()
        shards.sync()
    journal.close()


def page(url: Url, seq: int, texts: list[str], to: tuple[Writer, Shards]) -> Entry:
    writer, shards = to
    body = "".join(f"<p>{text} {seq}</p>\n" for text in texts).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    task = Task(url)
    capture = Capture(
        task=task,
        status=200,
        request=b"GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: windrow\r\nAccept: */*\r\n\r\n",
        head=head,
        body=body,
        time=1e9 + seq,
        seconds=0.1,
        ip="192.0.2.7",
        protocol="http/1.1",
        downloaded=len(body),
    )
    members = writer.compress(capture)
    place = writer.append(members, seq)
    paragraphs = [Paragraph(text, own="good") for text in texts[:20]]
    draft = document.draft(Page(title=str(seq)), paragraphs, "eng", ["eng"] * len(paragraphs), ())
    source = Source(
        id=f"<urn:uuid:{members.id.decode()}>",
        url=url.text,
        time=capture.time,
        ip=capture.ip,
        place=place,
        digest=members.digest,
        language="eng",
        scores={"language": 0.99},
    )
    shards.append("eng", document.line(draft, source))
    report = Report(
        seq=seq,
        task=task,
        reason=Reason.OK,
        detail="",
        time=capture.time,
        seconds=0.1,
        status=200,
        downloaded=len(body),
        kept=sum(draft.sizes),
        place=place,
        digest=members.digest,
        text=seq,
    )
    return Entry(report)


def measure(pages: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        make(directory, pages)
        options = config.load(directory / "crawl.toml")
        started, cpu = time.perf_counter(), time.process_time()
        purge.preview(directory, lambda count: None)
        dry = time.perf_counter() - started
        purge.purge(directory, options, lambda count: None)  # the first one also makes state/, which a crawl has
        (directory / "takedown.txt").write_text(
            "".join(f"h{number}.example.org\n" for number in range(LISTED, 2 * LISTED))
        )
        started, cpu = time.perf_counter(), time.process_time()
        done = purge.purge(directory, options, lambda count: None)
        return {
            "pages": pages,
            "captures": done.captures,
            "documents": done.documents,
            "overwritten": done.bytes,
            "copy": sum((directory / file).stat().st_size for file in done.files),
            "dry_run_seconds": round(dry, 2),
            "seconds": round(time.perf_counter() - started, 2),
            "cpu_seconds": round(time.process_time() - cpu, 2),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.pages)
    print(json.dumps(found) if options.json else "\n".join(f"{name:>16}  {value:,}" for name, value in found.items()))


if __name__ == "__main__":
    main()
