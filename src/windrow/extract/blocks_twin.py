"""What the extractor `blocks` knows of each block, and its forests, in numpy: the kernel's twin, its oracle and its stand-in.

All sums are of whole numbers, and each figure is one division of two of them, so that the kernel comes to the same bits in any order.
Lengths are in tenths of a word; scripts without blanks count six tenths of a word a character beyond the fifteenth.

A table has a row for each figure, named in FIRST and SECOND, and a column for each block.
"""

import collections
from typing import Any, NamedTuple

import numpy as np

from windrow.extract.blocks_model import UNIT, Forest, Model
from windrow.extract.blocks_rules import (
    AWAY,
    BITS,
    BUCKETS,
    CLOSING,
    CORES,
    COUNTED,
    ENDINGS,
    EVEN,
    FAR,
    FIRST,
    GROUP,
    GROUP_OF,
    LEVELS,
    LIKELY,
    LIKELY_CORES,
    NEAR,
    PROSE,
    RAISE,
    SCALE,
    SECOND,
    SHORT,
    SLIGHT,
    STEPS,
    WINDOWS,
)
from windrow.extract.walk import BLOCK, CONTAINER, Walk

Array = np.ndarray[Any, np.dtype[Any]]
_AT_ONCE = 8192  # blocks that go through the trees at once: 2 kB of memory each
_LIKELY = np.array(LIKELY)
_GROUPS = np.frombuffer(GROUP_OF, np.uint8)
_BITS = np.array(BITS)[:, None]


class Context(NamedTuple):
    """What both stages need of a page."""

    lengths: Array
    container: Array  # of each block
    first: Array  # block of each container
    end: Array
    depth: Array  # of each container
    innermost: Array  # of the containers with the same blocks
    above: Array  # the next container around each that holds more than it does
    around: Array  # of each block the first container with two blocks or more
    path: Array


class Sums(NamedTuple):
    """Running sums over blocks, from 0 to the total."""

    lengths: Array
    linked: Array
    prose: Array

    @classmethod
    def of(cls, lengths: Array, linked: Array, prose: Array) -> "Sums":
        return cls(running(lengths), running(linked), running(prose))


def running(values: Array) -> Array:
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


class Rows:
    """A table that is filled row by row."""

    def __init__(self, names: tuple[str, ...], blocks: int) -> None:
        self.table = np.empty((len(names), blocks), np.float32)
        self.filled = 0

    def add(self, *rows: Array | np.generic | float) -> None:
        for row in rows:
            self.table[self.filled] = row
            self.filled += 1

    def add_table(self, rows: Array) -> None:
        self.table[self.filled : self.filled + len(rows)] = rows
        self.filled += len(rows)


def first(page: Walk, title: str) -> tuple[Array, Context]:
    """The table of the first stage for a page that has blocks."""
    block = dict(zip(BLOCK, _columns(page.blocks, len(BLOCK)), strict=True))
    container = dict(zip(CONTAINER, _columns(page.containers, len(CONTAINER)), strict=True))
    lengths = np.maximum(block["words"] * 10, (block["chars"] - 15 * block["words"]) * 6)
    linked = lengths * block["link_chars"] // block["chars"]
    prose = np.where((lengths >= PROSE) & (3 * block["link_chars"] < block["chars"]), lengths - linked, 0)
    sums = Sums.of(lengths, linked, prose)
    rows = Rows(FIRST, len(lengths))
    _add_own(rows, page, block, lengths)
    context = _context(block, container, lengths)
    _add_elements(rows, context, sums, _GROUPS[container["tag"]])
    _add_path(rows, block["path"], (lengths, linked, prose))
    _add_places(rows, page.texts, title, sums)
    _add_neighbours(rows, block, lengths, prose > 0)
    _add_page(rows, block, container["tag"], (lengths, prose, sums))
    return rows.table, context


def _columns(data: bytes, count: int) -> Array:
    return np.frombuffer(data, np.int32).reshape(count, -1).astype(np.int64)


