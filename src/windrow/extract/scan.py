"""The walk in Python: the kernel's twin, its oracle in the tests and its stand-in where it was not built."""

import array
import itertools
import re
from collections.abc import Iterator

from windrow.extract.rules import COMMAS, FLAG, STOPS, Info, Kind, Rules

MAX_PATH = 100  # elements of a path; what is deeper has the path of its ancestor at this depth
MAX_BLOCKS = 1 << 18  # then the walk ends
REACH = 16  # open elements among which an end tag finds its own

_TOKEN = re.compile(r"<(!--.*?(?:--(?=>)|\Z)|[^>]*)(?:>|\Z)", re.DOTALL)
_DIGIT = re.compile("[0-9]")
_LINKED, _HEADING = FLAG["link"], FLAG["heading"]
# As plain numbers: comparing with a member of an enum takes three times as long.
_INLINE, _LINK, _BLOCK, _IMAGE, _BREAK = int(Kind.INLINE), int(Kind.LINK), int(Kind.BLOCK), int(Kind.IMAGE), int(Kind.BREAK)
_VOID_BLOCK, _CLOSE, _CLEAR, _DROP = int(Kind.VOID_BLOCK), int(Kind.CLOSE), int(Kind.CLEAR), int(Kind.DROP)

Scanned = tuple[list[str], bytes, bytes, bytes, list[str]]  # texts, blocks, containers; of each path its parent and its last tag
_Element = tuple[int, int, int, int, int]  # path, container; flags, hints and heading with all above it


def scan(markup: str, rules: Rules) -> Scanned:
    scanner = _Scan(rules)
    scanner.run(markup)
    scanner.close(0)
    columns = _columns(scanner.blocks), _columns(scanner.containers)
    return scanner.texts, *columns, array.array("i", scanner.path_parents).tobytes(), scanner.path_tags


def _columns(rows: list[tuple[int, ...]] | list[list[int]]) -> bytes:
    return array.array("i", itertools.chain.from_iterable(zip(*rows, strict=True))).tobytes()


class _Scan:
    """What is open, and what was found."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.texts: list[str] = []
        self.blocks: list[tuple[int, ...]] = []
        self.containers: list[list[int]] = []
        self.path_parents: list[int] = []
        self.path_tags: list[str] = []
        self.paths: dict[tuple[int, str], int] = {}
        self.stack: list[Info] = [(_BLOCK, ">", 0, 0, 0)]  # open elements; the first is the page itself, no tag has its name
        self.places = [0]  # of the block elements among them
        self.resolved: list[_Element] = []  # what is known of those at the bottom, as far as there was text in them
        self.linked = 0  # links among them
        self.pieces: list[str] = []
        self.link_chars = self.links = self.tags = self.breaks = self.images = self.inner = 0
        self.counted = self.broken = False  # this link was counted; the last thing was a <br>

    def run(self, markup: str) -> None:
        known, read, stack, pieces, keep = self.rules.known, self.rules.read, self.stack, self.pieces, self.rules.keep_blanks
        node = ""  # text since the last tag that counts
        parts = _TOKEN.split(markup)
        parts.append("/>")  # an end tag of nothing: the last text ends
        pairs = zip(parts[::2], parts[1::2], strict=True)
        for text, tag in pairs:
            if text:
                node = node + text if node else text
            info = known.get(tag) or read(tag)
            kind = info[0]
            if kind > _CLOSE:
                self.unseen(info, pairs)
                continue
            if kind == _CLOSE and stack[-1][1] != info[1] and self.odd(info[1]):
                continue
            if node:
                if not node.isspace():
                    self.text(node)
                elif keep and pieces:
                    pieces.append(" ")
                node = ""
            if kind == _CLOSE:
                if stack[-1][1] == info[1]:
                    self.close(len(stack) - 1)
