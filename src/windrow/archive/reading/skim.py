"""Read the heads of records without unpacking their bodies: an index needs no more.

In a file with one gzip member per record, the end of a member can be found without unpacking it. The header of the
record says how long the unpacked member is, and the last four bytes of a gzip member are that length: the next member
begins at the first gzip magic number that follows the right four bytes. In random data this is wrong once in 2**56
bytes. Where anything does not fit, or another record begins before the end, `records` reads the record in full, and it
alone says what is damaged.

A flipped bit in a body that is not unpacked is not noticed: `records` and `verify` check every byte.
"""

import mmap
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import BinaryIO, cast

from isal import igzip_lib

from windrow.archive.reading import heads
from windrow.archive.reading.repair import Report
from windrow.archive.reading.scan import records
from windrow.archive.reading.unpack import GZIP, ArchiveError
from windrow.archive.record import WarcRecord
from windrow.io.storage import AnyPath, RemotePath

try:
    from windrow.archive.reading import _skim
except ImportError:  # built without a compiler: the reference runs instead
    _skim = None  # type: ignore[assignment]

SMALL = 1 << 11  # bytes of a member that is unpacked whole: its checksum is compared
SNIFFED = 1 << 10  # bytes of a body by which its type is identified
MOST = 1 << 16  # bytes that are unpacked in search of the end of a head; then the whole record is read

_PACKED = 1 << 12  # bytes of a member that are read at once
_MAGIC = GZIP + b"\x08\0"  # with flags, the header of a member has more fields: such a record is read in full
_MEMBER = re.compile(re.escape(_MAGIC[:3]))
_END = b"\r\n\r\n"  # of a header, of an http head, and between two records
_EXCHANGES = (b"response", b"revisit")  # their block has an http head
_SMALLEST = 18  # bytes of a gzip member
_RELEASED = 32 << 20  # bytes after which the pages of the file that were read are given back to the system
_AT_ONCE = 1 << 23  # bytes of a record that is unpacked at once
_LENGTH, _TYPE = b"\r\nContent-Length: ", b"\r\nWARC-Type: "
_IDENTIFIED = b"\r\nWARC-Identified-Payload-Type: "
_VERSIONS = (b"WARC/1.0\r\n", b"WARC/1.1\r\n")

# The types of the records that a caller wants, in small letters. Of a type with texts, only the records whose block has
# one of them: it is cheaper to look for them before anything else is done with the record.
Wanted = Mapping[bytes, Sequence[bytes]]
_Pairs = tuple[tuple[bytes, tuple[bytes, ...]], ...]

# The beginning of a record: its offset and length, its first bytes, where its block begins in them, and how long that
# is. Of a response or revisit there is at least the http head, and if the header does not state the type of the
# payload, the first 1,024 bytes of that; of other records, all. A plain tuple: a kernel makes one for each record.
Start = tuple[int, int, bytes, int, int]

_Damage = cast(type[Exception], igzip_lib.IsalError)  # the type stub says that it is an instance


def read(path: AnyPath, wanted: Wanted, end: int | None = None, report: Report | None = None) -> Iterator[WarcRecord]:
    """Yield the wanted records, with at least the http head in their block; read nothing beyond `end`.

    Offsets, lengths and headers are those that `records` gives, and errors name the same place. The block of a record
    of another type than response and revisit is complete.
    """
    for found in starts(path, wanted, end, report):
        yield found if isinstance(found, WarcRecord) else record(path, found)


def starts(
    path: AnyPath, wanted: Wanted, end: int | None = None, report: Report | None = None
) -> Iterator[Start | WarcRecord]:
    """Yield the wanted records: what is unpacked of them, or, if they are not written as usual, all.

    Damage is an error, after every record before it; with `report` it is reported, and reading continues behind it.
    """
    if isinstance(path, RemotePath):  # it cannot be mapped: whole records are read, in order
        yield from (found for found in records(path, 0, end, report) if _is_wanted(found, wanted))
        return
    with path.open("rb") as file:
        size = file.seek(0, 2)
        size = size if end is None else min(size, end)
        if not size:
            return
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as packed:
            before, at = yield from _members(packed, path, wanted, report)
    if at < size:
        for found in records(path, before, end, report):
            if found.offset >= at and _is_wanted(found, wanted):
                yield found


