"""Read the records of a damaged file: what is intact, what can be put right, and a report of all the rest.

Two things can be wrong. If the bytes are intact but are no record (garbage, a length that is missing or wrong), the
next record is searched in the unpacked bytes; a record with a wrong length ends where the next one begins. If bytes
cannot be unpacked, the next gzip member or zstd frame that begins with a record is searched in the file.
"""

import os
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

import msgspec

from windrow.archive import warc
from windrow.archive.reading import arc, unpack
from windrow.archive.reading.stream import MemberStream
from windrow.archive.reading.unpack import ArchiveError, BadRecord
from windrow.archive.record import WarcRecord
from windrow.io.storage import AnyPath

MAX_BLOCK = 64 << 20  # bytes of a record's block that are kept: more than any extractor reads
_LINE = arc.MAX_LINE
_AHEAD = 1 << 12  # bytes behind a block in which the line of a record may end that begins in it
_AGAIN = 64 << 20  # bytes given back to the stream, at least
_GIVEN = 4  # times the size of the file: a hostile file must not be read again and again
_TRIES = 50_000  # beginnings of members that are tried in a file; chance gives one in 16 MB, a hostile file millions
_MAGIC = re.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd")
_EITHER = re.compile(b"%b|%b" % (warc.START.pattern, arc.START.pattern), re.MULTILINE)
_PADDING = b"\r\n\0"


class Damage(msgspec.Struct, frozen=True):
    """A part of an archive file that is not as it should be."""

    file: str
    start: int  # offset in the file
    end: int  # where the next record begins, or the file ends
    what: str

    def __str__(self) -> str:
        return f"{self.file}, bytes {self.start} to {self.end}: {self.what}"


Report = Callable[[Damage], None]


def records(path: AnyPath, start: int, end: int | None, report: Report) -> Iterator[WarcRecord]:
    """Yield every record that can be read from `start`, and report what was skipped or put right."""
    with path.open("rb") as file:
        size = min(file.seek(0, os.SEEK_END), end if end is not None else 1 << 62)
        mending = _Mending(path, size, report)
        tries = iter(range(_TRIES))
        at = start
        while at < size:
            try:
                stream = MemberStream(file, path, at, end, lenient=True)
                yield from mending.records(stream)
                damage = stream.cut  # what looks like a member without end may be garbage before the next one
            except ArchiveError as error:
                damage = error
            if damage is None:
                return
            at = _next_member(file, path, (damage.offset + 1, end), tries) or size
            if not damage.cut or damage.offset > mending.reported:
                mending.report(damage.offset, at, damage.what)


