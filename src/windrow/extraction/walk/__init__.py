"""One walk over a parsed page, from which every extractor takes its blocks.

The parser writes its tree out again (`markup`: at C speed, well-formed, with no error left to recover from), and one
scan over that text finds the blocks (`walk`). The C kernel `_walk` does the scan where it was built; otherwise
`reference` does. Both return the same bytes. Walking the tree itself from Python costs four times as much, because
every node becomes an object.

A block is a run of text between two boundaries: the start or end of a block-level element, or two `<br>` in a row.
The facts about the blocks are int32 columns, one column after the other, so that numpy can use them without a copy:
`numpy.frombuffer(page.blocks, numpy.int32).reshape(len(walk.BLOCK), -1)`.

BLOCK, the columns of `blocks`:

    chars       length of the text
    words       parts of the text between blanks
    link_chars  characters of it inside `<a href>`
    links       runs of such characters: a link that continues in the next block is counted there again
    stops       . ! ? and similar            commas   , ; : and similar            digits   0-9
    tags        start tags inside the block  breaks   `<br>` inside it             images   `<img>` since the last block
    tag         index in TAGS of the block element, the nearest block-level element around it; 0: the page itself
    depth       number of block-level elements around it, the block element included: `<html>` has 1
    path        number of its path of tags, equal for equal paths of a page; `page.paths()` has the paths
    container   its row in the containers
    heading     1-6 within h1-h6, else 0
    flags       bits, by index in FLAGS, of the block element and all elements above it
    hints       bits, by index in HINTS, of the word groups in class, id, role and itemprop of the same elements

CONTAINER, the columns of `containers`; one row for each block-level element that holds text, in the order of the page:

    parent      row of the next container above it, always a smaller number; -1 in the first row, the page itself
    tag, depth  as above
    first, end  its text is that of the blocks first to end - 1: sums over a container are differences of running sums
    hints, flags  of its own attributes and tag alone
    ordinal     number of an item in its list, of a row in its table, of a cell in its row (its column), from 1; those
                without text count too. Of a list inside another list, and not in an item of it: the number of the item
                before it. -1: a table that says that it is none. 0: any other

`lines` has the lines of the blocks that show any, by the number of the block (see `lines`), `marks` the links and
emphasis of all blocks, on request (see `marks`).

`stock=True` splits and drops as jusText does, with its errors: blank text between two inline elements is lost,
`<section>` is no boundary, and every `<a>` is a link. Paths and depths then include inline elements. A tree is
stripped and walked in the same mode.
"""

import dataclasses
import functools
import itertools
from collections.abc import MutableMapping, Sequence
from typing import Protocol

from windrow.extraction.walk import reference
from windrow.extraction.walk.elements import COMMAS, FLAG, FLAGS, HINTS, PLAIN, STOCK, STOPS, TAGS, automaton
from windrow.extraction.walk.marks import Mark

try:
    from windrow.extraction.walk import _walk
except ImportError:  # there was no compiler: the reference does the walk
    _walk = None  # type: ignore[assignment]

__all__ = ["BLOCK", "CONTAINER", "FLAGS", "HINTS", "TAGS", "ElementTree", "Walk", "markup", "strip", "walk"]

BLOCK = (
    *("chars", "words", "link_chars", "links", "stops", "commas", "digits", "tags", "breaks", "images"),
    *("tag", "depth", "path", "container", "heading", "flags", "hints"),
)
CONTAINER = ("parent", "tag", "depth", "first", "end", "hints", "flags", "ordinal")
_MIN_NOSCRIPT = 500  # characters; a shorter noscript element is a message to the reader
_LONG_NOSCRIPT = 2000  # characters; a longer one is an article
_PROBE = 60  # characters of a noscript element by which its text is looked for in the rest of the page
_MAX_NOSCRIPTS = 16  # noscript elements that are examined: each may hold the whole page


class Element(Protocol):
    """An element of a parsed page."""

    @property
    def text(self) -> str: ...
    @property
    def parent(self) -> object: ...
    @property
    def attrs(self) -> MutableMapping[str, str | list[str] | None]: ...
    def unwrap(self) -> object: ...
    def attr(self, name: str, /) -> str | None: ...
    def extract(self) -> object: ...


class ElementTree(Protocol):
    """A parsed page."""

    @property
    def text(self) -> str: ...
    def find(self, tag: str, /) -> Element | None: ...
    def find_all(self, tag: str, /) -> Sequence[Element]: ...
    def serialize(self) -> str: ...


