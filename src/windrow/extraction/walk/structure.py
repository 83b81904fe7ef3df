"""The structure of blocks: the lists, tables, quotations, code, figures and headings that they are in.

A structure is a text of parts, outermost first, with a blank between them (see data.Paragraph):

    ul:N li:M               an item; also "ol:N li:M", "dl:N dt:M" and "dl:N dd:M"
    table:N tr:M td:K       a cell; also "th:K". A cell counts as many columns as its colspan; rowspan does not count
    table:N caption
    figure:N                and within one: figcaption
    blockquote:N   pre:N    h1 … h6
                            inside code and headings there are no further parts

N is the number of the list, table, quotation, figure or code on the page; ul, ol and dl are counted together. All of
the page counts, whatever text is kept, but only elements with text. M and K count empty elements too.

A list inside a list, and not in an item of it, belongs to the item before it, as it looks in a browser. An element in
the wrong place, such as an `<li>` without a list, is no part. Neither is text in a list, but in no item of it.

A table is a table if it holds data, otherwise its cells are plain blocks. It holds data if

- its text is in more than one row and more than one column,
- it holds no other table and no heading, and has no role "presentation" or "none",
- and it has a caption or a `<th>`, or its cells are small: on average at most CELL_CHARS characters and CELL_BLOCKS
  blocks per cell with text.

The kernel `_structure` does the same as `reference`.
"""

import array
import dataclasses
from collections.abc import Sequence

import msgspec

from windrow.extraction.walk import Walk
from windrow.extraction.walk.elements import MARKS, ROLES, TAGS, TagRole
from windrow.records import KEPT_KINDS, Mark, Paragraph

try:
    from windrow.extraction.walk import _structure
except ImportError:  # there was no compiler: the reference is used
    _structure = None  # type: ignore[assignment]

Forms = tuple[list[str], dict[int, str], dict[int, tuple[Mark, ...]]]  # structures; lines and marks by block

CELL_CHARS = 200
CELL_BLOCKS = 2
MAX_PARTS = 16  # of a structure; elements further inside are left out, so that time and memory stay linear

_ROLE = bytes(ROLES.get(tag, TagRole.NONE) for tag in TAGS)
_NAMES = tuple({"menu": "ul", "dir": "ul", "listing": "pre"}.get(tag, tag) for tag in TAGS)
_LISTS = (TagRole.LIST, TagRole.TERMS)
_HOLDER = {TagRole.ITEM: TagRole.LIST, TagRole.TERM: TagRole.TERMS, TagRole.CELL: TagRole.ROW}
_HOLDER |= {TagRole.CAPTION: TagRole.TABLE, TagRole.LEGEND: TagRole.FIGURE}
_NUMBERED = (*_LISTS, TagRole.TABLE, TagRole.QUOTE, TagRole.FIGURE, TagRole.CODE)


def forms(page: Walk, scores: bytes, least: int) -> Forms:
    """Return the form of each block whose score (uint16) is at least `least`; others may have one too."""
    return structures(page, scores, least), page.lines, marks(page, scores, least) if page.marks else {}


def formed(page: Walk, paragraphs: Sequence[Paragraph]) -> tuple[Paragraph, ...]:
    """Return the paragraphs of all blocks of a page, those that are kept with their forms."""
    kept = array.array("H", [one.kind in KEPT_KINDS for one in paragraphs]).tobytes()
    shapes, lines, marks = forms(page, kept, 1)
    found = list(paragraphs)
    for block, shape in enumerate(shapes):
        if kept[2 * block : 2 * block + 2] != b"\0\0" and (shape or block in lines or block in marks):
            fields = {"structure": shape, "lines": lines.get(block, ""), "marks": marks.get(block, ())}
            found[block] = msgspec.structs.replace(found[block], **fields)
    return tuple(found)


def marks(page: Walk, scores: bytes, least: int) -> dict[int, tuple[Mark, ...]]:
    """Return the marks of each block whose score is at least `least`, in the order of the text, the longer one first.

    A link without a target is left out.
    """
    kept = [score >= least for score in memoryview(scores).cast("H")]
    found: dict[int, list[Mark]] = {}
    for block, start, end, kind, href in page.marks:
        if kept[block] and (kind or href):
            target = href.replace("&quot;", '"').replace("&nbsp;", "\xa0").replace("&amp;", "&") if href else ""
            found.setdefault(block, []).append(Mark(start, end, MARKS[kind], target))
    return {block: tuple(sorted(some, key=lambda one: (one.start, -one.end))) for block, some in found.items()}


def structures(page: Walk, scores: bytes, least: int) -> list[str]:
    """Return the structure of each block whose score (uint16) is at least `least`; "" for the others."""
    if _structure is None:
        return reference(page, scores, least)
    kept, limits = (scores, least), (CELL_CHARS, CELL_BLOCKS)
    return _structure.structures(page.blocks, page.containers, kept, (_ROLE, _NAMES), limits)


def reference(page: Walk, scores: bytes, least: int) -> list[str]:
    """Return the same as the kernel."""
    parts = _parts(page)
    kept = (score >= least for score in memoryview(scores).cast("H"))
    return [str(parts[row]) if keep else "" for row, keep in zip(page.column("container"), kept, strict=True)]


