"""The walk of a well-formed page in numpy, where there is no kernel: all its tags at once, in half the time of going from tag to tag.

What the parser writes out is well-formed, but for elements whose names hold brackets. Of a page that is not, or that holds control
characters, nothing is said here, and `scan.Scanner` reads it, which can do everything.
"""

import functools
import itertools
import re
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from windrow.extract import rules
from windrow.extract.rules import COMMAS, FLAG, PLAIN, STOPS, TAGS, Kind
from windrow.extract.scan import CONTROL, MAX_BLOCKS, MAX_PATH, Scanned

Array = np.ndarray[Any, np.dtype[Any]]

_BETWEEN = re.compile(r"(?:\s|&nbsp;|</[^>]*>)*")  # two <br> in a row
_ONES, _TOPS, _BLANKS, _ENDS = (np.uint64(byte * 0x0101010101010101) for byte in (1, 128, 32, 62))
_SEVEN, _ONE = np.uint64(7), np.uint64(1)
_BITS = 14  # of the number of a slot for a name
_SHIFT = np.uint64(64 - _BITS)

# What is asked of the kinds of tags, by their numbers.
_STEPS = np.array([(kind is Kind.BLOCK) - (kind is Kind.CLOSE) for kind in Kind], np.int64)
_EDGES, _COUNTED, _ANCHORS = (
    np.array([kind in some for kind in Kind])
    for some in (
        (Kind.BLOCK, Kind.VOID_BLOCK, Kind.CLOSE),
        (Kind.INLINE, Kind.LINK, Kind.VOID, Kind.IMAGE, Kind.BREAK),
        (Kind.LINK, Kind.UNLINK),
    )
)
_INLINE, _LINK, _IMAGE, _BREAK, _CLEAR, _DROP = (
    int(k) for k in (Kind.INLINE, Kind.LINK, Kind.IMAGE, Kind.BREAK, Kind.VOID_CLEAR, Kind.DROP)
)

_MARKS = {" ": 1, **dict.fromkeys(STOPS, 2), **dict.fromkeys(COMMAS, 3), **dict.fromkeys("0123456789", 4)}
_CLASSES = bytes(_MARKS.get(chr(code), 0) for code in range(256))
_WIDE = np.zeros(1 << 16, np.uint8)  # the classes again, by code point
_WIDE[[ord(mark) for mark in _MARKS]] = list(_MARKS.values())
_PADDING = b">" * 16
_MEMORY = 16384  # tags remembered
_LENGTH = 128  # characters of one worth remembering
_SEEN: dict[bytes, tuple[str, int, int, int]] = {}


class Names(NamedTuple):
    """The known tags, each in the slot that its name leads to; a name is two numbers of eight letters."""

    factors: Array
    starts: Array
    ends: Array
    kinds: Array
    numbers: Array


@functools.cache
def _names() -> Names:
    """Factors are tried until no two names lead to one slot."""
    known = [(name, info) for name, info in PLAIN.known.items() if name.removeprefix("/") in TAGS[1:]]
    pairs = (
        np.array([[name[:8].encode(), name[8:16].encode()] for name, _ in known], "S8").view("<u8").astype(np.uint64)
    )
    chance = np.random.default_rng(1)
    while True:
        factors = chance.integers(1, 1 << 63, 2, np.uint64) * np.uint64(2) + _ONE
        slots = (pairs[:, 0] * factors[0] + pairs[:, 1] * factors[1]) >> _SHIFT
        if len(np.unique(slots)) == len(known) and slots.all():
            break
    names = Names(factors, *(np.zeros(1 << _BITS, kind) for kind in (np.uint64, np.uint64, np.intp, np.intp)))
    names.starts[slots], names.ends[slots] = pairs.T
    names.kinds[slots], names.numbers[slots] = [info[0] for _, info in known], [info[2] for _, info in known]
    return names


class Page(NamedTuple):
    data: bytes  # in UTF-8, with some brackets behind it
    starts: Array  # of each tag
    ends: Array
    kinds: Array
    numbers: Array  # by place in TAGS
    edges: Array  # tags that end a text


def sweep(markup: str) -> Scanned | None:
    """As `scan.scan` of markup without comments; None of a page that is not well-formed."""
    page = _page(markup)
    elements = _elements(page) if page else None
    return _found(page, elements) if page and elements else None


