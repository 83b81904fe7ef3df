"""The marks within a block: links and emphasis. Half of the reference walk; the kernel finds the same.

Inline elements have no place on the walk's stack. A mark needs none: the elements of a kind are counted, and the mark
extends from where the first one begins to where the last one ends. One that holds several blocks marks each of them.
"""

import re
from collections.abc import Sequence

from windrow.extraction.walk.elements import MARKS, Tag, TagKind
from windrow.extraction.walk.lines import CONTROL

Mark = tuple[int, int, int, int, str]  # block, start and end in its text, index in MARKS, href of a link as written

_HREF = re.compile(r' href="([^"]*)"')


class MarkReader:
    """The marks that are open, those of the block that is being read, and those of the blocks before it."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self._open = [0] * len(MARKS)  # elements of each kind around the text
        self._since = [0] * len(MARKS)  # pieces of the block before the mark
        self._href = ""
        self._found: list[tuple[int, int, int, str]] = []  # pieces before it and up to its end, kind, href

    def read(self, tag: Tag, end: bool, attributes: str, pieces: int) -> None:
        """Read a tag that follows so many pieces of the block."""
        if tag.mark:
            if end:
                self._leave(tag.mark, pieces)
            else:
                self._enter(tag.mark, pieces)
        elif tag.kind in (TagKind.LINK, TagKind.UNLINK):
            self._leave(0, pieces)
            href = _HREF.search(attributes) if tag.kind is TagKind.LINK else None
            if href:
                self._href = href[1]
                self._enter(0, pieces)

    def _enter(self, kind: int, pieces: int) -> None:
        if not self._open[kind]:
            self._since[kind] = pieces
        self._open[kind] += 1

    def _leave(self, kind: int, pieces: int) -> None:
        if self._open[kind] == 1:
            self._found.append((self._since[kind], pieces, kind, self._href if kind == 0 else ""))
        self._open[kind] = max(self._open[kind] - 1, 0)

    def end_block(self, block: int, pieces: Sequence[str], text: str) -> None:
        """Add the marks of a block that has this number, these pieces and this text."""
        open_now = [kind for kind, count in enumerate(self._open) if count]
        self._found += [(self._since[kind], len(pieces), kind, self._href if kind == 0 else "") for kind in open_now]
        if self._found and text:
            lengths = _lengths(pieces)
            for before, until, kind, href in self._found:
                start, end = lengths[before], lengths[until]
                start += text[start : start + 1] == " "
                if start < end:
                    self.marks.append((block, start, end, kind, href))
        self._found.clear()
        self._since = [0] * len(MARKS)


def _lengths(pieces: Sequence[str]) -> list[int]:
    """Return the length of the text after each number of pieces, from none to all."""
    lengths = [0]
    length, pending = 0, False  # pending: a blank precedes the next character
    for piece in pieces:
        pending |= piece[0].isspace()
        for number, word in enumerate(piece.split()):
            pending |= number > 0
            printed = len(CONTROL.sub("", word))
            if printed:
                length += printed + (pending and length > 0)
                pending = False
        pending |= piece[-1].isspace()
        lengths.append(length)
    return lengths
