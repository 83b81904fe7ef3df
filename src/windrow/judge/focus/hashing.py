"""Hash tables as sorted arrays, made and searched by operations on whole arrays.

A key of 64 bits names a slot by its high bits. Keys are sorted, and each lies at its slot or the first free one behind
it. So a table is made without a loop, and a search ends at the first greater key. An empty slot holds 0.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.judge.focus import sorting

ROOM = 4 / 3  # slots per key; with fewer, look-ups take more steps
_HIGH = np.uint64(32)
_SHIFT = np.uint64(33)
_FACTORS = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)

Keys = NDArray[np.uint64]
Slots = NDArray[np.int64]


def scramble(keys: Keys) -> Keys:
    """Spread keys over all 64 bits (the finaliser of MurmurHash3: no two numbers give the same)."""
    keys = keys.copy()  # then in place: new memory costs as much as the work
    for factor in _FACTORS:
        keys ^= keys >> _SHIFT
        keys *= np.uint64(factor)
    keys ^= keys >> _SHIFT
    return keys


def unscramble(keys: Keys) -> Keys:
    """Return the keys that were scrambled."""
    for factor in reversed(_FACTORS):
        keys = (keys ^ keys >> _SHIFT) * np.uint64(pow(factor, -1, 1 << 64))
    return keys ^ keys >> _SHIFT


def pairs(high: NDArray[Any], low: NDArray[Any]) -> Keys:
    """Return the keys of pairs of numbers below 2³²: different for each pair, and never 0."""
    keys = high.astype(np.uint64)
    keys <<= _HIGH
    keys |= low.astype(np.uint64)
    return scramble(~keys)


def unpaired(keys: Keys) -> tuple[Slots, Slots]:
    """Return the pairs of these keys."""
    both = ~unscramble(keys)
    return (both >> _HIGH).astype(np.int64), (both & np.uint64(0xFFFFFFFF)).astype(np.int64)


def wanted(keys: Keys, slots: int) -> Slots:
    """Return the slot that each key names."""
    return ((keys >> _HIGH) * np.uint64(slots) >> _HIGH).astype(np.int64)


def placed(keys: Keys, room: float = ROOM) -> tuple[Slots, Slots, int, int]:
    """Return the order of the keys, where each lies in that order, the slots that keys name, and those there are."""
    order = sorting.of_keys(keys)
    slots = int(len(keys) * room) + 1
    rows = np.arange(len(keys))
    at: Slots = np.maximum.accumulate(wanted(keys[order], slots) - rows) + rows
    return order, at, slots, max(slots, int(at[-1]) + 1 if len(at) else 0) + 1


def find(stored: Keys, slots: int, keys: Keys) -> tuple[NDArray[np.bool_], Slots]:
    """Return which keys are in a table, and where each lies or would."""
    at = wanted(keys, slots)
    active = np.arange(len(keys))
    found = np.zeros(len(keys), bool)
    while len(active):
        seen = stored[at[active]]
        found[active[seen == keys[active]]] = True
        active = active[(seen != 0) & (seen < keys[active])]
        at[active] += 1
    return found, at


class Index:
    """Keys -> their positions."""

    def __init__(self, keys: Keys) -> None:
        order, at, self._slots, size = placed(keys)
        self._keys = np.zeros(size, np.uint64)
        self._keys[at] = keys[order]
        self._rows = np.zeros(size, np.int32)
        self._rows[at] = order
        same = np.flatnonzero(np.diff(keys[order]) == 0)
        self.twice = int(order[same[0] + 1]) if len(same) else None  # the position of a key that occurs again

    def find(self, keys: Keys) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """Return which keys are there, and the position of each; of others, any."""
        found, at = find(self._keys, self._slots, keys)
        return found, self._rows[at]
