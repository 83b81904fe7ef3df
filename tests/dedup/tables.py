"""What a table of n-grams holds, by its public arrays."""

import numpy as np

from windrow.dedup.generation import BITS, Generation, Hashes
from windrow.dedup.table import NgramTable


def identities(found: Generation) -> Hashes:
    """Return everything that a generation holds, sorted."""
    parts = [found.stash.all()]
    for low, high, bits in ((0, found.split, found.bits), (2 * found.split, 2 << found.bits, found.bits + 1)):
        for start in range(low, min(high, 1 << found.most), 1 << 16):
            rows = found.slots[start : min(high, start + (1 << 16))]
            bucket, slot = np.nonzero(rows)
            parts.append((bucket + start).astype(np.uint64) << np.uint64(BITS - bits) | rows[bucket, slot])
    return np.sort(np.concatenate(parts))


def content(table: NgramTable) -> list[bytes]:
    """Return the same for two tables that hold the same n-grams in the same generations."""
    return [b"" if one is None else identities(one).tobytes() for one in (table.young, table.old)]
