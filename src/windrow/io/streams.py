"""The bytes of a document file, plain, gzip or zstd: read in parts with bounded memory, or written whole."""

import contextlib
import gzip
import io
import os
import re
import typing
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import zstandard
from isal import igzip, isal_zlib

from windrow.config import ConfigError
from windrow.io.storage import AnyPath

LEVEL = 2  # gzip level of isal, 0 to 3
ZSTD_LEVEL = 3  # the default of zstd
CHUNK = 1 << 20  # bytes per read
MOST = 256 << 20  # bytes of one document; a longer one has no </doc>, or the file has another format

_BROKEN = (
    EOFError,
    gzip.BadGzipFile,
    zlib.error,
    typing.cast(type[Exception], isal_zlib.error),  # its stub does not say that it is a class
    zstandard.ZstdError,
)
_GZIP = b"\x1f\x8b"
_ZSTD = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")  # a frame, or one to be skipped, which pzstd writes
_PACKED = 1 << 11  # bytes of zstd unpacked in one step: to at most 64 MB, because four bytes may stand for 128 kB
_BUFFER = 1 << 17  # bytes collected before zstd packs them
# Suffixes of compressed files and archives that are not written, in small letters.
_FOREIGN = frozenset(
    ".7z .br .bz .bz2 .bzip2 .gzip .lz .lz4 .lzma .lzo .rar .snappy .tar .tbz .tbz2 .tgz .txz .tzst .xz .z .zip "
    ".zlib .zpaq .zstd".split()
)


class ByteStream:
    """The unpacked bytes of a file, with the line number that an error message needs."""

    def __init__(self, path: AnyPath, length: int | None = None, start: int = 0) -> None:
        """`length`: read this many bytes of the file; None: all of it. `start`: where a line begins, in a packed file
        the first of a member."""
        self.path = path
        self.line = 0  # number of the line that the caller reads now
        self._returned = 0  # lines that `parts` has returned
        self._plain = path.open("rb")
        self._plain.seek(start)
        magic = self._plain.read(4)
        self._plain.seek(start)
        plain = (
            self._plain if length is None else typing.cast(BinaryIO, io.BufferedReader(_Beginning(self._plain, length)))
        )
        self._next, self._packing = _unpacker(plain, magic)
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
            return b"" if self._broken else self._next()
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
            if not border:
                *lines, kept = kept.split(b"\n")
                self._returned += len(lines)
                yield from [line + b"\n" for line in lines]
            while border and (end := kept.find(mark, searched)) >= 0:
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
            raise self.error(f"the {self._packing} data ends here ({self._broken}); the file is truncated or damaged")
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
    """Write a new file, packed as its name says, and sync it at the end. Equal content gives equal bytes."""
    try:
        with path.open("wb") as plain:
            if pack := packer(path):
                with pack(plain) as packed:
                    yield packed
            else:
                yield plain
            plain.flush()
            os.fsync(plain.fileno())
    except OSError as error:
        error.filename = error.filename or str(path)  # the system reports a full disk without a file name
        raise


def check_suffix(path: Path) -> None:
    """Refuse the name of an output that promises a compression in which nothing is written."""
    bare = Path(path.stem) if packer(path) else path
    if bare.suffix.lower() in _FOREIGN:
        fix = f"end the name in {' or '.join(PACKERS)}, or in neither for a plain file"
        raise ConfigError(f"{path}: files with the suffix {bare.suffix} cannot be written; {fix}")


def packer(path: Path) -> Callable[[BinaryIO], BinaryIO] | None:
    """Return what makes of a plain file one that packs into it, by the name of the file; None: it stays plain."""
    return PACKERS.get(path.suffix.lower())


def _unpacker(plain: BinaryIO, start: bytes) -> tuple[Callable[[], bytes], str]:
    """Return a function that returns the next bytes, empty at the end, and the name of the compression."""
    if _ZSTD.match(start):
        chunks = _zstd_chunks(plain)
        return lambda: next(chunks, b""), "zstd"
    file = gzipped(plain, "rb") if start.startswith(_GZIP) else typing.cast(io.BufferedReader, plain)
    return lambda: file.read1(CHUNK), "gzip"


def _zstd_chunks(plain: BinaryIO) -> Iterator[bytes]:
    """Yield what `_zstd_pieces` yields in chunks of about CHUNK bytes; before an error, what is whole."""
    parts: list[bytes] = []
    size = 0
    try:
        for piece in _zstd_pieces(plain):
            parts.append(piece)
            size += len(piece)
            if size >= CHUNK:
                yield b"".join(parts)
                parts, size = [], 0
    except _BROKEN:
        if parts:
            yield b"".join(parts)
        raise
    if parts:
        yield b"".join(parts)


def _zstd_pieces(plain: BinaryIO) -> Iterator[bytes]:
    """Unpack zstd frames. zstandard's own reader does not report a file that ends inside a frame."""
    frame: zstandard.ZstdDecompressionObj | None = None
    while packed := plain.read(_PACKED):
        while packed:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            if piece := frame.decompress(packed):
                yield piece
            packed = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame is not None:
        raise EOFError("the file ends inside a frame")


def _zstd(plain: BinaryIO) -> BinaryIO:
    compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)
    raw = typing.cast(io.RawIOBase, compressor.stream_writer(plain, closefd=False))
    return typing.cast(BinaryIO, io.BufferedWriter(raw, _BUFFER))


def gzipped(plain: BinaryIO, mode: str) -> io.BufferedReader:
    """Return a file that packs into `plain` or unpacks it. Equal data gives equal bytes: the header has no time."""
    return typing.cast(io.BufferedReader, igzip.IGzipFile("", mode, LEVEL, plain, 0))  # type: ignore[no-untyped-call]


# Suffix of a file -> what makes of the plain file one that packs into it and, when closed, leaves the plain one open.
PACKERS: dict[str, Callable[[BinaryIO], BinaryIO]] = {
    ".gz": lambda plain: typing.cast(BinaryIO, gzipped(plain, "wb")),
    ".zst": _zstd,
}
