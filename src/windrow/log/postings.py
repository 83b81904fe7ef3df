"""Postings of one file of a log: which of its frames have a token. The form of a view, which `newpostings` makes.

The hash of a token and the number of a frame are a posting. They are sorted and cut into blocks, each with a checksum,
so that an answer reads a few kilobytes: the head, and one block. Hashes have 32 bits, so some frames do not have the
token.
"""

import bisect
import sys
from array import array
from collections.abc import Iterable
from typing import BinaryIO

import msgspec
import xxhash

from windrow.log import views

BLOCK = 1024  # postings
LONGEST = 64 << 20  # bytes of a head that is read
FORM = f"1 {sys.byteorder}"


class PostingsHead(msgspec.Struct, array_like=True):
    """The beginning of a view, behind its checksum and its length. The blocks follow: their hashes, 4 bytes each, and
    then their frames."""

    form: str
    end: int  # bytes of the log's file that have postings
    tail: bytes  # the last of these bytes
    complete: int  # bytes of the log's file, if it will have no further frames; 0: it may have some
    count: int  # postings
    starts: bytes  # of the frames, 4 bytes each
    firsts: bytes  # of each block the first hash, 4 bytes each
    sums: bytes  # checksums of the blocks, 4 bytes each


_decode = msgspec.msgpack.Decoder(PostingsHead).decode


class Postings:
    """The postings of a file."""

    def __init__(self, file: BinaryIO) -> None:
        """Read the head. ValueError or MsgspecError: it is damaged, or of another form."""
        prefix = file.read(views.SUM + 4)
        length = int.from_bytes(prefix[views.SUM :], sys.byteorder)
        if length > LONGEST:
            raise ValueError("the head is too long")
        self.head = _decode(views.opened(prefix + file.read(length))[4:])
        self.starts = array("I", self.head.starts)
        self._firsts, self._sums = array("I", self.head.firsts), array("I", self.head.sums)
        self._file, self._blocks = file, len(prefix) + length  # where they begin
        if self.head.form != FORM or not len(self._firsts) == len(self._sums) == -(-self.head.count // BLOCK):
            raise ValueError("it has another form")

    def find(self, tokens: Iterable[bytes]) -> list[int]:
        """Return where the frames begin that may have one of these tokens. ValueError: the postings are damaged."""
        numbers = set[int]()
        for key in map(_hash, tokens):
            block = max(bisect.bisect_left(self._firsts, key) - 1, 0)
            while block < len(self._firsts) and self._firsts[block] <= key:
                hashes, frames = self.block(block)
                numbers.update(frames[bisect.bisect_left(hashes, key) : bisect.bisect_right(hashes, key)])
                block += 1
        if numbers and max(numbers) >= len(self.starts):
            raise ValueError("there is no such frame")
        return [self.starts[number] for number in sorted(numbers)]

    def block(self, number: int) -> "tuple[array[int], array[int]]":
        """Return the hashes of a block, and the frame of each. ValueError: it is damaged."""
        count, kind = min(BLOCK, self.head.count - number * BLOCK), code(len(self.starts))
        width = 4 + array(kind).itemsize
        self._file.seek(self._blocks + number * BLOCK * width)
        data = self._file.read(count * width)
        if xxhash.xxh32_intdigest(data) != self._sums[number]:
            raise ValueError("a block has another checksum")
        return array("I", data[: 4 * count]), array(kind, data[4 * count :])

    def all(self) -> "tuple[array[int], array[int]]":
        """Return all hashes, and the frame of each. ValueError: they are damaged."""
        hashes, frames = array("I"), array("I")
        for number in range(len(self._sums)):
            block = self.block(number)
            hashes.extend(block[0])
            frames.extend(block[1].tolist())
        return hashes, frames


def _hash(token: bytes) -> int:
    return xxhash.xxh3_64_intdigest(token) >> 32


def code(frames: int) -> str:
    """Return the type of an array with numbers of frames; array and numpy have the same names."""
    return "H" if frames <= 1 << 16 else "I"