def _page(markup: str) -> Page | None:
    data = markup.encode("utf-8", "surrogatepass") + _PADDING
    letters = np.frombuffer(data, np.uint8, len(data) - len(_PADDING))
    starts, ends = (letters == 60).nonzero()[0], (letters == 62).nonzero()[0]
    if len(starts) != len(ends) or not 0 < len(starts) < MAX_BLOCKS or letters.min() < 2:
        return None
    if (starts >= ends).any() or (starts[1:] <= ends[:-1]).any():
        return None
    kinds, numbers = _identified(np.ndarray((len(data) - 7,), "<u8", data, strides=(1,)), starts + 1)
    edges = _EDGES[kinds]
    breaks = (kinds == _BREAK).nonzero()[0]
    if len(breaks) > 1:
        edges[_after_breaks(data, (starts, ends, kinds), breaks)] = True
    return None if (kinds == _DROP).any() else Page(data, starts, ends, kinds, numbers, edges.nonzero()[0])


def _identified(words: Array, places: Array) -> tuple[Array, Array]:
    """Kinds and numbers of the tags whose names begin at these places."""
    first, closed = _until_end(words[places])
    second = np.zeros_like(first)
    long = (closed == 0).nonzero()[0]
    if len(long):
        second[long], ended = _until_end(words[places[long] + 8])
        first[long[ended == 0]] = 0  # no tag has so long a name
    names = _names()
    slots = (first * names.factors[0] + second * names.factors[1] >> _SHIFT).astype(np.intp)
    known = (names.starts[slots] == first) & (names.ends[slots] == second)
    if known.all():
        return names.kinds[slots], names.numbers[slots]
    slots *= known
    kinds, strange = names.kinds[slots], (~known).nonzero()[0]
    letter = words[places[strange]].astype(np.uint8)
    kinds[strange] = np.where((letter == 33) | (letter == 47) | (letter == 63), _CLEAR, _INLINE)  # ! / ?
    return kinds, names.numbers[slots]


def _until_end(words: Array) -> tuple[Array, Array]:
    """Eight letters each, zero from the first blank or bracket on; and where there is one."""
    blanks, brackets = words ^ _BLANKS, words ^ _ENDS
    found = ((blanks - _ONES) & ~blanks | (brackets - _ONES) & ~brackets) & _TOPS
    return words & (((found & -found) >> _SEVEN) - _ONE), found


def _after_breaks(data: bytes, tags: tuple[Array, Array, Array], breaks: Array) -> list[int]:
    """Each <br> that follows another ends a text, unless there is text or a start tag between them."""
    starts, ends, kinds = tags
    found = []
    for one, other in itertools.pairwise(breaks.tolist()):
        between = data[ends[one] + 1 : starts[other]]
        if not between or (
            not _EDGES[kinds[one + 1 : other]].any() and _BETWEEN.fullmatch(between.decode("utf-8", "surrogatepass"))
        ):
            found.append(other)
    return found


class Elements(NamedTuple):
    """Block elements in the order of the page, the first of which is the page itself, and edges, the first of which is 1."""

    level: Array
    start: Array
    end: Array
    tag: Array  # by place among all tags, -1 for the page itself
    order: Array  # by level
    keys: Array  # level and start in this order
    inside: Array  # the level of the text before each edge, and of the last text


def _elements(page: Page) -> Elements | None:
    """None where an end tag does not close the element that was opened last, or one is too deep."""
    steps = _STEPS[page.kinds[page.edges]]
    width = len(steps) + 1
    inside = np.zeros(width, np.intp)
    np.cumsum(steps, out=inside[1:])
    starts, ends = (steps > 0).nonzero()[0], (steps < 0).nonzero()[0]
    if len(starts) != len(ends) or inside.min() < 0 or inside.max() > MAX_PATH:
        return None
    found = np.empty((6, len(starts) + 1), np.intp)
    level, start, end, tag, order, keys = found
    level[0], start[0], end[0], tag[0], order[0], keys[0] = 0, 0, width, -1, 0, 0
    level[1:] = inside[starts + 1]
    start[1:] = starts + 1
    tag[1:] = page.edges[starts]
    order[1:] = level[1:].argsort(kind="stable") + 1
    closed = ends[inside[ends].argsort(kind="stable")]
    end[order[1:]] = closed + 1
    keys[:] = (level * width + start)[order]
    if (page.numbers[tag[order[1:]]] != page.numbers[page.edges[closed]]).any():
        return None
    return Elements(level, start, end, tag, order, keys, inside)


