"""What both tables share: rows gathered column by column, and the columns that name a page and its record."""

import array
import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow

from windrow.jobs.derive.exchange import ReadRecord

ROWS = 1 << 14  # of a batch; their values are Python objects until then

# Names and types are those of Common Crawl's table of captures, so that the tables can be joined.
PAGE = (
    ("url", pyarrow.string()),
    ("url_host_name", pyarrow.string()),
    ("url_host_registered_domain", pyarrow.string()),
    ("fetch_time", pyarrow.timestamp("ms", tz="UTC")),
    ("warc_filename", pyarrow.string()),
    ("warc_record_offset", pyarrow.int64()),
    ("warc_record_length", pyarrow.int64()),
)


class ColumnLists:
    """Rows of one table. Columns with one value per page are kept once per page and repeated when a batch is made."""

    def __init__(self, schema: pyarrow.Schema, once: Sequence[str], rows: int = ROWS) -> None:
        self._schema, self._rows = schema, rows
        self._once: dict[str, list[Any]] = {name: [] for name in once}
        self._each: dict[str, list[Any]] = {name: [] for name in schema.names if name not in self._once}
        self._pages = array.array("i")  # for each row the number of its page
        self._count = 0  # pages

    def add(self, page: Mapping[str, Any], rows: Mapping[str, Sequence[Any]], count: int) -> None:
        """Add the rows of a page."""
        for name, column in self._once.items():
            column.append(page[name])
        for name, column in self._each.items():
            column.extend(rows[name])
        self._pages.extend([self._count] * count)
        self._count += 1

    def full(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield a batch if there are enough rows for one."""
        if len(self._pages) >= self._rows:
            yield from self.rest()

    def rest(self) -> Iterator[pyarrow.RecordBatch]:
        if not self._pages:
            return
        types = {field.name: field.type for field in self._schema}
        numbers = pyarrow.Array.from_buffers(
            pyarrow.int32(), len(self._pages), [None, pyarrow.py_buffer(self._pages.tobytes())]
        )
        columns = {name: pyarrow.array(values, types[name]) for name, values in (self._once | self._each).items()}
        if self._each:
            columns |= {name: columns[name].take(numbers) for name in self._once}
        yield pyarrow.record_batch([columns[name] for name in self._schema.names], schema=self._schema)
        for values in (*self._once.values(), *self._each.values()):
            values.clear()
        self._pages = array.array("i")
        self._count = 0


def page(source: ReadRecord, file: str) -> dict[str, Any]:
    """Return the columns PAGE of a record."""
    url, record = source.url, source.record
    return {
        "url": url.text or record.target,
        "url_host_name": url.host or None,
        "url_host_registered_domain": url.domain or None,
        "fetch_time": _moment(record.header("WARC-Date")),
        "warc_filename": file,
        "warc_record_offset": record.offset,
        "warc_record_length": record.length,
    }


def _moment(date: str) -> datetime.datetime | None:
    try:
        moment = datetime.datetime.fromisoformat(date)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
