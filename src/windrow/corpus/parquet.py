"""Documents as columns. pyarrow is wanted only by those who export to Parquet, so it is loaded here and not before."""

import contextlib
import datetime
from pathlib import Path
from typing import Any

from windrow import urls
from windrow.config import ConfigError
from windrow.corpus import document as own
from windrow.corpus import jsonl
from windrow.data import Document

ROWS = 1000  # documents gathered before they are written
GROUP = 64 << 20  # bytes of text after which they are written all the same


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigError(
            "Parquet needs the library pyarrow; install it with: pip install 'windrow[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet


def schema() -> Any:
    arrow, _ = _arrow()
    text, whole = arrow.string(), arrow.int64()
    paragraph = arrow.struct(
        [("text", text), ("class", text), ("own", text), ("heading", arrow.bool_()), ("language", text)]
    )
    signal = arrow.struct([(name, text) for name in ("source", "name", "value", "field", "agent")])
    columns = [(name, text) for name in ("id", "url", "host", "domain", "tld")]
    columns += [("time", arrow.timestamp("ms", tz="UTC"))]
    columns += [(name, text) for name in ("language", "title", "author", "date", "text")]
    columns += [
        ("paragraphs", arrow.list_(paragraph)),
        ("scores", arrow.map_(text, arrow.float64())),
        ("signals", arrow.list_(signal)),
    ]
    columns += [(name, text) for name in ("declared", "charset", "licence", "ip", "dump", "warc_filename")]
    columns += [("warc_record_offset", whole), ("warc_record_length", whole), ("digest", text)]
    return arrow.schema(columns)


def row(document: Document, dump: str) -> dict[str, Any]:
    host, place = own.host(document.url), document.place
    same = {
        name: getattr(document, name)
        for name in ("id", "url", "language", "title", "author", "date", "declared", "charset", "licence", "ip")
    }
    return {
        **same,
        "host": host,
        "domain": urls.domain(host),
        "tld": urls.tld(host),
        "time": _moment(document.time),
        "text": jsonl.text(document),
        "paragraphs": [
            {
                "text": found.text,
                "class": found.kind,
                "own": found.own,
                "heading": found.heading,
                "language": found.language or document.language,
            }
            for found in document.paragraphs
        ],
        "scores": list(document.scores.items()),
        "signals": [{name: getattr(found, name) for name in found.__struct_fields__} for found in document.signals],
        "dump": dump,
        "warc_filename": place.file,
        "warc_record_offset": place.offset,
        "warc_record_length": place.length,
        "digest": place.digest,
    }


def _moment(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


class Table:
    """One file, written in groups of rows."""

    def __init__(self, path: Path) -> None:
        arrow, parquet = _arrow()
        self._arrow, self._schema = arrow, schema()
        self._writer = parquet.ParquetWriter(str(path), self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._size = 0

    def add(self, document: Document, dump: str) -> int:
        """How many bytes of text that was."""
        found = row(document, dump)
        self._rows.append(found)
        size = len(found["text"].encode())
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

    def drop(self) -> None:
        """Without the rows that wait."""
        with contextlib.suppress(OSError, ValueError):  # ValueError: arrow's, of a file that it has given up
            self._writer.close()
