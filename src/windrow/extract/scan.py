"""The walk in Python: the kernel's twin, its oracle in the tests and its stand-in where it was not built."""

import itertools
import re
import struct
from collections.abc import Iterable, Iterator, Sequence

from windrow.extract import rules
from windrow.extract.rules import COMMAS, FLAG, STOPS, Info, Kind, Rules

MAX_PATH = 100  # elements of a path; what is deeper has the path of its ancestor at this depth
MAX_BLOCKS = 1 << 18  # then the walk ends
REACH = 16  # open elements among which an end tag finds its own

_TOKEN = re.compile(r"<([^ >]*)([^>]*)(?:>|\Z)")  # the tag, or "/" and the tag; its attributes
_MARKED = STOPS[:3].encode() + COMMAS[:3].encode() + b"0123456789"
_CLASSES = bytes.maketrans(_MARKED, b"...,,,0000000000")
_UNMARKED = bytes(set(range(256)) - set(_MARKED + b"\n"))
_WIDE = [(mark.encode(), b".") for mark in STOPS[3:]] + [(mark.encode(), b",") for mark in COMMAS[3:]]
_CONTROL = re.compile("[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")  # the other controls are white space
_HEADING = FLAG["heading"]
# As plain numbers: comparing with a member of an enum takes three times as long.
_INLINE, _LINK, _BLOCK, _IMAGE, _BREAK = int(Kind.INLINE), int(Kind.LINK), int(Kind.BLOCK), int(Kind.IMAGE), int(Kind.BREAK)
_VOID_BLOCK, _CLOSE, _CLEAR, _DROP = int(Kind.VOID_BLOCK), int(Kind.CLOSE), int(Kind.CLEAR), int(Kind.DROP)

Scanned = tuple[list[str], bytes, bytes, bytes, list[str]]  # texts, blocks, containers; of each path its parent and its last tag
_Element = tuple[int, int, int, int, int]  # path, container; flags, hints and heading with all above it
_Tokens = Iterator[tuple[str, str, str]]  # text, tag, attributes


def scan(markup: str, chosen: Rules) -> Scanned:
    scanner = _Scan(chosen)
    scanner.run(uncommented(markup))
    scanner.close(0)
    columns = list(zip(*scanner.blocks, strict=True))
    columns[4:4] = _marks(scanner.texts)
    containers = zip(*scanner.containers, strict=True)
    return scanner.texts, _packed(columns), _packed(containers), _packed([scanner.path_parents]), scanner.path_tags


def uncommented(markup: str) -> str:
    kept = []
    end = 0
    while (start := markup.find("<!--", end)) >= 0:
        kept.append(markup[end:start])
        end = markup.find("-->", start + 4) + 3
        if end == 2:
            return "".join(kept)
    return "".join([*kept, markup[end:]]) if kept else markup


def _packed(columns: Iterable[Sequence[int]]) -> bytes:
    """One after the other, in a third of the time of an array."""
    numbers = list(itertools.chain.from_iterable(columns))
    return struct.pack(f"{len(numbers)}i", *numbers)


