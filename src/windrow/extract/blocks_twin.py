"""What the extractor `blocks` knows of each block, and its forests, in numpy: the kernel's twin, its oracle and its stand-in.

All sums are of whole numbers, and each figure is one division of two of them, so that the kernel comes to the same bits in any order.
Lengths are in tenths of a word; scripts without blanks count six tenths of a word a character beyond the fifteenth.

A table has a row for each figure, named in FIRST and SECOND, and a column for each block. On the hundred blocks of a usual page a step
of numpy takes a microsecond, however little it does, so figures of one kind are made together.
"""

from typing import Any, NamedTuple

import numpy as np

from windrow.extract.blocks_model import LEAVES, UNIT, Forest, Model
from windrow.extract.blocks_rules import (
    AWAY,
    BITS,
    BUCKETS,
    CLOSING,
    CORES,
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
    SLIGHT,
    STEPS,
    WINDOWS,
)
from windrow.extract.walk import BLOCK, CONTAINER, Walk

Array = np.ndarray[Any, np.dtype[Any]]
_AT_ONCE = 128  # blocks that go through the trees at once: 16 kB of memory each, which the caches of a processor hold
_SEQUENCE, _TOP, _ONE = np.uint32(0x077CB531), np.uint32(27), np.uint32(1)
_PLACES = np.empty(32, np.intp)  # of the only bit of a number, by the first bits of its product with the sequence
_PLACES[[(0x077CB531 << place & 0xFFFFFFFF) >> 27 for place in range(32)]] = np.arange(32)
_LIKELY = np.array(LIKELY)
_GROUPS = np.frombuffer(GROUP_OF, np.uint8)
_BITS = np.array(BITS)[:, None]
_SHARES, _LIKELY_SHARES = np.array(CORES)[:, None], np.array(LIKELY_CORES)[:, None]
_REACHES = np.array(WINDOWS)[:, None]
_CLOSES = 4
_LAST = {**ENDINGS, **dict.fromkeys(CLOSING, _CLOSES)}

_CHARS, _WORDS, _LINKED, _STOPS, _TAG, _DEPTH, _PATH, _CONTAINER, _HEADING, _FLAGS = (
    BLOCK.index(name)
    for name in ("chars", "words", "link_chars", "stops", "tag", "depth", "path", "container", "heading", "flags")
)
_AS_THEY_ARE = [BLOCK.index(name) for name in ("stops", "breaks", "images", "depth", "heading")]
_BY_CHARS = [BLOCK.index(name) for name in ("link_chars", "digits")]
_BY_LENGTH = [BLOCK.index(name) for name in ("commas", "tags")]
_PARENT, _HELD_TAG, _HELD_DEPTH, _FROM, _TO = (
    CONTAINER.index(name) for name in ("parent", "tag", "depth", "first", "end")
)


class Context(NamedTuple):
    """What both stages need of a page."""

    places: Array  # 0, 1, 2 ...
    sums: Array  # of lengths, of what is in links, of prose: running, from 0 to the total
    container: Array  # of each block
    first: Array  # block of each container
    end: Array
    depth: Array  # of each container
    above: Array  # the next container around each that holds more than it does
    innermost: Array  # of the containers with the same blocks
    around: Array  # of each block the containers around it that hold more than it, by level
    path: Array


class Rows:
    """A table that is filled from the top."""

    def __init__(self, names: tuple[str, ...], blocks: int) -> None:
        self.table = np.empty((len(names), blocks), np.float32)
        self.filled = 0

    def next(self, count: int) -> Array:
        self.filled += count
        return self.table[self.filled - count : self.filled]


def first(page: Walk) -> tuple[Array, Context]:
    """The table of the first stage for a page that has blocks."""
    block, container = _columns(page.blocks, len(BLOCK)), _columns(page.containers, len(CONTAINER))
    chars, words, linked = block[_CHARS], block[_WORDS], block[_LINKED]
    measures = np.empty((3, len(chars)), np.int64)  # lengths, what is in links, prose
    lengths = np.maximum(words * 10, (chars - 15 * words) * 6, out=measures[0])
    np.floor_divide(lengths * linked, chars, out=measures[1])
    np.multiply(lengths - measures[1], (lengths >= PROSE) & (3 * linked < chars), out=measures[2])
    context = _context(block, container, measures)
    rows = Rows(FIRST, len(lengths))
    groups = _GROUPS[block[_TAG]]
    rows.next(5)[:] = block[_AS_THEY_ARE]
    own = rows.next(3)
    own[0], own[1], own[2] = lengths, groups, _endings(page.texts)
    shares = rows.next(2)
    np.divide(block[_BY_CHARS], chars, out=shares, casting="same_kind")
    np.divide(block[_BY_LENGTH], lengths, out=rows.next(2), casting="same_kind")
    rows.next(len(BITS))[:] = block[_FLAGS] >> _BITS & 1
    _add_elements(rows, context, _GROUPS[container[_HELD_TAG]])
    _add_path(rows, context, measures)
    _add_places(rows, context, measures[2], block[_HEADING])
    _add_neighbours(rows.next(4), lengths, shares[0], groups)
    _add_page(rows, context, block, (lengths, groups))
    return rows.table, context


