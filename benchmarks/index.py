"""Measure the CPU time of `windrow index` per capture, and that of cdxj-indexer over the same files in the same run.

    python benchmarks/index.py [--pages DIR] [--captures 10000] [--rounds 3] [--json]

Row `lines`: one archive file to its sorted CDXJ lines, which is what cdxj-indexer does with --sort. Row `merge`: the
lines to shards, flat index and table, which it does not do. The archive has a request, a response and a metadata
record per capture. Its pages are the files below --pages, in the order of their names, or, without it, texts of the
demo between tags. The rounds alternate, and the smallest time of each side counts.
"""

import argparse
import contextlib
import io
import itertools
import json
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
from windrow.archive import Writer  # noqa: E402
from windrow.archive.cdxj import CdxLines  # noqa: E402
from windrow.batch.index import merge  # noqa: E402
from windrow.batch.index.manifest import IndexedFile  # noqa: E402
from windrow.batch.runs import SortedLines  # noqa: E402
from windrow.config import ArchiveOptions  # noqa: E402
from windrow.data import Capture, Task  # noqa: E402

TEXTS = ROOT / "src" / "windrow" / "demo" / "texts"
HEAD = (
    b"HTTP/1.1 200 OK\r\nDate: Sat, 15 Nov 2025 09:46:40 GMT\r\nServer: nginx\r\n"
    b"Content-Type: text/html; charset=UTF-8\r\nVary: Accept-Encoding\r\nCache-Control: max-age=3600\r\n"
    b"X-Crawler-Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
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


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def ours(path: Path) -> list[bytes]:
    return sorted(CdxLines(path, f"warc/{path.name}").read())


def theirs(path: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.CDXJIndexer("-", [str(path)], sort=True).process_all()


def merged(lines: list[bytes], path: Path) -> None:
    entry = IndexedFile(
        name=f"warc/{path.name}", length=path.stat().st_size, crawl="BENCH", subset="warc", segment="0.0"
    )
    with tempfile.TemporaryDirectory() as directory, SortedLines() as found:
        for line in lines:
            found.add(line)
        merge.write(Path(directory), found, [entry])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path)
    parser.add_argument("--captures", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path, size = write(Path(directory), given.captures, pages(given.pages))
        times: dict[str, list[float]] = {"lines": [], "cdxj-indexer": [], "merge": []}
        for _ in range(given.rounds):
            times["lines"].append(seconds(lambda: ours(path)))
            times["cdxj-indexer"].append(seconds(lambda: theirs(path)))
        lines = ours(path)
        times["merge"].append(seconds(lambda: merged(lines, path)))
        packed = path.stat().st_size
    best = {name: min(found) / given.captures * 1e6 for name, found in times.items()}
    result = {
        "captures": given.captures,
        "bytes per page": round(size / given.captures),
        "compressed bytes per capture": round(packed / given.captures),
        "µs per capture": {name: round(value, 1) for name, value in best.items()},
        "ratio": round(best["cdxj-indexer"] / best["lines"], 2),
    }
    if given.json:
        print(json.dumps(result, ensure_ascii=False, indent=2))
        return
    print(f"{given.captures:,} captures, {result['bytes per page']:,} bytes per page")
    for name, value in best.items():
        print(f"{name:<14} {value:8.1f} µs per capture")
    print(f"cdxj-indexer needs {result['ratio']} times the CPU time of lines")


if __name__ == "__main__":
    main()
