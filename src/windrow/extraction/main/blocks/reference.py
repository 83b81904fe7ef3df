"""The forests of the extractor `blocks` in numpy: with `features` the reference implementation of the kernel `_blocks`.

The tests compare the kernel with it bit for bit, and it is the fallback where the kernel was not built.
"""

from typing import NamedTuple

import numpy as np

from windrow.extraction.main.blocks import features
from windrow.extraction.main.blocks.context import Array, PageContext
from windrow.extraction.main.blocks.model import LEAVES, UNIT, BlocksModel, Forest
from windrow.extraction.main.blocks.rules import (
    BUCKETS,
    CARD,
    CARDS,
    CELL,
    CELLS,
    EVEN,
    FEW,
    GRADE,
    GRADES,
    LIKELY,
    RAISE,
    SCALE,
    SLIGHT,
    STEPS,
    SURE,
    TABLE,
    WORDS,
)
from windrow.extraction.walk import Walk

_AT_ONCE = 128  # blocks that go through the trees together: 16 kB of memory each, which fits a processor's cache

_LIKELY, _GRADES = np.array(LIKELY), np.array(GRADES)


class Trees:
    """A forest as arrays."""

    def __init__(self, forest: Forest) -> None:
        self.early, self.cut = forest.early, forest.cut
        shape = -1, forest.questions  # trees, questions
        self.features = np.frombuffer(forest.features, "<u2").reshape(shape)
        self.thresholds = np.frombuffer(forest.thresholds, "<f4").reshape(*shape, 1)
        self.masks = np.frombuffer(forest.masks, "<u4").reshape(*shape, 1)
        self.values = np.frombuffer(forest.values, "<i2").astype(np.int64).reshape(-1, LEAVES)

    def buckets(self, table: Array) -> Array:
        """Return of each block the bucket of its probability."""
        parts = range(0, table.shape[1], _AT_ONCE)
        return np.concatenate([self._buckets(table[:, start : start + _AT_ONCE]) for start in parts])

    def _buckets(self, table: Array) -> Array:
        """A block that is far from being text after the early trees is decided by those alone."""
        sums = self._sums(table, slice(self.early))
        left = (sums >= self.cut).nonzero()[0]
        if len(left):
            sums[left] += self._sums(table[:, left], slice(self.early, None))
        found: Array = np.clip(sums // (UNIT // STEPS) + EVEN, 0, BUCKETS - 1)
        return found

    def _sums(self, table: Array, trees: slice) -> Array:
        """Return of each block the sum of the values of the leaves that it reaches in these trees.

        Each question whose feature is above the threshold puts leaves out of reach. The block reaches the first leaf
        that is left: the lowest bit that is not set.
        """
        above = table[self.features[trees]] > self.thresholds[trees]
        unreachable = np.bitwise_or.reduce(np.where(above, self.masks[trees], np.uint32(0)), axis=1)
        lowest = ~unreachable & (unreachable + np.uint32(1))
        leaves = np.frexp(lowest.astype(np.float64))[1] - 1  # the exponent of a power of two
        found: Array = np.take_along_axis(self.values[trees], leaves, axis=1).sum(axis=0)
        return found


class Forests(NamedTuple):
    first: Trees
    second: Trees
    skip: int


def prepare(model: BlocksModel) -> Forests:
    return Forests(Trees(model.first), Trees(model.second), model.skip)


def classify(page: Walk, forests: Forests) -> tuple[bytes, bytes, int]:
    """Return the buckets of both stages, uint16 each, and the least bucket of main text, of a page that has blocks."""
    early, late, least = decide(*features.first(page), forests)
    return early.astype(np.uint16).tobytes(), late.astype(np.uint16).tobytes(), least


def decide(table: Array, context: PageContext, forests: Forests) -> tuple[Array, Array, int]:
    """Return the buckets of both stages and the least bucket of main text, given the features of the first stage."""
    early = forests.first.buckets(table)
    late = early.copy()
    asked = (early >= forests.skip).nonzero()[0]
    if len(asked):
        both = np.concatenate((table, features.second(context, early)))[:, asked]
        late[asked] = np.minimum(forests.second.buckets(both), early[asked] + RAISE)
    _level_tables(late, context)
    _join_cards(late, context)
    _join_headings(late, context)
    return early, late, threshold(late, context.lengths)


def _level_tables(buckets: Array, context: PageContext) -> None:
    """Give all blocks of a table with short cells the mean of their buckets, so that names and prices stay together."""
    following = len(buckets)  # the first block of the next table: a table that holds others is no table of data
    for number in (context.tag == TABLE).nonzero()[0].tolist()[::-1]:
        first, end = int(context.first[number]), int(context.end[number])
        length = int(context.length_sums[end] - context.length_sums[first])
        if end <= following and end - first >= CELLS and length <= CELL * (end - first):
            weights = context.lengths[first:end] + SLIGHT
            buckets[first:end] = int((weights * buckets[first:end]).sum()) // int(weights.sum())
        following = first


def _join_cards(buckets: Array, context: PageContext) -> None:
    """Give the numbers of a card the greatest bucket of its blocks."""
    sizes = context.end - context.first
    fitting = (sizes >= 2) & (sizes <= CARD) & (context.above == context.parent)
    cards, parents = fitting.nonzero()[0], context.parent[fitting]
    lengths = context.length_sums[context.end[cards]] - context.length_sums[context.first[cards]]
    count, blocks, length = (np.bincount(parents, values, len(sizes)) for values in (None, sizes[cards], lengths))
    some = (count >= CARDS) & (length <= CELL * blocks)
    for card in cards[some[parents]].tolist():
        part = slice(int(context.first[card]), int(context.end[card]))
        own = buckets[part]
        own[context.is_number[part]] = own.max()


def _join_headings(buckets: Array, context: PageContext) -> None:
    """Raise each subheading to the block below it, if the element around the heading holds that block too."""
    below = np.append(context.heading[1:], 1)
    parents = context.parent[context.own]
    ends = np.where(parents < 0, 0, context.end[parents])
    for block in ((context.heading > 1) & (below == 0)).nonzero()[0].tolist():
        if block + 1 < ends[block]:
            buckets[block] = max(buckets[block], buckets[block + 1])


def threshold(buckets: Array, lengths: Array) -> int:
    """Return the least bucket to keep, chosen so that the expected F1 is greatest; BUCKETS if nothing is to be kept.

    Blocks of nearly the same probability are often all text or all none, such as the items of a list. If they always
    were, a page would have as many possible texts as there are grades of probability, and a text that holds a block
    would hold every block that is more probable. If blocks were independent of each other, expected F1 would be twice
    the expected length that is right, divided by the length kept and the expected length of the text. The truth is
    between the two, so the mean of both is taken.
    """
    if _is_empty(buckets, lengths):
        return BUCKETS
    weights = np.bincount(buckets // GRADE, lengths + SLIGHT, len(GRADES)).astype(np.int64)
    used = weights.nonzero()[0][::-1]
    likely, kept = _GRADES[used], np.cumsum(weights[used])
    chances = likely - np.append(likely[1:], 0)
    nested = (np.minimum(kept[:, None], kept) * 2 << SCALE) // (kept[:, None] + kept) * chances
    right = np.cumsum(weights[used] * likely)
    independent = right * 2 // (kept + (right[-1] >> SCALE))
    return int(used[(nested.sum(axis=1) + (independent << SCALE)).argmax()]) * GRADE


def _is_empty(buckets: Array, lengths: Array) -> bool:
    """Return whether a page has no main text, as rules.FEW says."""
    likely = _LIKELY[buckets]
    return bool(lengths.sum() >= WORDS and likely.max() < SURE and (likely * lengths).sum() < FEW << SCALE)