def _add_own(rows: Rows, page: Walk, block: dict[str, Array], lengths: Array) -> None:
    chars, stops = block["chars"], block["stops"]
    rows.add(lengths, block["link_chars"] / chars, stops, stops / lengths, block["commas"] / lengths, block["digits"] / chars)
    rows.add(np.array([_ending(text) for text in page.texts]), block["links"], block["tags"] / lengths, block["breaks"], block["images"])
    rows.add(_GROUPS[block["tag"]], block["depth"], block["heading"])
    rows.add_table(block["flags"] >> _BITS & 1)


def _ending(text: str) -> int:
    """2 where a sentence ends, 1 where it goes on, 0 where the text says neither."""
    last = text[-1]
    return ENDINGS.get(text[-2:-1] if last in CLOSING else last, 0)


def _context(block: dict[str, Array], container: dict[str, Array], lengths: Array) -> Context:
    parent, start, end = container["parent"], container["first"], container["end"]
    # An element with the same blocks as its parent is the first one in it, so it comes next: a run of such elements counts as one.
    alone = (start != start[parent]) | (end != end[parent])
    alone[0] = True
    top = np.maximum.accumulate(np.where(alone, np.arange(len(parent)), 0))
    above = np.maximum(parent[top], 0)
    own = block["container"]
    around = np.where((end - start)[own] < 2, above[own], own)
    return Context(lengths, own, start, end, container["depth"], np.append(alone[1:], True), above, around, block["path"])


def _add_elements(rows: Rows, context: Context, sums: Sums, groups: Array) -> None:
    start, end = context.first, context.end
    blocks = np.maximum(end - start, 1)
    lengths, linked, prose = (each[end] - each[start] for each in sums)
    total, total_prose = max(int(sums.lengths[-1]), 1), max(int(sums.prose[-1]), 1)
    some = np.maximum(lengths, 1)
    figures = np.stack((blocks, lengths / total, prose / total_prose, linked / some, lengths / blocks, prose / some))
    places = np.arange(len(context.lengths))
    around, near = context.around, []
    for level in range(LEVELS):
        rows.add_table(figures[:, around])
        if level < NEAR:
            near += [groups[around], (places - start[around]) / blocks[around]]
        around = context.above[around]
    rows.add(*near)
    figures[5] = groups
    for core in CORES:
        _add_core(rows, context, figures, _core(prose, core, total_prose))


def _core(values: Array, core: int, total: int) -> int:
    """The smallest element with so many per cent of the total: the last one in the order of the page."""
    found = np.flatnonzero(values * 100 >= core * total)
    return int(found[-1]) if len(found) else 0


def _add_core(rows: Rows, context: Context, figures: Array, core: int) -> None:
    """Where a block stands beside the core of the page, and the branch of the tree in which it leaves the line from there to the root."""
    start, end = context.first, context.end
    line = [core]
    while line[-1]:
        line.append(int(context.above[line[-1]]))
    places = np.arange(len(context.lengths))
    outside = np.maximum(np.searchsorted(-start[line], -places, "left"), np.searchsorted(end[line], places, "right"))
    rows.add(outside, _offset(places, start[core], end[core]), (places - start[core]) / figures[0, core], figures[1, core])
    rows.add(context.depth[context.container] - context.depth[core])
    lined = np.zeros(len(start), bool)
    lined[line] = True
    roots = np.flatnonzero(lined[context.above] & ~lined & context.innermost)
    branch = context.container
    if len(roots):
        found = np.searchsorted(start[roots], places, "right") - 1
        root = roots[np.maximum(found, 0)]
        branch = np.where((found >= 0) & (places < end[root]), root, branch)
    rows.add_table(figures[:, branch])


def _offset(places: Array, start: int, end: int) -> Array:
    """Blocks from an element: negative above it, 0 inside."""
    return np.where(places < start, places - start, np.maximum(places - end + 1, 0))


def _add_path(rows: Rows, path: Array, measures: tuple[Array, Array, Array]) -> None:
    """All blocks with the same path together."""
    count = np.bincount(path)
    lengths, linked, prose = (np.bincount(path, values) for values in measures)
    total, total_prose = max(lengths.sum(), 1), max(prose.sum(), 1)
    count, some = np.maximum(count, 1), np.maximum(lengths, 1)
    rows.add_table(np.stack((count, lengths / total, linked / some, lengths / count, prose / total_prose))[:, path])


