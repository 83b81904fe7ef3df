"""The n-grams that were seen: a table of fingerprints that grows in place up to a bound, then forgets its older half.

A hash is cut to 48 bits. The first of them choose a bucket of 16 slots, the rest is the fingerprint that is stored in a slot of 32 bits; when the
table doubles, each bucket parts in two by the first bit of its fingerprints, so nothing else need be remembered. Memory is reserved once and
touched as the table grows; the doubling is spread over many calls, a bucket for each n-gram added, so that none of them is long.
Measured: 5.8 to 10.6 bytes an n-gram. Two n-grams are taken for one with a chance of n/2^48, one in three million at 10^8.

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

Hashes = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]
Prints = npt.NDArray[np.uint32]

BITS = 48  # of a hash that are told apart
LEAST = 16  # bits that choose the bucket at first: 4 MB
SLOTS = 16  # of a bucket: one cache line
LOAD = 0.7  # of the slots; then the table doubles
STEP = 512  # buckets parted at once, at least: below it the calls cost more than the work
OVERFLOWN = 0x80  # flag in a bucket's fill: some of its fingerprints are in the stash

MAGIC = b"windrow seen 1\n\0"  # 16 bytes
REDO = b"windrow redo 1\n\0"
BUCKET_BYTES = SLOTS * 4 + 1


class Found(NamedTuple):
    """Where a document's n-grams stand, so that adding them need not look again."""

    hashes: Hashes
    young: Flags  # is it in the young generation?
    seen: Flags  # is it in either?


class Generation:
    """A set of hashes that holds at most `limit` bytes of them."""

    def __init__(self, limit: int) -> None:
        self.most = max(LEAST, (limit // BUCKET_BYTES).bit_length() - 1)
        self.slots: Prints = np.zeros((1 << self.most, SLOTS), np.uint32)
        self.fill = np.zeros(1 << self.most, np.uint8)
        self.bits = LEAST
        self.split = 1 << LEAST  # buckets from here on are parted already
        self.stash: set[int] = set()
        self.count = 0

    @property
    def full(self) -> bool:
        return self.bits == self.most and self.count >= self._capacity()

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use, reserved ones that were never touched aside."""
        buckets = (1 << self.bits) if not self._parting() else 1 << (self.bits + 1)
        return buckets * BUCKET_BYTES + len(self.stash) * 100

    def has(self, hashes: Hashes) -> Flags:
        buckets, prints = self._place(hashes >> np.uint64(64 - BITS))
        hits = self.slots.take(buckets, axis=0) == prints[:, None]
        halves = hits.view(np.uint64)  # eight truth values at a time
        found: Flags = (halves[:, 0] | halves[:, 1]) != 0
        if self.stash:
            unsure = np.flatnonzero(self.fill.take(buckets) >= OVERFLOWN)
            if len(unsure):
                identities = (hashes[unsure] >> np.uint64(64 - BITS)).tolist()
                found[unsure] |= np.fromiter((identity in self.stash for identity in identities), np.bool_, len(unsure))
        return found

    def add(self, hashes: Hashes) -> None:
        """Adds hashes that are not in it, each once."""
        self._insert(hashes >> np.uint64(64 - BITS))
        self.count += len(hashes)
        if self.bits < self.most and self.count >= self._capacity():
            self._part(max(STEP, len(hashes)))

    def identities(self) -> Hashes:
        """What it holds, in order, cut to BITS."""
        parts = [np.fromiter(self.stash, np.uint64, len(self.stash))]
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

    def _place(self, identities: Hashes) -> tuple[npt.NDArray[np.int64], Prints]:
        """Bucket and fingerprint; 0 marks an empty slot, so 1 stands for both."""
        rest = BITS - self.bits
        buckets = (identities >> np.uint64(rest)).view(np.int64)
        prints = (identities & np.uint64((1 << rest) - 1)).astype(np.uint32)
        if self._parting():
            parted = buckets >= self.split
            buckets = np.where(parted, (identities >> np.uint64(rest - 1)).view(np.int64), buckets)
            prints = np.where(parted, prints & np.uint32((1 << (rest - 1)) - 1), prints)
        return buckets, np.maximum(prints, np.uint32(1))

    def _insert(self, identities: Hashes) -> None:
        """Writes each to the last free slot of its bucket. Where two met in one slot, the one overwritten tries again."""
        buckets, prints = self._place(identities)
        flat = self.slots.reshape(-1)
        while len(buckets):
            used = self.fill.take(buckets)
            if used.max() >= SLOTS:
                room = used < SLOTS
                self._overflow(identities[~room], buckets[~room])
                identities, buckets, prints, used = identities[room], buckets[room], prints[room], used[room]
            places = buckets * SLOTS + (SLOTS - 1 - used.astype(np.int64))
            flat[places] = prints
            self.fill[buckets] = used + np.uint8(1)
            lost = np.flatnonzero(flat.take(places) != prints)
            if not len(lost):
                return
            identities, buckets, prints = identities[lost], buckets[lost], prints[lost]

    def _overflow(self, identities: Hashes, buckets: npt.NDArray[np.int64]) -> None:
        self.stash.update(identities.tolist())
        self.fill[buckets] |= np.uint8(OVERFLOWN)

    def _part(self, count: int) -> None:
        """Parts the next `count` buckets in two, from the last to the first: each goes to twice its place, which is free by then."""
        high, low = self.split, max(0, self.split - count)
        rows = self.slots[low:high]
        top = np.uint32(1 << (BITS - self.bits - 1))
        upper = (rows & top) != 0
        rest = np.where(rows != 0, np.maximum(rows & (top - np.uint32(1)), np.uint32(1)), np.uint32(0))
        parted = np.empty((high - low, 2, SLOTS), np.uint32)
        parted[:, 0] = np.where(upper, np.uint32(0), rest)
        parted[:, 1] = np.where(upper, rest, np.uint32(0))
        parted = parted.reshape(-1, SLOTS)
        parted.sort(axis=1)  # the empty slots come first, as `_insert` fills from the end
        flags = np.repeat(self.fill[low:high] & np.uint8(OVERFLOWN), 2)
        self.slots[2 * low : 2 * high] = parted
        self.fill[2 * low : 2 * high] = np.count_nonzero(parted, axis=1).astype(np.uint8) | flags
        self.split = low
        if not low:
            self._finish()

    def _finish(self) -> None:
        """The table has doubled: the stash may find room."""
        self.bits += 1
        self.split = 1 << self.bits
        self.fill[: self.split] &= np.uint8(OVERFLOWN - 1)
        stashed = np.fromiter(self.stash, np.uint64, len(self.stash))
        stashed.sort()
        self.stash = set()
        self._insert(stashed)
