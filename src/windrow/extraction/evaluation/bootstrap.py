"""Confidence intervals by the bootstrap: what a mean would be on other sites of the same kind.

Pages of one site are alike, so that sites are drawn, not pages: from n sites, n are drawn with replacement, a thousand
times, and the interval holds 95 % of the thousand results. All extractors are scored on the same draws, so that the
interval of a difference is that of the differences page by page. It is narrower than the intervals of both extractors
suggest, because a hard page is hard for both. The seed is fixed: the same pages give the same intervals.
"""

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

RESAMPLES = 1000
SEED = 20
_TAILS = (2.5, 97.5)  # per cent

Numbers = npt.NDArray[np.float64]
Statistic = Callable[[Numbers], Numbers]  # sums of the columns, last axis: columns -> results, last axis: results


class Estimate(msgspec.Struct, frozen=True):
    """A figure and its 95 % confidence interval; without one if there is only one site."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def margin(self) -> float | None:
        """Return half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


class Draws(msgspec.Struct, frozen=True):
    """Results on all pages, and one row of results per resample; no rows if there is only one site."""

    value: Any  # Numbers
    resampled: Any


def draws(rows: Sequence[Sequence[float]], sites: Sequence[str], statistic: Statistic, name: str) -> Draws:
    """Return a statistic of the sums of these columns. A row is a page; `name` makes the draws of a group its own."""
    columns = np.asarray(rows, dtype=np.float64)
    members = {site: number for number, site in enumerate(dict.fromkeys(sites))}
    sums = np.zeros((len(members), columns.shape[1]))
    np.add.at(sums, [members[site] for site in sites], columns)
    value = statistic(sums.sum(axis=0))
    if len(members) < 2:
        return Draws(value, np.empty((0, len(value))))
    chance = np.random.default_rng([SEED, zlib.crc32(name.encode("utf-8", "replace"))])
    counts = chance.multinomial(len(members), np.full(len(members), 1 / len(members)), size=RESAMPLES)
    return Draws(value, statistic(counts @ sums))


def mean(parts: Sequence[Draws]) -> Draws:
    """Return the mean of independent groups. One without resamples counts with its value alone."""
    rows = [part.resampled if len(part.resampled) else np.repeat(part.value[None], RESAMPLES, axis=0) for part in parts]
    several = any(len(part.resampled) for part in parts)
    value = np.mean([part.value for part in parts], axis=0)
    return Draws(value, np.mean(rows, axis=0) if several else np.empty((0, len(value))))


def estimates(found: Draws) -> list[Estimate]:
    """Return one estimate per result."""
    if not len(found.resampled):
        return [Estimate(float(one)) for one in found.value]
    low, high = np.percentile(found.resampled, _TAILS, axis=0)
    rows = zip(found.value, low, high, strict=True)
    return [Estimate(float(value), float(least), float(most)) for value, least, most in rows]
