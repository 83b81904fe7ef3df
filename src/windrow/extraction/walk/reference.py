"""The reference walk in Python: oracle of the C kernel `_walk` in the tests, and fallback where it was not built.

It goes from tag to tag and keeps a stack of open elements. A block that ends becomes a row of numbers, in the order
of walk.BLOCK. `lines` and `marks` are parts of it.
"""

import array
import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from windrow.extraction.walk import elements, lines
from windrow.extraction.walk.elements import COMMAS, FLAG, STOPS, Tag, TagKind, TagRole, TagRules
from windrow.extraction.walk.marks import Mark, MarkReader

MAX_PATH = 100  # elements of a path; a deeper element has the path of its ancestor at this depth
MAX_BLOCKS = 1 << 18  # blocks of a page; the walk ends when it has so many
REACH = 16  # open elements among which an end tag looks for its start tag, so that time stays linear

MAX_ORDINAL = 1 << 24

_TOKEN = re.compile(r"<([^ >]*)((?: [^>]*)?)(?:>|\Z)")  # the name, with "/" before it in an end tag; the attributes
_REFERENCES = (("&nbsp;", "\xa0"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))  # the serialiser writes no others
_TRANSPARENT = (TagKind.VOID_CLEAR, TagKind.CLEAR, TagKind.DROP)
_DIGITS = "0123456789"
_HOLDERS = (TagRole.LIST, TagRole.TERMS, TagRole.TABLE, TagRole.ROW)
_HELD_BY = {
    TagRole.ITEM: TagRole.LIST,
    TagRole.TERM: TagRole.TERMS,
    TagRole.ROW: TagRole.TABLE,
    TagRole.CELL: TagRole.ROW,
}

# Texts, blocks and containers; for each path the number of its parent and its last tag; lines by the number of the
# block; marks.
Columns = tuple[list[str], bytes, bytes, bytes, list[str], dict[int, str], list[Mark]]
Token = tuple[str, str, str]  # the text before a tag, the tag's name, its attributes


class ElementContext(NamedTuple):
    """What an open element and all elements above it say about the text inside."""

    path: int = -1
    container: int = -1
    flags: int = 0
    hints: int = 0
    heading: int = 0


@dataclasses.dataclass(slots=True)
class OpenElement:
    tag: Tag
    attributes: str
    block: int  # index in the stack of the nearest block element, this one included
    context: ElementContext | None = None  # computed when the first text inside is found: most elements hold none
    ordinal: int = 0  # see walk.CONTAINER
    holder: int = 0  # index in the stack of the nearest list, table or row, this element included; 0: none
    count: int = 0  # of a holder: its items, rows or columns so far
    code: bool = False  # its line ends and indents are meant


def scan(markup: str, chosen: TagRules, marks: bool = False) -> Columns:
    """Return the blocks of a page, as the kernel does."""
    scanner = Scanner(chosen, marks)
    scanner.read(_tokens(uncommented(markup)))
    return scanner.columns()


def uncommented(markup: str) -> str:
    """Return the markup without comments. A comment that never ends extends to the end of the page."""
    kept = []
    end = 0
    while (start := markup.find("<!--", end)) >= 0:
        kept.append(markup[end:start])
        end = markup.find("-->", start + 4) + 3
        if end == 2:
            return "".join(kept)
    return "".join([*kept, markup[end:]]) if kept else markup


def _tokens(markup: str) -> Iterator[Token]:
    end = 0
    for match in _TOKEN.finditer(markup):
        yield markup[end : match.start()], match[1], match[2]
        end = match.end()
    yield markup[end:], "/", ""  # an end tag without a name: it closes nothing


