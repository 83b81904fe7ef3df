"""The table of all n-grams seen: two generations, the redo records of what was added, and a saved copy.

`young` takes what is new; `old` is only read. When `young` is full, it becomes `old`, and the previous `old` is
forgotten. Measured: 5.9 to 11.2 bytes per n-gram. Two different n-grams are taken for the same with a probability of
n/2^48: one in three million at 10^8.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import xxhash

from windrow.config import ConfigError
from windrow.dedup.generation import BITS, Flags, Generation, Hashes

if TYPE_CHECKING:
    from windrow.dedup import _ngrams

BATCH = 8192  # n-grams added at once, at most: the table grows only between two batches
MAGIC = b"windrow seen 1\n\0"  # 16 bytes
REDO = b"windrow redo 1\n\0"
DEFAULT = 2_200_000_000  # bytes: 188 million n-grams in each generation


class Found(NamedTuple):
    """Which n-grams of a document the table holds, so that adding the others need not look again."""

    identities: Hashes  # the upper BITS of their hashes
    young: Flags  # held by the young generation
    seen: Flags  # held by either


class NgramTable:
    """All n-grams seen. One owner, no locks."""

    def __init__(self, limit: int = DEFAULT) -> None:
        """`limit`: bytes of memory for both generations."""
        self.limit = limit
        self.young = Generation(limit // 2)
        self.old: Generation | None = None
        self.forgotten = 0  # n-grams in generations that were dropped
        self._added: list[bytes] = []

    def __len__(self) -> int:
        return self.young.count + (self.old.count if self.old else 0)

    @property
    def nbytes(self) -> int:
        return self.young.nbytes + (self.old.nbytes if self.old else 0)

    def find(self, hashes: Hashes) -> Found:
        identities = hashes >> np.uint64(64 - BITS)
        young = self.young.has(identities)
        return Found(identities, young, young | self.old.has(identities) if self.old else young)

    def put(self, found: Found, kept: Flags | None = None, repeated: bool = True) -> None:
        """Add the kept n-grams that are not in the young generation. `repeated`: some may occur twice."""
        new = found.identities[~found.young if kept is None else kept > found.young]
        self.add_new(new[np.sort(np.unique(new, return_index=True)[1])] if repeated else new)

    def add(self, hashes: Hashes) -> None:
        self.put(self.find(hashes))

    def add_new(self, identities: Hashes) -> None:
        """Add identities that are not in the young generation, each once."""
        for start in range(0, len(identities), BATCH):
            if self.young.full:
                self.forgotten += self.old.count if self.old else 0
                self.old, self.young = self.young, Generation(self.limit // 2)
            self._added.append(self.young.add(identities[start : start + BATCH]))

    def states(self) -> "tuple[_ngrams.State, _ngrams.State | None]":
        """Return the young and the old generation as the kernel reads them."""
        return self.young.state(), self.old.state() if self.old else None

    def take(self) -> bytes:
        """Return a record for the redo file: what was added since the last call. Empty if nothing was."""
        entries = b"".join(self._added)
        self._added.clear()
        return len(entries).to_bytes(8, "little") + xxhash.xxh3_64_digest(entries) + entries if entries else b""

    def replay(self, redo: Path, start: int = 0) -> int:
        """Add the records of the redo file from an offset on, in their order; return the end of the last whole record.

        A record that was cut short is ignored. An n-gram that is already in the table is not added again.
        """
        reached = start
        for end, hashes in _records(redo, start):
            self.put(self.find(hashes), None, False)
            reached = end
        self._added.clear()
        return reached

    def save(self, path: Path, redo: int = 0) -> None:
        """Write the table, complete or not at all. `redo`: the offset of the redo file up to which it is included."""
        new = path.with_name(path.name + ".new")
        with new.open("wb") as file:
            file.write(MAGIC + np.array([redo, self.forgotten, self.old is not None], "<u8").tobytes())
            for generation in (self.young, self.old):
                if generation:
                    generation.write(file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)


def load(path: Path, limit: int = DEFAULT) -> tuple[NgramTable, int]:
    """Return a saved table, and the offset of the redo file from which to replay."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError("another kind of file, or another version")
            redo, forgotten, generations = np.frombuffer(file.read(24), "<u8").tolist()
            table = NgramTable.__new__(NgramTable)
            table.limit, table.forgotten, table._added = limit, forgotten, []
            table.young = Generation.read(file, limit // 2)
            table.old = Generation.read(file, limit // 2) if generations else None
            return table, redo
    except ValueError as error:
        raise ConfigError(
            f"{path} is not a whole table of n-grams ({error}); delete it: Windrow makes a new one from the redo file"
        ) from None


def _records(redo: Path, start: int) -> Iterator[tuple[int, Hashes]]:
    """Yield the batches of every whole record, each with the end of its record."""
    with redo.open("rb") as file:
        file.seek(start)
        if start < len(REDO) and file.read(len(REDO)) != REDO:
            raise ConfigError(f"{redo} is not a redo file of n-grams, or was written by another version; move it away")
        while len(head := file.read(16)) == 16:
            entries = file.read(int.from_bytes(head[:8], "little"))
            if xxhash.xxh3_64_digest(entries) != head[8:]:
                return
            end, place = file.tell(), 0
            while place < len(entries):
                count = int.from_bytes(entries[place : place + 4], "little")
                hashes = np.zeros((count, 8), np.uint8)
                hashes[:, 2:] = np.frombuffer(entries, np.uint8, count * 6, place + 4).reshape(-1, 6)
                place += 4 + count * 6
                yield end, hashes.reshape(-1).view("<u8")


def too_small(forgotten: int, size: int) -> str:
    """Return what to say of a table that could not hold all n-grams. size: its bytes."""
    return (
        f"The table of n-grams was too small and forgot {forgotten:,} of them, so later copies of that text stayed. "
        f"Use more memory: --set dedup.table_bytes={2 * size}"
    )
