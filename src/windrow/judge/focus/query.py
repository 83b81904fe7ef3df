"""The probabilities of sequences of words, looked up in a model's block.

Text is scored by the C kernel `_query`, or by the reference here, which is vectorised.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.judge.focus import hashing, tokens
from windrow.judge.focus.layout import ModelBlock
from windrow.judge.focus.tables import END, START, UNKNOWN

try:
    from windrow.judge.focus import _query
except ImportError:  # built without a compiler: the reference runs instead
    _query = None  # type: ignore[assignment]

Found = tuple[NDArray[np.float64], NDArray[np.int64]]
Sums = tuple[int, float, int, float, int, float, int, float]  # the fields of Scored, in their order


def of_texts(block: ModelBlock, texts: Sequence[str], prepared: bool = False) -> Sums | None:
    """Return the `sums` of the sequences of some texts; None if the kernel is not built."""
    if not _query:
        return None
    tokeniser = block.header.tokeniser
    texts = texts if prepared else [tokeniser.prepare(text) for text in texts]
    return _query.score(texts, block.data, block.plan, tokens.classes(tokeniser.characters), tokeniser.least)


def probabilities(block: ModelBlock, numbers: NDArray[np.int64], place: NDArray[np.int64]) -> Found:
    """Return log10 of the probability of each word after those before it, and the length of the n-gram it is from.

    `numbers` are the words of sequences in a row, each with <s> and </s>; `place` is the position in the sequence.
    """
    singles = block.levels[0]
    values = [singles["log10"][numbers].astype(np.float64)]
    backoffs = [singles["backoff"][numbers].astype(np.float64)]
    length = np.ones(len(numbers), np.int64)
    at, slots = np.arange(len(numbers)), numbers
    for order, table in enumerate(block.levels[1:], 2):
        inside = place[at] >= order - 1
        at, slots = at[inside], slots[inside]
        keys = hashing.pairs(slots, numbers[at - order + 1])
        found, slots = hashing.find(table["key"], block.header.sections[order + 1].slots, keys)
        slots = slots[found]
        at = at[found]
        length[at] = order
        values.append(_spread(table["log10"][slots], at, len(numbers)))
        if "backoff" in (table.dtype.names or ()):
            backoffs.append(_spread(table["backoff"][slots], at, len(numbers)))
    result = np.choose(length - 1, values)
    for order, backoff in enumerate(backoffs, 1):  # what the context of this length before each word gives away
        given = np.flatnonzero((length <= order) & (place >= order))
        result[given] += backoff[given - 1]
    return result, length


def _spread(values: NDArray[Any], at: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    whole = np.zeros(size)
    whole[at] = values
    return whole


def sums(block: ModelBlock, numbers: list[list[int]]) -> Sums:
    """Return how many words the sequences have and the sum of their log10; the same for known words, windows, ends."""
    if not numbers:
        return 0, 0.0, 0, 0.0, 0, 0.0, 0, 0.0
    flat, place = flatten(numbers)
    values, _ = probabilities(block, flat, place)
    ends = flat == END
    words = (flat != START) & ~ends
    known = words & (flat != UNKNOWN)
    # Windows of as many words as the order, tags included: a sequence that is shorter has none.
    windows = place >= max(1, len(block.levels) - 1)
    found: list[Any] = []
    for chosen in (words, known, windows, ends):
        picked = values[chosen]
        found += [len(picked), float(np.cumsum(picked)[-1]) if len(picked) else 0.0]
    return tuple(found)


def flatten(numbers: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of all sequences in a row, each with <s> and </s>, and their positions in their sequences."""
    flat = np.array([number for one in numbers for number in (START, *one, END)], np.int64)
    place = np.array([spot for number in numbers for spot in range(len(number) + 2)], np.int64)
    return flat, place
