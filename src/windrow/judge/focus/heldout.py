"""Held-out text: models are trained on a growing sample and tested on text that they have not seen.

A sample is kept as numbers of words and grows sentence by sentence, so that a model of a part of it, or of a larger
sample, needs no text to be read again.
"""

from array import array
from collections.abc import Container, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from windrow.judge.focus import layout, query, training
from windrow.judge.focus.layout import ModelBlock
from windrow.judge.focus.tables import END, SPECIAL, START, UNKNOWN, ModelOrigin, NgramTables
from windrow.judge.focus.tokens import Tokeniser
from windrow.judge.focus.training import NumberedText
from windrow.records import HeldOutFit

BYTES_PER_WORD = 300  # of memory, at most, while a model of order 5 is trained: 180 to 270 measured
_CHUNK = 1 << 19  # words looked up at once


class GrowingSample:
    """Sentences, each once, with a flag for those in the wanted language."""

    def __init__(self) -> None:
        self._sample = NumberedText(deduplicate=True)
        self._wanted = array("b")

    def __len__(self) -> int:
        """The number of words."""
        return len(self._sample.numbers) - 2 * len(self._wanted)

    def add(self, words: Sequence[str], wanted: bool) -> None:
        self._sample.add(words)
        if self._sample.kept > len(self._wanted):
            self._wanted.append(wanted)

    def vocabulary(self) -> frozenset[str]:
        return frozenset(self._sample.index).difference(SPECIAL)

    def tables(self, order: int, unknown: float, wanted: bool) -> NgramTables | None:
        """Return a model of all sentences, or of the wanted ones; None if there are none."""
        lengths = np.array(self._sample.lengths)
        chosen = np.array(self._wanted, bool) if wanted else np.ones(len(lengths), bool)
        if not chosen.any():
            return None
        # A copy: the sample cannot grow while an array refers to its memory.
        numbers = np.frombuffer(self._sample.numbers, np.int32)[np.repeat(chosen, lengths)]
        words = list(self._sample.index)
        used = np.zeros(len(words), bool)
        used[numbers] = True
        used[: len(SPECIAL)] = True
        numbers = (np.cumsum(used, dtype=np.int32) - 1)[numbers]
        left = [word for word, there in zip(words, used.tolist(), strict=True) if there]
        lengths = lengths[chosen]
        origin = ModelOrigin(sentences=len(lengths), words=len(numbers) - 2 * len(lengths), unknown=unknown)
        levels, counts = training.count(numbers, lengths, len(left), order)
        return training.finish(left, levels, counts, Tokeniser(), origin)


class HeldOut:
    """The text on which models are tested. `basis`: its words in here count as known; None: those of each model do."""

    def __init__(self, sentences: Iterable[Sequence[str]], basis: Container[str] | None) -> None:
        sample = NumberedText(deduplicate=False)
        self._keys = set()
        for words in sentences:
            sample.add(words)
            self._keys.add(_key(words))
        self._words = list(sample.index)
        self._basis = None if basis is None else np.array([word in basis for word in self._words])
        self._numbers = np.array(sample.numbers, np.int32)
        self._lengths = np.array(sample.lengths, np.int64)

    def __len__(self) -> int:
        """The number of words."""
        return len(self._numbers) - 2 * len(self._lengths)

    def __contains__(self, words: Sequence[str]) -> bool:
        return _key(words) in self._keys

    def fit(self, tables: NgramTables) -> HeldOutFit:
        """Test a model."""
        block = layout.parse(b"".join(layout.build(tables)), "the model", check=False)
        number = dict(zip(tables.words, range(len(tables.words)), strict=True))
        to_model = np.array([number.get(word, UNKNOWN) for word in self._words])
        known = self._basis if self._basis is not None else to_model != UNKNOWN
        sums = np.zeros(2)
        counts = np.zeros(3, np.int64)
        for numbers, lengths in self._chunks():
            values = _log10(block, to_model[numbers], lengths)
            words = (numbers != START) & (numbers != END)
            basis = words & known[numbers]
            sums += values[words].sum(), values[basis].sum()
            counts += words.sum(), basis.sum(), (words & (to_model[numbers] == UNKNOWN)).sum()
        every, some, missing = counts.tolist()
        return HeldOutFit(
            perplexity=_perplexity(sums[0], every),
            perplexity_known=_perplexity(sums[1], some),
            unknown=missing / max(1, every),
            words=tables.origin.words,
            sentences=tables.origin.sentences,
        )

    def _chunks(self) -> Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """Yield whole sentences, about _CHUNK words at a time."""
        ends = np.cumsum(self._lengths)
        start = first = 0
        while first < len(ends):
            last = max(first + 1, int(np.searchsorted(ends, start + _CHUNK, "right")))
            end = int(ends[last - 1])
            yield self._numbers[start:end], self._lengths[first:last]
            start, first = end, last


def _log10(block: ModelBlock, numbers: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    starts = np.cumsum(lengths) - lengths
    return query.probabilities(block, numbers, np.arange(len(numbers)) - np.repeat(starts, lengths))[0]


def _perplexity(log10: float, words: int) -> float:
    return float(10 ** min(-log10 / words, 308.0)) if words else 0.0


def _key(words: Sequence[str]) -> int:
    return hash(" ".join(words))