@dataclasses.dataclass(slots=True)
class _Table:
    layout: bool
    marked: bool = False  # by a caption or a header cell
    rows: set[int] = dataclasses.field(default_factory=set)
    columns: set[int] = dataclasses.field(default_factory=set)
    cells: int = 0
    blocks: int = 0
    chars: int = 0

    def holds_data(self) -> bool:
        small = self.chars <= CELL_CHARS * self.cells and self.blocks <= CELL_BLOCKS * self.cells
        return not self.layout and min(len(self.rows), len(self.columns)) > 1 and (small or self.marked)


@dataclasses.dataclass(frozen=True, slots=True)
class _Parts:
    """The structure inside a container, and what may follow."""

    text: str = ""
    count: int = 0
    closed: bool = False  # no part may follow
    holder: "_Holder | None" = None  # an element that waits for its part

    def __str__(self) -> str:
        return self.text

    def added(self, written: str, closed: bool = False) -> "_Parts":
        if self.count == MAX_PARTS:
            return _Parts(self.text, self.count, closed=True)
        return _Parts(f"{self.text} {written}" if self.text else written, self.count + 1, closed)


@dataclasses.dataclass(frozen=True, slots=True)
class _Holder:
    """A list, table, row or figure: its part is complete with an item, a cell or a caption."""

    role: TagRole
    written: str
    around: _Parts


def _parts(page: Walk) -> list[_Parts]:
    data = _data_tables(page)
    counts = dict.fromkeys(TagRole, 0)
    found: list[_Parts] = []
    rows = zip(*map(page.container_column, ("parent", "tag", "ordinal")), strict=True)
    for row, (parent, tag, ordinal) in enumerate(rows):
        role = TagRole(_ROLE[tag])
        above = found[parent] if parent >= 0 else _Parts()
        number = 0
        if role in _NUMBERED and (role is not TagRole.TABLE or row in data):
            group = TagRole.LIST if role in _LISTS else role
            number = counts[group] = counts[group] + 1
        found.append(above if above.closed else _entered(above, (role, _NAMES[tag]), number, ordinal))
    return found


def _entered(above: _Parts, kind: tuple[TagRole, str], number: int, ordinal: int) -> _Parts:
    """Return the parts inside an element, given those around it. `number`: on the page; 0: it has none."""
    role, name = kind
    if role in _HOLDER:
        return _held(above, kind, ordinal)
    match role:
        case TagRole.LIST | TagRole.TERMS:
            holder = above.holder
            if holder and holder.role is TagRole.LIST and ordinal > 0:
                above = holder.around.added(f"{holder.written} li:{ordinal}")
            return _waiting(above, _Holder(role, f"{name}:{number}", above))
        case TagRole.TABLE:
            return _waiting(above, _Holder(role, f"table:{number}", above) if number else None)
        case TagRole.ROW:
            table = above.holder
            if table is None or table.role is not TagRole.TABLE or ordinal <= 0:
                return _waiting(above, None)
            return _waiting(above, _Holder(role, f"{table.written} tr:{ordinal}", table.around))
        case TagRole.FIGURE:
            inside = above.added(f"figure:{number}")
            return _waiting(inside, _Holder(role, "", inside))
        case TagRole.QUOTE:
            return above.added(f"{name}:{number}")
        case TagRole.CODE:
            return above.added(f"{name}:{number}", closed=True)
        case TagRole.HEADING:
            return above.added(name, closed=True)
    return above


def _held(above: _Parts, kind: tuple[TagRole, str], ordinal: int) -> _Parts:
    """Return the parts inside an item, a cell or a caption."""
    role, name = kind
    holder = above.holder
    numbered = role not in (TagRole.CAPTION, TagRole.LEGEND)
    if holder is None or holder.role is not _HOLDER[role] or (numbered and ordinal <= 0):
        return _waiting(above, None) if role in (TagRole.CELL, TagRole.CAPTION) else above
    return holder.around.added(f"{holder.written} {name}".lstrip() + (f":{ordinal}" if numbered else ""))


def _waiting(parts: _Parts, holder: _Holder | None) -> _Parts:
    return dataclasses.replace(parts, holder=holder)


def _data_tables(page: Walk) -> set[int]:
    """Return the containers that are tables and hold data."""
    tables: dict[int, _Table] = {}
    around: list[int] = []  # of each container the table around it, itself included; -1: none
    rows = zip(*map(page.container_column, ("parent", "tag", "ordinal")), strict=True)
    for row, (parent, tag, ordinal) in enumerate(rows):
        role = _ROLE[tag]
        outer = around[parent] if parent >= 0 else -1
        around.append(row if role == TagRole.TABLE else outer)
        if outer >= 0:
            _measure(tables[outer], TagRole(role), _NAMES[tag], ordinal)
        if role == TagRole.TABLE:
            tables[row] = _Table(layout=ordinal < 0)
    for row, chars in zip(page.column("container"), page.column("chars"), strict=True):
        if around[row] >= 0:
            tables[around[row]].blocks += 1
            tables[around[row]].chars += chars
    return {row for row, table in tables.items() if table.holds_data()}


def _measure(table: _Table, role: TagRole, name: str, ordinal: int) -> None:
    """Add what an element inside a table says about it."""
    table.layout |= role in (TagRole.TABLE, TagRole.HEADING)
    table.marked |= role is TagRole.CAPTION
    if role is TagRole.ROW and ordinal > 0:
        table.rows.add(ordinal)
    elif role is TagRole.CELL and ordinal > 0:
        table.columns.add(ordinal)
        table.cells += 1
        table.marked |= name == "th"
