"""`windrow records`: fetch single records of an archive by their byte ranges, from files here or elsewhere.

Many at once, but never more requests at a time than the user allows; a request that fails is repeated after a wait
that doubles. Each range is checked before it is passed on: it must be exactly one record, of the URL that the index
names. Whatever is wrong is named with its place, and the job continues with the next record.
"""

import collections
import gzip
import itertools
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import msgspec

from windrow import archive
from windrow.archive import ArchiveError, StoredCapture, WarcRecord
from windrow.io import storage
from windrow.jobs.index.places import Complain, RecordPlace
from windrow.records import Place

AHEAD = 4  # records per connection that are fetched before they are needed
_GZIP = b"\x1f\x8b"


class RangeOptions(msgspec.Struct, frozen=True, kw_only=True):
    base: str  # directory or URL of the archive files
    connections: int = 4
    attempts: int = storage.ATTEMPTS
    sleep: Callable[[float], None] = time.sleep


class FetchedRecord(msgspec.Struct, frozen=True):
    place: RecordPlace
    data: bytes  # of the file, as they are
    record: WarcRecord
    entry: StoredCapture | None  # the capture; None if the record is not an http response with its body


class RecordsSummary(msgspec.Struct):
    records: int = 0
    bytes: int = 0
    problems: int = 0


class RangeError(Exception):
    """A range cannot be fetched; the text says why."""


def fetch(places: Iterable[RecordPlace], options: RangeOptions, complain: Complain) -> Iterator[FetchedRecord]:
    """Yield the records of the places, in their order, each once; complain about those that cannot be read."""
    with (
        ThreadPoolExecutor(options.connections, "records") as pool,
        tempfile.TemporaryDirectory(prefix="windrow-") as scratch,
    ):
        try:
            for wanted, future in _ahead(_once(places), pool, options):
                try:
                    yield _read(wanted, future.result(), Path(scratch) / "record")
                except RangeError as error:
                    complain(f"{wanted}: {error}")
        finally:
            pool.shutdown(cancel_futures=True)


def write(records: Iterable[FetchedRecord], out: BinaryIO) -> RecordsSummary:
    """Write the records as one WARC file: their gzip members as they are. Others are compressed."""
    summary = RecordsSummary()
    for record in records:
        data = record.data if record.data.startswith(_GZIP) else gzip.compress(_unpacked(record), mtime=0)
        out.write(data)
        summary.records += 1
        summary.bytes += len(data)
    return summary


def _unpacked(record: FetchedRecord) -> bytes:
    """Return the bytes of a record that is not in a gzip member."""
    if record.data[:5].upper() == b"WARC/":
        return record.data
    headers = "".join(f"{name}: {value}\r\n" for name, value in record.record.headers)
    return f"{record.record.version}\r\n{headers}\r\n".encode() + record.record.block + b"\r\n\r\n"


def _once(places: Iterable[RecordPlace]) -> Iterator[RecordPlace]:
    seen: set[tuple[str, int]] = set()
    for wanted in places:
        if (key := (wanted.file, wanted.offset)) not in seen:
            seen.add(key)
            yield wanted


def _ahead(
    places: Iterator[RecordPlace], pool: ThreadPoolExecutor, options: RangeOptions
) -> Iterator[tuple[RecordPlace, Future[bytes]]]:
    """Yield each place with its bytes to come; fetch a few ahead, so that memory stays bounded."""
    waiting: collections.deque[tuple[RecordPlace, Future[bytes]]] = collections.deque()
    for wanted in itertools.chain(places, [None] * (AHEAD * options.connections)):
        if wanted is not None:
            waiting.append((wanted, pool.submit(_fetched, wanted, options)))
        if waiting and (wanted is None or len(waiting) >= AHEAD * options.connections):
            yield waiting.popleft()
    yield from waiting


def _fetched(wanted: RecordPlace, options: RangeOptions) -> bytes:
    """Return the bytes of a range, after as many attempts as needed."""
    source = f"{options.base.rstrip('/')}/{wanted.file}"
    try:
        data = storage.persistently(
            lambda: storage.read(source, wanted.offset, wanted.length), options.attempts, options.sleep
        )
    except storage.FINAL as error:
        raise RangeError(f"{source}: {error.strerror or 'there is no such file'}") from None
    except Exception as error:  # each driver has its own exceptions
        raise RangeError(f"{source}: {storage.describe(error)}") from None
    return _complete(data, wanted)


def _complete(data: bytes, wanted: RecordPlace) -> bytes:
    if len(data) > wanted.length:
        raise RangeError("the server sends the whole file instead of a range of bytes")
    if len(data) < wanted.length:
        raise RangeError(f"the file ends before the range does ({len(data)} of {wanted.length} bytes)")
    return data


def _read(wanted: RecordPlace, data: bytes, scratch: Path) -> FetchedRecord:
    """Return the record in these bytes. The archive reads files, so they become one."""
    scratch.write_bytes(data)
    try:
        record = next(archive.records(scratch), None)
        if record is None or record.offset or record.length != len(data):
            raise RangeError("these bytes are not one record; the index does not fit the archive")
        if wanted.url and record.target != wanted.url:
            raise RangeError(f"the record is of {record.target or 'no URL'}, not of {wanted.url}; index again")
        return FetchedRecord(wanted, data, record, _entry(scratch, len(data)))
    except ArchiveError as error:
        raise RangeError(f"no record begins there ({error.what}); the index does not fit the archive") from None


def _entry(scratch: Path, length: int) -> StoredCapture | None:
    try:
        return archive.open_entry(scratch.parent, Place(scratch.name, 0, length))
    except ArchiveError:
        return None