class Scanner:
    """The elements that are open, the block that is being read, and what was found so far."""

    def __init__(self, chosen: TagRules, marks: bool = False) -> None:
        self.rules = chosen
        self.texts: list[str] = []
        self.lines: dict[int, str] = {}
        self.marks = MarkReader() if marks else None
        self.blocks: list[tuple[int, ...]] = []
        self.containers: list[list[int]] = []
        self.paths: dict[tuple[int, str], int] = {}  # (number of the parent, tag) -> number
        page = Tag(kind=TagKind.BLOCK, name=">")  # no tag of a page has this name
        self.stack = [OpenElement(tag=page, attributes="", block=0)]
        # The block that is being read:
        self.pieces: list[str] = []
        self.source: list[str] = []  # the same of code, with its white space
        self.line_ends: list[int] = []  # indexes in the pieces
        self.in_link = self.after_break = False
        self.link_start = 0  # index in the pieces
        self.link_chars = self.links = self.tags = self.breaks = self.images = 0

    def columns(self) -> Columns:
        """Close all elements and return what was found."""
        self.close(0)
        blocks, containers = (zip(*rows, strict=True) for rows in (self.blocks, self.containers))
        parents = [parent for parent, _ in self.paths]
        tags = [tag for _, tag in self.paths]
        marks = self.marks.marks if self.marks else []
        return self.texts, _packed(blocks), _packed(containers), _packed([parents]), tags, self.lines, marks

    def read(self, tokens: Iterator[Token]) -> None:
        node = ""  # the text since the last tag that is not transparent
        for text, name, attributes in tokens:
            node += text
            tag = self.rules.tag(name)
            transparent = self.is_transparent(tag)
            if transparent and not (self.marks and tag.mark):
                self.pass_over(tag, attributes, tokens)
                continue
            if node:
                self.add_text(node)
                node = ""
            if self.marks:
                self.marks.read(tag, name[:1] == "/", attributes, len(self.pieces))
            if not transparent:
                self.apply(tag, attributes)
            if len(self.texts) >= MAX_BLOCKS:
                return
        if node:
            self.add_text(node)

    def is_transparent(self, tag: Tag) -> bool:
        """Return whether the text continues through this tag as if it were not there."""
        top = self.stack[-1].tag
        ends_clear = tag.kind is TagKind.CLOSE and top.kind is TagKind.CLEAR and top.name == tag.name
        return tag.kind in _TRANSPARENT or ends_clear

    def pass_over(self, tag: Tag, attributes: str, tokens: Iterator[Token]) -> None:
        if tag.kind is TagKind.CLEAR:
            self.open(tag, attributes)
        elif tag.kind is TagKind.CLOSE:
            self.close(len(self.stack) - 1)
        elif tag.kind is TagKind.DROP:
            _drop(tag.name, tokens)

    def apply(self, tag: Tag, attributes: str) -> None:
        match tag.kind:
            case TagKind.BLOCK:
                self.end_block()
                self.open(tag, attributes)
            case TagKind.VOID_BLOCK:
                self.end_block()
            case TagKind.UNLINK:
                self.set_link(False)
                self.close(self.find_open(tag.name))
            case TagKind.CLOSE:
                self.close(self.find_open(tag.name))
            case _:
                self.add_inline(tag, attributes)

    def open(self, tag: Tag, attributes: str) -> None:
        above = self.stack[-1]
        block = len(self.stack) if tag.kind is TagKind.BLOCK else above.block
        holder = len(self.stack) if tag.role in _HOLDERS else above.holder
        code = above.code or tag.role is TagRole.CODE
        ordinal = _ordinal(tag.role, self.stack[above.holder], attributes) if tag.role else 0
        self.stack.append(
            OpenElement(tag=tag, attributes=attributes, block=block, ordinal=ordinal, holder=holder, code=code)
        )

    def find_open(self, name: str) -> int:
        """Return the index of the open element that an end tag closes; the length of the stack if there is none."""
        top = len(self.stack) - 1
        for index in range(top, max(top - REACH, 0), -1):
            if self.stack[index].tag.name == name:
                return index
        return top + 1

    def close(self, index: int) -> None:
        """Close the elements from this index up."""
        while len(self.stack) > index:
            element = self.stack[-1]
            if element.tag.kind is TagKind.BLOCK:
                self.end_block()
            self.stack.pop()
            if element.tag.kind is TagKind.BLOCK and element.context is not None:
                self.containers[element.context.container][4] = len(self.texts)

    def add_inline(self, tag: Tag, attributes: str) -> None:
        """Count a start tag inside a block."""
        self.tags += 1
        if tag.kind is TagKind.BREAK:
            self.add_break()
            return
        self.after_break = False
        if tag.kind is TagKind.IMAGE:
            self.images += 1
        elif tag.kind is TagKind.LINK:
            self.set_link(self.rules.stock or ' href="' in attributes)
        if self.rules.stock and tag.kind in (TagKind.INLINE, TagKind.LINK):
            self.open(tag, attributes)

    def add_break(self) -> None:
        """Take a `<br>` as a blank; the second in a row ends the block."""
        if self.after_break:
            self.end_block()
        else:
            if self.stack[-1].code:
                self.source.append("\n")
            else:
                self.line_ends.append(len(self.pieces))
            self.pieces.append(" ")
            self.breaks += 1
        self.after_break = True

    def set_link(self, begins: bool) -> None:
        """Begin or end a link. An `<a>` inside another one ends the outer link."""
        self.count_link()
        self.in_link = begins
        self.link_start = len(self.pieces)

    def count_link(self) -> None:
        """Count the link text since the link or the block began. `stock` counts it node by node, in `add_text`."""
        if self.in_link and not self.rules.stock:
            text = " ".join("".join(self.pieces[self.link_start :]).split())
            self.link_chars += len(text)
            self.links += text != ""

    def add_text(self, node: str) -> None:
        for written, character in _REFERENCES:
            node = node.replace(written, character)
        if self.stack[-1].code:
            self.source.append(node)
        if node.isspace():
            if not self.rules.stock:
                self.pieces.append(" ")
            return
        self.pieces.append(node)
        self.after_break = False
        if self.in_link and self.rules.stock:
            self.link_chars += len(" ".join(node.split())) + node[0].isspace() + node[-1].isspace()
            self.links += 1

    def end_block(self) -> None:
        """Make a block of the text since the last boundary, if there is any."""
        if self.pieces:
            self.count_link()
            text = lines.clean("".join(self.pieces))
            if self.marks:
                self.marks.end_block(len(self.texts), self.pieces, text)
            if text and len(self.texts) < MAX_BLOCKS:
                self.add_lines(text)
                self.add_block(text)
            self.pieces.clear()
            self.source.clear()
            self.line_ends.clear()
        self.after_break = False
        self.link_start = self.link_chars = self.links = self.tags = self.breaks = 0

    def add_lines(self, text: str) -> None:
        """Keep the lines of a block if they show more than its text does."""
        if self.rules.stock or not (self.source or self.line_ends):
            return
        found = lines.of_code("".join(self.source)) if self.source else lines.of_breaks(self.pieces, self.line_ends)
        if found != text:
            self.lines[len(self.texts)] = found

    def add_block(self, text: str) -> None:
        index = self.stack[-1].block
        element = self.stack[index]
        context = element.context or self.resolve(index)
        counts = (
            *(len(text), text.count(" ") + 1, self.link_chars, self.links),
            *(sum(map(text.count, marks)) for marks in (STOPS, COMMAS, _DIGITS)),
            *(self.tags, self.breaks, self.images),
        )
        position = element.tag.number, index, context.path, context.container
        self.blocks.append((*counts, *position, context.heading, context.flags, context.hints))
        self.texts.append(text)
        self.images = 0  # images before a block count with it, also those between two blocks

    def resolve(self, index: int) -> ElementContext:
        """Compute the context of an open element and of those below it in the stack, each once."""
        start = index
        while start and self.stack[start - 1].context is None:
            start -= 1
        context = self.stack[start - 1].context if start else None
        context = context or ElementContext()
        for depth in range(start, index + 1):
            context = self.stack[depth].context = self.entered(context, depth)
        return context

    def entered(self, above: ElementContext, depth: int) -> ElementContext:
        """Return the context inside the open element at this depth, given the one around it."""
        tag, ordinal = self.stack[depth].tag, self.stack[depth].ordinal
        own_flags, own_hints = elements.attributes(self.stack[depth].attributes)
        own_flags |= tag.flags
        path, container = above.path, above.container
        if tag.kind is not TagKind.CLEAR and depth <= MAX_PATH:
            path = self.paths.setdefault((path, tag.name), len(self.paths))
        if tag.kind is TagKind.BLOCK:
            self.containers.append([container, tag.number, depth, len(self.texts), -1, own_hints, own_flags, ordinal])
            container = len(self.containers) - 1
        heading = int(tag.name[1]) if own_flags & FLAG["heading"] else above.heading
        return ElementContext(path, container, above.flags | own_flags, above.hints | own_hints, heading)


def _ordinal(role: TagRole, holder: OpenElement, attributes: str) -> int:
    """Return the number of an element that opens, given the list, table or row around it, which counts it."""
    if role is TagRole.TABLE:
        return -1 if ' role="presentation"' in attributes or ' role="none"' in attributes else 0
    if _HELD_BY.get(role) == holder.tag.role:
        before = holder.count
        holder.count = min(before + (elements.columns(attributes) if role is TagRole.CELL else 1), MAX_ORDINAL)
        return min(before + 1, MAX_ORDINAL)
    nested = role in (TagRole.LIST, TagRole.TERMS) and holder.tag.role is TagRole.LIST
    return holder.count if nested else 0


def _drop(name: str, tokens: Iterator[Token]) -> None:
    """Skip an element with everything inside it."""
    depth = 1  # elements of this name inside each other
    for _, other, _ in tokens:
        if other == name:
            depth += 1
        elif other == f"/{name}":
            depth -= 1
            if not depth:
                return


def _packed(columns: Iterable[Iterable[int]]) -> bytes:
    """Return the columns as int32, one after the other."""
    return array.array("i", itertools.chain.from_iterable(columns)).tobytes()
