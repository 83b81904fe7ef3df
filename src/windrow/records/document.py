"""A page in the corpus."""

import msgspec

from windrow.records.page import Paragraph, Signal


class Document(msgspec.Struct, frozen=True):
    """A page in the corpus: one line of a shard, see corpus/document.py."""

    format: int  # of this record, see corpus/document.py
    id: str  # of the response record: <urn:uuid:…>
    url: str
    time: str  # of the request: 2026-11-15T10:44:21.123Z
    place: "DocumentPlace"
    ip: str
    language: str  # of most of these paragraphs, ISO 639-3
    scores: dict[str, float]
    paragraphs: tuple[Paragraph, ...]
    title: str = ""
    author: str = ""
    date: str = ""
    charset: str = ""
    declared: str = ""  # the language that the page declares
    licence: str = ""
    site: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    image: str = ""
    signals: tuple[Signal, ...] = ()
    truncated: str = ""  # why the page is not complete: "length", "time" or "disconnect"
    page_language: str = ""  # of the page with the paragraphs that were dropped, if it differs from `language`

    @property
    def text(self) -> str:
        """The paragraphs, one per line."""
        return "\n".join([paragraph.text for paragraph in self.paragraphs])


class DocumentPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place of the archived bytes of a document."""

    file: str  # relative to the crawl directory
    offset: int
    length: int
    digest: str  # SHA-1 of the payload in base32
    crawl: str = ""  # name of the crawl directory, where documents of several crawls are in one file