def record(path: AnyPath, start: Start) -> WarcRecord:
    """Return the same as a record."""
    offset, length, data, block, size = start
    usual = heads.head(data, 0)
    if usual is None or usual[:2] != (block, size):
        return next(records(path, offset, offset + length))
    return WarcRecord(offset=offset, length=length, version=usual[2], headers=usual[3], block=data[block:], size=size)


def block(file: BinaryIO, path: AnyPath, start: Start) -> bytes:
    """Return all of the block of a record that was found in this file."""
    offset, length, _, begin, size = start
    whole = begin + size + len(_END)
    if whole <= _AT_ONCE:
        file.seek(offset)
        unpacker = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            data = unpacker.decompress(file.read(length), whole + 1)
        except _Damage:
            data = b""
        if unpacker.eof and len(data) == whole:
            return data[begin : begin + size]
    return next(records(path, offset, offset + length)).block


def _is_wanted(found: WarcRecord, wanted: Wanted) -> bool:
    texts = wanted.get(found.type.encode())
    return texts is not None and (not texts or any(text in found.block for text in texts))


def _members(
    packed: mmap.mmap, path: AnyPath, wanted: Wanted, report: Report | None
) -> Generator[Start | WarcRecord, None, tuple[int, int]]:
    """Yield the records up to the first that does not have a member of its own.

    Return the offset of a record before that one, because garbage does not say how the file is packed, and that one's
    own. If not even the first record can be read in this way, the file is of another kind, and none is.
    """
    pairs = tuple([(kind, tuple(texts)) for kind, texts in wanted.items()])
    before, at, released = 0, 0, 0
    while at < len(packed):
        found = find(packed, at, released + _RELEASED, pairs)
        if isinstance(found, tuple):
            yield found
            before, at = found[0], found[0] + found[1]
        elif found < min(released + _RELEASED, len(packed)):
            whole = _whole(path, found, len(packed), report) if found else None
            if whole is None:
                return before, found
            if _is_wanted(whole, wanted):
                yield whole
            before, at = found, found + whole.length
        else:
            before, at = at, found
        if at - released >= _RELEASED:
            released = at - at % mmap.PAGESIZE
            packed.madvise(mmap.MADV_DONTNEED, 0, released)
    return before, at


def _whole(path: AnyPath, at: int, end: int, report: Report | None) -> WarcRecord | None:
    """Return the record at an offset, unpacked in full; None if it is not a gzip member of its own."""
    try:
        found = next(records(path, at, end), None)
    except ArchiveError:
        if report is None:
            raise
        return None
    return found if found is not None and found.length and found.offset == at else None


def reference_find(packed: mmap.mmap | bytes, at: int, stop: int, wanted: _Pairs) -> Start | int:
    """Return the beginning of the first wanted record before `stop`; without one, the offset behind the last record.

    The offset before `stop` of a record that is not written as usual says that it must be read in full.
    """
    while 0 <= at < min(stop, len(packed)):
        try:
            length, start = _head(packed, at, wanted)
        except _Damage:
            length, start = 0, None
        if start is not None or not length:
            return start or at
        at += length
    return at


find = _skim.find if _skim else reference_find