class _Mending:
    """Reads one stream after another of a damaged file."""

    def __init__(self, path: AnyPath, size: int, report: Report) -> None:
        self._path = path
        self._size = size
        self._report = report
        self._again = max(_AGAIN, _GIVEN * size)
        self._start = _EITHER  # what the next record begins with; when one was read, that of its format
        self.reported = -1

    def report(self, start: int, end: int, what: str) -> None:
        self.reported = max(start, self.reported)
        self._report(Damage(str(self._path), start, end, what))

    def records(self, stream: MemberStream) -> Iterator[WarcRecord]:
        while stream.at < len(stream.data) or stream.more():
            record = warc.usual(stream)  # what is at hand is never longer than MAX_BLOCK
            if record is None:
                stream.skip_lines()
                record = self._record(stream) if stream.peek(1) else None
            if record is not None:
                yield record

    def _record(self, stream: MemberStream) -> WarcRecord | None:
        """Return the next record; None, and the stream at the next possible one, if there is none here."""
        offset, fresh = stream.position, stream.fresh
        try:
            if warc.begins(stream):
                self._start = warc.START
                return self._warc(stream, offset, fresh)
            if arc.begins(stream):
                self._start = arc.START
                return self._arc(stream, offset, fresh)
            what = warc.not_a_record(stream.peek(16))
        except BadRecord as error:
            what = error.what
        stream.take(1, 0)
        self._upto(stream, keep=0)
        self.report(offset, self._reached(stream), what)
        return None

    def _reached(self, stream: MemberStream) -> int:
        return self._size if stream.cut else stream.position

    def _warc(self, stream: MemberStream, offset: int, fresh: bool) -> WarcRecord:
        version, headers = warc.head(stream)
        size = warc.size_of(headers)
        block, size, what = self._block(stream, size, fresh)
        if what:
            usable = what if warc.size_of(headers) is not None else warc.without_length(headers)
            self.report(offset, self._reached(stream), usable)
        length = _length(stream, offset, fresh)
        return WarcRecord(offset=offset, length=length, version=version, headers=headers, block=block, size=size)

    def _arc(self, stream: MemberStream, offset: int, fresh: bool) -> WarcRecord:
        line, written = arc.head(stream)
        block, size, what = self._block(stream, written, fresh)
        if written is None:
            what = f"this line of an ARC record has no length: {line[:64]!r}"
        if what and (written is None or not line.startswith(arc.FILE)):  # a first record often has another length
            self.report(offset, self._reached(stream), what)
        return arc.record(line, block, (offset, _length(stream, offset, fresh), size))

    def _block(self, stream: MemberStream, size: int | None, fresh: bool) -> tuple[bytes, int, str]:
        """Consume a block; return it, its size, and what is wrong with the size that its header gives."""
        if size is None:
            block = self._upto(stream, MAX_BLOCK).rstrip(b"\r\n")
            return block, len(block), "there is no length"
        block, taken = stream.take(size, MAX_BLOCK, self._start if fresh else None)
        if taken < size and (stream.plain or stream.cut or not stream.fresh):
            what = f"the file ends inside the record that begins here ({taken} of {size} bytes of its block)"
            return block, size, what
        if taken == size and self._followed(stream):
            stream.skip_lines()
            return block, size, ""
        if taken == size:
            block = self._divided(stream, block)
        block = block.rstrip(b"\r\n")
        what = f"the record says that it has {size} bytes, but the next one begins after {len(block)}"
        return block, len(block), what

    def _divided(self, stream: MemberStream, block: bytes) -> bytes:
        """Return a block of another length than its header gives: up to the next record, in the block or behind it."""
        inner = self._start.search(block + stream.peek(_AHEAD))
        behind = len(block) - inner.start() if inner else 0
        if not inner or behind <= 0 or not inner.start():
            return block + self._upto(stream, MAX_BLOCK - len(block))
        if behind > self._again:
            return block
        self._again -= behind
        stream.give_back(block[inner.start() :])
        return block[: inner.start()]

    def _followed(self, stream: MemberStream) -> bool:
        """Return whether a record, the end of the member or the end of the file follows, after any padding."""
        wanted = 64
        while True:
            window = stream.peek(wanted)
            rest = window.lstrip(_PADDING)
            if len(window) < wanted or b"\n" in rest or len(rest) >= _LINE:
                return not rest or self._start.match(rest) is not None
            wanted *= 4

    def _upto(self, stream: MemberStream, keep: int) -> bytes:
        """Consume the bytes up to the next record or the end of the member; return the first of them."""
        parts: list[bytes] = []
        while True:
            match = self._start.search(stream.data, stream.at)
            ended = match is not None or (not stream.plain and stream.end > 0)
            stop = match.start() if match else len(stream.data)
            if not ended:  # the last line may be the beginning of a record
                line = stream.data.rfind(b"\n", stream.at) + 1
                stop = line if stop - line < _LINE and line >= stream.at else stop
            part = stream.take(stop - stream.at, keep)[0]
            parts.append(part)
            keep -= len(part)
            if ended:
                break
            if not stream.more():
                parts.append(stream.take(len(stream.data) - stream.at, keep)[0])
                break
        return b"".join(parts)


def _length(stream: MemberStream, offset: int, fresh: bool) -> int:
    """Return the length of a record that was just read; 0 if it shares its member."""
    return stream.position - offset if stream.plain or (fresh and stream.drained) else 0


def _next_member(file: BinaryIO, path: AnyPath, span: tuple[int, int | None], tries: Iterator[int]) -> int | None:
    """Return the offset of the next member that begins with a record; None if there is none, or all tries are used."""
    at, end = span
    while True:
        file.seek(at)
        window = file.read(unpack.PIECE)
        if end is not None:
            window = window[: max(end - at, 0)]
        for match in _MAGIC.finditer(window):
            if next(tries, None) is None:
                return None
            if opens(file, path, at + match.start(), end):
                return at + match.start()
        if len(window) < 4:
            return None
        at += len(window) - 3


def opens(file: BinaryIO, path: AnyPath, offset: int, end: int | None) -> bool:
    """Return whether a record begins here, plain or compressed."""
    try:
        stream = MemberStream(file, path, offset, end, lenient=True)
        if not stream.more():
            return False
        stream.skip_lines()
        return warc.begins(stream) or arc.begins(stream)
    except ArchiveError:
        return False
