"""Measure the scores that are typical of a topic, on parts of its sample, and derive the boundaries from them.

The sample is cut into parts of the length of a page. Each fifth of them, in their order, is scored by a model and
weights of the other four fifths; of a large sample, some stretches are scored by all the rest. Neighbours are left out
together: they come from one text and would make each other look too good. Pages of other sites score worse than these
parts, which `relevance` allows for.
"""

import random
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from windrow.judge.focus import model, relevance, training, weights
from windrow.judge.focus.relevance import Typical
from windrow.judge.focus.tokens import Tokeniser
from windrow.judge.focus.topic import TopicScorer, TopicScores
from windrow.judge.focus.weights import Background, Weigher

PART = 250  # words of a part; pages of text have as many
FOLDS = 5
_FEWEST = 20  # parts of a small sample, which are shorter instead
_SHORTEST = 40  # words
_LARGE = 2000  # parts, 500,000 words; of a larger sample one model is trained, not five, and
_STRETCH = 60  # parts in a row are left out of it at five places
_RESAMPLED = 400  # bootstrap samples
_HIGH = 0.9  # quantile of the parts that lies within the high bucket
_EVEN = 1.0  # odds up to which a page is rather on the topic than not
_MEDIUM = 4.0  # times the odds of the high bucket
_CUTOFF = 0.8  # of the logarithm of the odds of text without a known word


class Boundaries(msgspec.Struct, frozen=True):
    """Links of pages with a score up to `high` go first, up to `medium` second; above `cutoff` they are dropped."""

    by: str  # the score: a value of focus.by
    high: float
    medium: float
    cutoff: float


class Interval(msgspec.Struct, frozen=True):
    """A number that was measured on some values, and the interval in which it lies with a probability of 90 %."""

    value: float
    low: float
    high: float
    size: int  # number of values

    def __str__(self) -> str:
        return f"{self.value:.3g} (90 % interval {self.low:.3g} to {self.high:.3g}, {self.size} parts)"


class HeldOutScores(msgspec.Struct, frozen=True):
    """The scores of the parts of a sample, each by the rest of it."""

    words: int  # of a part
    scores: list[TopicScores]  # without odds


def parts(texts: Sequence[str]) -> list[str]:
    """Cut text into parts of about the length of a page, at the ends of sequences."""
    cut = Tokeniser(least=1)
    total = sum(map(len, cut.sequences(texts)))
    return list(_parts(cut.sequences(texts), max(_SHORTEST, min(PART, total // _FEWEST))))


def _parts(sequences: Iterable[list[str]], size: int) -> Iterator[str]:
    lines: list[str] = []
    length = 0
    for words in sequences:
        lines.append(" ".join(words))
        length += len(words)
        if length >= size:
            yield "\n".join(lines)
            lines, length = [], 0


def held_out(texts: Sequence[str], background: Background, order: int, pairs: bool) -> HeldOutScores:
    """Score each part of a sample by a model and weights of the parts that are not near it."""
    cut = parts(texts)
    scores = []
    for own, rest in _splits(cut):
        ngrams = model.make(training.train(Tokeniser().sequences(rest), order))
        weigher = Weigher(weights.make(weights.count(rest, pairs), background, pairs))
        scorer = TopicScorer(ngrams, weigher)
        scores += [scorer.score([part]) for part in own]
    words = sum(len(part.split()) for part in cut) // max(1, len(cut))
    return HeldOutScores(words, scores)


def _splits(cut: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield some parts in a row with all others: each fifth, or of a large sample five stretches at once."""
    folds = [index * FOLDS // len(cut) for index in range(len(cut))]
    if len(cut) > _LARGE:
        starts = [folds.index(fold) for fold in range(FOLDS)]
        taken = {start + index for start in starts for index in range(_STRETCH)}
        folds = [0 if index in taken else 1 for index in range(len(cut))]
    for fold in (0,) if len(cut) > _LARGE else range(FOLDS):
        own = [part for part, here in zip(cut, folds, strict=True) if here == fold]
        rest = [part for part, here in zip(cut, folds, strict=True) if here != fold]
        if own and rest:
            yield own, rest


def propose(odds: Sequence[float], scorer: TopicScorer, typical: Typical) -> Boundaries:
    """Return boundaries by odds, from those of text on the topic."""
    high = max(_EVEN, quantile(odds, _HIGH))
    medium = _MEDIUM * high
    worst = relevance.odds(scorer.worst, 1 / weights.SHARE, typical)
    return _rounded("odds", high, medium, max(worst**_CUTOFF, 1.5 * medium))


def propose_by(score: str, values: Sequence[float], worst: float) -> Boundaries:
    """Return boundaries by the perplexity or the ratio alone, from those of text on the topic.

    `worst`: the score of text without a known word.
    """
    high = quantile(values, _HIGH)
    medium = (high * max(worst, high)) ** 0.5
    return _rounded(score, high, medium, max(worst**0.9, 1.1 * medium))


def _rounded(by: str, high: float, medium: float, cutoff: float) -> Boundaries:
    return Boundaries(by, *(float(f"{value:.3g}") for value in (high, medium, cutoff)))


def median(values: Sequence[float]) -> Interval:
    return estimate(values, statistics.median)


def estimate(values: Sequence[float], figure: Callable[[Sequence[float]], float]) -> Interval:
    """Return a figure of some values with its bootstrap interval. The same values give the same interval."""
    chance = random.Random(len(values))  # noqa: S311 - repeatable resampling
    again = sorted(figure(chance.choices(values, k=len(values))) for _ in range(_RESAMPLED))
    return Interval(figure(values), again[_RESAMPLED // 20], again[-_RESAMPLED // 20 - 1], len(values))


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies, interpolated."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = ordered[int(place)]
    return below + (ordered[min(int(place) + 1, len(ordered) - 1)] - below) * (place - int(place))
