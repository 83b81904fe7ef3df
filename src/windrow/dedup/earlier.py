"""Documents that an earlier source has, when several crawls are read one after another.

A document is known by 64-bit keys: of its URL, its payload and its text. The keys of finished sources are one sorted
array, 8 bytes per key, so a million documents take 24 MB, and twice that for a moment when the next source begins. The
keys of the last source need not be added. A new key equals one of n known ones by chance with a probability of n/2^64.
"""

from array import array
from collections.abc import Sequence

import numpy as np

from windrow.dedup.hashing import Hashes


class EarlierKeys:
    def __init__(self) -> None:
        self._known: Hashes = np.empty(0, np.uint64)  # sorted
        self._own = array("Q")  # of the source that is being read

    def __len__(self) -> int:
        return len(self._known)

    def has(self, key: int) -> bool:
        """Return whether an earlier source has this key. Those of the source that is being read do not count."""
        if not len(self._known):
            return False
        at = int(np.searchsorted(self._known, np.uint64(key)))
        return at < len(self._known) and int(self._known[at]) == key

    def add(self, keys: Sequence[int]) -> None:
        """Remember a document of the source that is being read."""
        self._own.extend(keys)

    def next(self) -> None:
        """Begin another source."""
        if self._own:
            self._known = np.concatenate([self._known, np.frombuffer(self._own, np.uint64)])
            self._known.sort()
            self._own = array("Q")
