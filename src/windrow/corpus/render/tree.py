"""The structure of a page as a tree: lists, tables, quotations, code and figures, with the paragraphs as leaves."""

import functools
import re
from collections.abc import Sequence

import msgspec

from windrow.records import Paragraph

DEEPEST = 24  # containers around a paragraph; those within are ignored, so that a renderer may recurse
_SPARSE = 4  # a table with more than this many places per cell loses its empty places

HEADINGS = {"title": 1, "h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_CAPTIONS = {"caption": "table", "figcaption": "figure"}  # form of a paragraph -> the container it belongs to
_CONTAINERS = {"ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td", "th", "blockquote", "pre", "figure"}
_PARENTS = {"li": ("ul", "ol"), "dt": ("dl",), "dd": ("dl",), "tr": ("table",), "td": ("tr",), "th": ("tr",)}
_BETWEEN = {"ul": "li", "ol": "li", "dl": "dd", "table": "tr", "tr": "td"}  # what must be between it and other content
_LEVEL = re.compile(r"\bh([1-6])\b[^.]*\Z")
Step = tuple[str, int]  # name of an element, and its number


class LeafBlock(msgspec.Struct, frozen=True):
    paragraph: Paragraph
    form: str  # "p", a key of HEADINGS, "caption" or "figcaption"


class Node(msgspec.Struct):
    name: str
    number: int  # 0: not known
    children: "list[Node | LeafBlock]" = msgspec.field(default_factory=list)


Content = Node | LeafBlock


def tree(paragraphs: Sequence[Paragraph]) -> list[Content]:
    """Return the content of a page. Paragraphs in a row that are in the same element get one node for it."""
    root = Node("", 0)
    opened = [root]
    for paragraph in paragraphs:
        steps, form = _steps(paragraph.structure)
        same = 0
        while same < len(steps) and same + 1 < len(opened) and steps[same] == _step(opened[same + 1]):
            same += 1
        del opened[same + 1 :]
        for name, number in steps[same:]:
            node = Node(name, number)
            opened[-1].children.append(node)
            opened.append(node)
        opened[-1].children.append(LeafBlock(paragraph, form or _heading(paragraph)))
    return root.children


def grid(rows: Sequence[Node]) -> list[list[Node | None]]:
    """Return the cells of each row at their columns, None for an empty place; columns without any cell are left out.

    A hostile table may have each cell in a column of its own: a sparse one gets its cells side by side.
    """
    cells = [_cells(row) for row in rows]
    columns = {number: at for at, number in enumerate(sorted({cell.number for row in cells for cell in row}))}
    if len(columns) * len(rows) > _SPARSE * sum(map(len, cells)) + 1000:
        return [list(row) for row in cells]
    placed: list[list[Node | None]] = []
    for row in cells:
        places: list[Node | None] = [None] * (max((columns[cell.number] for cell in row), default=-1) + 1)
        for cell in row:
            places[columns[cell.number]] = cell
        placed.append(places)
    return placed


def captions(table: Node) -> list[LeafBlock]:
    return [child for child in table.children if isinstance(child, LeafBlock)]


def rows(table: Node) -> list[Node]:
    return [child for child in table.children if isinstance(child, Node)]


def leaves(node: Node) -> list[LeafBlock]:
    """Return every paragraph below a node."""
    blocks: list[LeafBlock] = []
    for child in node.children:
        blocks += [child] if isinstance(child, LeafBlock) else leaves(child)
    return blocks


def code(node: Node) -> str:
    """Return the text of a <pre>."""
    return "\n".join([leaf.paragraph.lines or leaf.paragraph.text for leaf in leaves(node)])


def _cells(row: Node) -> list[Node]:
    """Return the cells of a row. A number that comes again is that of a cell which another row interrupted."""
    cells: dict[int, Node] = {}
    for child in row.children:
        if isinstance(child, Node):
            cell = cells.setdefault(child.number, child)
            if cell is not child:
                cell.children += child.children
    return list(cells.values())


def _step(node: Node) -> Step:
    return node.name, node.number


def _heading(paragraph: Paragraph) -> str:
    """Return the form of a paragraph whose structure names none: the level of a heading may be in its path."""
    if not paragraph.heading:
        return "p"
    match = _LEVEL.search(paragraph.path)
    return f"h{match[1]}" if match else "h2"


@functools.lru_cache(4096)
def _steps(structure: str) -> tuple[tuple[Step, ...], str]:
    """Return the containers, outermost first, and the form of the paragraph, "" if the structure does not name it.

    The structure may come from anyone's extractor: an item without a list is ignored, and in a list, a table or a row
    whatever is not a part of it is put into one.
    """
    steps: list[Step] = []
    form = ""
    for word in structure.split():
        name, _, digits = word.partition(":")
        if name in HEADINGS or (name in _CAPTIONS and steps and steps[-1][0] == _CAPTIONS[name]):
            form = name
            break
        allowed = _PARENTS.get(name)
        if name not in _CONTAINERS or (allowed and not (steps and steps[-1][0] in allowed)):
            continue
        if len(steps) >= DEEPEST:
            break
        if name not in _PARENTS:
            _fill(steps, form)
        steps.append((name, int(digits) if digits.isdecimal() and len(digits) < 10 else 0))
    _fill(steps, form)
    return tuple(steps), form


def _fill(steps: list[Step], form: str) -> None:
    while steps and steps[-1][0] in _BETWEEN and not (steps[-1][0] == "table" and form == "caption"):
        steps.append((_BETWEEN[steps[-1][0]], 0))