def _columns(data: bytes, count: int) -> Array:
    return np.frombuffer(data, np.int32).reshape(count, -1).astype(np.int64)


def _endings(texts: list[str]) -> list[int]:
    """2 where a sentence ends, 1 where it goes on, 0 where the text says neither."""
    look = _LAST.get
    found = [look(text[-1], 0) for text in texts]
    if _CLOSES in found:
        for place, ending in enumerate(found):
            if ending == _CLOSES:
                found[place] = look(texts[place][-2:-1], 0) & 3
    return found


def _context(block: Array, container: Array, measures: Array) -> Context:
    sums = np.zeros((len(measures), measures.shape[1] + 1), np.int64)
    np.add.accumulate(measures, axis=1, out=sums[:, 1:])
    parent, start, end, own = container[_PARENT], container[_FROM], container[_TO], block[_CONTAINER]
    # An element with the same blocks as its parent is the first one in it, so it comes next: a run of such elements counts as one.
    alone = (start != start[parent]) | (end != end[parent])
    alone[0] = True
    top = np.maximum.accumulate(np.arange(len(parent)) * alone)
    above = np.maximum(parent[top], 0)
    around = np.empty((LEVELS, len(own)), np.int64)
    around[0] = np.where((end - start)[own] < 2, above[own], own)
    for level in range(1, LEVELS):
        above.take(around[level - 1], out=around[level], mode="clip")
    innermost = np.ones(len(alone), bool)
    innermost[:-1] = alone[1:]
    places = np.arange(len(own))
    return Context(places, sums, own, start, end, container[_HELD_DEPTH], above, innermost, around, block[_PATH])


def _add_elements(rows: Rows, context: Context, groups: Array) -> None:
    start, end, sums = context.first, context.end, context.sums
    held = sums[:, end] - sums[:, start]
    blocks = np.maximum(end - start, 1)
    totals = np.maximum(sums[:, -1:], 1)
    figures = np.empty((6, len(start)), np.float32)
    figures[0] = blocks
    figures[1:3] = held[::2] / totals[::2]
    figures[3::2] = held[1:] / np.maximum(held[0], 1)
    figures[4] = held[0] / blocks
    around = context.around
    figures.take(around, axis=1, out=rows.next(6 * LEVELS).reshape(6, *around.shape), mode="clip")
    near = around[:NEAR]
    rows.next(NEAR)[:] = groups[near]
    rows.next(NEAR)[:] = (context.places - start[near]) / blocks[near]
    figures[5] = groups
    _add_cores(rows, context, figures, _cores(held[2], _SHARES, max(int(sums[2, -1]), 1)))


def _cores(held: Array, shares: Array, total: int) -> Array:
    """The smallest elements with so many per cent of the total: the last ones in the order of the page."""
    enough = held * 100 >= shares * total
    enough[:, 0] = True
    found: Array = len(held) - 1 - enough[:, ::-1].argmax(axis=1)
    return found


def _add_cores(rows: Rows, context: Context, figures: Array, cores: Array) -> None:
    """Where a block stands beside a core of the page, and the branch of the tree in which it leaves the line from there to the root.

    A core with a greater share is around the one before it: two that have more than the whole cannot stand side by side.
    """
    places, start, end = context.places, context.first[cores, None], context.end[cores, None]
    line = _line(context, int(cores[0]))
    outside, branch = _outside(context, line)
    offset, place = _offset(places, start, end), (places - start) / np.maximum(end - start, 1)
    depth = context.depth[context.container] - context.depth[cores, None]
    for number, core in enumerate(cores.tolist()):
        own, passed = rows.next(5), line.index(core)
        own[0] = np.maximum(outside - passed, 0)
        own[1], own[2], own[3], own[4] = offset[number], place[number], depth[number], figures[1, core]
        reached = np.where(outside < passed, line[passed - 1], branch) if passed else branch
        figures.take(reached, axis=1, out=rows.next(6), mode="clip")


def _line(context: Context, core: int) -> list[int]:
    """A container and those around it, to the root."""
    line = [core]
    while line[-1]:
        line.append(int(context.above[line[-1]]))
    return line


