"""Measure what is done with archive files, with a peer in the same run.

    python benchmarks/archive.py [--web /tmp/medium] [--pages 3000] [--runs 7] [--only read,index,…] [--json]

    read    every record, against warcio and FastWARC
    index   CDXJ lines, the Parquet table, and all files of an index, against cdxj-indexer (benchmarks/index.py)
    wet     WET files, against warcio with lxml (benchmarks/derive.py); needs lxml
    links   every link with its anchor, against the same
    memory  the peak of reading, and of a whole index, by the size of the archive

The archive is written by Windrow from pages of the web: request, response and metadata records. Then the same records
are packed in other ways: gzip as zlib does it, zstd, and plain. Figures are CPU time of this process: the least of
several runs, in which all programs take turns, so that a busy machine slows all of them. In `read` each program reads
every block and one header of each record; with http, it also separates the HTTP header from the payload and gives one
field of it.

A row is a function in ROWS, from the archive to results: add one for each new measurement.
"""

import argparse
import functools
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import derive
import index
import zstandard
from fastwarc.warc import ArchiveIterator as FastWarcIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from windrow import archive, urls
from windrow.config import ArchiveOptions
from windrow.records import Capture, Task

HEAD = (
    b"HTTP/1.1 200 OK\r\nServer: nginx/1.18.0\r\nDate: Sun, 15 Nov 2026 10:00:00 GMT\r\nContent-Type: text/html; "
    b"charset=utf-8\r\nContent-Length: %d\r\nConnection: keep-alive\r\nVary: Accept-Encoding\r\n\r\n"
)
REQUEST = b"GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: windrow\r\nAccept: text/html\r\n\r\n"


class Files(NamedTuple):
    """The same records, packed in four ways."""

    isal: Path  # gzip as Windrow writes it
    zlib: Path  # gzip of level 6, as most programs write it
    zstd: Path
    plain: Path


class Result(NamedTuple):
    row: str
    case: str
    windrow: float  # µs of CPU per record, unless the row says otherwise
    peers: dict[str, float]


def make(web: Path, count: int, directory: Path) -> Files:
    """Write the archive."""
    www = web / "www"
    paths = sorted(path for path in www.rglob("*.html") if path.is_file())
    random.Random(1).shuffle(paths)
    writer = archive.Writer(directory, ArchiveOptions(max_bytes=1 << 40), "n0", {"software": "windrow"})
    for number, path in enumerate(paths[:count], 1):
        url = urls.parse(f"http://{path.relative_to(www).as_posix()}")
        if url is None:
            continue
        body = path.read_bytes()
        task, head = Task(url, via="http://a.example/"), HEAD % len(body)
        page = Capture(task, 200, REQUEST, head, body, 1763200000.1, 0.2, "192.0.2.1", "http/1.1", downloaded=len(body))
        writer.append(writer.compress(page), number)
    writer.flush()
    writer.close()
    files = Files(*[directory / name for name in ("isal.warc.gz", "zlib.warc.gz", "zstd.warc.zst", "plain.warc")])
    next((directory / "warc").glob("*.gz")).rename(files.isal)
    files.plain.write_bytes(gzip.decompress(files.isal.read_bytes()))
    packer = zstandard.ZstdCompressor(level=3)
    with open(files.plain, "rb") as plain, open(files.zlib, "wb") as zlib, open(files.zstd, "wb") as zstd:
        for record in archive.records(files.plain):
            plain.seek(record.offset)
            data = plain.read(record.length)
            zlib.write(gzip.compress(data, 6))
            zstd.write(packer.compress(data))
    return files


def windrow(path: Path, http: bool) -> int:
    total = 0
    for record in archive.records(path):
        assert record.header("WARC-Record-ID")
        if http and record.type == "response":
            head, payload = record.http()
            assert head.get("content-type")
            total += len(payload)
        else:
            total += len(record.block)
    return total


def fastwarc(path: Path, http: bool) -> int:
    total = 0
    with open(path, "rb") as file:
        for record in FastWarcIterator(file, parse_http=http):
            assert record.headers.get("WARC-Record-ID")
            if http and record.http_headers is not None and record.headers.get("WARC-Type") == "response":
                assert record.http_headers.get("content-type")
            total += len(record.reader.read())
    return total


def warcio(path: Path, http: bool) -> int:
    total = 0
    with open(path, "rb") as file:
        for record in WarcioIterator(file, no_record_parse=not http):
            assert record.rec_headers.get_header("WARC-Record-ID")
            if http and record.rec_type == "response":
                assert record.http_headers.get_header("content-type")
            total += len(record.raw_stream.read())
    return total


