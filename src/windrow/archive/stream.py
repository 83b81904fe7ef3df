"""The bytes of an archive file, unpacked piece by piece, with their offsets in the file."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import zstandard
from isal import igzip_lib

PIECE = 1 << 16  # bytes read at once
UNPACKED = 1 << 18  # bytes unpacked at once, so that a member that grows a thousandfold needs no more memory
GZIP = b"\x1f\x8b"

_Damage = cast(type[Exception], igzip_lib.IsalError)  # the type stub says that it is an instance
_BLANK = re.compile(rb"[\r\n]*")
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")  # a zstd frame, or one that is skipped
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # a skipped frame that holds the dictionary of the file; only the first frame
_MOST_DICTIONARY = 16 << 20  # bytes; dictionaries have about 100 kB
_STEP = 1 << 11  # bytes of zstd unpacked at once: to at most 64 MB, because four bytes may stand for 128 kB


class ArchiveError(Exception):
    """A file is damaged, or is not an archive file. Everything before the offset is intact."""

    def __init__(self, path: Path, offset: int, what: str) -> None:
        super().__init__(f"{path}, byte {offset}: {what}")
        self.path = path
        self.offset = offset
        self.what = what


class Piece(NamedTuple):
    """Some unpacked bytes of one member."""

    data: bytes
    start: int  # offset of its gzip member; in a plain file, of its own first byte
    end: int  # offset after the member; 0 if the member continues
    first: bool  # of its member


class MemberStream:
    """The unpacked bytes of a file, read from front to back.

    Pieces are joined only if a caller needs more bytes than there are, so that the end of a member between two records
    is known.
    """

    def __init__(self, file: BinaryIO, path: Path, start: int, end: int | None) -> None:
        file.seek(start)
        magic = file.read(4)
        packed = magic.startswith(GZIP), bool(_ZSTD.match(magic))
        self.plain = not any(packed)
        unpack = _gzip if packed[0] else _plain
        if packed[1]:
            unpacker, after = _zstd_unpacker(file, path)
            start, unpack = max(start, after), functools.partial(_zstd, unpacker)
        file.seek(start)
        self._pieces = unpack(_Input(file, start, end), path)
        self._piece = Piece(b"", start, start, True)
        self._data = b""
        self._at = 0

    @property
    def position(self) -> int:
        """The offset of the next byte: exact in a plain file and at the end of a member, else that of its member."""
        if self.plain:
            return self._piece.end - len(self._data) + self._at
        return self._piece.end if self.drained else self._piece.start

    @property
    def fresh(self) -> bool:
        """Whether the next byte is the first of its member; in a plain file every byte is."""
        return self.plain or (self._piece.first and not self._at)

    @property
    def drained(self) -> bool:
        """Whether the next byte, if any, belongs to another member; in a plain file every byte does."""
        return self.plain or (self._at == len(self._data) and self._piece.end > 0)

    def more(self) -> bool:
        """Read another piece, if need be of the next member; return False at the end of the file."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        left = self._data[self._at :]
        self._piece = piece._replace(first=piece.first and not left)
        self._data, self._at = left + piece.data, 0
        return True

    def peek(self, length: int) -> bytes:
        """Return the next bytes without consuming them; fewer if the member ends before."""
        while len(self._data) - self._at < length and (self.plain or not self._piece.end) and self.more():
            pass
        return self._data[self._at : self._at + length]

    def until(self, pattern: re.Pattern[bytes], limit: int) -> bytes | None:
        """Consume and return the bytes up to the end of the first match; None if there is none within the limit."""
        while True:
            match = pattern.search(self._data, self._at)
            if match:
                return self._take(match.end())
            if len(self._data) - self._at > limit or not self.more():
                return None

    def take(self, length: int, limit: int) -> tuple[bytes, int]:
        """Consume the next bytes; return them and their number, which is lower at the end of the file.

        Bytes beyond the limit are counted, not returned.
        """
        if length <= limit and len(self._data) - self._at >= length:
            return self._take(self._at + length), length
        parts, taken, kept = [], 0, 0
        while taken < length and (self._at < len(self._data) or self.more()):
            part = self._take(min(self._at + length - taken, len(self._data)))
            taken += len(part)
            parts.append(part[: limit - kept])
            kept += len(parts[-1])
        return b"".join(parts), taken

    def skip_lines(self) -> None:
        """Skip empty lines, up to the next other byte or the end of the member."""
        while self.peek(1) in (b"\r", b"\n"):
            match = _BLANK.match(self._data, self._at)
            self._at = match.end() if match else self._at

    def _take(self, end: int) -> bytes:
        taken = self._data[self._at : end]
        self._at = end
        return taken


class _Input:
    """A file that is read up to an offset."""

    def __init__(self, file: BinaryIO, start: int, end: int | None) -> None:
        self.reached = start
        self._file = file
        self._end = end

    def read(self) -> bytes:
        wanted = PIECE if self._end is None else max(min(PIECE, self._end - self.reached), 0)
        piece = self._file.read(wanted)
        self.reached += len(piece)
        return piece


def _plain(source: _Input, path: Path) -> Iterator[Piece]:
    while piece := source.read():
        yield Piece(piece, source.reached - len(piece), source.reached, True)


def _gzip(source: _Input, path: Path) -> Iterator[Piece]:
    packed = b""
    while packed := packed or source.read():
        start = source.reached - len(packed)
        if len(packed) < len(GZIP):
            packed += source.read()
        if not packed.startswith(GZIP):
            raise ArchiveError(path, start, f"expected a gzip member here, found {packed[:16]!r}")
        member, first = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP), True
        while not member.eof:
            if member.needs_input and not (packed := packed or source.read()):
                raise ArchiveError(path, start, "the file ends inside the gzip member that begins here")
            try:
                data = member.decompress(packed, UNPACKED)
            except _Damage as error:
                raise ArchiveError(path, start, f"the gzip member that begins here is damaged ({error})") from None
            packed = member.unused_data if member.eof else b""
            yield Piece(data, start, source.reached - len(packed) if member.eof else 0, first)
            first = first and not data


def _zstd_unpacker(file: BinaryIO, path: Path) -> tuple[zstandard.ZstdDecompressor, int]:
    """Return what unpacks the frames of a file, and where its records begin: behind its dictionary, if it has one."""
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


def _zstd(unpacker: zstandard.ZstdDecompressor, source: _Input, path: Path) -> Iterator[Piece]:
    packed = b""
    while packed := packed or source.read():
        start = source.reached - len(packed)
        frame, first = unpacker.decompressobj(), True
        while not frame.eof:
            if not (packed := packed or source.read()):
                raise ArchiveError(path, start, "the file ends inside the zstd frame that begins here")
            try:
                data = frame.decompress(packed[:_STEP])
            except zstandard.ZstdError as error:
                raise ArchiveError(path, start, f"the zstd frame that begins here is damaged ({error})") from None
            packed = (frame.unused_data if frame.eof else b"") + packed[_STEP:]
            yield Piece(data, start, source.reached - len(packed) if frame.eof else 0, first)
            first = first and not data
