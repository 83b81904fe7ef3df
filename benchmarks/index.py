"""Measure the CPU time of `windrow index` per capture, and that of cdxj-indexer over the same files in the same run.

    python benchmarks/index.py [--pages DIR] [--captures 10000] [--rounds 3] [--memory] [--json]

Rows: `lines`, one archive file to its sorted CDXJ lines, which is what cdxj-indexer does with --sort; `table`, these
lines to the Parquet table alone; `whole`, everything that `windrow index` writes of the file: CDXJ, shards, flat index
and table. cdxj-indexer writes lines only.

Cases: `own`, files as a crawl writes them, with a request, a response and a metadata record per capture; `common
crawl`, the same captures with the headers, fields and packing of Common Crawl's files; `foreign`, responses alone,
without the digest and the type of the payload, so that every body must be unpacked. Pages are the files below --pages,
in the order of their names, or, without it, texts of the demo between tags. The rounds alternate, and the smallest
time of each side counts.

--memory: the peak memory of a new process that makes the whole index of 10,000 small pages, and of the same records 16
and 64 times.
"""

import argparse
import contextlib
import gzip
import io
import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import cdxj_indexer.main as peer

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from windrow import urls  # noqa: E402
from windrow.archive import Writer, records  # noqa: E402
from windrow.archive.cdxj import CdxLines  # noqa: E402
from windrow.config import ArchiveOptions  # noqa: E402
from windrow.io import streams  # noqa: E402
from windrow.jobs.engine.runs import SortedLines  # noqa: E402
from windrow.jobs.index import merge, table  # noqa: E402
from windrow.jobs.index.manifest import IndexedFile  # noqa: E402
from windrow.jobs.index.table import TableWriter  # noqa: E402
from windrow.records import Capture, Task  # noqa: E402

TEXTS = ROOT / "src" / "windrow" / "demo" / "texts"
HEAD = (
    b"HTTP/1.1 200 OK\r\nDate: Sat, 15 Nov 2025 09:46:40 GMT\r\nServer: nginx\r\n"
    b"Content-Type: text/html; charset=UTF-8\r\nVary: Accept-Encoding\r\nCache-Control: max-age=3600\r\n"
    b"X-Crawler-Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
)
METADATA = (
    b"WARC/1.0\r\nWARC-Type: metadata\r\nWARC-Date: %b\r\nWARC-Record-ID: %b\r\nContent-Length: %d\r\n"
    b"Content-Type: application/warc-fields\r\nWARC-Warcinfo-ID: %b\r\nWARC-Concurrent-To: %b\r\n"
    b"WARC-Target-URI: %b\r\n\r\n%b\r\n\r\n"
)
FIELDS = (
    b"fetchTimeMs: 258\r\ncharset-detected: UTF-8\r\nlanguages-cld2: "
    b'{"reliable":true,"text-bytes":9012,"languages":[{"code":"en","code-iso-639-3":"eng",'
    b'"text-covered":0.97,"score":1081.0,"name":"ENGLISH"}]}\r\n'
)
REQUEST = b"GET /%d HTTP/1.1\r\nHost: a.example\r\nUser-Agent: windrow/0\r\nAccept: text/html\r\n\r\n"


def pages(directory: Path | None) -> Iterator[tuple[str, bytes]]:
    """Yield the URL and the body of pages, again and again."""
    if directory is not None:
        files = sorted(path for path in directory.rglob("*") if path.is_file())
        for number in itertools.count():
            for path in files:
                name = path.relative_to(directory).as_posix()
                yield f"http://{name.partition('/')[0]}.example/{number}/{name.partition('/')[2]}", path.read_bytes()
    texts = [path.read_text("utf-8").splitlines() for path in sorted(TEXTS.glob("*.txt"))]
    for number in itertools.count():
        lines = texts[number % len(texts)]
        body = "".join(f'<div class="c{at % 9}"><p>{line}</p></div>\n' for at, line in enumerate(lines * 2))
        yield f"https://www.host{number % 97}.example/path/{number}.html?b={number}&a=1", body.encode()


def write(directory: Path, count: int, source: Iterator[tuple[str, bytes]]) -> tuple[Path, int]:
    """Write an archive file; return it and the bytes of its pages."""
    writer = Writer(directory, ArchiveOptions(max_bytes=1 << 40), "n0", {"software": "windrow"})
    size = 0
    for seq, (text, body) in enumerate(itertools.islice(source, count), 1):
        url = urls.parse(text)
        assert url is not None
        size += len(body)
        capture = Capture(
            task=Task(url),
            status=200,
            request=REQUEST % seq,
            head=HEAD % len(body),
            body=body,
            time=1763200000.0 + seq,
            seconds=0.2,
            ip="192.0.2.7",
            protocol="http/1.1",
        )
        place = writer.append(writer.compress(capture), seq, {"languages": "eng"})
        if seq % 500 == 0:
            writer.flush()
    writer.flush()
    writer.close()
    return directory / place.file, size


