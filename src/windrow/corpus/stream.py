"""The bytes of a document file, gzipped or not: read in parts with bounded memory, or written whole."""

import contextlib
import gzip
import io
import os
import typing
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from isal import igzip, isal_zlib

from windrow.config import ConfigError

LEVEL = 2  # gzip level of isal, 0 to 3
CHUNK = 1 << 20  # bytes per read
MOST = 256 << 20  # bytes of one document; a longer one has no </doc>, or the file has another format

_BROKEN = (
    EOFError,
    gzip.BadGzipFile,
    zlib.error,
    typing.cast(type[Exception], isal_zlib.error),  # its stub does not say that it is a class
)


class ByteStream:
    """The unpacked bytes of a file, with the line number that an error message needs."""

    def __init__(self, path: Path, length: int | None = None) -> None:
        """`length`: read this many bytes of the file; None: all of it."""
        self.path = path
        self.line = 0  # number of the line that the caller reads now
        self._returned = 0  # lines that `parts` has returned
        self._plain = path.open("rb")
        packed = self._plain.read(2) == b"\x1f\x8b"
        self._plain.seek(0)
        plain = (
            self._plain if length is None else typing.cast(BinaryIO, io.BufferedReader(_Beginning(self._plain, length)))
        )
        self._file = gzipped(plain, "rb") if packed else typing.cast(io.BufferedReader, plain)
        self._ahead = b""
        self._broken = ""

    @property
    def position(self) -> int:
        """Return how many bytes of the file itself were read, for progress."""
        return self._plain.tell()

    def close(self) -> None:
        self._plain.close()

    def read(self) -> bytes:
        ahead, self._ahead = self._ahead, b""
        if ahead:
            return ahead
        try:
            return b"" if self._broken else self._file.read1(CHUNK)
        except _BROKEN as error:
            self._broken = str(error) or type(error).__name__
            return b""

    def peek(self, size: int) -> bytes:
        """Return the next bytes without consuming them."""
        ahead = bytearray()
        while len(ahead) < size and (chunk := self.read()):
            ahead += chunk
        self._ahead = bytes(ahead)
        return self._ahead[:size]

    def parts(self, border: bytes) -> Iterator[bytes]:
        """Yield the bytes in parts, each of which ends at a line end before `border`. An empty border yields lines."""
        kept, mark = b"", b"\n" + border
        while chunk := self.read():
            start, searched = 0, max(0, len(kept) - len(mark))
            kept += chunk
            while (end := kept.find(mark, searched)) >= 0:
                part, start = kept[start : end + 1], end + 1
                searched = start
                self._returned += part.count(b"\n")
                yield part
            kept = kept[start:]
            if len(kept) > MOST:
                problem = f"the document does not end within {MOST >> 20} MB"
                raise self.error(f"{problem}; if the format was detected wrongly, name it with --format")
        if self._broken:
            self.line = self._returned + kept.count(b"\n") + 1
            raise self.error(f"the gzip data ends here ({self._broken}); the file is truncated or damaged")
        if kept:
            yield kept

    def check(self, raw: bytes) -> None:
        """Refuse bytes that are not UTF-8, naming their line; count the lines."""
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            self.line += 1 + raw.count(b"\n", 0, error.start)
            raise self.error("not UTF-8; convert the file to UTF-8") from None
        self.line += raw.count(b"\n")

    def error(self, problem: str) -> ConfigError:
        return ConfigError(f"{self.path}, line {max(1, self.line)}: {problem}")


class _Beginning(io.RawIOBase):
    """The first bytes of a file, as a file."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self._file = file
        self._left = length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)


@contextlib.contextmanager
def create(path: Path) -> Iterator[BinaryIO]:
    """Write a new file, gzipped if its name ends in .gz, and sync it at the end. Equal content gives equal bytes."""
    try:
        with path.open("wb") as plain:
            if path.suffix == ".gz":
                with gzipped(plain, "wb") as packed:
                    yield packed
            else:
                yield plain
            plain.flush()
            os.fsync(plain.fileno())
    except OSError as error:
        error.filename = error.filename or str(path)  # the system reports a full disk without a file name
        raise


def gzipped(plain: BinaryIO, mode: str) -> io.BufferedReader:
    """Return a file that packs into `plain` or unpacks it. Equal data gives equal bytes: the header has no time."""
    return typing.cast(io.BufferedReader, igzip.IGzipFile("", mode, LEVEL, plain, 0))  # type: ignore[no-untyped-call]
