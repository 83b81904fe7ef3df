"""The walk in Python: the kernel's twin, its oracle in the tests and its stand-in where it was not built.

`tokens` goes from tag to tag and can do everything. On pages read plainly, `segments` goes from boundary to boundary instead and leaves
what is between to regular expressions, in two thirds of the time; a segment that is not simple it hands to `tokens`.
"""

import itertools
import re
import struct
from collections.abc import Iterable, Iterator, Sequence

from windrow.extract import rules
from windrow.extract.rules import COMMAS, FLAG, PLAIN, STOPS, Info, Kind, Rules

MAX_PATH = 100  # elements of a path; what is deeper has the path of its ancestor at this depth
MAX_BLOCKS = 1 << 18  # then the walk ends
REACH = 16  # open elements among which an end tag finds its own

# As plain numbers: comparing with a member of an enum takes three times as long.
_INLINE, _LINK, _BLOCK, _IMAGE, _BREAK = (
    int(Kind.INLINE),
    int(Kind.LINK),
    int(Kind.BLOCK),
    int(Kind.IMAGE),
    int(Kind.BREAK),
)
_VOID_BLOCK, _UNLINK, _CLOSE, _CLEAR, _DROP = (
    int(k) for k in (Kind.VOID_BLOCK, Kind.UNLINK, Kind.CLOSE, Kind.CLEAR, Kind.DROP)
)
_HEADING = FLAG["heading"]

_TAG = r"((?: [^>]*)?)(?:>|\Z)"  # attributes and end of a tag
_TOKEN = re.compile(rf"<([^ >]*){_TAG}")  # a tag, or "/" and a tag; its attributes
_EDGE = re.compile(
    rf"<(/?{rules.pattern(tag for tag, info in PLAIN.known.items() if info[0] in (_BLOCK, _VOID_BLOCK, _DROP))}){_TAG}"
)
_ANCHOR = re.compile(rf"<(/?a){_TAG}")
_ANY = re.compile(r"<[^>]*(?:>|\Z)")
_LINE_BREAK = re.compile(r"<br(?: [^>]*)?>")
_TWO_BREAKS = re.compile(r"<br(?: [^>]*)?>(?:\s|&nbsp;|</[^>]*>)*<br[ >]")

CONTROL = re.compile("[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")  # the other controls are white space
_MARKED = STOPS[:3].encode() + COMMAS[:3].encode() + b"0123456789"
_CLASSES = bytes.maketrans(_MARKED, b"...,,,0000000000")
_UNMARKED = bytes(set(range(256)) - set(_MARKED + b"\n"))
_WIDE: dict[bytes, list[tuple[bytes, bytes]]] = {}  # by their first two bytes
for _mark, _plain in [(mark, b".") for mark in STOPS[3:]] + [(mark, b",") for mark in COMMAS[3:]]:
    _WIDE.setdefault(_mark.encode()[:2], []).append((_mark.encode(), _plain))

Scanned = tuple[
    list[str], bytes, bytes, bytes, list[str]
]  # texts, blocks, containers; of each path its parent and its last tag
_Element = tuple[int, int, int, int, int]  # path, container; flags, hints and heading with all above it
_Tokens = Iterator[tuple[str, str, str]]  # text, tag, attributes


def scan(markup: str, chosen: Rules) -> Scanned:
    scanner = Scanner(chosen)
    markup = uncommented(markup)
    if chosen.stock or markup.count("<") != markup.count(
        ">"
    ):  # broken pages have "<" in the names of tags and attributes
        scanner.tokens(markup)
    else:
        scanner.segments(markup)
    return scanner.found()


def uncommented(markup: str) -> str:
    kept = []
    end = 0
    while (start := markup.find("<!--", end)) >= 0:
        kept.append(markup[end:start])
        end = markup.find("-->", start + 4) + 3
        if end == 2:
            return "".join(kept)
    return "".join([*kept, markup[end:]]) if kept else markup


