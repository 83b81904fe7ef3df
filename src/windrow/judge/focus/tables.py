"""The n-grams of a model as arrays, order by order."""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from windrow.judge.focus.tokens import Tokeniser

UNKNOWN, START, END = 0, 1, 2  # numbers of the words that are not of the text
SPECIAL = ("<unk>", "<s>", "</s>")
START_LOG10 = 0.0  # <s> is never predicted; this is what lmplz writes as its probability
ORDERS = range(1, 7)  # kenlm reads orders up to 6

Numbers = NDArray[np.int32]
Floats = NDArray[np.float32]


class Level(msgspec.Struct):
    """The n-grams of one order, one per row. Rows of order 1 are words."""

    context: Numbers  # row of the n-gram without its last word, one order below
    suffix: Numbers  # row of the n-gram without its first word, one order below
    first: Numbers  # its first word
    last: Numbers  # its last word
    log10: Floats  # of the probability of the last word after the others
    backoff: Floats  # log10 of what the probability after the shorter context is multiplied by; 0 if never a context

    def __len__(self) -> int:
        return len(self.last)


class Origin(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a model was made from; stored in its file. An ARPA file says nothing of it."""

    sentences: int = 0  # sequences read
    duplicates: int = 0  # of these, those that were seen before and left out
    words: int = 0  # of the text, duplicates left out
    discounts: list[list[float]] = []  # for each order: taken from counts of 1, 2, and 3 or more
    fallback: list[int] = []  # orders whose counts were too few to estimate discounts
    unknown: float | None = None  # log10 of an unknown word, if the user set it


class NgramTables(msgspec.Struct):
    """A model: its words and its n-grams."""

    words: list[str]  # by number; the first three are SPECIAL
    levels: list[Level]  # of order 1, 2, …
    tokeniser: Tokeniser
    origin: Origin

    @property
    def order(self) -> int:
        return len(self.levels)

    def rows(self, order: int) -> Numbers:
        """Return the words of each n-gram of an order, as numbers."""
        level = self.levels[order - 1]
        if order == 1:
            return level.last[:, None]
        return np.hstack([self.rows(order - 1)[level.context], level.last[:, None]])


def grouped(keys: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any]]:
    """Return a position of each different key, the group of each key, and how many there are of each; sorted by key.

    Like np.unique, which is slower on numbers of this size.
    """
    order = np.argsort(keys)
    ordered = keys[order]
    fresh = np.empty(len(keys), bool)
    fresh[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    del ordered
    starts = np.flatnonzero(fresh)
    group = np.empty(len(keys), np.int32)
    group[order] = np.cumsum(fresh, dtype=np.int32) - 1
    return order[starts], group, np.diff(starts, append=len(keys))
