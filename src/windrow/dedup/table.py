"""The n-grams that were seen: a table of fingerprints that grows in place up to a bound, then forgets its older half.

A hash is cut to 48 bits. The first of them choose a bucket of 16 slots, the rest is the fingerprint that a slot of 32 bits holds; when the
table doubles, each bucket parts in two by the first bit of its fingerprints, so nothing else need be remembered. Memory is reserved once
and touched as the table grows; the doubling is spread over many calls, a bucket for each n-gram added, so that none of them is long.
Finding and adding are in the C kernel `_ngrams`, where it was built, and here in numpy, its twin.
Measured: 5.9 to 11.2 bytes an n-gram. Two n-grams are taken for one with a chance of n/2^48, one in three million at 10^8.

Generations: `young` takes what is new, `old` is only asked. When young is full, it becomes old, and what was old is forgotten.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from windrow.config import ConfigError

try:
    from windrow.dedup import _ngrams
except ImportError:  # there was no compiler: the twin does it
    _ngrams = None  # type: ignore[assignment]

Hashes = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]
Prints = npt.NDArray[np.uint32]

BITS = 48  # of a hash that are told apart
LEAST = 16  # bits that choose the bucket at first: 4 MB
SLOTS = 16  # of a bucket: one cache line
LOAD = 0.7  # of the slots; then the table doubles
LOT = 8192  # n-grams added at once, at most: between two lots the table grows
STEP = 512  # buckets parted at once, at least: below it the calls cost more than the work
OVERFLOWN = 0x80  # flag in a bucket's fill: some of its fingerprints are in the stash

MAGIC = b"windrow seen 1\n\0"  # 16 bytes
REDO = b"windrow redo 1\n\0"
_LAST = np.arange(SLOTS - 1, SLOTS - 257, -1)  # by the fill of a bucket: its last free slot
BUCKET_BYTES = SLOTS * 4 + 1
DEFAULT = 2_200_000_000  # bytes: 188 million n-grams in each generation


class Places(NamedTuple):
    """Where some identities belong in a generation, as long as it has not grown."""

    buckets: npt.NDArray[np.int64]
    prints: Prints

    def at(self, chosen: npt.NDArray[np.int64]) -> "Places":
        return Places(self.buckets.take(chosen), self.prints.take(chosen))


class Found(NamedTuple):
    """Where a document's n-grams stand, so that adding them need not look again."""

    identities: Hashes  # the upper BITS of their hashes
    places: Places  # in the young generation
    young: Flags  # is it in the young generation?
    seen: Flags  # is it in either?


class Stash:
    """The few whose bucket was full: in order in an array, the latest in a set until there are enough to merge."""

    def __init__(self, identities: Hashes | None = None) -> None:
        self.sorted = np.zeros(0, np.uint64) if identities is None else np.sort(identities)
        self.latest: set[int] = set()

    def __len__(self) -> int:
        return len(self.sorted) + len(self.latest)

    def has(self, identities: Hashes) -> Flags:
        found = np.fromiter((identity in self.latest for identity in identities.tolist()), np.bool_, len(identities))
        if len(self.sorted):
            places = np.minimum(np.searchsorted(self.sorted, identities), len(self.sorted) - 1)
            found |= self.sorted[places] == identities
        return found

    def add(self, identities: Hashes) -> None:
        self.latest.update(identities.tolist())
        if len(self.latest) > 1024 + len(self.sorted) // 64:
            self.sorted = self.all()
            self.latest.clear()

    def all(self) -> Hashes:
        latest = np.fromiter(self.latest, np.uint64, len(self.latest))
        return np.sort(np.concatenate([self.sorted, latest]), kind="stable")