def _add_places(rows: Rows, texts: list[str], title: str, sums: Sums) -> None:
    places = np.arange(count := len(texts))
    same = collections.Counter(texts)
    rows.add(np.array([same[text] for text in texts]), np.array([SHORT <= len(text) <= len(title) and text in title for text in texts]))
    rows.add(places / count, np.minimum(places, FAR), np.minimum(count - places, FAR))
    rows.add(sums.lengths[:-1] / max(int(sums.lengths[-1]), 1), sums.prose[:-1] / max(int(sums.prose[-1]), 1))


def _add_neighbours(rows: Rows, block: dict[str, Array], lengths: Array, prose: Array) -> None:
    places = np.arange(count := len(lengths))
    last = np.maximum.accumulate(np.where(prose, places, -AWAY - 1))
    following = np.minimum.accumulate(np.where(prose, places, count + AWAY)[::-1])[::-1]
    rows.add(np.minimum(places - np.append(-AWAY - 1, last[:-1]), AWAY), np.minimum(np.append(following[1:], count + AWAY) - places, AWAY))
    heads = np.flatnonzero(block["heading"] == 1)
    rows.add(np.clip(places - heads[0], -FAR, FAR) if len(heads) else 0)
    for values in (lengths, block["link_chars"] / block["chars"], _GROUPS[block["tag"]]):
        rows.add(np.append(0, values[:-1]), np.append(values[1:], 0))


def _add_page(rows: Rows, block: dict[str, Array], tags: Array, measures: tuple[Array, Array, Sums]) -> None:
    lengths, prose, sums = measures
    total = max(int(sums.lengths[-1]), 1)
    groups = _GROUPS[block["tag"]]
    rows.add(len(lengths), total, sums.prose[-1], sums.linked[-1] / total, sums.prose[-1] / total, lengths.max())
    rows.add(lengths[groups == GROUP["p"]].sum() / total, lengths[groups == GROUP["li"]].sum() / total)
    count = np.count_nonzero(prose)
    rows.add(sums.prose[-1] / max(count, 1), count, np.count_nonzero(block["heading"]), block["stops"].sum() / total)
    rows.add(np.count_nonzero(block["heading"] == 1), *(np.count_nonzero(tags == tag) for tag in COUNTED), block["depth"].max())


def second(context: Context, buckets: Array) -> Array:
    """The rows that the second stage has more than the first, given the first one's answers."""
    likely = _LIKELY[buckets]
    lengths = context.lengths
    mass = lengths * likely
    sums, masses = running(lengths), running(mass)
    total = max(int(masses[-1]), 1)
    rows = Rows(SECOND, len(buckets))
    padded = np.zeros(len(buckets) + 4, np.int64)
    padded[2:-2] = buckets
    rows.add(buckets, padded[1:-3], padded[3:-1], padded[:-4], padded[4:])
    places = np.arange(len(buckets))
    for reach in WINDOWS:
        start, end = np.maximum(places - reach, 0), np.minimum(places + reach + 1, len(buckets))
        rows.add((masses[end] - masses[start]) / (sums[end] - sums[start]))
    rows.add(masses[:-1] / total, mass / total, masses[-1], masses[-1] / sums[-1], mass[buckets >= EVEN].sum() / total)
    rows.add((lengths * np.abs(likely - (1 << SCALE - 1))).sum() / sums[-1])
    length, mass_of = sums[context.end] - sums[context.first], masses[context.end] - masses[context.first]
    _add_likely_elements(rows, context, np.stack((mass_of / np.maximum(length, 1), mass_of / total)), (mass_of, total))
    by_path, length_by_path = np.bincount(context.path, mass), np.bincount(context.path, lengths)
    rows.add((by_path / np.maximum(length_by_path, 1))[context.path], (by_path / total)[context.path])
    return rows.table


