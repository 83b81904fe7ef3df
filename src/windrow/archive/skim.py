"""Read the heads of records without unpacking their bodies: an index needs no more.

In a file with one gzip member per record, the end of a member can be found without unpacking it. The header of the
record says how long the unpacked member is, and the last four bytes of a gzip member are that length: the next member
begins at the first gzip magic number that follows the right four bytes. In random data this is wrong once in 2**56
bytes. Where anything does not fit, `records` reads the record in full, and it alone says what is damaged.

A flipped bit in a body that is not unpacked is not noticed: `records` and `verify` check every byte.
"""

import mmap
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import cast

from isal import igzip_lib

from windrow.archive.record import WarcRecord
from windrow.archive.scan import records
from windrow.archive.unpack import GZIP
from windrow.storage import AnyPath, RemotePath

PACKED, STEP = 1 << 10, 1 << 11  # bytes of a member that are read at first, and unpacked at once
WINDOW = 1 << 14  # bytes in which the end of a member is looked for at once
MORE = 1 << 12  # bytes of a member that are read next, if its head is longer
MOST = 1 << 16  # bytes that are unpacked in search of the end of a head; then the whole record is read

_MAGIC = GZIP + b"\x08"
_END = b"\r\n\r\n"  # of a header, of an http head, and between two records
_EXCHANGES = (b"response", b"revisit")  # their block has an http head
_SMALLEST = 18  # bytes of a gzip member
_RELEASED = 32 << 20  # bytes after which the pages of the file that were read are given back to the system
_LENGTH, _TYPE = b"\r\nContent-Length: ", b"\r\nWARC-Type: "
_FIELD = re.compile(r"([^\s:]+): (\S[^\r\n]*)\r\n")  # as nearly all programs write it
_VERSIONS = (b"WARC/1.0\r\n", b"WARC/1.1\r\n")

# The types of the records that a caller wants, in small letters. Of a type with texts, only the records whose block has
# one of them: it is cheaper to look for them before anything else is done with the record.
Wanted = Mapping[bytes, Sequence[bytes]]

_Damage = cast(type[Exception], igzip_lib.IsalError)  # the type stub says that it is an instance


def heads(path: AnyPath, wanted: Wanted, end: int | None = None) -> Iterator[WarcRecord]:
    """Yield the wanted records, with at least the http head in their block; read nothing beyond `end`.

    Offsets, lengths and headers are those that `records` gives, and errors name the same place. The block of a record
    of another type than response and revisit is complete.
    """
    if isinstance(path, RemotePath):  # it cannot be mapped: whole records are read, in order
        yield from (record for record in records(path, 0, end) if _is_wanted(record, wanted))
        return
    with path.open("rb") as file:
        size = file.seek(0, 2)
        size = size if end is None else min(size, end)
        if not size:
            return
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as packed:
            at = yield from _members(packed, path, wanted)
    if at < size:
        yield from (record for record in records(path, at, end) if _is_wanted(record, wanted))


def _is_wanted(record: WarcRecord, wanted: Wanted) -> bool:
    texts = wanted.get(record.type.encode())
    return texts is not None and (not texts or any(text in record.block for text in texts))


def _members(packed: mmap.mmap, path: AnyPath, wanted: Wanted) -> Generator[WarcRecord, None, int]:
    """Yield the records up to the first that does not have a member of its own; return the offset of that one.

    If not even the first record can be read in this way, the file is of another kind, and none is.
    """
    at, released = 0, 0
    while at < len(packed):
        length, record = _head(packed, at, wanted)
        if not length:
            record = _whole(path, at, len(packed)) if at else None
            if record is None:
                return at
            length = record.length
            record = record if _is_wanted(record, wanted) else None
        if record is not None:
            yield record
        at += length
        if at - released > _RELEASED:
            released = at - at % mmap.PAGESIZE
            packed.madvise(mmap.MADV_DONTNEED, 0, released)
    return at


def _whole(path: AnyPath, at: int, end: int) -> WarcRecord | None:
    """Return the record at an offset, unpacked in full; None if it is not a gzip member of its own."""
    record = next(records(path, at, end), None)
    return record if record is not None and record.length and record.offset == at else None


