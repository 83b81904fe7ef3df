"""Where a record is in its file, and how it is packed: the part `Container` of a WAT record."""

import os
import struct
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from windrow.archive import WarcRecord
from windrow.io.storage import AnyPath

_GZIP = b"\x1f\x8b\x08"
_FOOTER = struct.Struct("<iI")  # checksum, which Common Crawl's files have as a signed number, and length
_LONGEST = 1 << 17  # bytes of a gzip header that are read
_HEADER = 10  # bytes of a gzip header without optional fields
_EXTRA, _NAME, _COMMENT, _CHECKSUM = 4, 8, 16, 2  # flags
_SLOP = 4  # bytes: the two line ends behind a block
_LEAST_SLOP, _MOST_SLOP = 0, 8


class Packing(NamedTuple):
    """The gzip member of a record."""

    length: int
    header: int  # bytes
    checksum: int
    inflated: int  # bytes


class Container:
    """An archive file, open."""

    def __init__(self, path: AnyPath) -> None:
        self._name = path.name
        self._file = path.open("rb")
        self._here = self._file.fileno() if isinstance(path, Path) else -1  # of a file of this machine
        start = self._read(0, 4)
        self._packed = start.startswith(_GZIP[:2])
        self._plain = start.isascii()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def packing(self, record: WarcRecord) -> Packing | None:
        """Return how a record is packed; None if it has no gzip member of its own."""
        if not self._packed or not record.length:
            return None
        start = self._read(record.offset, _HEADER)
        end = self._read(record.offset + record.length - _FOOTER.size, _FOOTER.size)
        if not start.startswith(_GZIP) or len(end) < _FOOTER.size:
            return None
        checksum, inflated = _FOOTER.unpack(end)
        header = _HEADER if not start[3] else _length(self._read(record.offset, min(record.length, _LONGEST)))
        return Packing(record.length, header, checksum, inflated)

    def describe(self, record: WarcRecord, packing: Packing | None) -> dict[str, Any]:
        facts: dict[str, Any] = {
            "Filename": self._name,
            "Compressed": not self._plain,
            "Offset": str(record.offset),
        }
        if packing is not None:
            facts["Gzip-Metadata"] = {
                "Deflate-Length": str(packing.length),
                "Header-Length": str(packing.header),
                "Footer-Length": str(_FOOTER.size),
                "Inflated-CRC": str(packing.checksum),
                "Inflated-Length": str(packing.inflated),
            }
        return facts

    def _read(self, offset: int, size: int) -> bytes:
        # Not a map of the file: its pages would count as memory of this process.
        if self._here >= 0:
            return os.pread(self._here, size, offset)
        self._file.seek(offset)
        return self._file.read(size)


def _length(start: bytes) -> int:
    """Return the length of a gzip header with optional fields (RFC 1952), given the first bytes of a member."""
    flags, at = start[3], _HEADER
    if flags & _EXTRA:
        at += 2 + int.from_bytes(start[at : at + 2], "little")
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            at = start.find(b"\0", at) + 1 or len(start)
    return min(at + 2 * bool(flags & _CHECKSUM), len(start))


def slop(record: WarcRecord, packing: Packing | None) -> tuple[int, int]:
    """Return the bytes of a record's header, and of what follows its block; 0 and 0 if they are not known.

    The header is known as its fields only. If they were written in the usual form, its length follows from them.
    """
    whole = packing.inflated if packing is not None else record.length
    rest = whole - record.size
    if not whole or rest <= 0 or not record.version.startswith("WARC"):  # the fields of another format were made up
        return 0, 0
    written = "".join([part for pair in record.headers for part in pair])
    usual = len(record.version) + 4 + 4 * len(record.headers) + _size(written)
    behind = rest - usual
    return (usual, behind) if _LEAST_SLOP <= behind <= _MOST_SLOP else (rest - _SLOP, _SLOP)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
