"""Purge captures from the archive: a tombstone takes the place of each record and is exactly as long.

So the offset of every other record stays right, and a reader of any kind finds complete gzip members with complete
records. A tombstone is a `metadata` record without a target URI. Its text is stored, not compressed, because stored
blocks can have any length: what the old record was longer is filled with blanks at the end of the one field.
"""

import itertools
import math
import struct
import uuid
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from windrow.archive.members import date
from windrow.archive.reading.reader import exchange_at
from windrow.archive.reading.scan import records
from windrow.archive.reading.unpack import ArchiveError
from windrow.archive.record import is_tombstone
from windrow.records import Place

_START = (
    b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Date: %b\r\nWARC-Record-ID: <urn:uuid:%b>\r\n"
    b"Content-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n"
)
_FIELD = b"purged: takedown"
_END = b"\r\n\r\n"
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_GZIP = len(_GZIP_HEAD) + 8  # bytes of a member without its blocks: the head, and checksum and size at the end
_BLOCK = 5  # bytes of a stored block without its data
_LONGEST = 0xFFFF  # bytes of data in a stored block
# The shortest tombstone. One more block makes a record five bytes shorter, so two more digits of Content-Length and
# the five bytes are added: from here on, every length can be reached.
LEAST = _GZIP + _BLOCK + len(_START % (date(0.0), bytes(36), 10)) + len(_FIELD) + 2 + len(_END) + _BLOCK + 2


class Span(NamedTuple):
    """A part of an archive file."""

    offset: int
    length: int


def spans(directory: Path, place: Place) -> list[Span]:
    """Return where the records of a capture lie, in order; an empty list if they are purged already.

    A record that is shorter than a tombstone is joined with its neighbour.
    """
    path = directory / place.file
    if _purged(path, place.offset):
        return []
    exchange = exchange_at(path, place.offset)
    if "metadata" not in exchange or not all(record.length for record in exchange.values()):
        raise ArchiveError(path, place.offset, "the capture that begins here lacks one of its records")
    members = sorted(Span(record.offset, record.length) for record in exchange.values())
    if any(member.offset + member.length != other.offset for member, other in itertools.pairwise(members)):
        raise ArchiveError(path, place.offset, "the records of the capture that begins here do not follow each other")
    return joined(members)


def _purged(path: Path, offset: int) -> bool:
    """Return whether a tombstone is at an offset. Where no record begins, one that was joined may lie across it."""
    try:
        record = next(records(path, offset), None)
    except ArchiveError:
        return any(is_tombstone(record) and 0 < offset - record.offset < record.length for record in records(path))
    return record is not None and is_tombstone(record)


def joined(members: Sequence[Span]) -> list[Span]:
    """Join neighbouring parts until each is long enough for a tombstone."""
    whole: list[Span] = []
    for span in members:
        if whole and (whole[-1].length < LEAST or span.length < LEAST):
            span = Span(whole[-1].offset, whole.pop().length + span.length)
        whole.append(span)
    return whole


def refers_to(directory: Path, place: Place) -> tuple[str, int] | None:
    """Return the file and offset of the payload to which a revisit record refers; None for any other record."""
    record = next(records(directory / place.file, place.offset), None)
    if record is None or record.type != "revisit":
        return None
    offset = record.header("WARC-Refers-To-File-Offset")
    return record.header("WARC-Refers-To-Filename"), int(offset) if offset.isdecimal() else -1


def tombstone(length: int, moment: float) -> bytes:
    """Return a gzip member of this length with the record that says that another one was purged at this moment."""
    fewest = math.ceil((length - _GZIP) / (_LONGEST + _BLOCK))
    for blocks in (fewest, fewest + 1):  # one of the two fits: of the lengths of a record, few in a row are impossible
        record = _record(length - _GZIP - blocks * _BLOCK, moment) if length >= LEAST else b""
        if record:
            tail = struct.pack("<II", zlib.crc32(record), len(record) & 0xFFFFFFFF)
            return b"".join((_GZIP_HEAD, _stored(record, blocks), tail))
    raise ValueError(f"a tombstone of {length} bytes is not possible; the shortest has {LEAST}")


def _record(size: int, moment: float) -> bytes:
    """Return a record of this many bytes; empty if there is none, because Content-Length needs a digit more or less."""
    name = str(uuid.uuid4()).encode()
    for digits in range(2, 12):
        block = size - len(_START % (date(moment), name, 10 ** (digits - 1))) - len(_END)
        if len(str(block)) == digits:
            filled = _FIELD.ljust(block - 2) + b"\r\n"
            return _START % (date(moment), name, block) + filled + _END
    return b""


def _stored(data: bytes, blocks: int) -> bytes:
    parts = []
    for number in range(blocks):
        piece = data[number * _LONGEST : (number + 1) * _LONGEST]
        parts += [struct.pack("<BHH", number == blocks - 1, len(piece), len(piece) ^ 0xFFFF), piece]
    return b"".join(parts)
