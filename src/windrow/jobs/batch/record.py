"""A record of an archive, or a document of a corpus, as the job of a user sees it."""

import functools
from typing import Any

import msgspec

from windrow import archive
from windrow.archive import WarcRecord
from windrow.extraction.readers import decode, sniff
from windrow.jobs.inputs.pages import NOWHERE
from windrow.records import Capture, Document


class JobRecord:
    """One record of a WARC, WAT or WET file. Costly values are made when they are first used."""

    document: Document | None = None

    def __init__(self, record: WarcRecord) -> None:
        self.record = record  # as it is in the file

    @property
    def type(self) -> str:
        """The type of the record: "response", "request", "metadata", "conversion", "warcinfo" …"""
        return self.record.type

    @property
    def url(self) -> str:
        return self.record.target

    @property
    def date(self) -> str:
        """When it was captured: 2026-11-16T09:37:02Z."""
        return self.record.header("WARC-Date")

    def header(self, name: str) -> str:
        """Return a header of the record itself; "" if there is none."""
        return self.record.header(name)

    @property
    def status(self) -> int:
        """The status of the HTTP response; 0 if the record is no response."""
        return self._http.status if self._http is not None else 0

    def http_header(self, name: str) -> str:
        """Return a header of the HTTP request or response; "" if there is none."""
        return (self._http.header(name) or "") if self._http is not None else ""

    @functools.cached_property
    def body(self) -> bytes:
        """The bytes that were sent, without HTTP headers, chunks and compression; of other records, the whole block."""
        return archive.decoded(self._http).body if self._http is not None else self.record.block

    @functools.cached_property
    def text(self) -> str:
        """The body as text: in the encoding that a page declares, otherwise in a detected one."""
        kind = self.http_header("Content-Type") if self._http is not None else "text/plain; charset=utf-8"
        return decode.decode(self.body, kind)[0]

    @property
    def is_html(self) -> bool:
        """Whether it is the response with an HTML page, by header and content."""
        return self.type == "response" and sniff.is_html(self.http_header("Content-Type"), self.body)

    def json(self) -> Any:
        """Return the block as JSON, which the records of a WAT file hold."""
        return msgspec.json.decode(self.record.block)

    @functools.cached_property
    def _http(self) -> Capture | None:
        if "/http" not in self.record.header("Content-Type").lower():
            return None
        return archive.capture_of(self.record, NOWHERE)


class JobDocument:
    """One document of a corpus: what a job reads of a record is there too, as far as a document has it."""

    type = "document"
    status = 0
    is_html = False
    record = None

    def __init__(self, document: Document, line: bytes) -> None:
        self.document = document
        self._line = line

    @property
    def url(self) -> str:
        return self.document.url

    @property
    def date(self) -> str:
        """When its page was captured: 2026-11-16T09:37:02.123Z."""
        return self.document.time

    @property
    def text(self) -> str:
        """Its paragraphs, one per line."""
        return self.document.text

    @property
    def body(self) -> bytes:
        return self.text.encode()

    def header(self, name: str) -> str:
        return ""

    def http_header(self, name: str) -> str:
        return ""

    def json(self) -> Any:
        """Return its line in the corpus."""
        return msgspec.json.decode(self._line)
