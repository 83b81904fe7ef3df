"""Measure what it costs to make WET files and links from an archive file, against warcio with lxml.

    python benchmarks/derive.py --web /tmp/medium [--pages 2000] [--runs 3] [--json]
    python benchmarks/derive.py --warc FILE [--runs 3] [--json]

The archive is made of pages of the web, in the form that a crawl writes: request, response and metadata, each a gzip
member. Costs are CPU time of this process on one core: the least of several runs, programs in turn. Both programs must
find the same text and the same links; how many pages differ is printed, because parsers repair broken pages in
different ways. The peers read with warcio, parse with lxml, and write with warcio's writer.

    wet    read the archive, extract all text of every page, write a WET file
    links  read the archive, find every link with its absolute URL, anchor and rel
    wat    the WAT file: only Windrow's cost, because no peer in Python writes one
"""

import argparse
import gc
import io
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from windrow import archive, config, urls
from windrow.extraction.tags.elements import TAGS, TagFlag
from windrow.jobs.derive import job, links
from windrow.records import Capture, Task

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html%b\r\nContent-Length: %d\r\n\r\n"
_REQUEST = b"GET / HTTP/1.1\r\nHost: %b\r\nUser-Agent: benchmark\r\n\r\n"
_BLOCK = {tag for tag, rule in TAGS.items() if rule.flags & TagFlag.BLOCK}
_SPACE = {tag for tag, rule in TAGS.items() if rule.flags & TagFlag.SPACE}
_SILENT = {"script", "style"}

Texts = dict[str, bytes]


def write_archive(web: Path, directory: Path, pages: int) -> Path:
    """Return an archive file of pages from many hosts."""
    options = config.make(["archive.max_bytes=100000000000"], directory)
    writer = archive.Writer(directory, options.archive, "n0", {})
    files = sorted(path for path in (web / "www").rglob("*.html") if path.is_file())
    random.Random(1).shuffle(files)
    for seq, path in enumerate(files[:pages], 1):
        url = urls.parse(f"http://{path.relative_to(web / 'www').as_posix()}")
        if url is not None:
            writer.append(writer.compress(_capture(url, path.read_bytes())), seq)
            writer.flush()
    writer.sync()
    return next((directory / "warc").glob("*.warc.gz"))


def _capture(url: Any, body: bytes) -> Capture:
    charset = b"; charset=utf-8" if _is_utf8(body) else b""
    return Capture(
        task=Task(url),
        status=200,
        request=_REQUEST % url.host.encode(),
        head=_HEAD % (charset, len(body)),
        body=body,
        time=1700000000.0,
        seconds=0.1,
        ip="192.0.2.1",
        protocol="http/1.1",
    )


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


# Windrow


def own(source: Path, output: Path, **wanted: Any) -> int:
    """Make files of an archive; return the records or rows."""
    options = job.DeriveOptions(output=str(output), **wanted)
    row = next(iter(job.derive(options, str(source)))).to_pylist()[0]
    return int(row["wat"] + row["wet"] + row["links"])


def own_links(source: Path) -> int:
    """Return how many links an archive has, all of them read as rows."""
    return sum(batch.num_rows for batch in links.rows(str(source)))


# warcio and lxml


def pages_by_warcio(source: Path) -> Iterator[tuple[str, str, bytes, str]]:
    """Yield URL, record id, body and charset of every HTML response."""
    from warcio.archiveiterator import ArchiveIterator

    with source.open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type != "response":
                continue
            kind = record.http_headers.get_header("Content-Type") or ""
            if "html" in kind:
                url = record.rec_headers.get_header("WARC-Target-URI")
                name = record.rec_headers.get_header("WARC-Record-ID")
                yield url, name, record.content_stream().read(), "utf-8" if "utf-8" in kind else ""


def parsed_by_lxml(body: bytes, charset: str) -> Any:
    from lxml import etree, html

    try:
        return html.document_fromstring(body, parser=html.HTMLParser(encoding=charset or None))
    except (etree.LxmlError, ValueError):
        return None


def text_by_lxml(root: Any) -> str:
    """Return the text of a page by the rules of WET files: a line per block."""
    lines: list[list[str]] = [[]]
    for event, element in _events(root):
        tag = element.tag if isinstance(element.tag, str) else None
        if tag is not None:
            if tag in _BLOCK:
                lines.append([])
            elif tag in _SPACE:
                lines[-1].append(" ")
        text = element.text if event == "start" and tag is not None and tag not in _SILENT else None
        if event == "end":
            text = element.tail
        if text:
            lines[-1].append(text)
    joined = [" ".join("".join(line).split()) for line in lines]
    return "\n".join([line for line in joined if line])


