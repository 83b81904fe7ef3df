"""The table of pages: one row per response of an archive, HTML or not, in the order of the archive."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow

from windrow import urls
from windrow.archive import WarcRecord, names
from windrow.archive.reading import sniff
from windrow.extraction.readers.sniff import media_type
from windrow.extraction.tags import Record
from windrow.jobs.derive import columns, exchange
from windrow.jobs.derive.columns import PAGE, ColumnLists
from windrow.jobs.derive.exchange import PageReader, ReadRecord
from windrow.takedown import Takedown

_ROWS = 1 << 10  # of a batch: a row has some 5 kB of headers and metas
_TEXT = pyarrow.string()
_PAIR = pyarrow.struct([("name", _TEXT), ("value", _TEXT)])
_META = pyarrow.struct([("name", _TEXT), ("property", _TEXT), ("http_equiv", _TEXT), ("content", _TEXT)])
SCHEMA = pyarrow.schema(
    [
        *PAGE,
        ("warc_record_id", _TEXT),
        ("fetch_status", pyarrow.int16()),
        ("fetch_redirect", _TEXT),
        ("ip_address", _TEXT),
        ("content_digest", _TEXT),
        ("content_mime_type", _TEXT),
        ("content_mime_detected", _TEXT),
        ("content_charset", _TEXT),
        ("content_languages", _TEXT),
        ("content_truncated", _TEXT),
        ("content_length", pyarrow.int64()),
        ("headers", pyarrow.list_(_PAIR)),
        ("title", _TEXT),
        ("html_lang", _TEXT),
        ("canonical", _TEXT),
        ("base", _TEXT),
        ("metas", pyarrow.list_(_META)),
        ("links", pyarrow.int32()),
        ("text_length", pyarrow.int64()),
    ]
)


class PageRows:
    """Makes rows of responses."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._lists = ColumnLists(SCHEMA, SCHEMA.names, _ROWS)
        self.count = 0

    def add(self, source: ReadRecord) -> Iterator[pyarrow.RecordBatch]:
        """Add a record if it is a response; yield a batch if one is full."""
        if source.record.type not in ("response", "revisit", "resource") or not source.head:
            return
        self._lists.add(_row(source, self._file), {}, 1)
        self.count += 1
        yield from self._lists.full()

    def rest(self) -> Iterator[pyarrow.RecordBatch]:
        yield from self._lists.rest()


def rows(source: str) -> Iterator[pyarrow.RecordBatch]:
    """Yield the pages of an archive file: a function of the engine."""
    path = Path(source)
    made = PageRows(names.place(path))
    for found in PageReader(path, None, Takedown()).records():
        yield from made.add(found)
    yield from made.rest()


def _row(source: ReadRecord, file: str) -> dict[str, Any]:
    record = source.record
    headers = [(name, value) for name, colon, value in exchange.header_lines(source.head) if colon]
    digest = record.header("WARC-Payload-Digest")
    return {
        **columns.page(source, file),
        "warc_record_id": record.header("WARC-Record-ID") or None,
        "fetch_status": source.status or None,
        "fetch_redirect": _redirect(source, headers),
        "ip_address": record.header("WARC-IP-Address") or None,
        "content_digest": digest.removeprefix("sha1:") or None,
        "content_mime_type": media_type(source.content_type) or None,
        "content_mime_detected": _detected(record, source),
        "content_languages": source.languages or None,
        "content_truncated": record.header("WARC-Truncated") or None,
        "headers": [{"name": name, "value": value} for name, value in headers],
        **_of_page(source),
    }


def _of_page(source: ReadRecord) -> dict[str, Any]:
    page = source.page
    if page is None:
        names = ("content_charset", "title", "html_lang", "canonical", "base", "metas", "links", "text_length")
        return dict.fromkeys(names) | {"content_length": len(source.body)}
    tags = page.tags
    return {
        "content_charset": page.charset,
        "content_length": page.size,
        "title": tags.title,
        "html_lang": next((meta["content"] for meta in tags.metas if meta.get("name") == "HTML@/lang"), None),
        "canonical": _canonical(source, tags.relations),
        "base": tags.base,
        "metas": [_meta(meta) for meta in tags.metas if not meta.get("name", "").startswith("HTML@/")],
        "links": len(tags.links) + len(tags.relations) + len(tags.scripts),
        "text_length": len(tags.text),
    }


def _meta(meta: Record) -> dict[str, str | None]:
    return {
        "name": meta.get("name"),
        "property": meta.get("property"),
        "http_equiv": meta.get("http-equiv"),
        "content": meta.get("content"),
    }


def _canonical(source: ReadRecord, relations: Sequence[Record]) -> str | None:
    """Return the URL that the page names as its own; null if it names none, or one that is not http."""
    assert source.page is not None
    for relation in relations:
        if "canonical" in relation.get("rel", "").lower().split():
            url = urls.join(source.page.base(source.url.text), [source.page.href(relation["url"])])[0]
            return url.text if url is not None else None
    return None


def _redirect(source: ReadRecord, headers: Sequence[tuple[str, str]]) -> str | None:
    if not 300 <= source.status < 400 or source.status == 304 or not source.url.text:
        return None
    location = next((value for name, value in headers if name.lower() == "location"), "")
    url = urls.redirect(source.url.text, location) if location else None
    return url.text if url is not None else None


def _detected(record: WarcRecord, source: ReadRecord) -> str | None:
    return record.header("WARC-Identified-Payload-Type") or sniff.identify(source.head, source.body) or None
