"""Sequences of words -> the tables of a model, all n-grams counted by sorting, without a dictionary of them."""

from array import array
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from windrow.config import ConfigError
from windrow.judge.focus import smoothing, sorting, tables
from windrow.judge.focus.smoothing import Counts
from windrow.judge.focus.tables import END, ORDERS, SPECIAL, START, Level, ModelOrigin, NgramTables, Numbers
from windrow.judge.focus.tokens import Tokeniser

ORDER = 5  # Remus and Biemann 2016


class NoTextError(ConfigError):
    """The text holds no sequence of words."""


def check_order(order: int) -> None:
    if order not in ORDERS:
        raise ConfigError(f"a model of order {order} is not possible; give an order from {ORDERS[0]} to {ORDERS[-1]}")


def train(
    sequences: Iterable[Sequence[str]],
    order: int = ORDER,
    deduplicate: bool = True,
    tokeniser: Tokeniser | None = None,
    unknown: float | None = None,
) -> NgramTables:
    """Return a model of the sequences. `deduplicate`: a sequence counts once, however often it occurs."""
    check_order(order)
    sample = NumberedText(deduplicate)
    for words in sequences:
        sample.add(words)
    if not sample.kept:
        raise NoTextError("there is no sequence of words to train a model on; give running text")
    levels, counts = count(np.frombuffer(sample.numbers, np.int32), np.array(sample.lengths), len(sample.index), order)
    return finish(list(sample.index), levels, counts, tokeniser or Tokeniser(), sample.origin(unknown))


class NumberedText:
    """A text as numbers of its words, put together sequence by sequence."""

    def __init__(self, deduplicate: bool) -> None:
        self.index: dict[str, int] = _Index(zip(SPECIAL, range(len(SPECIAL)), strict=True))
        self.numbers = array("i")
        self.lengths = array("i")
        self.read = 0
        self._seen: set[int] | None = set() if deduplicate else None

    @property
    def kept(self) -> int:
        return len(self.lengths)

    def add(self, words: Sequence[str]) -> None:
        if not words:
            return
        self.read += 1
        if self._seen is not None:
            key = hash(" ".join(words))  # 64 bits: of a billion sequences, two are confused once in forty texts
            if key in self._seen:
                return
            self._seen.add(key)
        self.numbers.fromlist([START, *map(self.index.__getitem__, words), END])
        self.lengths.append(len(words) + 2)

    def origin(self, unknown: float | None) -> ModelOrigin:
        words = len(self.numbers) - 2 * self.kept
        return ModelOrigin(sentences=self.read, duplicates=self.read - self.kept, words=words, unknown=unknown)


class _Index(dict[str, int]):
    """Word -> number; a new word gets the next one."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def count(numbers: Numbers, lengths: Numbers, words: int, order: int) -> tuple[list[Level], list[Counts]]:
    """Return the n-grams of each order and how often each occurs.

    Each n-gram gets the number of its row; a longer one is the row of all but its last word, and that word. So the
    positions of the text, sorted by word once, are sorted for each order by the row before them.
    """
    starts = np.cumsum(lengths) - lengths
    place = np.arange(len(numbers), dtype=np.int32) - np.repeat(starts, lengths).astype(np.int32)
    every = np.arange(words, dtype=np.int32)
    levels = [tables.level(tables.EMPTY, tables.EMPTY, every, every)]
    counts: list[Counts] = [np.bincount(numbers, minlength=words)]
    rows, at = numbers, sorting.stable(numbers)
    for size in range(2, order + 1):
        at = at[place[at] >= size - 1]
        if not len(at):
            break
        ordered = at[sorting.stable(rows[at - 1])]
        fresh = np.ones(len(ordered), bool)
        fresh[1:] = _changes(numbers[ordered])
        fresh[1:] |= _changes(rows[ordered - 1])
        found = ordered[fresh]
        levels.append(tables.level(rows[found - 1], rows[found], numbers[found - size + 1], numbers[found]))
        counts.append(np.diff(np.flatnonzero(fresh), append=len(ordered)))
        longer = np.full(len(numbers), -1, np.int32)
        longer[ordered] = np.cumsum(fresh, dtype=np.int32) - 1
        rows = longer
    return levels, counts


def _changes(values: Numbers) -> NDArray[np.bool_]:
    return np.not_equal(values[1:], values[:-1])


def finish(
    words: list[str],
    levels: list[Level],
    counts: list[Counts],
    tokeniser: Tokeniser,
    origin: ModelOrigin,
    discount: float | None = None,
) -> NgramTables:
    """Return the model of n-grams with their counts. `discount`: the same for all counts; None: estimated."""
    counted = smoothing.adjusted(levels, counts)
    found = [smoothing.discounts(one) if discount is None else ((discount,) * 3, False) for one in counted]
    smoothing.estimate(levels, counted, [taken for taken, _ in found], origin.unknown)
    known = msgspec.structs.replace(
        origin,
        discounts=[list(taken) for taken, _ in found],
        fallback=[order for order, (_, small) in enumerate(found, 1) if small],
    )
    return NgramTables(words=words, levels=levels, tokeniser=tokeniser, origin=known)
