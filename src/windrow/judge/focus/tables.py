"""The n-grams of a model as arrays, order by order."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from windrow.judge.focus.hashing import Index, Keys, scramble
from windrow.judge.focus.tokens import Tokeniser

UNKNOWN, START, END = 0, 1, 2  # numbers of the words that are not of the text
SPECIAL = ("<unk>", "<s>", "</s>")
START_LOG10 = 0.0  # <s> is never predicted; this is what lmplz writes as its probability
ORDERS = range(1, 7)  # kenlm reads orders up to 6

Numbers = NDArray[np.int32]
Floats = NDArray[np.float32]
EMPTY: Numbers = np.zeros(0, np.int32)
NONE: Floats = np.zeros(0, np.float32)


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


class ModelOrigin(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
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
    origin: ModelOrigin

    @property
    def order(self) -> int:
        return len(self.levels)

    def rows(self, order: int) -> Numbers:
        """Return the words of each n-gram of an order, as numbers."""
        level = self.levels[order - 1]
        if order == 1:
            return level.last[:, None]
        return np.hstack([self.rows(order - 1)[level.context], level.last[:, None]])


def level(context: Numbers, suffix: Numbers, first: Numbers, last: Numbers) -> Level:
    """Return n-grams whose probabilities are not known yet."""
    return Level(context=context, suffix=suffix, first=first, last=last, log10=NONE, backoff=NONE)


def closed(rows: list[Numbers]) -> list[Numbers]:
    """Return the n-grams of each order, with those that are missing although a longer one begins or ends with them.

    They are added behind the others. Order 1 is complete: each word is a row, at its number.
    """
    found = list(rows)
    for index in range(len(rows) - 1, 1, -1):
        parts = np.vstack([found[index][:, :-1], found[index][:, 1:]])
        keys = hashes(parts)
        missing = np.flatnonzero(~Index(hashes(found[index - 1])).find(keys)[0])
        _, fresh = np.unique(keys[missing], return_index=True)
        found[index - 1] = np.vstack([found[index - 1], parts[missing[np.sort(fresh)]]])
    return found


def indexed(rows: list[Numbers]) -> list[Level]:
    """Return the levels of n-grams given by their words, each order closed. ValueError, with its order and row: one
    occurs twice."""
    every = rows[0][:, 0]
    levels, below = [level(EMPTY, EMPTY, every, every)], Index(hashes(rows[0]))
    for order, words in enumerate(rows[1:], 2):
        context, suffix = (below.find(hashes(part))[1] for part in (words[:, :-1], words[:, 1:]))
        below = Index(hashes(words))
        if below.twice is not None:
            raise ValueError(order, below.twice)
        first, last = np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, -1])
        levels.append(level(context, suffix, first, last))
    return levels


def hashes(rows: Numbers) -> Keys:
    """Return a number of 64 bits for the words of each n-gram."""
    found = np.zeros(len(rows), np.uint64)
    for column in range(rows.shape[1]):
        found = scramble(found + rows[:, column].astype(np.uint64) + np.uint64(1))
    return found
