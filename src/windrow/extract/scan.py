"""The walk in Python: the kernel's twin, its oracle in the tests and its stand-in where it was not built."""

import array
import itertools
import re

from windrow.extract.rules import COMMAS, FLAG, STOPS, Info, Kind, Rules

MAX_PATH = 100  # elements of a path; what is deeper has the path of its ancestor at this depth
MAX_BLOCKS = 1 << 18  # then the walk ends
REACH = 16  # open elements among which an end tag finds its own

_TOKEN = re.compile(r"<(!--.*?(?:--(?=>)|\Z)|[^>]*)(?:>|\Z)", re.DOTALL)
_DIGIT = re.compile("[0-9]")
_LINKED, _HEADING = FLAG["link"], FLAG["heading"]
_BLOCK, _DROP, _CLEAR = int(Kind.BLOCK), int(Kind.DROP), int(Kind.CLEAR)
_VOID, _VOID_BLOCK, _VOID_CLEAR, _BREAK, _IMAGE = (
    *(int(Kind.VOID), int(Kind.VOID_BLOCK), int(Kind.VOID_CLEAR)),
    *(int(Kind.BREAK), int(Kind.IMAGE)),
)
_LINK, _CLOSE = int(Kind.LINK), int(Kind.CLOSE)
_ASCII = (STOPS[:3], COMMAS[:3])

Scanned = tuple[list[str], bytes, bytes, bytes, list[str]]  # texts, blocks, containers; of each path its parent and its last tag
_Element = tuple[Info, int, int, int, int]  # then flags, hints and heading with those of all above it; place of the next block element


def scan(markup: str, rules: Rules) -> Scanned:
    scanner = _Scan(rules)
    scanner.run(markup)
    scanner.close(0)
    return (
        scanner.texts,
        _columns(scanner.blocks),
        _columns(scanner.containers),
        array.array("i", scanner.path_parents).tobytes(),
        scanner.path_tags,
    )


def _columns(rows: "list[tuple[int, ...]] | list[list[int]]") -> bytes:
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
        self.stack: list[_Element] = [((_BLOCK, ">", 0, 0, 0), 0, 0, 0, 0)]  # the page; no tag has this name
        self.resolved: list[tuple[int, int]] = []  # path and container of the elements at the bottom of the stack
        self.pieces: list[str] = []
        self.images = 0
        self.clear()

    def clear(self) -> None:
        self.pieces.clear()
        self.link_chars = self.links = self.tags = self.breaks = self.inner = 0
        self.counted = self.broken = False

    def run(self, markup: str) -> None:
        known, read, stack = self.rules.known, self.rules.read, self.stack
        dropped = 0  # place of the element that is dropped
        node = ""  # text since the last tag that counts
        parts = _TOKEN.split(markup)
        parts.append("/>")  # an end tag that means nothing ends the last text
        for text, tag in zip(parts[::2], parts[1::2], strict=True):
            if text and not dropped:
                node = node + text if node else text
            info = known.get(tag) or read(tag)
            kind = info[0]
            if kind == _VOID_CLEAR:
                continue
            place = self.place(info[1]) if kind == _CLOSE else 0
            if dropped:
                if place:
                    del stack[place:]
                    dropped = dropped if place > dropped else 0
                elif kind not in _ENDLESS:
                    self.open(info)
                continue
            ...