def _events(root: Any) -> Iterator[tuple[str, Any]]:
    from lxml import etree

    return etree.iterwalk(root, events=("start", "end", "comment", "pi"))  # type: ignore[no-any-return]


def wet_by_warcio(source: Path, output: Path) -> int:
    from warcio.warcwriter import WARCWriter

    count = 0
    with output.open("wb") as file:
        writer = WARCWriter(file, gzip=True, warc_version="1.0")
        for url, name, body, charset in pages_by_warcio(source):
            root = parsed_by_lxml(body, charset)
            text = text_by_lxml(root) if root is not None else ""
            if text:
                headers = {"WARC-Refers-To": name}
                record = writer.create_warc_record(
                    url,
                    "conversion",
                    io.BytesIO(text.encode()),
                    warc_content_type="text/plain",
                    warc_headers_dict=headers,
                )
                writer.write_record(record)
                count += 1
    return count


def links_by_warcio(source: Path) -> int:
    return sum(1 for url, _, body, charset in pages_by_warcio(source) for _ in links_by_lxml(url, body, charset))


def links_by_lxml(url: str, body: bytes, charset: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the page, path, absolute URL, anchor and rel of every link."""
    root = parsed_by_lxml(body, charset)
    if root is None:
        return
    base = root.base_url or url
    for element in root.iter("base"):
        base = urljoin(url, element.get("href") or url)
        break
    for element, attribute, href, _ in root.iterlinks():
        try:
            target = urljoin(base, href)
        except ValueError:
            continue
        anchor = " ".join(element.text_content().split())[:128] if element.tag == "a" else ""
        yield url, f"{element.tag}@/{attribute}", target, anchor, element.get("rel") or ""


# Comparison


def texts_of(wet: Path) -> Texts:
    return {record.target: record.block for record in archive.records(wet) if record.type == "conversion"}


def same_text(ours: Texts, theirs: Texts) -> float:
    """Return the share of pages whose words are the same in both."""
    common = [url for url in ours if url in theirs]
    equal = sum(ours[url].split() == theirs[url].split() for url in common)
    return equal / max(len(common), 1)


def least(runs: int, functions: dict[str, Callable[[], int]]) -> dict[str, tuple[float, int]]:
    """Return the least CPU seconds of each function, and what it returned; they run in turn."""
    found: dict[str, tuple[float, int]] = {}
    for _ in range(runs):
        for name, function in functions.items():
            gc.collect()
            start = time.process_time()
            result = function()
            seconds = time.process_time() - start
            found[name] = min(found.get(name, (seconds, result)), (seconds, result))
    return found


def measure(source: Path, runs: int) -> dict[str, Any]:
    """Return the CPU of each program per page. Called by benchmarks/archive.py too."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        functions: dict[str, Callable[[], int]] = {
            "wet windrow": lambda: own(source, scratch, wet="all"),
            "wet warcio+lxml": lambda: wet_by_warcio(source, scratch / "peer.wet.gz"),
            "links windrow": lambda: own_links(source),
            "links warcio+lxml": lambda: links_by_warcio(source),
            "wat windrow": lambda: own(source, scratch, wat=True),
            "all four windrow": lambda: own(source, scratch, wat=True, wet="all", links=True, pages=True),
        }
        found = least(runs, functions)
        same = same_text(texts_of(next((scratch / "wet").iterdir())), texts_of(scratch / "peer.wet.gz"))
    pages = sum(1 for _ in pages_by_warcio(source))
    costs = {name: {"us_per_page": 1e6 * seconds / pages, "found": count} for name, (seconds, count) in found.items()}
    return {
        "pages": pages,
        "bytes": source.stat().st_size,
        "costs": costs,
        "wet_ratio": found["wet warcio+lxml"][0] / found["wet windrow"][0],
        "links_ratio": found["links warcio+lxml"][0] / found["links windrow"][0],
        "same_text": same,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--web", type=Path)
    parser.add_argument("--warc", type=Path)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    try:
        import lxml  # noqa: F401
    except ImportError:
        sys.exit("the peer needs lxml; install it with: pip install lxml")
    with tempfile.TemporaryDirectory() as name:
        source = given.warc or write_archive(given.web, Path(name), given.pages)
        found = measure(source, given.runs)
    if given.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{found['pages']:,} pages, {found['bytes'] / 1e6:.1f} MB")
    for kind, cost in found["costs"].items():
        print(f"{kind:20} {cost['us_per_page']:8.0f} µs per page   {cost['found']:>9,} found")
    print(f"WET {found['wet_ratio']:.1f}x, links {found['links_ratio']:.1f}x, peak {found['peak_megabytes']:.0f} MB")
    print(f"both programs find the same words on {found['same_text']:.1%} of the pages")


if __name__ == "__main__":
    main()
