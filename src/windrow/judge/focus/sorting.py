"""Sort millions of numbers with their positions, by sorting both as one number: several times as fast as np.argsort."""

import numpy as np
from numpy.typing import NDArray


def stable(values: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the positions of values in increasing order; those of equal values in their own."""
    packed = values.astype(np.int64)
    packed <<= 32
    packed |= np.arange(len(values))
    packed.sort()
    packed &= 0xFFFFFFFF
    return packed


def of_keys(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the positions of keys in increasing order. The keys are spread over all 64 bits, like hashes."""
    bits = len(keys).bit_length()
    packed = keys >> np.uint64(bits)
    packed <<= np.uint64(bits)
    packed |= np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    packed &= np.uint64((1 << bits) - 1)
    order = packed.view(np.int64)
    ordered = keys[order]
    while len(wrong := np.flatnonzero(ordered[1:] < ordered[:-1])):  # the few keys that differ in the lowest bits only
        for place in wrong.tolist():
            order[[place, place + 1]] = order[[place + 1, place]]
        ordered = keys[order]
    return order