def _found(page: Page, elements: Elements) -> Scanned | None:
    marked = _marked(page)
    every = list(map(" ".join, map(str.split, marked.replace("\1", "").split("\0"))))
    texts = list(filter(None, every))
    if not texts:
        return [], b"", b"", b"", []
    joined = "\n".join(texts)
    if not joined.replace("\n", "").isprintable() and CONTROL.search(joined):
        return None
    lengths = np.fromiter(map(len, every), np.intp, len(every))
    segments = lengths.nonzero()[0]
    before = np.zeros(len(every) + 1, np.intp)  # blocks before each edge
    np.cumsum(lengths > 0, out=before[1:])
    first, end = before[elements.start], before[elements.end]
    held = (end > first).nonzero()[0]  # elements with text are containers
    rows = np.zeros(len(first), np.intp)
    rows[held] = np.arange(len(held))
    level = elements.inside[segments]
    owners = rows[_around(elements, level, segments)]
    states, table, paths = _states(page, elements.tag[held[1:]], elements.level[held[1:]])
    containers = np.empty((7, len(held)), np.int32)
    containers[0, 0] = -1
    containers[0, 1:] = rows[_around(elements, elements.level[held[1:]] - 1, elements.start[held[1:]])]
    containers[2], containers[3], containers[4] = elements.level[held], first[held], end[held]
    containers[[1, 5, 6]] = table[:3, states]
    blocks = np.empty((17, len(texts)), np.int32)
    blocks[0] = lengths = lengths[segments]
    blocks[[1, 4, 5, 6]] = _marks(joined, lengths)
    blocks[2:4] = _links(page, marked, segments)
    blocks[7:10] = _tags(page, segments)
    blocks[11], blocks[13] = level, owners
    blocks[[10, 12, 14, 15, 16]] = table[[0, 3, 4, 5, 6]][:, states[owners]]
    return texts, blocks.tobytes(), containers.tobytes(), *paths


def _around(elements: Elements, level: Array, place: Array) -> Array:
    """The element of this level that is open before an edge: the last one that began."""
    return elements.order[elements.keys.searchsorted(level * len(elements.inside) + place, "right") - 1]


def _marked(page: Page) -> str:
    """The text of a page, with characters for tags: \\0 for one that ends a text, \\1 for one of a link, a blank for a break."""
    starts, kinds = page.starts, page.kinds
    letters = np.frombuffer(bytearray(page.data), np.uint8)[: -len(_PADDING)]
    spans = np.empty(2 * len(starts) + 2, np.intp)
    spans[0], spans[-1] = 0, len(letters)
    spans[1:-1:2], spans[2::2] = starts, page.ends + 1
    kept = np.zeros(len(spans) - 1, bool)
    kept[::2] = True
    kept = np.repeat(kept, spans[1:] - spans[:-1])
    marks = np.full(len(kinds), 2, np.uint8)
    marks[kinds == _BREAK] = 32
    marks[_ANCHORS[kinds]] = 1
    marks[page.edges] = 0
    some = (marks != 2).nonzero()[0]
    places = starts[some]
    letters[places] = marks[some]
    kept[places] = True
    text = letters[kept].tobytes().decode("utf-8", "surrogatepass")
    if "&" in text:
        text = text.replace("&nbsp;", "\xa0").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return text


def _links(page: Page, marked: str, segments: Array) -> Array:
    """Characters in links, and links, of each block."""
    kinds, data = page.kinds, page.data
    anchors = (kinds == _LINK).nonzero()[0]
    if not len(anchors):
        return np.zeros((2, len(segments)), np.int32)
    spans = zip(page.starts[anchors].tolist(), page.ends[anchors].tolist(), strict=True)
    begins = anchors[[data.find(b' href="', start, end) >= 0 for start, end in spans]]
    states = np.zeros(len(kinds), np.int8)  # 1: an edge, 2: a link begins, 3: it ends
    states[_ANCHORS[kinds]] = 3
    states[page.edges] = 1
    states[begins] = 2
    states = states[states > 0]
    last = np.maximum.accumulate(np.where(states > 1, np.arange(len(states)), 0))
    linked = (states[last] == 2).nonzero()[0]
    nodes = marked.replace("\1", "\0").split("\0")
    lengths = np.array([len(" ".join(nodes[place].split())) for place in (linked + 1).tolist()], np.intp)
    segment, count = np.cumsum(states == 1)[linked], len(page.edges) + 1
    return np.array((np.bincount(segment, lengths, count), np.bincount(segment[lengths > 0], minlength=count)))[
        :, segments
    ]


