"""Read all records of an archive file."""

from collections.abc import Iterator
from pathlib import Path

from windrow.archive import warc
from windrow.archive.record import WarcRecord, verify
from windrow.archive.stream import MemberStream
from windrow.archive.unpack import ArchiveError


def records(path: Path, start: int = 0, end: int | None = None) -> Iterator[WarcRecord]:
    """Yield every record from `start`, and read nothing beyond `end` (for a growing file: its committed length)."""
    with open(path, "rb") as file:
        stream = MemberStream(file, path, start, end)
        while stream.at < len(stream.data) or stream.more():
            record = warc.usual(stream)
            if record is not None:
                yield record
                continue
            stream.skip_lines()
            if stream.peek(1):
                yield warc.read(stream)


def tail(path: Path) -> int:
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
