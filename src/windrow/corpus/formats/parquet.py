"""Parquet: one row per document. Only this format needs pyarrow, so it is imported here, when a file is opened.

No column is a map: `datasets` cannot read that type. Scores are a list of name and value.
"""

import contextlib
import datetime
from typing import Any, BinaryIO

import msgspec

from windrow import urls
from windrow.config import ConfigError
from windrow.corpus.formats.format import FormatOptions, Item

ROWS = 1000  # documents per group of rows
GROUP = 64 << 20  # bytes of text after which a group is written even with fewer documents
_SAME = (  # columns that are members of the document
    *("id", "url", "language", "title", "author", "date", "declared", "charset", "licence"),
    *("site", "description", "image", "truncated", "ip"),
)


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigError(
            "Parquet needs the library pyarrow; install it with: pip install 'windrow-corpus[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet


def schema() -> Any:
    arrow, _ = _arrow()
    text, whole = arrow.string(), arrow.int64()
    mark = arrow.struct([("start", whole), ("end", whole), ("kind", text), ("target", text)])
    paragraph = arrow.struct(
        [
            *(("text", text), ("class", text), ("own", text), ("heading", arrow.bool_()), ("language", text)),
            *(("structure", text), ("lines", text), ("marks", arrow.list_(mark))),
        ]
    )
    signal = arrow.struct([(name, text) for name in ("source", "name", "value", "field", "agent")])
    columns = [(name, text) for name in ("id", "url", "host", "domain", "tld")]
    columns += [("time", arrow.timestamp("ms", tz="UTC"))]
    columns += [("language", text), ("language_score", arrow.float64())]
    columns += [(name, text) for name in ("page_language", "title", "author", "date", "text")]
    columns += [
        ("paragraphs", arrow.list_(paragraph)),
        ("scores", arrow.list_(arrow.struct([("name", text), ("value", arrow.float64())]))),
        ("signals", arrow.list_(signal)),
    ]
    columns += [(name, text) for name in ("declared", "charset", "licence", "site", "description", "image")]
    columns += [("tags", arrow.list_(text))]
    columns += [(name, text) for name in ("truncated", "ip", "dump", "warc_filename")]
    columns += [("warc_record_offset", whole), ("warc_record_length", whole), ("digest", text)]
    return arrow.schema(columns)


def row(item: Item) -> dict[str, Any]:
    document, place = item.document, item.document.place
    host = urls.host_of(document.url)
    same = {name: getattr(document, name) for name in _SAME}
    return {
        **same,
        "tags": list(document.tags),
        "page_language": document.page_language or document.language,
        "host": host,
        "domain": urls.domain(host),
        "tld": urls.tld(host),
        "time": _timestamp(document.time),
        "text": document.text,
        "paragraphs": [
            {
                "text": paragraph.text,
                "class": paragraph.kind,
                "own": paragraph.own,
                "heading": paragraph.heading,
                "language": paragraph.language or document.language,
                "structure": paragraph.structure,
                "lines": paragraph.lines,
                "marks": [msgspec.structs.asdict(mark) for mark in paragraph.marks],
            }
            for paragraph in document.paragraphs
        ],
        "language_score": document.scores.get("language"),
        "scores": [{"name": name, "value": value} for name, value in document.scores.items()],
        "signals": [{name: getattr(signal, name) for name in signal.__struct_fields__} for signal in document.signals],
        "dump": item.dump,
        "warc_filename": place.file,
        "warc_record_offset": place.offset,
        "warc_record_length": place.length,
        "digest": place.digest,
    }


def _timestamp(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


class ParquetEncoder:
    """One file, written in groups of rows."""

    def __init__(self, stream: BinaryIO, options: FormatOptions) -> None:
        arrow, parquet = _arrow()
        self._arrow, self._schema = arrow, schema()
        self._writer = parquet.ParquetWriter(stream, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._size = 0

    def add(self, item: Item) -> int:
        """Return the bytes of text: the compressed size is known only when the group is written."""
        values = row(item)
        self._rows.append(values)
        size = len(values["text"].encode())
        self._size += size
        if len(self._rows) >= ROWS or self._size >= GROUP:
            self._write()
        return size

    def _write(self) -> None:
        self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows, self._size = [], 0

    def close(self) -> None:
        with contextlib.closing(self._writer):
            if self._rows:
                self._write()
