"""The members of an archive file: gzip members, zstd frames, or the pieces of a plain file, unpacked one after another.

A member is handed to the decompressor in small parts and unpacked in parts of limited size, so that the memory does not
depend on the size of a member, and a member that grows a thousandfold is harmless.
"""

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

import zstandard
from isal import igzip_lib

from windrow.archive.reading import heads
from windrow.io.storage import AnyPath

PIECE = 1 << 18  # bytes read at once
FED = 1 << 15  # bytes given to the gzip decompressor at once
UNPACKED = 1 << 18  # bytes unpacked at once
GZIP = b"\x1f\x8b"
_LEAST = 18  # bytes of a gzip member
_ROOM = 64  # bytes more than a member has: without them the decompressor would double the memory to see its end

_Garbled = cast(type[Exception], igzip_lib.IsalError)  # the type stub says that it is an instance
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")  # a zstd frame, or one that is skipped
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # a skipped frame that holds the dictionary of the file; only the first frame
_MOST_DICTIONARY = 16 << 20  # bytes; dictionaries have about 100 kB
_BLOCK = 128 << 10  # bytes of a block of a zstd frame, at most, packed and unpacked (RFC 8878 §3.1.1.2)
_BLOCKS = 4  # unpacked at once
_FRAME_HEADER = 18  # bytes, at most


class ArchiveError(Exception):
    """A file is damaged, or is not an archive file. Everything before the offset is intact."""

    def __init__(self, path: AnyPath, offset: int, what: str, cut: bool = False) -> None:
        """`cut`: the file ends too early, and what was read of it is right."""
        super().__init__(f"{path}, byte {offset}: {what}")
        self.path = path
        self.offset = offset
        self.what = what
        self.cut = cut


class BadRecord(ArchiveError):
    """The bytes of a file are intact, but no record can be made of them."""


# Some unpacked bytes of one member; the offset of the member (in a plain file, of these bytes); the offset after the
# member, 0 if it continues; whether they are its first. A plain tuple: one is made for each record.
Piece = tuple[bytes, int, int, bool]


class PackedInput:
    """A file that is read up to an offset."""

    def __init__(self, file: BinaryIO, path: AnyPath, start: int, end: int | None) -> None:
        self.path = path
        self.reached = start
        self._file = file
        self._end = end

    def read(self) -> bytes:
        wanted = PIECE if self._end is None else max(min(PIECE, self._end - self.reached), 0)
        piece = self._file.read(wanted)
        self.reached += len(piece)
        return piece


Unpacker = Callable[[PackedInput], Iterator[Piece]]


def unpacker(file: BinaryIO, path: AnyPath, start: int) -> tuple[Unpacker, int]:
    """Return what unpacks a file from an offset, and where its records begin: behind a dictionary, if it has one."""
    file.seek(start)
    magic = file.read(4)
    if magic.startswith(GZIP):
        return gzip, start
    if not _ZSTD.match(magic):
        return plain, start
    decompressor, after = _zstd_decompressor(file, path)
    return lambda source: _zstd(decompressor, source), max(start, after)


def plain(source: PackedInput) -> Iterator[Piece]:
    while piece := source.read():
        yield piece, source.reached - len(piece), source.reached, True


class _Window:
    """The bytes of a file that are not yet unpacked."""

    def __init__(self, source: PackedInput) -> None:
        self._source = source
        self.data, self.at = source.read(), 0

    @property
    def offset(self) -> int:
        return self._source.reached - len(self.data) + self.at

    def part(self, size: int) -> bytes:
        """Consume and return some bytes, at most so many; none at the end of the file."""
        if self.at >= len(self.data):
            self.data, self.at = self._source.read(), 0
        data = self.data[self.at : self.at + size]
        self.at += len(data)
        return data

    def has(self, count: int) -> bool:
        """Return whether so many bytes are left, after reading as many as are needed."""
        while len(self.data) - self.at < count:
            more = self._source.read()
            if not more:
                return False
            self.data, self.at = self.data[self.at :] + more, 0
        return True


def gzip(source: PackedInput) -> Iterator[Piece]:
    window = _Window(source)
    unpack_whole, flag = igzip_lib.decompress, igzip_lib.DECOMP_GZIP
    while len(window.data) - window.at >= FED or window.has(FED) or window.has(1):
        packed, at = window.data, window.at
        start = source.reached - len(packed) + at
        # Most members are short, and another one follows. Such a member is unpacked at once, and its last bytes say
        # how long it must be. If it does not come out so (three bytes of it looked like the next one, something stands
        # between the two, it is damaged), it is unpacked with care.
        stop = heads.member(packed, at + _LEAST, at + FED)
        size = int.from_bytes(packed[stop - 4 : stop], "little")
        if stop > 0 and size <= UNPACKED:
            try:
                data = unpack_whole(packed[at:stop], flag, 15, size + _ROOM)
            except _Garbled:
                data = b""
            if data and len(data) == size:
                window.at = stop
                yield data, start, start + stop - at, True
                continue
        if not packed.startswith(GZIP, at):
            raise ArchiveError(source.path, start, f"expected a gzip member here, found {packed[at : at + 16]!r}")
        yield from _member(window, source, start)