def common_crawl(source: Path, target: Path) -> Path:
    """Write the same captures as Common Crawl packs them: zlib, whole seconds, and what CLD2 says of the page."""
    with target.open("wb") as out:
        for record in records(source):
            headers = {name: value.encode() for name, value in record.headers}
            date = headers["WARC-Date"][:19] + b"Z"
            if record.type == "metadata":
                names = ("WARC-Record-ID", "WARC-Warcinfo-ID", "WARC-Concurrent-To", "WARC-Target-URI")
                own, info, response, uri = (headers[name] for name in names)
                data = METADATA % (date, own, len(FIELDS), info, response, uri, FIELDS)
            else:
                head = b"".join(b"%b: %b\r\n" % (name.encode(), value) for name, value in headers.items())
                data = b"WARC/1.0\r\n" + head.replace(headers["WARC-Date"], date) + b"\r\n" + record.block + b"\r\n\r\n"
            out.write(gzip.compress(data, 6))
    return target


def foreign(source: Path, target: Path) -> Path:
    """Write the responses alone, without what makes an index cheap."""
    left_out = ("WARC-Payload-Digest", "WARC-Identified-Payload-Type")
    with target.open("wb") as out:
        for record in records(source):
            if record.type == "response":
                kept = [(name, value) for name, value in record.headers if name not in left_out]
                head = "".join(f"{name}: {value}\r\n" for name, value in kept).encode()
                out.write(gzip.compress(b"WARC/1.0\r\n" + head + b"\r\n" + record.block + b"\r\n\r\n", 6))
    return target


def ours(path: Path) -> list[bytes]:
    return sorted(CdxLines(path, f"warc/{path.name}").read())


def theirs(path: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.CDXJIndexer("-", [str(path)], sort=True).process_all()


def tabled(lines: list[bytes]) -> None:
    """Write the table alone."""
    with tempfile.TemporaryDirectory() as directory:
        writer = TableWriter(Path(directory) / "table")
        for line in lines:
            writer.add(table.row(table.parse(line), "0.0"))
        writer.close()


def whole(path: Path) -> None:
    """Write all files of an index."""
    entry = IndexedFile(
        name=f"warc/{path.name}", length=path.stat().st_size, crawl="BENCH", subset="warc", segment="0.0"
    )
    with tempfile.TemporaryDirectory() as name:
        cdx, new = Path(name) / "a.cdx.gz", Path(name) / "new"
        with SortedLines() as lines, cdx.open("wb") as plain, streams.gzipped(plain, "wb") as packed:
            for line in CdxLines(path, entry.name).read():
                lines.add(line)
            packed.writelines(lines)
        with SortedLines() as lines:
            for line in merge.lines_of(cdx):
                lines.add(line)
            new.mkdir()
            merge.write(new, lines, [entry])


def least(work: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the least CPU seconds of each; they take turns."""
    found = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for name, call in work.items():
            start = time.process_time()
            call()
            found[name] = min(found[name], time.process_time() - start)
    return found


def measure(path: Path, rounds: int) -> dict[str, float]:
    """Return µs of CPU per capture of each row. Called by benchmarks/archive.py too."""
    lines = ours(path)
    work: dict[str, Callable[[], object]] = {
        "lines": lambda: ours(path),
        "cdxj-indexer": lambda: theirs(path),
        "table": lambda: tabled(lines),
        "whole": lambda: whole(path),
    }
    return {name: spent / len(lines) * 1e6 for name, spent in least(work, rounds).items()}


def peak(path: Path) -> float:
    """Return the peak memory in MB of a new process that makes the whole index (only on Linux)."""
    command = [sys.executable, __file__, "--peak", str(path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def memory(directory: Path) -> dict[str, float]:
    """Return the peak by the number of captures and the size of the archive. Pages are small: lines fill the memory."""
    small = ((url, b"<html><p>hello %d" % number) for number, (url, _) in enumerate(pages(None)))
    path, _ = write(directory / "small", 10_000, small)
    found = {}
    for times in (1, 16, 64):
        repeated = directory / f"{times}.warc.gz"
        with repeated.open("wb") as out:
            for _ in range(times):
                out.write(path.read_bytes())
        found[f"{times * 10_000:,} captures, {repeated.stat().st_size / 1e6:.0f} MB"] = peak(repeated)
        repeated.unlink()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path)
    parser.add_argument("--captures", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--peak", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.peak:
        whole(given.peak)
        print(int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
        return
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        path, size = write(directory, given.captures, pages(given.pages))
        cases = {
            "own": path,
            "common crawl": common_crawl(path, directory / "cc.warc.gz"),
            "foreign": foreign(path, directory / "foreign.warc.gz"),
        }
        spent = {case: measure(found, given.rounds) for case, found in cases.items()}
        peaks = memory(directory) if given.memory else {}
    if given.json:
        result = {"captures": given.captures, "µs per capture": spent, "peak MB": peaks}
        print(json.dumps(result, ensure_ascii=False, indent=2))
        return
    print(f"{given.captures:,} captures, {size / given.captures:,.0f} bytes per page; µs of CPU per capture")
    for case, found in spent.items():
        theirs_spent = found["cdxj-indexer"]
        row = [f"{name} {value:.1f} ({theirs_spent / value:.1f}x)" for name, value in found.items()]
        print(f"{case:14}", ", ".join(row))
    for archive, megabytes in peaks.items():
        print(f"whole index of {archive}: peak {megabytes:.0f} MB")


if __name__ == "__main__":
    main()