class Scanner:
    """What is open, and what was found."""

    def __init__(self, chosen: Rules) -> None:
        self.rules = chosen
        self.texts: list[str] = []
        self.blocks: list[tuple[int, ...]] = []
        self.containers: list[list[int]] = []
        self.path_parents: list[int] = []
        self.path_tags: list[str] = []
        self.paths: dict[tuple[int, str], int] = {}
        self.stack: list[Info] = [
            (_BLOCK, ">", 0, 0)
        ]  # open elements; the first is the page itself, no tag has its name
        self.attributes = [""]  # of each of them, unread
        self.places = [0]  # of the block elements among them
        self.resolved: list[_Element] = []  # what is known of those at the bottom, as far as there was text in them
        self.pieces: list[str] = []
        self.linked = self.broken = False  # in a link; the last thing was a <br>
        self.link_start = 0  # among the pieces
        self.link_chars = self.links = self.tags = self.breaks = self.images = 0

    def found(self) -> Scanned:
        self.close(0)
        columns: list[Sequence[int]] = list(zip(*self.blocks, strict=True))
        columns[4:4] = _marks(self.texts)
        containers = zip(*self.containers, strict=True)
        return self.texts, _packed(columns), _packed(containers), _packed([self.path_parents]), self.path_tags

    def segments(self, markup: str) -> None:
        """From boundary to boundary."""
        known, stack = self.rules.known, self.stack
        parts = _EDGE.split(markup)
        parts += ("", "")
        pairs = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        for segment, tag, attributes in pairs:
            if segment and not segment.isspace():
                self.segment(segment)
                if len(self.texts) >= MAX_BLOCKS:
                    return
            if not tag:
                return
            info = known[tag]
            kind = info[0]
            if kind == _BLOCK:
                self.places.append(len(stack))
                stack.append(info)
                self.attributes.append(attributes)
            elif kind == _CLOSE:
                self.close(len(stack) - 1 if stack[-1][1] == info[1] else self.place(info[1]))
            elif kind == _DROP:
                self.drop(info[1], pairs)

    def segment(self, text: str) -> None:
        """What is between two boundaries."""
        tags = breaks = link_chars = links = 0
        linked = self.linked
        if "<" in text:
            if "<!" in text or "<?" in text or ("<br" in text and _TWO_BREAKS.search(text)):
                self.tokens(text)
                self.block()
                return
            tags = text.count("<") - text.count("</")
            if "<img" in text:
                self.images += text.count("<img ") + text.count("<img>")
            if "<br" in text:
                text, breaks = _LINE_BREAK.subn(" ", text)
            if "<a" in text or "</a>" in text:
                linked = False  # it is counted there
                text, link_chars, links = self.anchors(text)
            else:
                text = _ANY.sub("", text)
        text = " ".join((_unescaped(text) if "&" in text else text).split())
        if text:
            if linked:
                link_chars, links = len(text), 1
            self.emit(text, (link_chars, links, tags, breaks))

    def anchors(self, text: str) -> tuple[str, int, int]:
        """The text without tags; characters in links, and links with text."""
        kept = []
        link_chars = links = 0
        parts = _ANCHOR.split(text)
        parts += ("", "")
        for piece, tag, attributes in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            if piece:
                if "<" in piece:
                    piece = _ANY.sub("", piece)
                kept.append(piece)
                if self.linked:
                    length = len(" ".join((_unescaped(piece) if "&" in piece else piece).split()))
                    link_chars += length
                    links += length > 0
            if tag:
                self.linked = tag == "a" and ' href="' in attributes
        return "".join(kept), link_chars, links

    def tokens(self, markup: str) -> None:
        """From tag to tag."""
        known, read, stack = self.rules.known, self.rules.read, self.stack
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
                self.text(node)
                node = ""
            if kind <= _BREAK and kind != _BLOCK:
                self.inline(info, attributes)
            elif kind >= _UNLINK:
                if kind == _UNLINK:
                    self.link(False)
                self.close(self.place(info[1]))
            else:
                self.block()
                if kind == _BLOCK:
                    self.places.append(len(stack))
                    stack.append(info)
                    self.attributes.append(attributes)
            if len(self.texts) >= MAX_BLOCKS:
                return
        if node:
            self.text(node)

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
                self.block()
                self.places.pop()
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
        elif kind == _LINK:
            self.link(self.rules.stock or ' href="' in attributes)
        if kind <= _LINK and self.rules.stock:
            self.stack.append(info)
            self.attributes.append(attributes)

    def link(self, begins: bool) -> None:
        """A link begins or ends; an `<a>` inside another ends that."""
        self.count_link()
        self.linked = begins
        self.link_start = len(self.pieces)

    def count_link(self) -> None:
        if self.linked and not self.rules.stock:
            text = " ".join("".join(self.pieces[self.link_start :]).split())
            self.link_chars += len(text)
            self.links += text != ""

    def text(self, node: str) -> None:
        node = _unescaped(node)
        if node.isspace():
            if not self.rules.stock:
                self.pieces.append(" ")
            return
        self.pieces.append(node)
        self.broken = False
        if self.linked and self.rules.stock:
            self.link_chars += len(" ".join(node.split())) + node[0].isspace() + node[-1].isspace()
            self.links += 1

    def block(self) -> None:
        """A boundary: what was gathered is a block."""
        self.broken = False
        if self.pieces:
            self.count_link()
            text = " ".join("".join(self.pieces).split())
            self.pieces.clear()
            self.link_start = 0
            if text:
                self.emit(text, (self.link_chars, self.links, self.tags, self.breaks))
        self.link_chars = self.links = self.tags = self.breaks = 0

    def emit(self, text: str, counts: tuple[int, int, int, int]) -> None:
        """`counts`: characters in links, links, tags, breaks."""
        if not text.isprintable():
            text = " ".join(CONTROL.sub("", text).split())
            if not text:
                return
        if len(self.texts) < MAX_BLOCKS:
            place = self.places[-1]
            path, container, flags, hints, heading = (
                self.resolved[place] if place < len(self.resolved) else self.resolve(place)
            )
            place_columns = self.stack[place][2], place, path, container, heading, flags, hints
            self.blocks.append((len(text), text.count(" ") + 1, *counts, self.images, *place_columns))
            self.texts.append(text)
            self.images = 0

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


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    return text.replace("&nbsp;", "\xa0").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _marks(texts: list[str]) -> tuple[list[int], list[int], list[int]]:
    """Stops, commas and digits of each text. All other bytes of the page are deleted at once."""
    encoded = "\n".join(texts).encode()
    if not encoded.isascii():
        for lead, wide in _WIDE.items():
            if lead in encoded:
                for mark, plain in wide:
                    encoded = encoded.replace(mark, plain)
    kept = encoded.translate(_CLASSES, _UNMARKED).split(b"\n") if texts else []
    return (
        [marks.count(b".") for marks in kept],
        [marks.count(b",") for marks in kept],
        [marks.count(b"0") for marks in kept],
    )


def _packed(columns: Iterable[Sequence[int]]) -> bytes:
    """One after the other, in a third of the time of an array."""
    numbers = list(itertools.chain.from_iterable(columns))
    return struct.pack(f"{len(numbers)}i", *numbers)
