"""One generation of the table: a set of 48-bit hashes that grows in place.

The first bits of a hash choose a bucket of 16 slots; the rest is the fingerprint, which a slot of 32 bits holds. When
the set doubles, each bucket splits in two by the first bit of its fingerprints, so the hashes themselves need not be
kept. Memory is reserved once and touched as the set grows. The doubling is spread over many calls, one bucket for each
n-gram added, so that no single call is long. Finding, adding and splitting are in the C kernel `_ngrams`; the numpy
code here is its reference implementation.
"""

from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import xxhash

try:
    from windrow.dedup import _ngrams
except ImportError:  # built without a compiler: the reference runs instead
    _ngrams = None  # type: ignore[assignment]

Hashes = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]
Buckets = npt.NDArray[np.int64]
Fingerprints = npt.NDArray[np.uint32]

BITS = 48  # of a hash that the set distinguishes
LEAST = 16  # bits that choose the bucket at first: 4 MB
SLOTS = 16  # per bucket: one cache line
LOAD = 0.7  # share of the slots in use at which the set doubles
STEP = 512  # buckets split per call, at least: below it the calls cost more than the work
OVERFLOWN = 0x80  # flag in a bucket's fill: some of its fingerprints are in the stash
BUCKET_BYTES = SLOTS * 4 + 1
_LAST = np.arange(SLOTS - 1, SLOTS - 257, -1)  # by the fill of a bucket: its last free slot


class Stash:
    """The few identities whose bucket was full: a sorted array, and a set of the latest, which are merged in groups."""

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
    """A set of identities (hashes cut to BITS) in at most `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.most = max(LEAST, (limit // BUCKET_BYTES).bit_length() - 1)
        self.slots: Fingerprints = np.zeros((1 << self.most, SLOTS), np.uint32)
        self.fill = np.zeros(1 << self.most, np.uint8)
        self.bits = LEAST
        self.split = 1 << LEAST  # buckets from this one on are already split
        self.stash = Stash()
        self.count = 0
        self._held = _ngrams.hold(self.slots, self.fill) if _ngrams else None

    def state(self) -> "_ngrams.State":
        """Return the state as the kernel reads it."""
        return self._held, self.bits, self.split, self.stash.sorted, self.stash.latest

    @property
    def full(self) -> bool:
        return self.bits == self.most and self.count >= self._capacity()

    @property
    def nbytes(self) -> int:
        """The bytes of memory in use, without those reserved and never touched."""
        buckets = 1 << self.bits
        return (buckets + min(buckets, 2 * (buckets - self.split))) * BUCKET_BYTES + 8 * len(self.stash)

    def has(self, identities: Hashes) -> Flags:
        buckets, prints = self._place(identities)
        hits = self.slots.take(buckets, axis=0) == prints[:, None]
        halves = hits.view(np.uint64)  # eight truth values at a time
        found: Flags = (halves[:, 0] | halves[:, 1]) != 0
        if len(self.stash):
            unsure = np.flatnonzero(self.fill.take(buckets) >= OVERFLOWN)
            if len(unsure):
                found[unsure] |= self.stash.has(identities[unsure])
        return found

    def add(self, identities: Hashes) -> bytes:
        """Add identities that are not in the set, each once; return their entry for the redo file."""
        entry = self._insert(identities)
        self.count += len(identities)
        if self.bits < self.most and self.count >= self._capacity():
            self._split(max(STEP, len(identities)))
        return entry

    def write(self, file: BinaryIO) -> None:
        """Write the state: numbers, then the arrays, then their checksum."""
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
        """Read what `write` wrote; raise ValueError if the bytes differ from it."""
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

    def _capacity(self) -> float:
        return LOAD * SLOTS * (1 << self.bits)

    def _splitting(self) -> bool:
        return self.split < 1 << self.bits

    def _touched(self) -> int:
        """Return how many buckets, from the first on, may hold anything."""
        return 1 << (self.bits + self._splitting())

    def _place(self, identities: Hashes) -> tuple[Buckets, Fingerprints]:
        """Return bucket and fingerprint of each. 0 marks an empty slot, so the fingerprint 1 also stands for 0."""
        rest = BITS - self.bits
        buckets = (identities >> np.uint64(rest)).view(np.int64)
        prints = identities.astype(np.uint32)
        prints &= np.uint32((1 << rest) - 1)
        if self._splitting():
            done = buckets >= self.split
            buckets = np.where(done, (identities >> np.uint64(rest - 1)).view(np.int64), buckets)
            prints = np.where(done, prints & np.uint32((1 << (rest - 1)) - 1), prints)
        return buckets, np.maximum(prints, np.uint32(1))

    def _insert(self, identities: Hashes) -> bytes:
        """Put each identity into its bucket; return their entry for the redo file: a count, and six bytes each."""
        if _ngrams:
            entry, overflown = _ngrams.insert(self.state(), identities)
            if overflown:
                self.stash.add(np.frombuffer(overflown, np.uint64))
            return entry
        self._insert_rows(identities)
        cut = identities.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :6]
        return len(identities).to_bytes(4, "little") + cut.tobytes()

    def _insert_rows(self, identities: Hashes) -> None:
        """Write each to the last free slot of its bucket. If two chose the same slot, the lost one tries again."""
        buckets, prints = self._place(identities)
        flat = self.slots.reshape(-1)
        while len(buckets):
            used = self.fill.take(buckets)
            if used.max() >= SLOTS:
                room = used < SLOTS
                self.stash.add(identities[~room])
                self.fill[buckets[~room]] |= np.uint8(OVERFLOWN)
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

    def _split(self, count: int) -> None:
        """Split `count` buckets, from the last to the first: each moves to twice its number, which is free by then."""
        high, low = self.split, max(0, self.split - count)
        if _ngrams:
            _ngrams.split(self.state(), low)
        else:
            self._split_rows(low, high)
        self.split = low
        if not low:
            self._double()

    def _split_rows(self, low: int, high: int) -> None:
        rows = self.slots[low:high]
        top = np.uint32(1 << (BITS - self.bits - 1))
        upper = (rows & top) != 0
        rest = np.where(rows != 0, np.maximum(rows & (top - np.uint32(1)), np.uint32(1)), np.uint32(0))
        halves = np.empty((2 * (high - low), SLOTS), np.uint32)
        halves[::2] = np.where(upper, np.uint32(0), rest)
        halves[1::2] = np.where(upper, rest, np.uint32(0))
        halves.sort(axis=1)  # empty slots come first, because `_insert_rows` fills from the end
        flags = np.repeat(self.fill[low:high] & np.uint8(OVERFLOWN), 2)
        self.slots[2 * low : 2 * high] = halves
        self.fill[2 * low : 2 * high] = np.count_nonzero(halves, axis=1).astype(np.uint8) | flags

    def _double(self) -> None:
        """Finish a doubling: use one more bit, and move the stash to the buckets, which may have room for it now."""
        self.bits += 1
        self.split = 1 << self.bits
        self.fill[: self.split] &= np.uint8(OVERFLOWN - 1)
        stashed, self.stash = self.stash.all(), Stash()
        self._insert(stashed)
