"""Counts -> probabilities: interpolated modified Kneser-Ney, as lmplz computes it (Heafield et al. 2013).

The count of an n-gram below the highest order is the number of different words before it. From each count a discount
is taken, by whether the count is 1, 2 or more; the discounts of a context go to the words that it was not seen with,
shared as after the context without its first word.
"""

import numpy as np
from numpy.typing import NDArray

from windrow.judge.focus.tables import START, START_LOG10, UNKNOWN, Floats, Level

FALLBACK = (0.5, 1.0, 1.5)  # discounts where the counts are too few to estimate them; lmplz --discount_fallback
_STEPS = (1, 2, 3)

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]


def adjusted(levels: list[Level], counts: list[Counts]) -> list[Counts]:
    """Return for each order how many different words come before each n-gram; for the highest, how often it occurs.

    Nothing comes before a sentence, so an n-gram that begins one keeps its count.
    """
    found = []
    for index, level in enumerate(levels):
        if index + 1 == len(levels):
            found.append(counts[index])
            continue
        before = np.bincount(levels[index + 1].suffix, minlength=len(level))
        found.append(np.where(level.first == START, counts[index], np.maximum(before, level.first > START)))
    found[0][[UNKNOWN, START]] = 0
    return found


def discounts(counts: Counts) -> tuple[tuple[float, ...], bool]:
    """Return what is taken from counts of 1, 2, and 3 or more, and whether this is the fallback."""
    one, two, three, four = (int(np.count_nonzero(counts == number)) for number in (1, 2, 3, 4))
    if not (one and two and three):
        return FALLBACK, True
    ratio = one / (one + 2 * two)
    found = tuple(
        step - (step + 1) * ratio * more / less
        for step, less, more in zip(_STEPS, (one, two, three), (two, three, four), strict=True)
    )
    if any(not 0 <= discount <= step for step, discount in zip(_STEPS, found, strict=True)):
        return FALLBACK, True
    return found, False


def estimate(
    levels: list[Level], counts: list[Counts], taken: list[tuple[float, ...]], unknown: float | None = None
) -> None:
    """Fill in the probabilities of the levels.

    `counts`: as `adjusted` returns them. `taken`: the discounts of each order. `unknown`: log10 for unknown words
    instead of what the counts leave for them; the probabilities then no longer sum to one.
    """
    below: Shares = np.zeros(0)
    for index, (level, count) in enumerate(zip(levels, counts, strict=True)):
        steps = np.array((0.0, *taken[index]))[np.minimum(count, 3)]
        if index == 0:
            total = max(1, int(count.sum()))
            share = (count - steps) / total + steps.sum() / total / (len(level) - 1)
        else:
            lower = levels[index - 1]
            total_of = np.bincount(level.context, weights=count, minlength=len(lower))
            left = np.bincount(level.context, weights=steps, minlength=len(lower))
            used = total_of > 0
            ratio = np.divide(left, total_of, out=np.ones(len(lower)), where=used)
            lower.backoff = _log10(ratio)
            share = (count - steps) / total_of[level.context] + ratio[level.context] * below[level.suffix]
        level.log10 = _log10(share)
        level.backoff = np.zeros(len(level), np.float32)
        below = share
    levels[0].log10[START] = START_LOG10
    if unknown is not None:
        levels[0].log10[UNKNOWN] = unknown


def _log10(share: Shares) -> Floats:
    with np.errstate(divide="ignore"):
        found = np.log10(share)
    return np.maximum(found, -99.0).astype(np.float32)
