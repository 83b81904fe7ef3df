"""The columnar index: the columns of Common Crawl's table, from CDXJ lines to Parquet files.

A table is partitioned by crawl and subset. In each partition the rows are sorted by the sort key of their URL, so that
the ranges of files and of groups of rows follow one another, and a query for one host reads a few of them.
"""

import datetime
import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow
import pyarrow.parquet

from windrow import urls

GROUP = 50_000  # rows of a group
_BATCH = 2000  # rows that are held as rows
PART = 200  # groups of a file
LEVEL = 6  # of gzip; 9, the default of Arrow, takes 2.5 times as long to save 1.6 %
WIDE = 1 << 31  # offsets from here on need 64 bits

_URL = re.compile(r"([A-Za-z]+)://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?([^?#]*)(?:\?([^#]*))?")
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_LABELS = ("2nd", "3rd", "4th", "5th")

Row = tuple[str | int | None, ...]


class CdxFields(msgspec.Struct, gc=False):
    """The JSON of a CDXJ line."""

    url: str
    filename: str
    offset: str
    length: str
    mime: str | None = None
    detected: str | None = msgspec.field(default=None, name="mime-detected")
    status: str = "0"
    digest: str | None = None
    charset: str | None = None
    languages: str | None = None
    truncated: str | None = None
    redirect: str | None = None


class CdxLine(msgspec.Struct, gc=False):
    """A CDXJ line, taken apart."""

    key: str
    time: str  # 14 digits
    fields: CdxFields


_decode = msgspec.json.Decoder(CdxFields).decode


def parse(line: bytes) -> CdxLine:
    key, time, values = line.split(b" ", 2)
    return CdxLine(key.decode(), time.decode(), _decode(values))


def schema(wide: bool = False) -> pyarrow.Schema:
    """Return the columns of a file. `wide`: an archive file is longer than 2 GiB, which Common Crawl's never are."""
    integer = pyarrow.int64() if wide else pyarrow.int32()
    required = {"url_surtkey", "url", "url_host_name", "url_protocol", "url_path", "fetch_time", "fetch_status"}
    required |= {"warc_filename", "warc_record_offset", "warc_record_length", "warc_segment"}
    types = {
        "url_port": pyarrow.int32(),
        "fetch_time": pyarrow.timestamp("ms"),
        "fetch_status": pyarrow.int16(),
        "warc_record_offset": integer,
        "warc_record_length": integer,
    }
    return pyarrow.schema(
        [pyarrow.field(name, types.get(name, pyarrow.string()), nullable=name not in required) for name in COLUMNS]
    )


COLUMNS = (
    *("url_surtkey", "url", "url_host_name", "url_host_tld"),
    *(f"url_host_{number}_last_part" for number in _LABELS),
    *("url_host_registry_suffix", "url_host_registered_domain", "url_host_private_suffix", "url_host_private_domain"),
    *("url_host_name_reversed", "url_protocol", "url_port", "url_path", "url_query"),
    *("fetch_time", "fetch_status", "fetch_redirect"),
    *("content_digest", "content_mime_type", "content_mime_detected"),
    *("content_charset", "content_languages", "content_truncated"),
    *("warc_filename", "warc_record_offset", "warc_record_length", "warc_segment"),
)


def row(line: CdxLine, segment: str) -> Row:
    """Return the values of the columns, in their order."""
    of = line.fields
    return (
        line.key,
        of.url,
        *_host_and_rest(of.url),
        _milliseconds(line.time),
        int(of.status),
        of.redirect,
        of.digest,
        of.mime,
        of.detected,
        of.charset,
        of.languages,
        of.truncated,
        of.filename,
        int(of.offset),
        int(of.length),
        segment,
    )


def _host_and_rest(url: str) -> tuple[str | int | None, ...]:
    match = _URL.match(url)
    if match is None:
        return ("", *[None] * 10, "", None, "", None)
    scheme, host, port, path, query = match.groups()
    return *_host(host.lower()), scheme.lower(), int(port) if port else None, path, query


@functools.lru_cache(1 << 12)
def _host(host: str) -> tuple[str | None, ...]:
    if urls.tld(host) == "" or "[" in host:
        return host, *[None] * 10
    labels = host.rstrip(".").split(".")
    parts = [labels[-number] if len(labels) >= number else None for number in (1, 2, 3, 4, 5)]
    registry, private = urls.registered(host.rstrip("."), False), urls.registered(host.rstrip("."), True)
    names = [name or None for name in (*registry, *private)]
    return host, *parts, *names, ".".join(reversed(labels))


def _milliseconds(time: str) -> int:
    """Return a time of 14 digits in epoch milliseconds; 0 if there is no such moment."""
    if not (len(time) == 14 and time.isascii() and time.isdigit()):
        return 0
    day, hours, minutes, seconds = _day(time[:8]), int(time[8:10]), int(time[10:12]), int(time[12:])
    if day is None or hours > 23 or minutes > 59 or seconds > 59:
        return 0
    return (((day * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000


@functools.lru_cache(1 << 12)
def _day(digits: str) -> int | None:
    """Return the number of a day since 1970; None if there is no such day."""
    try:
        return datetime.date(int(digits[:4]), int(digits[4:6]), int(digits[6:])).toordinal() - _EPOCH
    except ValueError:
        return None


class TableWriter:
    """The files of one partition. Rows must come sorted by their key."""

    def __init__(self, directory: Path, wide: bool = False, group: int = GROUP, part: int = PART) -> None:
        directory.mkdir(parents=True)
        self._directory = directory
        self._schema = schema(wide)
        self._group, self._part = group, part
        self._rows: list[Row] = []
        self._batches: list[pyarrow.RecordBatch] = []
        self._held = 0  # rows of the next group so far
        self._groups = 0
        self._file: Any = None

    def add(self, values: Row) -> None:
        self._rows.append(values)
        self._held += 1
        if len(self._rows) == _BATCH or self._held == self._group:
            self._pack()
        if self._held == self._group:
            self._write()

    def close(self) -> None:
        self._pack()
        self._write()
        if self._file is not None:
            self._file.close()

    def _pack(self) -> None:
        """Turn rows into columns, which need a quarter of the memory."""
        if self._rows:
            columns = zip(*self._rows, strict=True)
            arrays = [pyarrow.array(values, field.type) for values, field in zip(columns, self._schema, strict=True)]
            self._batches.append(pyarrow.RecordBatch.from_arrays(arrays, schema=self._schema))
            self._rows = []

    def _write(self) -> None:
        """Write the rows so far as one group."""
        if not self._batches:
            return
        if self._groups % self._part == 0:
            if self._file is not None:
                self._file.close()
            self._file = self._open(self._directory / f"part-{self._groups // self._part:05}.gz.parquet")
        self._file.write_table(pyarrow.Table.from_batches(self._batches), row_group_size=self._group)
        self._groups += 1
        self._batches, self._held = [], 0

    def _open(self, path: Path) -> Any:
        # Times are INT96, as in Common Crawl's own files: DuckDB, Spark and Athena all read them as a timestamp.
        return pyarrow.parquet.ParquetWriter(
            path,
            self._schema,
            compression="gzip",
            compression_level=LEVEL,
            use_deprecated_int96_timestamps=True,
            sorting_columns=[pyarrow.parquet.SortingColumn(0)],
        )


def partition(crawl: str, subset: str) -> str:
    return f"crawl={crawl}/subset={subset}"


def wide(lengths: Sequence[int]) -> bool:
    return any(length >= WIDE for length in lengths)