def _add_likely_elements(rows: Rows, context: Context, figures: Array, masses: tuple[Array, int]) -> None:
    around = context.around
    for _ in range(LEVELS):
        rows.add_table(figures[:, around])
        around = context.above[around]
    places = np.arange(len(context.lengths))
    depth = context.depth[context.container]
    for share in LIKELY_CORES:
        core = _core(masses[0], share, masses[1])
        rows.add(_offset(places, context.first[core], context.end[core]), figures[0, core], depth - context.depth[core])


class Trees:
    """A forest as arrays."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.roots = np.frombuffer(forest.roots, "<u2").astype(np.intp)
        self.features = np.frombuffer(forest.features, "<u2").astype(np.intp)
        self.thresholds = np.frombuffer(forest.thresholds, "<f4")
        self.children = np.frombuffer(forest.children, "<u2").astype(np.intp)
        self.values = np.frombuffer(forest.values, "<i2").astype(np.int64)

    def buckets(self, table: Array) -> Array:
        """Of each block the bucket of its probability."""
        if table.shape[1] > _AT_ONCE:
            return np.concatenate([self.buckets(table[:, start : start + _AT_ONCE]) for start in range(0, table.shape[1], _AT_ONCE)])
        sums = self._sums(table, self.roots[: self.forest.early])
        left = np.flatnonzero(sums >= self.forest.cut)
        if len(left) and self.forest.early < len(self.roots):
            sums[left] += self._sums(np.ascontiguousarray(table[:, left]), self.roots[self.forest.early :])
        found: Array = np.clip(sums // (UNIT // STEPS) + EVEN, 0, BUCKETS - 1)
        return found

    def _sums(self, table: Array, roots: Array) -> Array:
        """All blocks go down all trees, a step at a time. Taking with an output and without a check is twice as fast as an index."""
        blocks = table.shape[1]
        figures, rows, places = table.ravel(), self.features * blocks, np.tile(np.arange(blocks), len(roots))
        nodes, below = np.repeat(roots, blocks), np.empty(len(roots) * blocks, np.intp)
        found, thresholds = np.empty(len(nodes), np.float32), np.empty(len(nodes), np.float32)
        for _ in range(self.forest.depth):
            np.take(rows, nodes, out=below, mode="clip")
            np.add(below, places, out=below)
            np.take(figures, below, out=found, mode="clip")
            np.take(self.thresholds, nodes, out=thresholds, mode="clip")
            np.take(self.children, nodes, out=below, mode="clip")
            np.add(below, found > thresholds, out=below)
            nodes, below = below, nodes
        sums: Array = self.values[nodes].reshape(len(roots), blocks).sum(axis=0)
        return sums


class Forests(NamedTuple):
    first: Trees
    second: Trees
    skip: int


def prepare(model: Model) -> Forests:
    return Forests(Trees(model.first), Trees(model.second), model.skip)


def judge(page: Walk, title: str, forests: Forests) -> tuple[bytes, bytes, int]:
    """The buckets of both stages, uint16 each, and the least bucket of what is text. Of a page that has blocks."""
    early, late, least = judged(*first(page, title), forests)
    return early.astype(np.uint16).tobytes(), late.astype(np.uint16).tobytes(), least


def judged(table: Array, context: Context, forests: Forests) -> tuple[Array, Array, int]:
    early = forests.first.buckets(table)
    late = early.copy()
    asked = np.flatnonzero(early >= forests.skip)
    if len(asked):
        found = forests.second.buckets(np.concatenate((table[:, asked], second(context, early)[:, asked])))
        late[asked] = np.minimum(found, early[asked] + RAISE)
    return early, late, threshold(late, context.lengths)


def threshold(buckets: Array, lengths: Array) -> int:
    """The least bucket to keep, so that F1 is expected to be greatest: twice the words that are right, by all kept and all of the text."""
    weights = np.bincount(buckets, lengths + SLIGHT, BUCKETS)[::-1]
    kept, right = np.cumsum(weights), np.cumsum(weights * _LIKELY[::-1])
    return BUCKETS - 1 - int(np.argmax(right / (kept * (1 << SCALE) + right[-1])))
