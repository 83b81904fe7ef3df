"""The bytes of an archive file, unpacked piece by piece, with their offsets in the file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from isal import igzip_lib

PIECE = 1 << 16  # bytes read at once
UNPACKED = 1 << 18  # bytes unpacked at once, so that a member that grows a thousandfold needs no more memory
GZIP = b"\x1f\x8b"

_Damage = cast(type[Exception], igzip_lib.IsalError)  # the type stub says that it is an instance
_BLANK = re.compile(rb"[\r\n]*")


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
        self.plain = file.read(2) != GZIP
        file.seek(start)
        self._pieces = (_plain if self.plain else _gzip)(_Input(file, start, end), path)
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
