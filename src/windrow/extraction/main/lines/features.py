"""Normalisation and discretisation: the input of the classifiers."""

from collections.abc import Sequence

import msgspec
import numpy as np

from windrow.extraction.main.lines.source import IMAGES, INDEX, LINKS, OUTPUT, TEXT, Array

ALPHA = 0.5  # α of Eq. 1 to 3: the weight of the topical region against the rest
# The part of a page's lines that the paper samples as topical, "from the center of the web page".
CENTRE = (1 / 3, 2 / 3)
SCOPES = ("Low", "Middle", "High")


class Cuts(msgspec.Struct, frozen=True):
    """F.MIN, F.MEAN and F.MAX of each of the six features. The cut points F.Low and F.High lie halfway between them."""

    minimum: tuple[float, ...]
    mean: tuple[float, ...]
    maximum: tuple[float, ...]


def normalised(raw: Array) -> Array:
    """Scale each feature to [0, 1] within its page: the index by the number of lines, the others by the page's maximum.

    Lengths are scaled by their logarithms: they spread over three orders of magnitude, and relative to the longest
    line of a page an ordinary paragraph would be close to 0.
    """
    scaled = raw.copy()
    if not len(raw):
        return scaled
    scaled[:, INDEX] /= len(raw)
    lengths, counts = [TEXT, OUTPUT], [LINKS, IMAGES]
    scaled[:, lengths] = np.log1p(raw[:, lengths]) / np.log1p(raw[:, lengths].max(axis=0))
    scaled[:, counts] /= np.maximum(raw[:, counts].max(axis=0), 1)
    return scaled


def cuts(pages: Sequence[Array]) -> Cuts:
    """Compute Eq. 1 to 3 over the normalised lines of the training pages."""
    rows = np.vstack(pages)
    topical = (rows[:, INDEX] > CENTRE[0]) & (rows[:, INDEX] <= CENTRE[1])
    regions = [region for region in (rows[topical], rows[~topical]) if len(region)]
    weights = (ALPHA, 1 - ALPHA) if len(regions) == 2 else (1.0,)

    def weighted(statistics: list[Array]) -> tuple[float, ...]:
        total = sum(weight * statistic for weight, statistic in zip(weights, statistics, strict=True))
        return tuple(float(value) for value in np.round(total, 9))

    return Cuts(
        weighted([region.min(axis=0) for region in regions]),
        weighted([region.mean(axis=0) for region in regions]),
        weighted([region.max(axis=0) for region in regions]),
    )


def memberships(scaled: Array, at: Cuts) -> Array:
    """Return (lines, 6, 3): the probabilities of Low, Middle and High; they sum to 1, and at most two are not 0.

    Low is certain at F.MIN, Middle at F.MEAN, High at F.MAX, and linear between: two scopes are equally likely at a
    cut point.
    """
    minimum, mean, maximum = np.array(at.minimum), np.array(at.mean), np.array(at.maximum)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(mean > minimum, (mean - scaled) / (mean - minimum), scaled <= minimum)
        high = np.where(maximum > mean, (scaled - mean) / (maximum - mean), scaled > mean)
    low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    return np.stack([low, 1 - low - high, high], axis=2)


def discretised(scaled: Array, at: Cuts) -> Array:
    """Return (lines, 18): for each feature the most likely scope with its probability; the other two are 0."""
    probable = memberships(scaled, at)
    winner = probable.argmax(axis=2)[:, :, None] == np.arange(len(SCOPES))
    return np.where(winner, probable, 0.0).reshape(len(scaled), -1)
