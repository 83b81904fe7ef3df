"""The text of a paragraph with its line ends and marks, as events that are properly nested."""

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from windrow.records import Mark, Paragraph

KINDS = ("link", "strong", "em", "code")  # outermost first, where two cover the same text
_RANK = {kind: rank for rank, kind in enumerate(KINDS)}


class InlineEvent(NamedTuple):
    kind: str  # "text", "break", "open" or "close"
    start: int = 0  # of a text
    end: int = 0
    mark: Mark | None = None


def breaks(paragraph: Paragraph) -> list[int]:
    """Return where a line of the text begins, as offsets in the text, without the first line.

    `text` and `lines` differ in blanks only: a line ends after as many other characters in one as in the other.
    """
    text, lines = paragraph.text, paragraph.lines
    if "\n" not in lines:
        return []
    counts = [len("".join(line.split())) for line in lines.split("\n")]
    places = [at for at, character in enumerate(text) if not character.isspace()]
    if sum(counts) != len(places):
        return []
    points: list[int] = []
    seen = 0
    for count in counts[:-1]:
        seen += count
        if 0 < seen < len(places) and (not points or places[seen] != points[-1]):
            points.append(places[seen])
    return points


def marks(text: str, given: Iterable[Mark], lines: Sequence[int] = ()) -> list[Mark]:
    """Return marks that are properly nested, without blanks at their ends, in the order in which they begin.

    Code is innermost, because no markup is read within it: it is divided at the ends of links and lines, and an
    emphasis that begins or ends within it is left out. `lines`: where lines begin.
    """
    by_kind: dict[str, list[Mark]] = {kind: [] for kind in KINDS}
    for mark in given:
        if mark.kind in by_kind and (mark.target or mark.kind != "link"):
            by_kind[mark.kind].append(mark)
    links, strong, em, code = (_joined(text, by_kind[kind]) for kind in KINDS)
    code = _divided(text, code, sorted({*lines, *(end for link in links for end in (link.start, link.end))}))
    strong = _outside(_uncrossed(text, strong, links), code)
    em = _outside(_uncrossed(text, _uncrossed(text, em, links), strong), code)
    return sorted([*links, *strong, *em, *code], key=lambda mark: (mark.start, -mark.end, _RANK[mark.kind]))


def events(text: str, nested: Sequence[Mark], lines: Sequence[int] = ()) -> Iterator[InlineEvent]:
    """Yield the text in pieces, with the marks and the line ends between them. No piece has a blank at a line end."""
    at, line = 0, 0
    stack: list[Mark] = []

    def upto(end: int, including: bool) -> Iterator[InlineEvent]:
        """Yield the text up to an offset; a line that begins there is begun if a mark opens there, not if one ends."""
        nonlocal at, line
        while line < len(lines) and (lines[line] < end or (including and lines[line] == end)):
            if piece := text[at : lines[line]].rstrip():
                yield InlineEvent("text", at, at + len(piece))
            yield InlineEvent("break")
            at, line = lines[line], line + 1
        if at < end:
            yield InlineEvent("text", at, end)
        at = max(at, end)

    for mark in nested:
        while stack and stack[-1].end <= mark.start:
            yield from upto(stack[-1].end, False)
            yield InlineEvent("close", mark=stack.pop())
        yield from upto(mark.start, True)
        stack.append(mark)
        yield InlineEvent("open", mark=mark)
    while stack:
        yield from upto(stack[-1].end, False)
        yield InlineEvent("close", mark=stack.pop())
    yield from upto(len(text), False)


def _joined(text: str, given: list[Mark]) -> list[Mark]:
    """Return the marks of one kind in order. Those that touch are one; of links on the same text the first holds."""
    joined: list[Mark] = []
    for mark in sorted(given, key=lambda mark: (mark.start, mark.end)):
        start, end = max(mark.start, 0), min(mark.end, len(text))
        if joined and start <= joined[-1].end and joined[-1].target == mark.target:
            joined[-1] = Mark(joined[-1].start, max(end, joined[-1].end), mark.kind, mark.target)
        elif start < end and (not joined or end > joined[-1].end):
            joined.append(Mark(max(start, joined[-1].end) if joined else start, end, mark.kind, mark.target))
    trimmed = (_trimmed(text, mark.start, mark.end, mark) for mark in joined)
    return [mark for mark in trimmed if mark]


def _trimmed(text: str, start: int, end: int, mark: Mark) -> Mark | None:
    """Return the mark on this part of the text without blanks at its ends; None if nothing is left."""
    inner = text[start:end]
    start, end = start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())
    return Mark(start, end, mark.kind, mark.target) if start < end else None


def _divided(text: str, given: Sequence[Mark], points: Sequence[int]) -> list[Mark]:
    divided = []
    for mark in given:
        inner = points[bisect.bisect_right(points, mark.start) : bisect.bisect_left(points, mark.end)]
        edges = [mark.start, *inner, mark.end]
        parts = (_trimmed(text, *pair, mark) for pair in itertools.pairwise(edges))
        divided += [part for part in parts if part]
    return divided


def _uncrossed(text: str, given: Sequence[Mark], outer: Sequence[Mark]) -> list[Mark]:
    """Divide marks that cross one of another kind at its end."""
    starts = [mark.start for mark in outer]
    uncrossed = []
    for mark in given:
        points = []
        first, last = _around(outer, starts, mark.start), _around(outer, starts, mark.end)
        if first and first.end < mark.end:
            points.append(first.end)
        if last and last.start > mark.start:
            points.append(last.start)
        uncrossed += _divided(text, [mark], points)
    return uncrossed


def _outside(given: Sequence[Mark], code: Sequence[Mark]) -> list[Mark]:
    starts = [mark.start for mark in code]
    return [mark for mark in given if not _around(code, starts, mark.start) and not _around(code, starts, mark.end)]


def _around(marks: Sequence[Mark], starts: Sequence[int], point: int) -> Mark | None:
    """Return the mark in which an offset lies, not at its ends. The marks are in order and do not overlap."""
    index = bisect.bisect_left(starts, point) - 1
    return marks[index] if index >= 0 and point < marks[index].end else None