@dataclasses.dataclass(frozen=True, slots=True)
class Walk:
    texts: list[str]  # one per block: single blanks, none at the ends, never empty, no control characters
    blocks: bytes
    containers: bytes
    path_parents: bytes
    path_tags: list[str]
    lines: dict[int, str] = dataclasses.field(default_factory=dict)
    marks: list[Mark] = dataclasses.field(default_factory=list)  # in the order of their ends

    def column(self, name: str) -> list[int]:
        return _column(self.blocks, BLOCK, name)

    def container_column(self, name: str) -> list[int]:
        return _column(self.containers, CONTAINER, name)

    def paths(self) -> list[str]:
        """Return every path by its number: "html.body.div.p"."""
        written = [""]
        for parent, tag in zip(memoryview(self.path_parents).cast("i").tolist()[1:], self.path_tags[1:], strict=True):
            name = tag if tag.isprintable() else "?"
            written.append(f"{written[parent]}.{name}" if parent else name)
        return written


def _column(columns: bytes, names: tuple[str, ...], name: str) -> list[int]:
    length = len(columns) // len(names)
    start = names.index(name) * length
    return memoryview(columns)[start : start + length].cast("i").tolist()


def strip(tree: ElementTree, stock: bool = False, articles: bool = False) -> None:
    """Remove what is dropped from a tree, so that it is not written out and read again.

    A noscript element with most of the page's text stays: some forums write all their text there. With `articles`, so
    does a long one whose text the page does not show elsewhere.

    All elements are found before any is removed: the parser lists the elements of a tree again after each change of it.
    """
    found = [element for tag in (STOCK if stock else PLAIN).dropped for element in tree.find_all(tag)]
    templates = [] if stock else [one for one in tree.find_all("template") if one.attr("shadowrootmode") is None]
    noscripts = [] if stock else tree.find_all("noscript")
    for element in itertools.chain(found, templates):
        element.extract()
    _strip_noscripts(tree, noscripts, articles)


def _strip_noscripts(tree: ElementTree, noscripts: Sequence[Element], articles: bool) -> None:
    long = [element for element in noscripts[:_MAX_NOSCRIPTS] if len(element.text) > _MIN_NOSCRIPT]
    whole = tree.text if long else ""
    kept = [
        element
        for element in long
        if element.parent is not None
        and (2 * len(element.text) > len(whole) or (articles and _is_article(element.text, whole)))
    ]
    for element in noscripts:
        if element not in kept:
            element.extract()
    for element in kept:
        element.unwrap()


def _is_article(text: str, page: str) -> bool:
    """Return whether the text of a noscript element is long and stands nowhere else on the page."""
    probe = text.strip()[len(text) // 2 :][:_PROBE].strip()
    return len(text) > _LONG_NOSCRIPT and page.count(probe) < 2


def markup(tree: ElementTree) -> str:
    """Write out a stripped tree."""
    return tree.serialize()


def walk(markup: str, stock: bool = False, marks: bool = False) -> Walk:
    """Return the blocks of a page that `markup` wrote out. Any other text is accepted too; time is always linear.

    `marks` adds the links and emphasis within the blocks; not with `stock`.
    """
    marks = marks and not stock
    if _walk is None:
        return _walk_of(reference.scan(markup, STOCK if stock else PLAIN, marks))
    found = _walk.scan(markup, _compiled(stock), True, marks)
    if found is None:  # a comment inside a tag
        found = _walk.scan(reference.uncommented(markup), _compiled(stock), False, marks)
        assert found is not None
    return _walk_of(found)


def _walk_of(columns: reference.Columns) -> Walk:
    texts, blocks, containers, path_parents, path_tags, lines, marks = columns
    return Walk(
        texts=texts,
        blocks=blocks,
        containers=containers,
        path_parents=path_parents,
        path_tags=path_tags,
        lines=lines,
        marks=marks,
    )


@functools.cache
def _compiled(stock: bool) -> object:
    """Return the rules in the kernel's form."""
    known = (STOCK if stock else PLAIN).known
    tags = [(tag, known[tag]) for tag in TAGS if tag]
    return _walk.compile(
        [(tag, own.kind, known[f"/{tag}"].kind, own.number, own.flags, own.role, own.mark) for tag, own in tags],
        stock,
        (reference.MAX_PATH, reference.MAX_BLOCKS, reference.REACH),
        (FLAG["link"], FLAG["hidden"], FLAG["heading"]),
        (STOPS, COMMAS),
        automaton(),
    )