def _outside(context: Context, line: list[int]) -> tuple[Array, Array]:
    """Of each block how many elements of a line do not hold it, and the container in which it leaves the line."""
    start, end, places = context.first, context.end, context.places
    outside = np.maximum((-start[line]).searchsorted(-places), end[line].searchsorted(places, "right"))
    lined = np.zeros(len(start), bool)
    lined[line] = True
    roots = (lined[context.above] & ~lined & context.innermost).nonzero()[0]
    branch = context.container
    if len(roots):
        found = start[roots].searchsorted(places, "right") - 1
        root = roots[np.maximum(found, 0)]
        branch = np.where((found >= 0) & (places < end[root]), root, branch)
    return outside, branch


def _offset(places: Array, start: Array, end: Array) -> Array:
    """Blocks from an element: negative above it, 0 inside."""
    found: Array = np.minimum(places - start, 0) + np.maximum(places - end + 1, 0)
    return found


def _add_path(rows: Rows, context: Context, measures: Array) -> None:
    """All blocks with the same path together."""
    path = context.path
    blocks = np.maximum(np.bincount(path), 1)
    lengths, linked, prose = (np.bincount(path, values) for values in measures)
    totals = np.maximum(context.sums[:, -1], 1)
    figures = np.empty((5, len(blocks)), np.float32)
    figures[0] = blocks
    figures[1] = lengths / totals[0]
    figures[2] = prose / totals[2]
    figures[3] = linked / np.maximum(lengths, 1)
    figures[4] = lengths / blocks
    figures.take(path, axis=1, out=rows.next(5), mode="clip")


def _add_places(rows: Rows, context: Context, prose: Array, headings: Array) -> None:
    places, count = context.places, len(prose)
    own = rows.next(6)
    own[0] = places / count
    own[1:3] = context.sums[::2, :-1] / np.maximum(context.sums[::2, -1:], 1)
    some = prose > 0
    last = np.maximum.accumulate(np.where(some, places, -AWAY - 1))
    following = np.minimum.accumulate(np.where(some, places, count + AWAY)[::-1])[::-1]
    own[3, 0] = own[4, -1] = AWAY
    own[3, 1:] = np.minimum(places[1:] - last[:-1], AWAY)
    own[4, :-1] = np.minimum(following[1:] - places[:-1], AWAY)
    heads = (headings == 1).nonzero()[0]
    own[5] = np.minimum(np.maximum(places - heads[0], -FAR), FAR) if len(heads) else 0


def _add_neighbours(own: Array, lengths: Array, links: Array, groups: Array) -> None:
    own[:, 0] = own[1, -1] = 0
    own[0, 1:] = lengths[:-1]
    own[1, :-1] = lengths[1:]
    own[2, 1:] = links[:-1]
    own[3, 1:] = groups[:-1]


def _add_page(rows: Rows, context: Context, block: Array, own: tuple[Array, Array]) -> None:
    lengths, groups = own
    length, linked, prose = context.sums[:, -1].tolist()
    by_group = np.bincount(groups, lengths, 3).tolist()
    count = int(np.count_nonzero(np.diff(context.sums[2])))
    some = max(length, 1)
    figures = (
        *(len(lengths), some, prose, linked / some, prose / some, int(np.maximum.reduce(lengths))),
        *(by_group[GROUP["p"]] / some, by_group[GROUP["li"]] / some, prose / max(count, 1), count),
        *(
            int(np.count_nonzero(block[_HEADING])),
            int(np.add.reduce(block[_STOPS])) / some,
            int(np.maximum.reduce(block[_DEPTH])),
        ),
    )
    rows.next(len(figures))[:] = np.array(figures)[:, None]


def second(context: Context, buckets: Array) -> Array:
    """The rows that the second stage has more than the first, given the first one's answers."""
    likely = _LIKELY[buckets]
    sums, places = context.sums[0], context.places
    lengths = sums[1:] - sums[:-1]
    mass = lengths * likely
    masses = np.zeros(len(sums), np.int64)
    np.add.accumulate(mass, out=masses[1:])
    every = int(masses[-1])
    total = max(every, 1)
    rows = Rows(SECOND, len(buckets))
    _add_beside(rows.next(5), buckets)
    start, end = np.maximum(places - _REACHES, 0), np.minimum(places + _REACHES + 1, len(places))
    rows.next(len(WINDOWS))[:] = (masses[end] - masses[start]) / (sums[end] - sums[start])
    rows.next(1)[:] = masses[:-1] / total
    rows.next(1)[:] = mass / total
    _add_likely_elements(rows, context, (sums, masses), total)
    by_path, length_by_path = np.bincount(context.path, mass), np.bincount(context.path, lengths)
    figures = np.empty((2, len(by_path)), np.float32)
    figures[0] = by_path / np.maximum(length_by_path, 1)
    figures[1] = by_path / total
    figures.take(context.path, axis=1, out=rows.next(2), mode="clip")
    sure, decided = (
        int(np.add.reduce(mass[buckets >= EVEN])),
        int(np.add.reduce(lengths * np.abs(likely - (1 << SCALE - 1)))),
    )
    rows.next(4)[:] = np.array((every, every / int(sums[-1]), sure / total, decided / int(sums[-1])))[:, None]
    return rows.table


