"""The text of the files that a user names: plain text, HTML, or the pages of a WARC file; also packed, or a pipe.

Plain text is read line by line, so a file may be of any size. A line is a paragraph or a sentence.
"""

import contextlib
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from windrow import config, extraction
from windrow.config import ConfigError
from windrow.extraction import Extractor
from windrow.extraction.readers import sniff
from windrow.io.streams import ByteStream
from windrow.jobs.inputs import pages
from windrow.jobs.inputs.pages import PageFile, Watch
from windrow.records import KEPT_KINDS

_HEAD = 1024  # bytes that show whether a file is HTML
_WATCHED = 1000  # lines between two looks at how far a file is read


class TextSource(msgspec.Struct, frozen=True):
    """A text that stands for itself: a file of text, or a page."""

    name: str  # of the file; of a page in an archive, its URL
    lines: Iterable[str]
    page: bool = False  # the main text of a page, not plain text


def size(names: Iterable[str]) -> int:
    """Return the bytes to read, as far as they are known."""
    return sum(Path(name).stat().st_size for name in names if name != "-" and Path(name).is_file())


def sources(names: Iterable[str], watch: Watch) -> Iterator[TextSource]:
    """Yield the texts of some files. Each must be read before the next one."""
    for name in names:
        with pages.opened(name) as file:
            if file.archive or _is_html(file):
                for capture in pages.captures(file, None, watch):
                    page = _extractor()(capture)
                    shown = capture.task.url.text if file.archive else file.name
                    main = [paragraph.text for paragraph in page.paragraphs if paragraph.kind in KEPT_KINDS]
                    yield TextSource(shown, main, page=True)
            else:
                yield TextSource(file.name, _decoded(file, watch))


def lines(names: Iterable[str], watch: Watch) -> Iterator[str]:
    """Yield the lines of some files, and the paragraphs of the pages among them."""
    for source in sources(names, watch):
        yield from source.lines


def raw_lines(name: str, watch: Watch) -> Iterator[bytes]:
    """Yield the lines of a file, unpacked, as bytes."""
    with pages.opened(name) as file:
        yield from _lines(file, watch)


def _lines(file: PageFile, watch: Watch) -> Iterator[bytes]:
    with contextlib.closing(ByteStream(file.path)) as stream:
        reached = 0
        for number, line in enumerate(stream.parts(b"")):
            if number % _WATCHED == 0:
                watch(stream.position - reached)
                reached = stream.position
            yield line
        watch(stream.position - reached)


def _decoded(file: PageFile, watch: Watch) -> Iterator[str]:
    for number, line in enumerate(_lines(file, watch), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            fix = "convert it first, text in another encoding with iconv, a PDF with pdftotext"
            raise ConfigError(f"{file.name}, line {number:,}: not UTF-8 text; {fix}") from None


def _is_html(file: PageFile) -> bool:
    with contextlib.closing(ByteStream(file.path)) as stream:
        return sniff.is_html("", stream.peek(_HEAD)[:_HEAD])


@functools.cache
def _extractor() -> Extractor:
    return extraction.extractor(config.make(["extract.max_links=0"], Path()))
