"""The records of an archive file, each response with what its page holds and with the languages that are noted of it.

A metadata record follows its response, so a response is handed on when the next record is known.
"""

import contextlib
import functools
import re
from collections.abc import Iterator

import msgspec

from windrow import archive, urls
from windrow.archive import Damage, WarcRecord, fields
from windrow.archive.reading.single import as_response
from windrow.archive.record import is_tombstone
from windrow.extraction import tags
from windrow.extraction.readers import decode, encode, sniff
from windrow.extraction.tags import PageTags
from windrow.io.storage import AnyPath
from windrow.records import Capture, Url
from windrow.takedown import Takedown

MOST = 1 << 17  # metas, links and scripts of a page: more than a page for people has
_READ = 1 << 24  # characters of a page
_CONTENT_TYPE = re.compile(rb"(?im)^content-type[ \t]*:[ \t]*([^\r\n]*)")
_NOWHERE = Url("", "", "", 0)


class CldLanguage(msgspec.Struct, frozen=True):
    code: str = msgspec.field(name="code-iso-639-3", default="")


class CldLanguages(msgspec.Struct, frozen=True):
    """The value of `languages-cld2` in a metadata record of Common Crawl."""

    languages: list[CldLanguage] = []


_cld = msgspec.json.Decoder(CldLanguages).decode


class HtmlPage(msgspec.Struct, frozen=True):
    """What a page holds."""

    charset: str
    tags: PageTags
    size: int  # bytes of the decoded body

    def base(self, own: str) -> str:
        """Return the URL that the links are relative to."""
        if self.tags.base is None:
            return own
        url = urls.join(own, [self.href(self.tags.base)])[0]
        return url.text if url is not None else own

    def href(self, written: str) -> str:
        return written if self.charset == "UTF-8" else encode.href(written, self.charset)


class ReadRecord(msgspec.Struct, frozen=True):
    """A record of an archive."""

    record: WarcRecord
    head: bytes = b""  # of an http message, or of the answer that would have been sent with a resource
    body: bytes = b""  # as stored
    page: HtmlPage | None = None
    notes: tuple[tuple[str, str], ...] = ()  # fields of the metadata record that follows a response
    detected: str = ""  # languages, if the archive notes none

    @property
    def url(self) -> Url:
        return _url(self.record.target)

    @property
    def status(self) -> int:
        return fields.status(self.head)

    @property
    def content_type(self) -> str:
        match = _CONTENT_TYPE.search(self.head)
        return match[1].decode("latin-1").strip() if match else ""

    @property
    def languages(self) -> str:
        """The languages of a page, ISO 639-3 with commas, as the archive notes them, or else as they were detected."""
        for name, value in self.notes:
            if name == "languages-cld2":
                with contextlib.suppress(msgspec.MsgspecError):
                    return ",".join([language.code for language in _cld(value).languages if language.code])
        return self.detected

    def capture(self) -> Capture:
        """Return the exchange as an extractor reads it."""
        return archive.decoded(archive.capture_of(self.record, self.url))


def header_lines(head: bytes) -> list[tuple[str, str, str]]:
    """Return the lines of a header behind its first as name, colon and value: UTF-8 if it is that, else Latin-1.

    A line that begins with a blank continues the one before. A line without a colon is no field.
    """
    text = text_of(head).replace("\r\n", "\n")
    if "\n " in text or "\n\t" in text:
        text = text.replace("\n ", " ").replace("\n\t", " ")
    return [(name.strip(), colon, value.strip()) for name, colon, value in _parted(text)]


def _parted(text: str) -> Iterator[tuple[str, str, str]]:
    return (line.partition(":") for line in text.split("\n")[1:] if line)


def text_of(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


class PageReader:
    """Reads one file."""

    def __init__(self, path: AnyPath, end: int | None, listed: Takedown, most: int = MOST) -> None:
        """`most`: metas, links and scripts that are wanted of a page."""
        self._path, self._end, self._listed, self._most = path, end, listed, most
        self.left_out = 0  # records on the takedown list, or purged
        self.damages: list[Damage] = []  # parts of the file that were skipped, or put right

    def records(self) -> Iterator[ReadRecord]:
        """Yield the intact records in order. Damage is noted, and reading continues behind it."""
        waiting: ReadRecord | None = None
        for record in archive.records(self._path, end=self._end, report=self.damages.append):
            if is_tombstone(record) or self._taken_down(record):
                self.left_out += 1
                continue
            if self.damages and not _intact(record):
                continue
            result = read(record, self._most)
            if waiting is not None:
                yield _noted(waiting, record)
                waiting = None
            if result.page is not None:
                waiting = result
            else:
                yield result
        if waiting is not None:
            yield waiting

    def problem(self) -> str:
        """Return what is damaged, in one sentence; empty: nothing."""
        if not self.damages:
            return ""
        more = f"; {len(self.damages) - 1:,} more places" if len(self.damages) > 1 else ""
        return f"{self.damages[0]}{more}"

    def _taken_down(self, record: WarcRecord) -> bool:
        return bool(self._listed) and bool(url := _url(record.target).text) and self._listed.covers(url)


def read(record: WarcRecord, most: int = MOST) -> ReadRecord:
    kind = record.type
    http = kind in ("response", "revisit", "request") and "/http" in record.header("Content-Type").lower()
    if not http and kind != "resource":
        return ReadRecord(record)
    # A resource is a file without its exchange: it is read as if a server had sent it.
    head, body = fields.split((record if http else as_response(record)).block, {})
    page = _page(record, head, body, most) if kind in ("response", "resource") else None
    return ReadRecord(record, head=head, body=body, page=page)


def _page(record: WarcRecord, head: bytes, body: bytes, most: int) -> HtmlPage | None:
    """Return what a page holds; None if it is not HTML. The type that the archive identified comes before the
    declared one, as in Common Crawl's files."""
    match = _CONTENT_TYPE.search(head)
    declared = match[1].decode("latin-1").strip() if match else ""
    identified = record.header("WARC-Identified-Payload-Type")
    if identified and sniff.media_type(identified) not in sniff.HTML:
        return None
    if fields.encoded(head):
        capture = archive.decoded(archive.capture_of(record, _url(record.target)))
        if capture.encoded:
            return None
        body = capture.body
    if not sniff.is_html(identified or declared, body):
        return None
    text, charset = decode.decode(body, declared)
    return HtmlPage(charset, tags.read(text[:_READ], most), len(body))


def _intact(record: WarcRecord) -> bool:
    """Return whether a record has its proper end, or at least the right digest."""
    return bool(record.length) or archive.verify(record) is True


def _noted(response: ReadRecord, following: WarcRecord) -> ReadRecord:
    """Return a response with the fields of its metadata record, if that is what follows."""
    if following.type != "metadata" or following.header("WARC-Concurrent-To") != response.record.header(
        "WARC-Record-ID"
    ):
        return response
    notes = tuple(fields.decode(following.block).items())
    return msgspec.structs.replace(response, notes=notes)


@functools.lru_cache(64)
def _url(target: str) -> Url:
    return urls.parse(target) or _NOWHERE
