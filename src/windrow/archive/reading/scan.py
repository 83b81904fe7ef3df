"""Read all records of an archive file."""

from collections.abc import Iterator

from windrow.archive import warc
from windrow.archive.reading import arc, repair
from windrow.archive.reading.repair import Report
from windrow.archive.reading.stream import MemberStream
from windrow.archive.reading.unpack import ArchiveError
from windrow.archive.record import WarcRecord, verify
from windrow.io.storage import AnyPath


def records(
    path: AnyPath, start: int = 0, end: int | None = None, report: Report | None = None
) -> Iterator[WarcRecord]:
    """Yield every record from `start`, and read nothing beyond `end` (for a growing file: its committed length).

    Damage is an error, after every record before it; with `report` it is reported, and reading continues behind it.
    """
    return repair.records(path, start, end, report) if report is not None else _strict(path, start, end)


def _strict(path: AnyPath, start: int, end: int | None) -> Iterator[WarcRecord]:
    with path.open("rb") as file:
        stream = MemberStream(file, path, start, end)
        while stream.at < len(stream.data) or stream.more():
            record = warc.usual(stream)
            if record is not None:
                yield record
                continue
            stream.skip_lines()
            if stream.peek(1):
                yield arc.read(stream) if not warc.begins(stream) and arc.begins(stream) else warc.read(stream)


def is_archive(path: AnyPath) -> bool:
    """Return whether a file begins with a record, plain or compressed, whatever its name is."""
    with path.open("rb") as file:
        return repair.opens(file, path, 0, None)


def tail(path: AnyPath) -> int:
    """Return the end of the last record before any damage: all records up to there are complete, with valid digests."""
    end = 0
    try:
        for record in records(path):
            if record.length == 0 or verify(record) is False:
                break
            end = record.offset + record.length
    except ArchiveError:
        pass
    return end
