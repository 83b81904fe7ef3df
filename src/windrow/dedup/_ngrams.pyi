from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
# A generation: its buckets as `hold` returned them, bits, split, the stash's array and set.
State = tuple[object, int, int, Hashes, set[int]]

def ngrams(
    paragraphs: Sequence[str] | Sequence[bytes], ngram: int, natural: bool, octets: bytes, /
) -> tuple[bytes, bytes, bytes]: ...
def hold(slots: npt.NDArray[np.uint32], fill: npt.NDArray[np.uint8], /) -> object: ...
def mark(
    document: tuple[bytes, bytes, bytes], rule: tuple[int, float, int, float], young: State, old: State | None, /
) -> tuple[tuple[bool, ...], tuple[float, ...], tuple[int, ...], int, int, int, bytes]: ...
def insert(state: State, identities: Hashes, /) -> tuple[bytes, bytes]: ...
def split(state: State, low: int, /) -> None: ...