class _Member:
    """A gzip member, unpacked from its beginning as far as needed."""

    __slots__ = ("_at", "_packed", "_read", "_unpacker", "data")

    def __init__(self, packed: mmap.mmap, at: int) -> None:
        start = packed[at : at + PACKED]
        self._packed, self._at, self._read = packed, at, at + len(start)
        self._unpacker = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        self.data: bytes = self._unpacker.decompress(start, STEP)

    def more(self) -> bool:
        """Unpack some more; return False at the end of the member, and where no head is so long."""
        if self._unpacker.eof or len(self.data) > MOST:
            return False
        start = self._packed[self._read : self._read + MORE] if self._unpacker.needs_input else b""
        self._read += len(start)
        data = self._unpacker.decompress(start, 4 * MORE)
        self.data += data
        return bool(start or data)

    def past(self, start: int) -> int:
        """Return where the first empty line after `start` ends; 0 if there is none."""
        while (found := self.data.find(_END, start)) < 0:
            if not self.more():
                return 0
        return found + len(_END)

    def length(self, whole: int) -> int:
        """Return the length of the member, which unpacks to `whole` bytes; 0 if that does not fit."""
        if not self._unpacker.eof:
            return _length(self._packed, self._at, whole)
        if len(self.data) != whole or not self.data.endswith(_END):
            return 0
        return self._read - len(self._unpacker.unused_data) - self._at


def _head(packed: mmap.mmap, at: int, wanted: Wanted) -> tuple[int, WarcRecord | None]:
    """Return the length of the member that begins here, and its record, if it is of a wanted type.

    The length is 0 if the record must be read in full.
    """
    try:
        member = _Member(packed, at)
        header = member.past(0)
        stated, name = _value(member.data, header, _LENGTH), _value(member.data, header, _TYPE).lower()
        if not (stated.isdigit() and name and member.data.startswith(_VERSIONS)):
            return 0, None
        size = int(stated)
        length = member.length(header + size + len(_END))
        if not length or name not in wanted:
            return length, None
        if name in _EXCHANGES:
            member.past(header)
        else:
            while len(member.data) < header + size and member.more():
                pass
    except _Damage:
        return 0, None
    whole = len(member.data) >= header + size
    if not whole and (name not in _EXCHANGES or member.data.find(_END, header) < 0):
        return 0, None
    if wanted[name] and not any([text in member.data for text in wanted[name]]):
        return length, None
    record = _record(member.data, header, at, length, size)
    return (length, record) if record is not None else (0, None)


def _value(data: bytes, header: int, name: bytes) -> bytes:
    """Return the value of a field that is spelled as usual; empty if it is not there."""
    start = data.find(name, 0, header) + len(name)
    return data[start : data.find(b"\r", start)] if start >= len(name) else b""


def _record(data: bytes, header: int, at: int, length: int, size: int) -> WarcRecord | None:
    text = data[: header - len(_END) + 2].decode("utf-8", "replace")
    version, _, rest = text.partition("\r\n")
    pairs = _FIELD.findall(rest)
    if len(pairs) != rest.count("\n") or " \r" in rest or "\t\r" in rest:
        return None  # folded lines, or blanks to strip
    return WarcRecord(
        offset=at,
        length=length,
        version=version,
        headers=tuple(pairs),
        block=data[header : header + size],
        size=size,
    )


def _length(packed: mmap.mmap, at: int, whole: int) -> int:
    """Return the length of the member that unpacks to `whole` bytes; 0 if its end is not found."""
    trailer = (whole & 0xFFFFFFFF).to_bytes(4, "little")
    last = min(len(packed), at + whole + whole // 1000 + 1024)  # deflate never makes data longer than that
    border = trailer + _MAGIC
    for start in range(at + _SMALLEST - len(trailer), last, WINDOW):  # in bytes: find is slow in a mapped file
        found = packed[start : start + WINDOW + len(border)].find(border)
        if found >= 0:
            return start + found + len(trailer) - at
    return last - at if last == len(packed) and packed[last - 4 : last] == trailer else 0