def least(calls: dict[str, Callable[[], int]], runs: int) -> dict[str, float]:
    """Return the least CPU time of each call, in seconds; they take turns."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(runs):
        for name, call in calls.items():
            start = time.process_time()
            call()
            found[name] = min(found[name], time.process_time() - start)
    return found


def read(files: Files, runs: int) -> list[Result]:
    """Read every record of a file, packed in each way. warcio does not read zstd."""
    records = sum(1 for _ in archive.records(files.plain))
    results = []
    for name, path in files._asdict().items():
        for http in (False, True):
            calls: dict[str, Callable[[], int]] = {
                "windrow": lambda path=path, http=http: windrow(path, http),
                "FastWARC": lambda path=path, http=http: fastwarc(path, http),
            }
            if name != "zstd":
                calls["warcio"] = lambda path=path, http=http: warcio(path, http)
            spent = {peer: seconds / records * 1e6 for peer, seconds in least(calls, runs).items()}
            results.append(Result("read", f"{name}{', http' if http else ''}", spent.pop("windrow"), spent))
    return results


PEAK = """
import re, sys
from pathlib import Path
from windrow import archive
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
before = peak()
for path in sys.argv[1:]:
    for stored in archive.captures(Path(path), archive.ReadOptions(resources=True, report=lambda damage: None)):
        pass
print(peak() - before)
"""


def memory(files: Files, runs: int) -> list[Result]:
    """Peak memory of a new process that reads captures, above what it has after its imports (only on Linux)."""
    large = files.plain.with_name("large.warc.gz")
    with gzip.open(large, "wb", 1) as file:
        size = 1 << 30
        file.write(b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.example/\r\n")
        file.write(b"Content-Type: video/mp4\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
        file.write(b"\r\n\r\n")
    results = []
    cases = {"1 file": [files.zlib], "4 files": list(files), "1 GB record": [large]}
    for case, paths in cases.items():
        command = [sys.executable, "-c", PEAK, *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
        results.append(Result("memory", f"{case}, MB", float(done.stdout), {}))
    peaks = index.memory(files.isal.parent)
    return results + [Result("memory", f"index of {size}: MB", peak, {}) for size, peak in peaks.items()]


def indexed(files: Files, runs: int) -> list[Result]:
    """µs per capture. The peer makes lines only, so the other rows show how much more is done in its time."""
    cases = {
        "own": files.isal,
        "common crawl": index.common_crawl(files.isal, files.isal.with_name("cc.warc.gz")),
        "foreign": index.foreign(files.isal, files.isal.with_name("foreign.warc.gz")),
    }
    results = []
    for case, path in cases.items():
        spent = index.measure(path, runs)
        peer = {"cdxj-indexer": spent.pop("cdxj-indexer")}
        results += [Result("index", f"{case}, {row}", value, peer) for row, value in spent.items()]
    return results


def derived(row: str, files: Files, runs: int) -> list[Result]:
    """µs per page."""
    spent = _derived(files.isal, runs)["costs"]
    peer = spent[f"{row} warcio+lxml"]["us_per_page"]
    return [Result(row, "own", spent[f"{row} windrow"]["us_per_page"], {"warcio+lxml": peer})]


@functools.lru_cache(1)
def _derived(path: Path, runs: int) -> dict[str, Any]:
    return derive.measure(path, runs)


ROWS: dict[str, Callable[[Files, int], list[Result]]] = {
    "read": read,
    "index": indexed,
    "wet": functools.partial(derived, "wet"),
    "links": functools.partial(derived, "links"),
    "memory": memory,
}


def table(results: Sequence[Result]) -> str:
    lines = [f"{'row':8} {'case':22} {'windrow':>8}  peers, and how many times as long they take"]
    for result in results:
        peers = [f"{name} {spent:.1f} ({spent / result.windrow:.2f})" for name, spent in result.peers.items()]
        lines.append(f"{result.row:8} {result.case:22} {result.windrow:8.1f}  {', '.join(peers)}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", type=Path, default=Path("/tmp/medium"), help="the unpacked web")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", default=",".join(ROWS), help="rows, separated by commas")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not (given.web / "www").is_dir():
        sys.exit(f"{given.web} holds no web; unpack the profile medium of ../shared/web into it")
    with tempfile.TemporaryDirectory(prefix="windrow-archive-") as name:
        files = make(given.web, given.pages, Path(name))
        results = [result for row in given.only.split(",") for result in ROWS[row](files, given.runs)]
    as_rows: list[dict[str, Any]] = [result._asdict() for result in results]
    print(json.dumps(as_rows, indent=2) if given.json else table(results))


if __name__ == "__main__":
    main()
