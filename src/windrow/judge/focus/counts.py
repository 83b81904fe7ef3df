"""A model from counts of n-grams that others have made: lines "word word word<TAB>count", UTF-8.

All orders may be there, or the highest alone; then shorter n-grams are those that the given ones begin and end with.
Sentence ends are words, <s> and </s>. Lines with words that the tokeniser does not make, such as numbers and
punctuation, are left out: no text would be read so.
"""

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from windrow.config import ConfigError
from windrow.judge.focus import sorting, tables, training
from windrow.judge.focus.smoothing import Counts
from windrow.judge.focus.tables import ORDERS, SPECIAL, Level, ModelOrigin, NgramTables, Numbers
from windrow.judge.focus.tokens import Tokeniser

_MOST = 1 << 53  # of a count: larger ones are no whole numbers in what is computed


class CountedNgrams(msgspec.Struct):
    """The n-grams of one order, in a row, with their counts."""

    words: list[int]
    counts: list[int]


def train(
    files: Iterable[tuple[str, Iterable[bytes]]],
    order: int | None = None,
    tokeniser: Tokeniser | None = None,
    unknown: float | None = None,
) -> NgramTables:
    """Return a model of counted n-grams, given as files with their names and lines.

    `order`: longer n-grams are left out; None: the longest decide.
    """
    reader = CountReader(tokeniser or Tokeniser(), order or ORDERS[-1])
    for name, lines in files:
        reader.read(name, lines)
    given = reader.given
    highest = max((size for size, one in given.items() if one.counts), default=0)
    if not highest:
        raise ConfigError(f"{reader.names} has no n-grams of words; each line must be “word word word<TAB>count”")
    if order and highest < order:
        fix = f"give --order {highest}, or longer n-grams"
        raise ConfigError(f"{reader.names} has n-grams of at most {highest} words; {fix}")
    levels, counts = _levels(given, len(reader.index), highest)
    origin = ModelOrigin(words=sum(given[1].counts), unknown=unknown)
    return training.finish(list(reader.index), levels, counts, reader.tokeniser, origin)


def of_characters(counted: Mapping[str, int], order: int, discount: float, unknown: float) -> NgramTables:
    """Return a model of characters, from counts of strings that are as long as its order."""
    index = {word: number for number, word in enumerate(SPECIAL)}
    given = {size: CountedNgrams([], []) for size in ORDERS}
    given[order].words = [index.setdefault(letter, len(index)) for text in counted for letter in text]
    given[order].counts = list(counted.values())
    levels, counts = _levels(given, len(index), order)
    tokeniser = Tokeniser(characters=True)
    return training.finish(list(index), levels, counts, tokeniser, ModelOrigin(unknown=unknown), discount)


class CountReader:
    """Lines -> numbers of words and counts, by order."""

    def __init__(self, tokeniser: Tokeniser, order: int) -> None:
        self.tokeniser = tokeniser
        self.index: dict[str, int] = {word: number for number, word in enumerate(SPECIAL)}
        self.given = {size: CountedNgrams([], []) for size in ORDERS}
        self.names = ""  # of the files
        self._order, self._name, self._number = order, "", 0
        self._known: dict[str, str] = {}
        self._single = msgspec.structs.replace(tokeniser, least=1)

    def read(self, name: str, lines: Iterable[bytes]) -> None:
        """Add the lines of a file."""
        self.names += f", {name}" if self.names else name
        self._name = name
        for self._number, line in enumerate(lines, 1):
            self._add(line)

    def _add(self, line: bytes) -> None:
        if not line.strip():
            return
        text, tab, count = line.rstrip(b"\r\n").rpartition(b"\t")
        if not tab or not count.strip().isdigit() or not 0 < int(count) < _MOST:
            raise self._error("“word word word<TAB>count” with a whole number above 0 is expected")
        try:
            words = text.decode("utf-8-sig" if self._number == 1 else "utf-8").split(" ")
        except UnicodeDecodeError:
            raise self._error("not UTF-8 text; convert it first, for instance with iconv") from None
        found = [self._known[word] if word in self._known else self._written(word) for word in words]
        if not 1 <= len(words) <= self._order or "" in found:
            return
        given = self.given[len(words)]
        given.words += [self.index.setdefault(word, len(self.index)) for word in found]
        given.counts.append(int(count))

    def _written(self, word: str) -> str:
        """Return a word seen first as the tokeniser writes it; "" if the tokeniser makes no such word."""
        if word.lower() in SPECIAL:
            found = word.lower()
        else:
            made = list(self._single.sequences([word]))
            found = made[0][0] if made == [[self.tokeniser.prepare(word)]] else ""
        self._known[word] = found
        return found

    def _error(self, problem: str) -> ConfigError:
        return ConfigError(f"{self._name}, line {self._number:,}: {problem}")


def _levels(given: dict[int, CountedNgrams], words: int, highest: int) -> tuple[list[Level], list[Counts]]:
    """Return the n-grams of each order with their counts, those given and those that these begin and end with."""
    rows = [np.arange(words, dtype=np.int32)[:, None]]
    counts: list[Counts] = [np.bincount(given[1].words, weights=given[1].counts, minlength=words).astype(np.int64)]
    for size in range(2, highest + 1):
        found, often = _summed(np.array(given[size].words, np.int32).reshape(-1, size), given[size].counts)
        rows.append(found)
        counts.append(often)
    levels = tables.indexed(tables.closed(rows))
    for index in range(highest - 2, 0, -1):  # one that was not given occurs at least as often as it begins another
        added = len(levels[index]) - len(counts[index])
        begun = np.bincount(levels[index + 1].context, weights=counts[index + 1], minlength=len(levels[index]))
        counts[index] = np.concatenate([counts[index], begun[len(begun) - added :].astype(np.int64)])
    return levels, counts


def _summed(rows: Numbers, counts: list[int]) -> tuple[Numbers, Counts]:
    """Return each n-gram once: those that differ only in case, or are in several lines, are added."""
    keys = tables.hashes(rows)
    order = sorting.of_keys(keys)
    fresh = np.ones(len(keys), bool)
    fresh[1:] = keys[order][1:] != keys[order][:-1]
    total = np.bincount(np.cumsum(fresh) - 1, weights=np.array(counts, np.float64)[order])
    return rows[order[fresh]], total.astype(np.int64)
