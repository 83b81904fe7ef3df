"""Where records are: the rows of a query, of a CSV file or of an index lookup, as places to fetch from."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO

import msgspec

from windrow.config import ConfigError
from windrow.jobs.index.table import CdxLine

COLUMNS = ("url", "warc_filename", "warc_record_offset", "warc_record_length")

Complain = Callable[[str], None]  # called with a sentence about a row that names no record


class RecordPlace(msgspec.Struct, frozen=True):
    """A record of an archive file."""

    url: str  # of the record; empty: it is not known
    file: str  # relative to the base
    offset: int
    length: int

    def __str__(self) -> str:
        return f"{self.file}, bytes {self.offset} to {self.offset + self.length}"


def of_csv(lines: TextIO | Iterable[str], source: str, complain: Complain) -> Iterator[RecordPlace]:
    """Yield the places of a CSV file whose first line names the columns; complain about lines that have none."""
    reader = csv.DictReader(lines)
    _check(reader.fieldnames or (), source)
    try:
        for row in reader:
            yield from _place(row, f"{source}, line {reader.line_num}", complain)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"{source}, line {reader.line_num + 1}: this is not CSV in UTF-8 ({error})") from None


def of_rows(rows: Iterable[tuple[object, ...]], columns: list[str], complain: Complain) -> Iterator[RecordPlace]:
    """Yield the places of a query's rows."""
    _check(columns, "the query")
    for number, row in enumerate(rows, 1):
        yield from _place(dict(zip(columns, row, strict=True)), f"row {number} of the query", complain)


def of_lines(lines: Iterable[CdxLine]) -> Iterator[RecordPlace]:
    """Yield the places of index lines."""
    for line in lines:
        of = line.fields
        yield RecordPlace(of.url, of.filename, int(of.offset), int(of.length))


def open_csv(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig", newline="")


def _check(columns: Iterable[str], source: str) -> None:
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise ConfigError(f"{source} has no column {missing[0]}; it needs {', '.join(COLUMNS)}")


def _place(row: Mapping[str, object], source: str, complain: Complain) -> Iterator[RecordPlace]:
    url, file, offset, length = ("" if row[name] is None else str(row[name]) for name in COLUMNS)
    if file and offset.isdecimal() and length.isdecimal() and int(length):
        yield RecordPlace(url, file, int(offset), int(length))
    else:
        complain(f"{source}: file {file!r}, offset {offset!r} and length {length!r} name no record")
