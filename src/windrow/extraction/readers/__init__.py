"""Readers: from a capture to a page, a listing, or nothing, by media type.

`table` is the way in. It makes the readers that the options name, and the result is one function from a capture to a
`Page` (text and links) or a `Listing` (links with dates, no text). A crawl and every job that reads pages ask the same
table, so a rebuild reads what the crawl has read. Which reader a capture gets is decided in `sniff.media_types`, from
the declared type and the first bytes. `html` is always in the table: its reader is the extractor of the options, and
what no reader takes is an empty page. `extract.readers` adds the others.

    html        HTML and XHTML: the extractor
    plain       text/plain, and the text of WET files
    sitemap     sitemaps in XML, as text, or packed: a listing
    sniff       what a body is: by its declared type, and by its first bytes
    header      what the header says of the body: its type, and directives for robots
    decode, guess, encode    from bytes to text as a browser does it, and back for the queries of links

The well-known files of an origin, such as robots.txt, have a table of their own, `origin.FILES`: they are chosen by
their path whatever their type, are read without an answer too, and say something of an origin, not of a page.
"""

import functools
from collections.abc import Callable, Container, Mapping

import msgspec

from windrow import extraction, plugins
from windrow.config import Config, ConfigError
from windrow.extraction import ExtractorOptions
from windrow.extraction.readers import header
from windrow.plugins import OpenTable, WrongResult
from windrow.records import Capture, Listing, Page

Read = Callable[[Capture], Page | Listing | None]


class Reader(msgspec.Struct, frozen=True):
    """How captures of some media types are read, and what that may cost. A limit only lowers that of the crawl."""

    types: tuple[str, ...]  # media types, lower case; "text/html" stands for XHTML too
    read: Read  # None: the capture is of another type after all
    bytes: int = 0  # of a body: a longer one is not read; 0: fetch.max_bytes
    seconds: float = 0.0  # of CPU per capture; 0: workers.seconds
    megabytes: int = 0  # that reading may add to the address space of a worker, in MiB; 0: up to workers.megabytes


class ReaderTable:
    """Reads captures, each by the reader of its media type."""

    def __init__(self, rows: Mapping[str, Reader], extractor: Reader, agent: str) -> None:
        """`agent`: the name by which an author may address our robot alone."""
        self._rows, self._extractor, self._agent = rows, extractor, agent.lower()
        self._only_html = [*rows.values()] == [extractor]

    def __call__(self, capture: Capture, reader: Reader | None = None) -> Page | Listing:
        """Read a capture; the page is empty if no reader takes it, or if it is longer than its reader allows.

        `reader`: what `reader` returned of this capture, if it was asked already.
        """
        reader = reader or self.reader(capture)
        if reader is self._extractor:
            page = reader.read(capture)
            assert isinstance(page, Page)
            return page
        return self._directed(reader, capture)

    def page(self, capture: Capture) -> Page:
        """Read a capture; a listing is a page without text."""
        result = self(capture)
        return result if isinstance(result, Page) else Page(nofollow=result.nofollow)

    def reader(self, capture: Capture) -> Reader:
        """Return the reader of a capture. What no reader takes goes to the extractor, which then gives an empty page:
        a user's extractor may read more than HTML."""
        if self._only_html:
            return self._extractor
        return self._rows.get(self.media_type(header.content_type(capture.head), capture.body), self._extractor)

    def media_type(self, content_type: str, body: bytes) -> str:
        """Return the media type as which a body of this declared type is read; "" if no reader takes it."""
        from windrow.extraction.readers import sniff  # with the parser, which the driver does without

        return next((kind for kind in sniff.media_types(content_type, body) if kind in self._rows), "")

    def _directed(self, reader: Reader, capture: Capture) -> Page | Listing:
        """Return what a reader has found, with the directives of the header, which the extractor reads itself."""
        unread = capture.encoded or 0 < reader.bytes < len(capture.body)
        result = None if unread else reader.read(capture)
        result = Page() if result is None else result
        _, directives = header.read(capture.head, self._agent)
        nofollow = result.nofollow or header.nofollow(directives)
        if isinstance(result, Listing):
            return msgspec.structs.replace(result, nofollow=nofollow)
        noindex = result.noindex or header.noindex(directives)
        return msgspec.structs.replace(result, nofollow=nofollow, noindex=noindex)


def table(options: Config, known: Container[int] | None = None) -> ReaderTable:
    """Return the readers that the options name, made: errors appear before the first page. `known`: see `extractor`."""
    given = ExtractorOptions(options, known)
    extractor = _html(given, None)
    rows = dict.fromkeys(extractor.types, extractor)
    for name in options.extract.readers:
        reader = plugins.build(OpenTable("extract.readers", READERS), name, options.plugins, given)
        if not isinstance(reader, Reader):
            fix = "name a function (options, inner) that returns a windrow.extraction.readers.Reader"
            raise ConfigError(f"option 'extract.readers' names {name!r}, which makes no reader; {fix}")
        checked = msgspec.structs.replace(reader, read=functools.partial(_result, name, reader.read))
        rows |= dict.fromkeys(reader.types, checked)
    return ReaderTable(rows, extractor, options.identity.name)


def _result(name: str, read: Read, capture: Capture) -> Page | Listing | None:
    result = read(capture)
    if not isinstance(result, Page | Listing | None):
        raise WrongResult(f"the reader returned {type(result).__name__}, not a Page, a Listing or None", name, read)
    return result


def _html(options: ExtractorOptions, inner: Reader | None) -> Reader:
    return Reader(("text/html",), extraction.extractor(*options))


def _plain(options: ExtractorOptions, inner: Reader | None) -> Reader:
    from windrow.extraction.readers import plain

    return Reader(("text/plain",), plain.read)


def _sitemap(options: ExtractorOptions, inner: Reader | None) -> Reader:
    from windrow.extraction.readers import sitemap, sniff

    return Reader((sniff.SITEMAP, sniff.GZIP), sitemap.read, bytes=sitemap.LIMIT)


# Each module is imported when it is chosen. A new reader is a module here and a line below.
READERS: dict[str, Callable[[ExtractorOptions, Reader | None], Reader]] = {
    "html": _html,
    "plain": _plain,
    "sitemap": _sitemap,
}