def _tags(page: Page, segments: Array) -> Array:
    """Start tags, breaks and images of each block; images since the block before."""
    kinds, edges = page.kinds, page.edges
    some = np.empty((3, len(kinds)), bool)
    some[0], some[1], some[2] = _COUNTED[kinds], kinds == _BREAK, kinds == _IMAGE
    some[1, edges] = False
    sums = np.zeros((3, len(edges) + 2), np.intp)
    totals = np.cumsum(some, axis=1)
    sums[:, 1:-1] = totals[:, edges]
    sums[:, -1] = totals[:, -1]
    found = sums[:, segments + 1]
    found[:2] -= sums[:2, segments]
    found[2, 1:] -= found[2, :-1].copy()
    return found


def _marks(joined: str, lengths: Array) -> Array:
    """Words, stops, commas and digits of each text."""
    if joined.isascii():
        classes = np.frombuffer(joined.encode().translate(_CLASSES), np.uint8)
    else:
        classes = _WIDE[np.minimum(np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4"), len(_WIDE) - 1)]
    places = classes.nonzero()[0]
    owners = np.repeat(np.arange(0, 8 * len(lengths), 8), lengths + 1)[places]
    table: Array = np.bincount(owners + classes[places], minlength=8 * len(lengths)).reshape(-1, 8).T[1:5]
    table[0] += 1
    return table


def _states(page: Page, tags: Array, levels: Array) -> tuple[Array, Array, tuple[bytes, list[str]]]:
    """What is known of each container by its own tag and all above it, as the number of a state; the states; the paths.

    Of a state: number of the tag, own hints, own flags; path, heading, flags, hints.
    """
    data = page.data
    known: dict[tuple[int, bytes], int] = {}
    table: list[tuple[int, ...]] = [(0, 0, 0, 0, 0, 0, 0)]
    paths: dict[tuple[int, str], int] = {(-1, ">"): 0}
    open_ = [0] * (MAX_PATH + 2)
    found = [0]
    spans = zip((page.starts[tags] + 1).tolist(), page.ends[tags].tolist(), levels.tolist(), strict=True)
    for start, end, level in spans:
        step = open_[level - 1], data[start:end]
        state = known.get(step)
        if state is None:
            state = known[step] = len(table)
            table.append(_state(table[step[0]], step[1], paths))
        open_[level] = state
        found.append(state)
    columns = np.frombuffer(_packed(table), np.int32).reshape(-1, 7).T
    parents, names = zip(*paths, strict=True)
    return np.array(found), columns, (_packed([parents]), list(names))


def _state(above: Sequence[int], written: bytes, paths: dict[tuple[int, str], int]) -> tuple[int, ...]:
    tag, flags, hints, heading = _SEEN.get(written) or _read(written)
    path = paths.setdefault((above[3], tag), len(paths))
    return PLAIN.known[tag][2], hints, flags, path, heading or above[4], above[5] | flags, above[6] | hints


def _read(written: bytes) -> tuple[str, int, int, int]:
    """Tag, flags, hints and heading of what is between the brackets of a block element."""
    name, blank, rest = written.decode("utf-8", "surrogatepass").partition(" ")
    flags = PLAIN.known[name][3]
    more, hints = rules.attributes(blank + rest) if rest else (0, 0)
    found = name, flags | more, hints, int(name[1]) if flags & FLAG["heading"] else 0
    if len(written) <= _LENGTH:
        if len(_SEEN) >= _MEMORY:
            _SEEN.clear()
        _SEEN[written] = found
    return found


def _packed(rows: Iterable[Sequence[int]]) -> bytes:
    numbers = list(itertools.chain.from_iterable(rows))
    return struct.pack(f"{len(numbers)}i", *numbers)
