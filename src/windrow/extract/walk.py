"""One walk over a parsed page, from which every extractor takes its blocks.

The parser's tree is written out again (`markup`: C speed, well-formed, no error left to recover from) and that text is scanned once
(`walk`), by the C kernel `_walk` where it was built and else by the twin in `scan`, which is its oracle, or, if there is much to read, by
that in `sweep`: all give the same bytes.
Walking the tree itself from Python costs four times as much, because every node becomes an object.

A block is a run of text between two boundaries: the start or end of a block-level element, or two `<br>` in a row. What is known of
the blocks comes in columns, an int32 each, one column after the other, so that it can be taken over as a table without a copy:
`numpy.frombuffer(page.blocks, numpy.int32).reshape(len(walk.BLOCK), -1)`.

BLOCK, the columns of `blocks`:

    chars       length of the text
    words       parts of the text between blanks
    link_chars  characters of it inside `<a href>`
    links       runs of such characters: a link that goes on into the next block counts there again
    stops       . ! ? and their like         commas   , ; : and their like         digits   0-9
    tags        start tags inside the block  breaks   `<br>` inside it             images   `<img>` since the block before
    tag         place in TAGS of the block element, the nearest block-level element around it; 0: the page itself
    depth       block-level elements above and with it: `<html>` has 1
    path        number of its path of tags, by which equal paths of one page are known; `page.paths()` writes them out
    container   its row in the containers
    heading     1-6 within h1-h6, else 0
    flags       bits, by place in FLAGS, of the block element and all above it
    hints       bits, by place in HINTS, of the keyword groups found in class, id, role and itemprop of the same elements

CONTAINER, the columns of `containers`; one row for each block-level element that holds text, in the order of the page:

    parent      row of the next container above it, always a smaller number; -1 in the first row, which is the page itself
    tag, depth  as above
    first, end  its text is that of the blocks first to end - 1: sums over a container are differences of running sums
    hints, flags  of its own attributes and tag alone

`stock=True` splits and drops as jusText does, with its slips: blank text between two inline elements is lost, `<section>` is no boundary,
and every `<a>` is a link. Paths and depths hold inline elements then. A tree is stripped and walked in the same way, stock or not.
"""

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Protocol

from windrow.extract import scan
from windrow.extract.rules import COMMAS, FLAG, FLAGS, HINTS, PLAIN, STOCK, STOPS, TAGS, automaton

try:
    from windrow.extract import _walk
except ImportError:  # there was no compiler: the twin does it
    _walk = None  # type: ignore[assignment]

__all__ = ["BLOCK", "CONTAINER", "FLAGS", "HINTS", "TAGS", "Tree", "Walk", "markup", "strip", "walk"]

BLOCK = (
    *("chars", "words", "link_chars", "links", "stops", "commas", "digits", "tags", "breaks", "images"),
    *("tag", "depth", "path", "container", "heading", "flags", "hints"),
)
_FALLBACK = 500  # characters in a noscript element: fewer are a message
_FALLBACKS = 16  # noscript elements that are looked into: each may hold the whole page
_MANY = 400  # tags that take less time all at once than one by one
CONTAINER = ("parent", "tag", "depth", "first", "end", "hints", "flags")


class Node(Protocol):
    """An element of a parsed page."""

    @property
    def text(self) -> str: ...
    @property
    def parent(self) -> object: ...
    def unwrap(self) -> object: ...
    def attr(self, name: str, /) -> str | None: ...
    def extract(self) -> object: ...


class Tree(Protocol):
    """A parsed page."""

    @property
    def text(self) -> str: ...
    def find_all(self, tag: str, /) -> Sequence[Node]: ...
    def serialize(self) -> str: ...


@dataclasses.dataclass(frozen=True, slots=True)
class Walk:
    texts: list[str]  # one for each block: single blanks, none at the ends, never empty, no control characters
    blocks: bytes
    containers: bytes
    path_parents: bytes
    path_tags: list[str]

    def column(self, name: str) -> list[int]:
        return _column(self.blocks, BLOCK, name)

    def container_column(self, name: str) -> list[int]:
        return _column(self.containers, CONTAINER, name)

    def paths(self) -> list[str]:
        """Every path by its number: "html.body.div.p"."""
        written = [""]
        for parent, tag in zip(memoryview(self.path_parents).cast("i").tolist()[1:], self.path_tags[1:], strict=True):
            name = tag if tag.isprintable() else "?"
            written.append(f"{written[parent]}.{name}" if parent else name)
        return written


def _column(columns: bytes, names: tuple[str, ...], name: str) -> list[int]:
    length = len(columns) // len(names)
    place = names.index(name) * length
    return memoryview(columns)[place : place + length].cast("i").tolist()


def strip(tree: Tree, stock: bool = False) -> None:
    """Removes all that is dropped: what is not written out need not be read again.

    Everything is found before anything is removed. The parser lists the elements of a tree once for each change of it.
    """
    found = [node for tag in (STOCK if stock else PLAIN).dropped for node in tree.find_all(tag)]
    templates = [] if stock else [node for node in tree.find_all("template") if node.attr("shadowrootmode") is None]
    unscripted = [] if stock else tree.find_all("noscript")
    for node in itertools.chain(found, templates):
        node.extract()
    _settle(tree, unscripted)


def _settle(tree: Tree, unscripted: Sequence[Node]) -> None:
    """What is shown where no script runs is dropped, unless it is the page: some forums hold all their text there, for such as us."""
    long = [node for node in unscripted[:_FALLBACKS] if len(node.text) > _FALLBACK]
    whole = len(tree.text) if long else 0
    kept = [node for node in long if 2 * len(node.text) > whole and node.parent is not None]
    for node in unscripted:
        if node not in kept:
            node.extract()
    for node in kept:
        node.unwrap()


def markup(tree: Tree) -> str:
    """A stripped tree written out."""
    return tree.serialize()


def walk(markup: str, stock: bool = False) -> Walk:
    """The blocks of a page that `markup` wrote out; of any other text too, in linear time."""
    chosen = STOCK if stock else PLAIN
    if _walk is None:
        return Walk(*(_swept(markup) if not stock and markup.count("<") > _MANY else None) or scan.scan(markup, chosen))
    found = _walk.scan(markup, _compiled(stock), True) or _walk.scan(scan.uncommented(markup), _compiled(stock), False)
    assert found is not None  # None means a comment inside a tag, and now there is none
    return Walk(*found)


def _swept(markup: str) -> scan.Scanned | None:
    from windrow.extract import sweep  # with numpy, which the kernel does without

    return sweep.sweep(scan.uncommented(markup))


@functools.cache
def _compiled(stock: bool) -> object:
    """The kernel's form of the tables."""
    known = (STOCK if stock else PLAIN).known
    return _walk.compile(
        [(tag, known[tag][0], known[f"/{tag}"][0], number, known[tag][3]) for number, tag in enumerate(TAGS) if tag],
        stock,
        (scan.MAX_PATH, scan.MAX_BLOCKS, scan.REACH),
        (FLAG["link"], FLAG["hidden"], FLAG["heading"]),
        (STOPS, COMMAS),
        automaton(),
    )