def _add_beside(own: Array, buckets: Array) -> None:
    own[0] = buckets
    for row, far in ((1, 1), (3, 2)):
        own[row, :far] = 0
        own[row, far:] = buckets[:-far]
        own[row + 1, -far:] = 0
        own[row + 1, :-far] = buckets[far:]


def _add_likely_elements(rows: Rows, context: Context, running: tuple[Array, Array], total: int) -> None:
    start, end, around = context.first, context.end, context.around
    length, mass = (sums[end] - sums[start] for sums in running)
    figures = np.empty((2, len(mass)), np.float32)
    figures[0] = mass / np.maximum(length, 1)
    figures[1] = mass / total
    figures.take(around, axis=1, out=rows.next(2 * LEVELS).reshape(2, *around.shape), mode="clip")
    cores = _cores(mass, _LIKELY_SHARES, total)[:, None]
    rows.next(len(cores))[:] = _offset(context.places, start[cores], end[cores])
    rows.next(len(cores))[:] = context.depth[context.container] - context.depth[cores]
    rows.next(len(cores))[:] = figures[0, cores]


class Trees:
    """A forest as arrays, by question and tree, so that all questions of all trees are asked at once."""

    def __init__(self, forest: Forest) -> None:
        self.early, self.cut = forest.early, forest.cut
        shape = -1, forest.questions
        self.features = np.frombuffer(forest.features, "<u2").astype(np.intp).reshape(shape).T.ravel()
        self.thresholds = np.frombuffer(forest.thresholds, "<f4").astype(np.float32).reshape(shape).T.reshape(-1, 1)
        self.masks = np.frombuffer(forest.masks, "<u4").astype(np.uint32).reshape(shape).T[:, :, None].copy()
        self.values = np.frombuffer(forest.values, "<i2").astype(np.int64)
        self.offsets = np.arange(0, len(self.values), LEAVES)[:, None]

    def buckets(self, table: Array) -> Array:
        """Of each block the bucket of its probability; what is far from being text after some trees is let go."""
        if table.shape[1] > _AT_ONCE:
            return np.concatenate(
                [self.buckets(table[:, start : start + _AT_ONCE]) for start in range(0, table.shape[1], _AT_ONCE)]
            )
        added = self._added(table)
        sums = np.add.reduce(added[: self.early])
        sums += np.add.reduce(added[self.early :]) * (sums >= self.cut)
        found: Array = np.minimum(np.maximum(sums // (UNIT // STEPS) + EVEN, 0), BUCKETS - 1)
        return found

    def _added(self, table: Array) -> Array:
        """What each tree says of each block. The lowest bit of a number, times a sequence of de Bruijn, tells its place."""
        answers = (table.take(self.features, 0) > self.thresholds).reshape(len(self.masks), -1, table.shape[1])
        left = ~np.bitwise_or.reduce(answers * self.masks)
        left &= ~left + _ONE
        left *= _SEQUENCE
        left >>= _TOP
        found: Array = self.values[_PLACES[left] + self.offsets]
        return found


class Forests(NamedTuple):
    first: Trees
    second: Trees
    skip: int


def prepare(model: Model) -> Forests:
    return Forests(Trees(model.first), Trees(model.second), model.skip)


def judge(page: Walk, forests: Forests) -> tuple[bytes, bytes, int]:
    """The buckets of both stages, uint16 each, and the least bucket of what is text. Of a page that has blocks."""
    early, late, least = judged(*first(page), forests)
    return early.astype(np.uint16).tobytes(), late.astype(np.uint16).tobytes(), least


def judged(table: Array, context: Context, forests: Forests) -> tuple[Array, Array, int]:
    early = forests.first.buckets(table)
    late = early.copy()
    asked = (early >= forests.skip).nonzero()[0]
    if len(asked):
        both = np.empty((len(table) + len(SECOND), len(asked)), np.float32)
        table.take(asked, 1, out=both[: len(table)], mode="clip")
        second(context, early).take(asked, 1, out=both[len(table) :], mode="clip")
        found = forests.second.buckets(both)
        late[asked] = np.minimum(found, early[asked] + RAISE)
    return early, late, threshold(late, context.sums[0, 1:] - context.sums[0, :-1])


def threshold(buckets: Array, lengths: Array) -> int:
    """The least bucket to keep, so that F1 is expected to be greatest: twice the words that are right, by all kept and all of the text."""
    weights = np.bincount(buckets, lengths + SLIGHT)
    some = weights.nonzero()[0][::-1]
    kept = weights[some]
    right = np.add.accumulate(kept * _LIKELY[some])
    return int(some[(right / (np.add.accumulate(kept) * (1 << SCALE) + right[-1])).argmax()])