class Generation:
    """A set of hashes that holds at most `limit` bytes of them."""

    def __init__(self, limit: int) -> None:
        self.most = max(LEAST, (limit // BUCKET_BYTES).bit_length() - 1)
        self.slots: Prints = np.zeros((1 << self.most, SLOTS), np.uint32)
        self.fill = np.zeros(1 << self.most, np.uint8)
        self.bits = LEAST
        self.split = 1 << LEAST  # buckets from here on are parted already
        self.stash = Stash()
        self.count = 0
        self._held = _ngrams.hold(self.slots, self.fill) if _ngrams else None

    def state(self) -> "_ngrams.State":
        """As the kernel reads it."""
        return self._held, self.bits, self.split, self.stash.sorted, self.stash.latest

    @property
    def full(self) -> bool:
        return self.bits == self.most and self.count >= self._capacity()

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use, reserved ones that were never touched aside."""
        buckets = 1 << self.bits
        return (buckets + min(buckets, 2 * (buckets - self.split))) * BUCKET_BYTES + 8 * len(self.stash)

    def has(self, identities: Hashes, places: Places) -> Flags:
        buckets, prints = places
        hits = self.slots.take(buckets, axis=0) == prints[:, None]
        halves = hits.view(np.uint64)  # eight truth values at a time
        found: Flags = (halves[:, 0] | halves[:, 1]) != 0
        if len(self.stash):
            unsure = np.flatnonzero(self.fill.take(buckets) >= OVERFLOWN)
            if len(unsure):
                found[unsure] |= self.stash.has(identities[unsure])
        return found

    def add(self, identities: Hashes, places: Places | None = None) -> bytes:
        """Adds identities that are not in it, each once; gives their entry for the redo file."""
        if _ngrams and places is None:
            entry = self._insert_quickly(identities)
        else:
            self._insert(identities, self.place(identities) if places is None else places)
            entry = (
                len(identities).to_bytes(4, "little")
                + identities.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :6].tobytes()
            )
        self.count += len(identities)
        if self.bits < self.most and self.count >= self._capacity():
            self._part(max(STEP, len(identities)))
        return entry

    def write(self, file: BinaryIO) -> None:
        """Its state: numbers, then the arrays, then their checksum."""
        stash = self.stash.all()
        buckets = self._touched()
        numbers = np.array([self.bits, self.split, self.count, len(stash)], "<u8").tobytes()
        check = xxhash.xxh3_64(numbers)
        file.write(numbers)
        for array in (self.slots[:buckets], self.fill[:buckets], stash):
            file.write(array.data)
            check.update(array.data)
        file.write(check.digest())

    @classmethod
    def read(cls, file: BinaryIO, limit: int) -> "Generation":
        """The inverse of `write`; ValueError where the bytes are not what was written."""
        numbers = file.read(32)
        check = xxhash.xxh3_64(numbers)
        bits, split, count, stashed = np.frombuffer(numbers, "<u8").tolist()
        if not (LEAST <= bits <= BITS - 8 and 0 < split <= 1 << bits):
            raise ValueError("impossible numbers")
        made = cls(max(limit, BUCKET_BYTES << (bits + (split < 1 << bits))))
        made.bits, made.split, made.count = bits, split, count
        stash = np.zeros(stashed if stashed <= count else 0, np.uint64)
        for array in (made.slots[: made._touched()], made.fill[: made._touched()], stash):
            if file.readinto(array.data.cast("B")) != array.nbytes:  # type: ignore[attr-defined]
                raise ValueError("cut short")
            check.update(array.data)
        if file.read(8) != check.digest():
            raise ValueError("wrong checksum")
        made.stash = Stash(stash)
        return made

    def _touched(self) -> int:
        """Buckets from the first one on that hold anything."""
        return 1 << (self.bits + self._parting())

    def identities(self) -> Hashes:
        """What it holds, in order, cut to BITS."""
        parts = [self.stash.all()]
        for low, high, bits in ((0, self.split, self.bits), (2 * self.split, 2 << self.bits, self.bits + 1)):
            for start in range(low, min(high, 1 << self.most), 1 << 16):
                rows = self.slots[start : min(high, start + (1 << 16))]
                bucket, slot = np.nonzero(rows)
                parts.append((bucket + start).astype(np.uint64) << np.uint64(BITS - bits) | rows[bucket, slot])
        return np.sort(np.concatenate(parts))

    def _capacity(self) -> float:
        return LOAD * SLOTS * (1 << self.bits)

    def _parting(self) -> bool:
        return self.split < 1 << self.bits

    def place(self, identities: Hashes) -> Places:
        """Bucket and fingerprint; 0 marks an empty slot, so 1 stands for both."""
        rest = BITS - self.bits
        buckets = (identities >> np.uint64(rest)).view(np.int64)
        prints = identities.astype(np.uint32)
        prints &= np.uint32((1 << rest) - 1)
        if self._parting():
            parted = buckets >= self.split
            buckets = np.where(parted, (identities >> np.uint64(rest - 1)).view(np.int64), buckets)
            prints = np.where(parted, prints & np.uint32((1 << (rest - 1)) - 1), prints)
        return Places(buckets, np.maximum(prints, np.uint32(1)))

    def _insert(self, identities: Hashes, places: Places) -> None:
        """Writes each to the last free slot of its bucket. Where two met in one slot, the one overwritten tries again."""
        buckets, prints = places
        flat = self.slots.reshape(-1)
        while len(buckets):
            used = self.fill.take(buckets)
            if used.max() >= SLOTS:
                room = used < SLOTS
                self._overflow(identities[~room], buckets[~room])
                identities, buckets, prints, used = identities[room], buckets[room], prints[room], used[room]
            slots = buckets * SLOTS
            slots += _LAST.take(used)
            flat[slots] = prints
            used += np.uint8(1)
            self.fill[buckets] = used
            lost = (flat.take(slots) != prints).nonzero()[0]
            if not len(lost):
                return
            identities, buckets, prints = identities[lost], buckets[lost], prints[lost]

    def _overflow(self, identities: Hashes, buckets: npt.NDArray[np.int64]) -> None:
        self.stash.add(identities)
        self.fill[buckets] |= np.uint8(OVERFLOWN)

    def _part(self, count: int) -> None:
        """Parts the next `count` buckets in two, from the last to the first: each goes to twice its place, which is free by then."""
        high, low = self.split, max(0, self.split - count)
        if _ngrams:
            _ngrams.part(self.state(), low)
        else:
            self._part_rows(low, high)
        self.split = low
        if not low:
            self._finish()

    def _part_rows(self, low: int, high: int) -> None:
        rows = self.slots[low:high]
        top = np.uint32(1 << (BITS - self.bits - 1))
        upper = (rows & top) != 0
        rest = np.where(rows != 0, np.maximum(rows & (top - np.uint32(1)), np.uint32(1)), np.uint32(0))
        parted = np.empty((2 * (high - low), SLOTS), np.uint32)
        parted[::2] = np.where(upper, np.uint32(0), rest)
        parted[1::2] = np.where(upper, rest, np.uint32(0))
        parted.sort(axis=1)  # the empty slots come first, as `_insert` fills from the end
        flags = np.repeat(self.fill[low:high] & np.uint8(OVERFLOWN), 2)
        self.slots[2 * low : 2 * high] = parted
        self.fill[2 * low : 2 * high] = np.count_nonzero(parted, axis=1).astype(np.uint8) | flags

    def _finish(self) -> None:
        """The table has doubled: the stash may find room."""
        self.bits += 1
        self.split = 1 << self.bits
        self.fill[: self.split] &= np.uint8(OVERFLOWN - 1)
        stashed, self.stash = self.stash.all(), Stash()
        if _ngrams:
            self._insert_quickly(stashed)
        else:
            self._insert(stashed, self.place(stashed))

    def _insert_quickly(self, identities: Hashes) -> bytes:
        """The same by the kernel; gives their entry for the redo file."""
        entry, crowded = _ngrams.insert(self.state(), identities)
        if crowded:
            self.stash.add(np.frombuffer(crowded, np.uint64))
        return entry


class Table:
    """Everything that was seen, in two generations; one owner, no locks."""

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
        places = self.young.place(identities)
        young = self.young.has(identities, places)
        seen = young | self.old.has(identities, self.old.place(identities)) if self.old else young
        return Found(identities, places, young, seen)

    def put(self, found: Found, kept: Flags | None = None, repeated: bool = True) -> None:
        """Adds what was just found (where `kept`), unless it is in the young generation. `repeated`: some may be there twice."""
        wanted = (~found.young if kept is None else kept > found.young).nonzero()[0]
        fresh = found.identities.take(wanted)
        if repeated or len(fresh) > LOT or self.young.full:
            self.put_fresh(fresh[np.sort(np.unique(fresh, return_index=True)[1])] if repeated else fresh)
        elif len(fresh):
            self._add(fresh, None if _ngrams else found.places.at(wanted))

    def put_fresh(self, fresh: Hashes) -> None:
        """Adds identities that are not in the young generation, each once."""
        for start in range(0, len(fresh), LOT):
            self._add(fresh[start : start + LOT], None)

    def add(self, hashes: Hashes) -> None:
        self.put(self.find(hashes))

    def states(self) -> "tuple[_ngrams.State, _ngrams.State | None]":
        """Young and old, as the kernel reads them."""
        return self.young.state(), self.old.state() if self.old else None

    def _add(self, fresh: Hashes, places: Places | None) -> None:
        if self.young.full:
            self.forgotten += self.old.count if self.old else 0
            self.old, self.young = self.young, Generation(self.limit // 2)
        self._added.append(self.young.add(fresh, places))

    def take(self) -> bytes:
        """A record for the redo file: what was added since the last call. Empty where nothing was."""
        entries = b"".join(self._added)
        self._added.clear()
        return len(entries).to_bytes(8, "little") + xxhash.xxh3_64_digest(entries) + entries if entries else b""

    def replay(self, redo: Path, start: int = 0) -> int:
        """Adds what the redo file holds from an offset on, as it was added then; gives the end of its last whole record. A record that was
        cut short does not exist. What is there already is not added again."""
        reached = start
        for end, hashes in _records(redo, start):
            self.put(self.find(hashes), None, False)
            reached = end
        self._added.clear()
        return reached

    def digest(self) -> str:
        """Equal for tables that know the same n-grams in the same generations."""
        check = xxhash.xxh3_64()
        for generation in (self.young, self.old):
            check.update(b"generation" if generation is None else generation.identities().tobytes())
        return check.hexdigest()

    def save(self, path: Path, redo: int = 0) -> None:
        """Writes the table, complete or not at all. `redo`: up to which offset of the redo file it is included."""
        new = path.with_name(path.name + ".new")
        with new.open("wb") as file:
            file.write(MAGIC + np.array([redo, self.forgotten, self.old is not None], "<u8").tobytes())
            for generation in (self.young, self.old):
                if generation:
                    generation.write(file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)


def load(path: Path, limit: int = DEFAULT) -> tuple[Table, int]:
    """A saved table, and the offset of the redo file from which to replay."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError("another kind of file, or another version")
            redo, forgotten, generations = np.frombuffer(file.read(24), "<u8").tolist()
            table = Table.__new__(Table)
            table.limit, table.forgotten, table._added = limit, forgotten, []
            table.young = Generation.read(file, limit // 2)
            table.old = Generation.read(file, limit // 2) if generations else None
            return table, redo
    except ValueError as error:
        raise ConfigError(
            f"{path} is not a whole table of n-grams ({error}); move it away, and it is made anew"
        ) from None


def _records(redo: Path, start: int) -> Iterator[tuple[int, Hashes]]:
    """The lots of every whole record, each with the end of its record."""
    with redo.open("rb") as file:
        file.seek(start)
        if start < len(REDO) and file.read(len(REDO)) != REDO:
            raise ConfigError(f"{redo} is not a redo file of n-grams, or of another version; move it away")
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
