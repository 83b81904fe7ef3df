"""The pages in the files that a user names: HTML, plain or compressed, and every page of a WARC file.

A page is what a table of readers takes, without one HTML. What a file is, its first bytes say; its name counts only as
the type that it declares to such a table. A WARC file is read page by page, so it may be of any size.
"""

import contextlib
import mimetypes
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from windrow import archive, urls
from windrow.archive import Damage, ReadOptions, bodies
from windrow.archive.reading import sniff as payload
from windrow.config import ConfigError
from windrow.extraction.readers import ReaderTable, sniff
from windrow.io import coding
from windrow.jobs.inputs import arguments
from windrow.records import Capture, Page, Paragraph, Task, Url

NOWHERE = Url("http://page.invalid/", "page.invalid", "page.invalid", 0)  # of a page whose URL is unknown
_MOST = bodies.LIMIT  # bytes read of a file that is one page
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}
_KINDS = {
    "application/pdf": "a PDF file",
    "application/zip": "a zip file",
    "application/gzip": "a gzip file",
    "application/zstd": "a zstd file",
}

Watch = Callable[[int], None]  # called with the bytes of an archive that were read since the last call


class PageFile(msgspec.Struct, frozen=True):
    """A file that the user named."""

    name: str  # as it is shown
    path: Path  # where its bytes are
    archive: bool  # a WARC file

    @property
    def size(self) -> int:
        return self.path.stat().st_size


@contextlib.contextmanager
def opened(name: str) -> Iterator[PageFile]:
    """Look at a file. Standard input and pipes are copied into a temporary file first, because they are read twice."""
    shown = name.encode("utf-8", "replace").decode()  # a file name need not be valid UTF-8
    with contextlib.ExitStack() as stack:
        try:
            path = _path(name, stack)
            yield PageFile(shown, path, archive.is_archive(path))
        except OSError as error:
            if error.filename not in (None, name):
                raise
            raise arguments.unreadable(shown, error) from None


def captures(file: PageFile, url: Url | None, watch: Watch, table: ReaderTable | None = None) -> Iterator[Capture]:
    """Yield the pages of a file. ConfigError: there is none, or the file is damaged; before that, all intact ones.

    `url`: of the page, if it is known; an archive knows its own.
    """
    if file.archive:
        yield from _of_archive(file, watch, table)
        return
    with file.path.open("rb") as opened:
        body = opened.read(_MOST)
    watch(file.size)
    packed = _PACKED.get(body[:2])
    unpacked = coding.decode(body, packed, _MOST).body if packed else body
    kind = table.media_type(mimetypes.guess_type(file.name)[0] or "", unpacked) if table else ""
    if kind in ("", "text/html"):
        yield of_html(url, _html(file, body, unpacked))
    else:
        yield _sent(url, unpacked, kind)


def of_html(url: Url | None, body: bytes, charset: str = "") -> Capture:
    """Return an HTML page as if a server had sent it."""
    return _sent(url, body, f"text/html; charset={charset}" if charset else "text/html")


def _sent(url: Url | None, body: bytes, content_type: str) -> Capture:
    return Capture(
        task=Task(url or NOWHERE),
        status=200,
        request=b"",
        head=f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n".encode("ascii", "replace"),
        body=body,
        time=0.0,
        seconds=0.0,
        ip="",
        protocol="http/1.1",
    )


def parsed(url: str) -> Url | None:
    """Return the URL of a page, None if it is empty."""
    if not url:
        return None
    parsed = urls.parse(url)
    if parsed is None:
        raise ConfigError(f"the URL {url!r} is not an http or https URL; write it as https://example.org/page")
    return parsed


def marks(wanted: bool) -> list[str]:
    """Return the setting that keeps links and emphasis within paragraphs."""
    return ["extract.marks=true"] if wanted else []


def relative(page: Page) -> Page:
    """Return a page whose URL is unknown with relative links: the extractor joined them with NOWHERE."""
    nowhere = NOWHERE.text.removesuffix("/")
    paragraphs = tuple([_with_relative_links(paragraph, nowhere) for paragraph in page.paragraphs])
    licence, image = page.licence.removeprefix(nowhere), page.image.removeprefix(nowhere)
    return msgspec.structs.replace(page, paragraphs=paragraphs, licence=licence, image=image)


def _with_relative_links(paragraph: Paragraph, nowhere: str) -> Paragraph:
    if not paragraph.marks:
        return paragraph
    marks = [msgspec.structs.replace(mark, target=mark.target.removeprefix(nowhere)) for mark in paragraph.marks]
    return msgspec.structs.replace(paragraph, marks=tuple(marks))


def _path(name: str, stack: contextlib.ExitStack) -> Path:
    arguments.check(name)
    if name == "-":
        return _copied(sys.stdin.buffer, stack)
    path = Path(name)
    if path.exists() and not path.is_file():
        return _copied(stack.enter_context(path.open("rb")), stack)
    return path


def _copied(source: IO[bytes], stack: contextlib.ExitStack) -> Path:
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="windrow-"))) / "input"
    with path.open("wb") as copy:
        shutil.copyfileobj(source, copy)
    return path


def _html(file: PageFile, body: bytes, unpacked: bytes) -> bytes:
    """Return a body that is HTML. A page may be stored compressed."""
    packed = _PACKED.get(body[:2])
    fix = "name a file of HTML, or a WARC file"
    if sniff.is_html("text/html", unpacked):
        if b"<" not in unpacked:
            raise ConfigError(f"{file.name} is plain text without a tag, not an HTML page; {fix}")
        return unpacked
    if not body:
        raise ConfigError(f"{file.name} is empty; {fix}")
    kind = payload.identify(b"", unpacked or body)
    if packed and unpacked:
        within = _KINDS.get(kind, f"data of the type {kind}")
        raise ConfigError(f"{file.name} is {packed} with {within} in it, not an HTML page; {fix}")
    shown = _KINDS.get(kind, f"a file of the type {kind}")
    raise ConfigError(f"{file.name} is {shown}, not an HTML page; {fix}")


def _of_archive(file: PageFile, watch: Watch, table: ReaderTable | None) -> Iterator[Capture]:
    is_page = table.media_type if table else sniff.is_html
    reached, pages = 0, 0
    damages: list[Damage] = []
    for stored in archive.captures(file.path, ReadOptions(resources=True, report=damages.append)):
        watch(max(stored.place.offset - reached, 0))
        reached = max(stored.place.offset, reached)
        capture = stored.capture
        if 200 <= capture.status < 300 and is_page(capture.header("Content-Type") or "", capture.body):
            pages += 1
            yield capture
    watch(max(file.size - reached, 0))
    if damages:
        first, more = damages[0], f", and {len(damages) - 1:,} more places are damaged" if len(damages) > 1 else ""
        raise ConfigError(f"{file.name}, byte {first.start}: {first.what}{more}; all intact pages were read")
    if not pages:
        raise ConfigError(f"{file.name} holds no HTML page; name a WARC file with pages that were answered with 200")