class _Member:
    """A gzip member, unpacked from its beginning as far as needed."""

    def __init__(self, packed: mmap.mmap | bytes, at: int) -> None:
        self._packed, self._read = packed, at
        self._unpacker = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        self.data = b""

    @property
    def end(self) -> int:
        """The offset behind the member; 0 if it is not known yet."""
        return self._read - len(self._unpacker.unused_data) if self._unpacker.eof else 0

    def unpack(self, size: int) -> None:
        """Unpack until there are so many bytes, or the member ends."""
        size = min(size, MOST)
        while len(self.data) < size and not self._unpacker.eof:
            fed = self._packed[self._read : self._read + _PACKED] if self._unpacker.needs_input else b""
            self._read += len(fed)
            data = self._unpacker.decompress(fed, max(size - len(self.data), _PACKED))
            self.data += data
            if not fed and not data:
                return

    def past(self, start: int) -> int:
        """Return where the first empty line after `start` ends; 0 if there is none."""
        while (found := self.data.find(_END, start)) < 0:
            known = len(self.data)
            self.unpack(known + _PACKED)
            if len(self.data) == known:
                return 0
        return found + len(_END)


def _head(packed: mmap.mmap | bytes, at: int, wanted: _Pairs) -> tuple[int, Start | None]:
    """Return the length of the member that begins here, and its record, if it is wanted.

    The length is 0 if the record must be read in full.
    """
    if packed[at : at + len(_MAGIC)] != _MAGIC:
        return 0, None
    member = _Member(packed, at)
    header = member.past(0)
    stated, name = _value(member.data, header, _LENGTH), _value(member.data, header, _TYPE).lower()
    if not (stated.isdigit() and len(stated) < 19 and name and member.data.startswith(_VERSIONS)):
        return 0, None
    size = int(stated)
    length = _length(packed, at, member, header + size + len(_END))
    texts = dict(wanted).get(name)
    if not length or texts is None:
        return length, None
    kept = header + size
    if name in _EXCHANGES and 0 < (past := member.past(header)) < kept:
        kept = past if _value(member.data, header, _IDENTIFIED) else min(past + SNIFFED, kept)
    member.unpack(kept)
    if kept > MOST or len(member.data) < kept:
        return 0, None
    data = member.data[:kept]
    if texts and not any([text in data for text in texts]):
        return length, None
    return length, (at, length, data, header, size)


def _value(data: bytes, header: int, name: bytes) -> bytes:
    """Return the value of a field that is spelled as usual; empty if it is not there."""
    start = data.find(name, 0, header) + len(name)
    return data[start : data.find(b"\r", start)] if start >= len(name) else b""


def _length(packed: mmap.mmap | bytes, at: int, member: _Member, whole: int) -> int:
    """Return the length of the member, which unpacks to `whole` bytes; 0 if that does not fit."""
    if whole > SMALL:
        return _found_length(packed, at, whole)
    member.unpack(SMALL + 1)
    if not member.end or len(member.data) != whole or not member.data.endswith(_END):
        return 0
    return member.end - at


def _found_length(packed: mmap.mmap | bytes, at: int, whole: int) -> int:
    """Return the length of the member that unpacks to `whole` bytes; 0 if its end is not found, or a record begins
    before it: then the end is damaged, and what was found is the end of another record of the same length."""
    trailer = (whole & 0xFFFFFFFF).to_bytes(4, "little")
    last = min(len(packed), at + whole + whole // 1000 + 1024)  # deflate never makes data longer than that
    for match in _MEMBER.finditer(packed, at + _SMALLEST, last + len(_MAGIC) - 1):
        end = match.start()
        if packed[end - 4 : end] == trailer:
            return end - at
        if _may_begin(packed, end):
            return 0
    ended = last == len(packed) and last - at >= _SMALLEST and packed[last - 4 : last] == trailer
    return last - at if ended else 0


def _may_begin(packed: mmap.mmap | bytes, at: int) -> bool:
    """Return whether a record may begin with the gzip magic number that is here. By chance it is in 16 MB once."""
    if packed[at + 3 : at + 4] not in (b"", b"\0"):
        return packed[at + 3] < 32  # a header with more fields
    member = _Member(packed, at)
    try:
        member.unpack(5)
    except _Damage:
        return False
    return member.data.startswith(b"WARC/")
