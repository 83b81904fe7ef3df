"""ZipNum: sorted CDXJ lines in gzip members of 3,000, and cluster.idx, which has the first key of each member.

A reader searches the small file and unpacks one member. Written and read in order, with bounded memory.
"""

import bisect
import gzip
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

CLUSTER, LOCATIONS = "cluster.idx", "cluster.loc"
LINES = 3000  # of a gzip member
MEMBERS = 1000  # of a shard
LEVEL = 6  # of gzip: shards are written once and read often


class ZipNumWriter:
    """Shards and their secondary index, in a directory."""

    def __init__(self, directory: Path, lines: int = LINES, members: int = MEMBERS) -> None:
        self._directory = directory
        self._lines, self._members = lines, members
        self._block: list[bytes] = []
        self._count = 0  # of members in all shards
        self._offset = 0
        self._shard: IO[bytes] | None = None
        self._cluster = (directory / CLUSTER).open("wb")

    def add(self, line: bytes) -> None:
        self._block.append(line)
        if len(self._block) == self._lines:
            self._pack()

    def close(self) -> None:
        """Write what is left, and make everything durable."""
        self._pack()
        self._end(self._shard)
        self._end(self._cluster)
        shards = [_name(number) for number in range(-(-self._count // self._members))]
        (self._directory / LOCATIONS).write_text("".join(f"{name}\t{name}\n" for name in shards))

    def _pack(self) -> None:
        if not self._block:
            return
        if self._count % self._members == 0:
            self._end(self._shard)
            self._shard = (self._directory / _name(self._count // self._members)).open("wb")
            self._offset = 0
        assert self._shard is not None
        member = gzip.compress(b"".join(self._block), LEVEL, mtime=0)
        self._shard.write(member)
        key = b" ".join(self._block[0].split(b" ", 2)[:2])
        name = _name(self._count // self._members).encode()
        self._count += 1
        self._cluster.write(b"%b\t%b\t%d\t%d\t%d\n" % (key, name, self._offset, len(member), self._count))
        self._offset += len(member)
        self._block = []

    def _end(self, file: IO[bytes] | None) -> None:
        if file is not None:
            file.flush()
            os.fsync(file.fileno())
            file.close()


def _name(number: int) -> str:
    return f"cdx-{number:05}.gz"


def search(directory: Path, start: bytes, end: bytes) -> Iterator[bytes]:
    """Yield the lines from `start` up to and without `end`, both compared by bytes."""
    rows = [line.split(b"\t") for line in (directory / CLUSTER).read_bytes().splitlines()]
    first = max(bisect.bisect_left(rows, start, key=lambda row: row[0]) - 1, 0)
    for row in rows[first:]:
        if row[0] >= end:
            return
        yield from (line for line in _member(directory, row) if start <= line < end)


def _member(directory: Path, row: list[bytes]) -> Iterable[bytes]:
    _, name, offset, length, _ = row
    with (directory / name.decode()).open("rb") as file:
        file.seek(int(offset))
        return gzip.decompress(file.read(int(length))).splitlines(keepends=True)
