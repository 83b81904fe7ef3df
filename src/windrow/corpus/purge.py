"""Purge documents from the corpus: the gzip member that holds them is replaced by one of the same length.

The new member has the other lines of the old one, compressed as well as possible, and is filled up with empty blocks.
So the length of a shard stays what the log says. A member in which the other lines do not fit, because they were
compressed with the help of those that go, is joined with its neighbour.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from windrow.config import ConfigError
from windrow.records import Place

_PIECE = 1 << 18  # bytes read at once
_GZIP = 18  # bytes of a member without its blocks
_COMMENT = 0x10  # flag of a gzip head that is followed by a comment, which ends in a zero
_EMPTY = b"\x00\x00\x00\xff\xff"  # a stored block without data that is not the last one

Gone = Callable[[str, int], bool]  # file and offset of the capture of a document -> whether the document goes


class Replacement(NamedTuple):
    """Bytes of a shard, and how many documents they no longer have."""

    offset: int
    data: bytes
    documents: int


class _Kept(NamedTuple):
    """A part of a shard: one or several members, and the lines that stay."""

    start: int
    end: int
    text: bytes
    gone: int = 0  # lines

    def join(self, other: "_Kept") -> "_Kept":
        return _Kept(self.start, other.end, self.text + other.text, self.gone + other.gone)


class _Source(msgspec.Struct, gc=False):
    place: Place


_source = msgspec.json.Decoder(_Source).decode


def replacements(path: Path, length: int, gone: Gone) -> Iterator[Replacement]:
    """Yield what has to be written where in a shard of this length, so that it has none of these documents."""
    before: _Kept | None = None  # the member before, if it stays as it is
    short: _Kept | None = None  # lines that do not fit into their members
    for start, end, text in members(path, length):
        part = _kept(start, end, text, gone)
        if short is None and not part.gone:
            before = part
            continue
        part = short.join(part) if short is not None else part
        data = packed(part.text, part.end - part.start)
        if data is None:
            short = part
        else:
            before = short = None
            yield Replacement(part.start, data, part.gone)
    if short is not None:
        part = before.join(short) if before is not None else short
        data = packed(part.text, part.end - part.start)
        if data is None:
            raise ConfigError(
                f"{path}, byte {part.start}: the documents that stay do not fit into {part.end - part.start} bytes; "
                "remove the listed documents from a copy with windrow export"
            )
        yield Replacement(part.start, data, part.gone)


def members(path: Path, length: int, start: int = 0) -> Iterator[tuple[int, int, bytes]]:
    """Yield each gzip member of the first bytes of a file: where it begins and ends, and its text.

    `start`: where the first of them begins.
    """
    with path.open("rb") as file:
        file.seek(start)
        unused = b""
        while start < length:
            inflate, parts = zlib.decompressobj(31), []
            while not inflate.eof:
                piece = unused or file.read(_PIECE)
                unused = b""
                try:
                    parts.append(inflate.decompress(piece))
                except zlib.error as error:
                    raise ConfigError(
                        f"{path}, byte {start}: damaged ({error}); restore the file from a copy"
                    ) from None
                if not piece:
                    raise ConfigError(f"{path}, byte {start}: the file ends too early; restore the file from a copy")
            unused = inflate.unused_data
            end = file.tell() - len(unused)
            yield start, end, b"".join(parts)
            start = end


def packed(text: bytes, length: int) -> bytes | None:
    """Return a gzip member of this length with the text; None if the text does not fit."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
    data = deflate.compress(text) + deflate.flush()
    empty, rest = divmod(length - _GZIP - len(data), len(_EMPTY))
    if empty < 0:
        return None
    head = (
        struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, _COMMENT if rest else 0, 0, 0, 255) + (b"-" * (rest - 1) + b"\0")[:rest]
    )
    return b"".join((head, _EMPTY * empty, data, struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF)))


def _kept(start: int, end: int, text: bytes, gone: Gone) -> _Kept:
    lines = text.splitlines(keepends=True)
    left = [line for line in lines if line.isspace() or not _goes(line, gone)]
    return _Kept(start, end, b"".join(left), len(lines) - len(left))


def _goes(line: bytes, gone: Gone) -> bool:
    place = _source(line).place
    return gone(place.file, place.offset)