class _Scan:
    """What is open, and what was found."""

    def __init__(self, chosen: Rules) -> None:
        self.rules = chosen
        self.texts: list[str] = []
        self.blocks: list[tuple[int, ...]] = []
        self.containers: list[list[int]] = []
        self.path_parents: list[int] = []
        self.path_tags: list[str] = []
        self.paths: dict[tuple[int, str], int] = {}
        self.stack: list[Info] = [(_BLOCK, ">", 0, 0)]  # open elements; the first is the page itself, no tag has its name
        self.attributes = [""]  # of each of them, unread
        self.places = [0]  # of the block elements among them
        self.resolved: list[_Element] = []  # what is known of those at the bottom, as far as there was text in them
        self.linked = [False]  # of each `<a>` among them, whether it links
        self.pieces: list[str] = []
        self.link_chars = self.links = self.tags = self.breaks = self.images = 0
        self.counted = self.broken = False  # this link was counted; the last thing was a <br>

    def run(self, markup: str) -> None:
        known, read, stack, pieces, keep = self.rules.known, self.rules.read, self.stack, self.pieces, self.rules.keep_blanks
        node = ""  # text since the last tag that counts
        parts = _TOKEN.split(markup)
        parts += ("/", "")  # an end tag of nothing: the last text ends
        tokens = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        for text, tag, attributes in tokens:
            if text:
                node = node + text if node else text
            info = known.get(tag) or read(tag)
            kind = info[0]
            if kind > _CLOSE or (kind == _CLOSE and stack[-1][0] == _CLEAR and stack[-1][1] == info[1]):
                self.unseen(info, attributes, tokens)
                continue
            if node:
                if not node.isspace():
                    self.text(node)
                elif keep and pieces:
                    pieces.append(" ")
                node = ""
            if kind == _CLOSE:
                if stack[-1][1] != info[1]:
                    self.close(self.place(info[1]))
                elif stack[-1][0] == _INLINE and len(self.resolved) < len(stack):  # the commonest case, at a third of the time
                    stack.pop()
                    self.attributes.pop()
                else:
                    self.close(len(stack) - 1)
            elif kind == _BLOCK:
                if pieces or self.tags:
                    self.block()
                self.broken = False
                self.places.append(len(stack))
                stack.append(info)
                self.attributes.append(attributes)
            elif kind == _VOID_BLOCK:
                self.block()
            else:
                self.inline(info, attributes)
            if len(self.texts) >= MAX_BLOCKS:
                return

    def unseen(self, info: Info, attributes: str, tokens: _Tokens) -> None:
        """A tag that ends no text: as if it were not there, with or without what is in it."""
        if info[0] == _CLEAR:
            self.stack.append(info)
            self.attributes.append(attributes)
        elif info[0] == _CLOSE:
            self.close(len(self.stack) - 1)
        elif info[0] == _DROP:
            self.drop(info[1], tokens)

    def drop(self, tag: str, tokens: _Tokens) -> None:
        inside = 1  # elements of this name, one in the other
        for _, other, _ in tokens:
            if other == tag:
                inside += 1
            elif other[:1] == "/" and other[1:] == tag:
                inside -= 1
                if not inside:
                    return

    def place(self, tag: str) -> int:
        """Of the open element that an end tag means; the end of the stack where it means none."""
        top = len(self.stack) - 1
        for place in range(top, max(top - REACH, 0), -1):
            if self.stack[place][1] == tag:
                return place
        return top + 1

    def close(self, place: int) -> None:
        """Ends the elements from this place up."""
        stack, resolved = self.stack, self.resolved
        while len(stack) > place:
            kind = stack[-1][0]
            if kind == _BLOCK:
                if self.pieces or self.tags:
                    self.block()
                self.broken = False
                self.places.pop()
            elif kind == _LINK:
                self.linked.pop()
            stack.pop()
            self.attributes.pop()
            if len(resolved) > len(stack):
                container = resolved.pop()[1]
                if kind == _BLOCK:
                    self.containers[container][4] = len(self.texts)

    def inline(self, info: Info, attributes: str) -> None:
        """A start tag inside a block."""
        kind = info[0]
        self.tags += 1
        if kind == _BREAK:
            if self.broken:
                self.block()
            else:
                self.pieces.append(" ")
                self.breaks += 1
            self.broken = True
            return
        self.broken = False
        if kind == _IMAGE:
            self.images += 1
        elif kind <= _LINK:
            self.stack.append(info)
            self.attributes.append(attributes)
            if kind == _LINK:
                self.linked.append(self.rules.any_link or ' href="' in attributes)
                self.counted = False

    def text(self, node: str) -> None:
        if "&" in node:
            node = node.replace("&nbsp;", "\xa0").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            if node.isspace():
                if self.rules.keep_blanks:
                    self.pieces.append(" ")
                return
        self.pieces.append(node)
        self.broken = False
        if self.linked[-1]:
            self.link_chars += len(" ".join(node.split()))
            if not self.rules.keep_blanks:
                self.link_chars += node[0].isspace() + node[-1].isspace()
            self.links += not self.counted
            self.counted = True

    def block(self) -> None:
        """A boundary: what was gathered is a block."""
        text = " ".join("".join(self.pieces).split())
        self.pieces.clear()
        if not text.isprintable():
            text = " ".join(_CONTROL.sub("", text).split())
        if text and len(self.texts) < MAX_BLOCKS:
            place = self.places[-1]
            path, container, flags, hints, heading = self.resolved[place] if place < len(self.resolved) else self.resolve(place)
            counts = len(text), text.count(" ") + 1, self.link_chars, self.links, self.tags, self.breaks, self.images
            self.blocks.append((*counts, self.stack[place][2], place, path, container, heading, flags, hints))
            self.texts.append(text)
            self.images = 0
        self.link_chars = self.links = self.tags = self.breaks = 0
        self.counted = self.broken = False

    def resolve(self, place: int) -> _Element:
        """What is known of an open element. Each is asked once, so that depth costs nothing."""
        element = self.resolved[-1] if self.resolved else (-1, -1, 0, 0, 0)
        for depth in range(len(self.resolved), place + 1):
            kind, tag, number, own_flags = self.stack[depth]
            path, container, flags, hints, heading = element
            own_hints = 0
            attributes = self.attributes[depth]
            if attributes:
                more, own_hints = rules.SEEN.get(attributes) or rules.attributes(attributes)
                own_flags |= more
            if kind != _CLEAR and depth <= MAX_PATH:
                path = self.paths.get((path, tag)) or self.path(path, tag)
            if kind == _BLOCK:
                self.containers.append([container, number, depth, len(self.texts), -1, own_hints, own_flags])
                container = len(self.containers) - 1
            if own_flags & _HEADING:
                heading = int(tag[1])
            element = path, container, flags | own_flags, hints | own_hints, heading
            self.resolved.append(element)
        return element

    def path(self, parent: int, tag: str) -> int:
        number = self.paths[parent, tag] = len(self.path_tags)
        self.path_parents.append(parent)
        self.path_tags.append(tag)
        return number


def _marks(texts: list[str]) -> tuple[list[int], list[int], list[int]]:
    """Stops, commas and digits of each text. All other bytes of the page are deleted at once."""
    encoded = "\n".join(texts).encode()
    if not encoded.isascii():
        for mark, plain in _WIDE:
            encoded = encoded.replace(mark, plain)
    kept = encoded.translate(_CLASSES, _UNMARKED).split(b"\n") if texts else []
    return [marks.count(b".") for marks in kept], [marks.count(b",") for marks in kept], [marks.count(b"0") for marks in kept]
