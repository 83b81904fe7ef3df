"""The table of links: one row per link of a page, in the order of the page.

`path` says where a link stands, in the words of WAT files: `A@/href`, `IMG@/src`, `LINK@/href`, `SCRIPT@/src`. Four
more are links too, which WAT files have elsewhere: `META@/refresh`, and of the response `HTTP@/location`, `HTTP@/link`
and `HTTP@/content-location`. `href` is the link as written, `target_url` the canonical URL it leads to, null if that is
not http or https.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow

from windrow import urls
from windrow.archive import names
from windrow.extraction.page.links import refreshed
from windrow.extraction.tags import Record
from windrow.jobs.derive import columns
from windrow.jobs.derive.columns import PAGE, ColumnLists
from windrow.jobs.derive.exchange import PageReader, ReadRecord
from windrow.takedown import Takedown

# Attribute and its column.
_ATTRIBUTES = {
    "rel": "rel",
    "title": "title",
    "alt": "alt",
    "hreflang": "hreflang",
    "type": "type",
    "target": "frame",
    "method": "method",
}
_PAGE = ("url", "url_host_name", "url_host_registered_domain", "fetch_time", "warc_filename", "warc_record_offset")

SCHEMA = pyarrow.schema(
    [
        *[(name, kind) for name, kind in PAGE if name in _PAGE],
        ("position", pyarrow.int32()),
        ("path", pyarrow.string()),
        ("href", pyarrow.string()),
        ("target_url", pyarrow.string()),
        ("target_host_name", pyarrow.string()),
        ("target_host_registered_domain", pyarrow.string()),
        ("text", pyarrow.string()),
        *[(name, pyarrow.string()) for name in _ATTRIBUTES.values()],
    ]
)

_HEADERS = re.compile(rb"(?im)^(location|content-location|link)[ \t]*:[ \t]*([^\r\n]*)")
_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w*!#$&+.^`|~-]+(?:\s*=\s*(?:"[^"]*"|[^\s",;]*))?)*)')
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]*))', re.IGNORECASE)


class LinkRows:
    """Makes rows of the links of records."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._lists = ColumnLists(SCHEMA, _PAGE)
        self.count = 0

    def add(self, source: ReadRecord) -> Iterator[pyarrow.RecordBatch]:
        """Add the links of a record; yield a batch if one is full."""
        records = of_response(source)
        if not records:
            return
        self._lists.add(columns.page(source, self._file), _rows(source, records), len(records))
        self.count += len(records)
        yield from self._lists.full()

    def rest(self) -> Iterator[pyarrow.RecordBatch]:
        yield from self._lists.rest()


def rows(source: str) -> Iterator[pyarrow.RecordBatch]:
    """Yield the links of an archive file: a function of the engine."""
    path = Path(source)
    made = LinkRows(names.place(path))
    for found in PageReader(path, None, Takedown()).records():
        yield from made.add(found)
    yield from made.rest()


def of_response(source: ReadRecord) -> list[Record]:
    """Return every link of a response: of its headers, then of its page."""
    if source.record.type not in ("response", "revisit", "resource") or not source.url.text:
        return []
    records = list(_of_headers(source.head)) if _HEADERS.search(source.head) else []
    if source.page is None:
        return records
    tags = source.page.tags
    return [*records, *_of_metas(tags.metas), *tags.relations, *tags.scripts, *tags.links]


def _of_headers(head: bytes) -> Iterator[Record]:
    for field, written in _HEADERS.findall(head):
        name, value = field.decode().lower(), written.decode("latin-1").strip()
        if name != "link":
            yield {"path": f"HTTP@/{name}", "url": value}
            continue
        for match in _LINK.finditer(value):
            rel = _REL.search(match[2])
            yield {"path": "HTTP@/link", "url": match[1], **({"rel": rel[1] or rel[2] or ""} if rel else {})}


def _of_metas(metas: Sequence[Record]) -> Iterator[Record]:
    for meta in metas:
        if meta.get("http-equiv", "").lower() == "refresh":
            url = refreshed(meta.get("content", ""))
            if url is not None:
                yield {"path": "META@/refresh", "url": url}


class _Targets(NamedTuple):
    texts: list[str | None]
    hosts: list[str | None]
    domains: list[str | None]


def _rows(source: ReadRecord, records: Sequence[Record]) -> dict[str, Sequence[Any]]:
    hrefs = [record["url"] if "url" in record else record["href"] for record in records]
    targets = _joined(source, hrefs)
    return {
        "position": range(len(records)),
        "href": hrefs,
        "target_url": targets.texts,
        "target_host_name": targets.hosts,
        "target_host_registered_domain": targets.domains,
        "path": [record["path"] for record in records],
        **_attributes(records),
    }


def _attributes(records: Sequence[Record]) -> dict[str, list[str | None]]:
    """Return the columns of attributes. Most links have none but their anchor: those are done quickly."""
    values: dict[str, list[str | None]] = {name: [None] * len(records) for name in _ATTRIBUTES.values()}
    columns = {attribute: values[name] for attribute, name in _ATTRIBUTES.items()}
    values["text"] = [record.get("text") for record in records]
    for index, record in enumerate(records):
        if len(record) > 2 + ("text" in record):
            for attribute in record.keys() & columns.keys():
                columns[attribute][index] = record[attribute]
    return values


def _joined(source: ReadRecord, hrefs: Sequence[str]) -> _Targets:
    """Return where links lead. Those of headers are relative to the page itself, as those of most pages are too."""
    page, base = source.page, source.url.text
    if page is not None:
        base = page.base(base)
        if page.charset != "UTF-8":
            hrefs = [page.href(href) for href in hrefs]
    targets = urls.join(base, hrefs)
    return _Targets(
        [url.text if url is not None else None for url in targets],
        [url.host if url is not None else None for url in targets],
        [url.domain if url is not None else None for url in targets],
    )
