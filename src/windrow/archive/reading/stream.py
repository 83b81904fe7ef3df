"""The unpacked bytes of an archive file, read from front to back, with their offsets in the file."""

import re
from typing import BinaryIO

from windrow.archive.reading import unpack
from windrow.archive.reading.unpack import ArchiveError, PackedInput
from windrow.io.storage import AnyPath

_LINES = re.compile(rb"[\r\n]*")
_PADDING = re.compile(rb"[\r\n\0]*")


class MemberStream:
    """The unpacked bytes of a file.

    Pieces are joined only if a caller needs more bytes than there are, so that the end of a member between two records
    is known. `data` and `at` are the bytes at hand and the next of them: a reader of records may look at them and move
    `at` forward.
    """

    def __init__(self, file: BinaryIO, path: AnyPath, start: int, end: int | None, lenient: bool = False) -> None:
        """`lenient`: a file that is cut is read up to its last byte, and padding between records is skipped."""
        unpacker, start = unpack.unpacker(file, path, start)
        self.path = path
        self.plain = unpacker is unpack.plain
        file.seek(start)
        self._pieces = unpacker(PackedInput(file, path, start, end))
        self._lenient = lenient
        self._padding = _PADDING if lenient else _LINES
        self.start = self.end = start  # of the member of the last bytes at hand; see unpack.Piece
        self.first = True
        self.data = b""
        self.at = 0
        self.cut: ArchiveError | None = None  # where a lenient stream found that the file is cut

    @property
    def position(self) -> int:
        """The offset of the next byte: exact in a plain file and at the end of a member, else that of its member."""
        if self.plain:
            return self.end - len(self.data) + self.at
        return self.end if self.drained else self.start

    @property
    def fresh(self) -> bool:
        """Whether the next byte is the first of its member; in a plain file every byte is."""
        return self.plain or (self.first and not self.at)

    @property
    def drained(self) -> bool:
        """Whether the next byte, if any, belongs to another member; in a plain file every byte does."""
        return self.plain or (self.at == len(self.data) and self.end > 0)

    def more(self) -> bool:
        """Read another piece, if need be of the next member; return False at the end of the file."""
        try:
            piece = next(self._pieces, None)
        except ArchiveError as error:
            if not (self._lenient and error.cut):
                raise
            self.cut, piece = error, None
        if piece is None:
            return False
        if self.at == len(self.data):
            self.data, self.start, self.end, self.first = piece
        else:
            self.first = self.first and not self.at and not self.end  # the same member, from its first byte
            data, self.start, self.end, _ = piece
            self.data = self.data[self.at :] + data
        self.at = 0
        return True

    def peek(self, length: int) -> bytes:
        """Return the next bytes without consuming them; fewer if the member ends before."""
        while len(self.data) - self.at < length and (self.plain or not self.end) and self.more():
            pass
        return self.data[self.at : self.at + length]

    def until(self, pattern: re.Pattern[bytes], limit: int) -> bytes | None:
        """Consume and return the bytes up to the end of the first match; None if there is none within the limit."""
        while True:
            match = pattern.search(self.data, self.at)
            if match:
                return self._take(match.end())
            if len(self.data) - self.at > limit or not self.more():
                return None

    def take(self, length: int, limit: int, stop: re.Pattern[bytes] | None = None) -> tuple[bytes, int]:
        """Consume the next bytes; return them and their number, which is lower at the end of the file.

        Bytes beyond the limit are counted, not returned. At the beginning of a member that matches `stop`, the bytes
        end too.
        """
        if length <= limit and len(self.data) - self.at >= length:
            return self._take(self.at + length), length
        parts, taken, kept = [], 0, 0
        while taken < length and (self.at < len(self.data) or self.more()):
            if stop is not None and taken and not self.plain and self.fresh and stop.match(self.data):
                break
            part = self._take(min(self.at + length - taken, len(self.data)))
            taken += len(part)
            parts.append(part[: limit - kept])
            kept += len(parts[-1])
        return b"".join(parts), taken

    def skip_lines(self) -> None:
        """Skip empty lines, and padding if that is allowed, up to the next other byte or the end of the member."""
        while True:
            match = self._padding.match(self.data, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.data) or not self.peek(1):
                return

    def give_back(self, data: bytes) -> None:
        """Put bytes that were consumed last before the next ones."""
        self.data, self.at = data + self.data[self.at :], 0
        self.first = False

    def _take(self, end: int) -> bytes:
        taken = self.data[self.at : end]
        self.at = end
        return taken