def _member(window: _Window, source: PackedInput, start: int) -> Iterator[Piece]:
    """Unpack a member of any size, piece by piece."""
    member, first = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP), True
    held: list[bytes] = []  # of a piece
    room = UNPACKED
    while not member.eof:
        if not room:
            yield b"".join(held), start, 0, first
            held, room, first = [], UNPACKED, False
        fed = window.part(FED) if member.needs_input else b""
        if not fed and member.needs_input:
            yield b"".join(held), start, 0, first
            what = "the file ends inside the gzip member that begins here"
            raise ArchiveError(source.path, start, what, cut=True)
        try:
            held.append(member.decompress(fed, room))
        except _Garbled as error:
            what = f"the gzip member that begins here is damaged ({error})"
            raise ArchiveError(source.path, start, what) from None
        room -= len(held[-1])
    window.at -= len(member.unused_data)
    yield b"".join(held), start, window.offset, first


def _zstd_decompressor(file: BinaryIO, path: AnyPath) -> tuple[zstandard.ZstdDecompressor, int]:
    """Return what unpacks the frames of a file, and where its records begin."""
    file.seek(0)
    head = file.read(8)
    if head[:4] != _DICTIONARY:
        return zstandard.ZstdDecompressor(), 0
    length = int.from_bytes(head[4:], "little")
    held = file.read(min(length, _MOST_DICTIONARY))
    try:
        if _ZSTD.match(held):
            held = zstandard.ZstdDecompressor().decompress(held, max_output_size=_MOST_DICTIONARY)
        dictionary = zstandard.ZstdCompressionDict(held)
        return zstandard.ZstdDecompressor(dict_data=dictionary), 8 + length
    except zstandard.ZstdError as error:
        raise ArchiveError(path, 0, f"the zstd dictionary of the file is damaged ({error})") from None


def _zstd(decompressor: zstandard.ZstdDecompressor, source: PackedInput) -> Iterator[Piece]:
    """Unpack frames block by block. The length of a block is written before it, so no byte is given twice."""
    window = _Window(source)
    while window.has(1):
        start = window.offset
        frame, first = decompressor.decompressobj(), True
        for part in _parts(window, source.path, start):
            try:
                data = frame.decompress(part)
            except zstandard.ZstdError as error:
                what = f"the zstd frame that begins here is damaged ({error})"
                raise ArchiveError(source.path, start, what) from None
            if frame.eof:
                break
            if data:
                yield data, start, 0, first
                first = False
        else:
            data = b""  # a skipped frame
        yield data, start, window.offset, first


def _parts(window: _Window, path: AnyPath, start: int) -> Iterator[bytes]:
    """Yield the bytes of a frame: its header with the first blocks, then some blocks at a time (RFC 8878 §3.1)."""
    if not window.has(8) or not _ZSTD.match(window.data, window.at):
        signature = window.data[window.at : window.at + 16]
        if _ZSTD.match(signature):
            _need(window, 8, path, start)
        raise ArchiveError(path, start, f"expected a zstd frame here, found {signature!r}")
    head = window.data[window.at : window.at + 8]
    if head[:4] != b"\x28\xb5\x2f\xfd":
        _skip(window, 8 + int.from_bytes(head[4:], "little"), path, start)
        return
    window.has(_FRAME_HEADER)
    try:
        length = zstandard.frame_header_size(window.data[window.at : window.at + _FRAME_HEADER])
    except zstandard.ZstdError as error:
        raise ArchiveError(path, start, f"the zstd frame that begins here is damaged ({error})") from None
    checksum, last = 4 * (head[4] >> 2 & 1), False
    while not last:
        for _ in range(_BLOCKS):
            last, size = _block(window, length, path, start)
            length += size
            if last:
                length += checksum
                break
        _need(window, length, path, start)
        part = window.data[window.at : window.at + length]
        window.at += length
        length = 0
        yield part


def _block(window: _Window, before: int, path: AnyPath, start: int) -> tuple[bool, int]:
    """Return whether a block is the last of its frame, and its length with its header."""
    _need(window, before + 3, path, start)
    at = window.at + before
    header = int.from_bytes(window.data[at : at + 3], "little")
    kind, size = header >> 1 & 3, header >> 3
    if kind == 3 or size > _BLOCK:
        raise ArchiveError(path, start, "the zstd frame that begins here is damaged (no block has this header)")
    return bool(header & 1), 4 if kind == 1 else 3 + size


def _need(window: _Window, count: int, path: AnyPath, start: int) -> None:
    if not window.has(count):
        raise ArchiveError(path, start, "the file ends inside the zstd frame that begins here", cut=True)


def _skip(window: _Window, length: int, path: AnyPath, start: int) -> None:
    """Skip a frame that holds no data, however long it says it is."""
    while length > 0:
        _need(window, 1, path, start)
        step = min(length, len(window.data) - window.at)
        window.at += step
        length -= step
