"""A page in Markdown: CommonMark, with the tables of GFM."""

from collections.abc import Sequence

import msgspec

from windrow.corpus.render import escaping, tree
from windrow.corpus.render.escaping import Context
from windrow.corpus.render.subject import PageText
from windrow.corpus.render.tree import HEADINGS, Content, LeafBlock, Node
from windrow.records import Mark, Paragraph

COMMENTS = "## Comments"
_TEXT, _LINE, _CELL = Context(), Context(line=False), Context(line=False, cell=True)
_EMPHASIS = {"caption": "em", "figcaption": "em", "dt": "strong"}  # of a whole paragraph


def markdown(page: PageText) -> str:
    """Return the text of the page; "" if it has none. No line of it is "---": only front matter has that line."""
    main = [paragraph for paragraph in page.paragraphs if paragraph.kind != "comment"]
    comments = [paragraph for paragraph in page.paragraphs if paragraph.kind == "comment"]
    parts = _blocks(tree.tree(main))
    if comments:
        parts += [[COMMENTS], *_blocks(tree.tree(comments))]
    return "".join([f"{line}\n" for line in _spaced(parts)])


def _blocks(content: Sequence[Content]) -> list[list[str]]:
    """Return the lines of each block."""
    blocks: list[list[str]] = []
    previous, other = "", False
    for part in content:
        if isinstance(part, LeafBlock):
            previous, lines = "", _leaf(part)
        elif part.name in ("ul", "ol", "dl"):
            # Two lists in a row have different signs: otherwise they would be one.
            other = not other if previous == _sign(part) else False
            previous, lines = _sign(part), _list(part, other)
        else:
            previous, lines = "", _node(part)
        if lines:
            blocks.append(lines)
    return blocks


def _spaced(blocks: Sequence[list[str]]) -> list[str]:
    """Join blocks with an empty line between them."""
    lines: list[str] = []
    for block in blocks:
        lines += ["", *block] if lines else block
    return lines


def _leaf(leaf: LeafBlock) -> list[str]:
    if not leaf.paragraph.text.strip():
        return []
    level = HEADINGS.get(leaf.form)
    if level:
        return [f"{'#' * level} {escaping.markdown(_without_strong(leaf.paragraph), _LINE)}"]
    return escaping.markdown(_emphasized(leaf.paragraph, _EMPHASIS.get(leaf.form, "")), _TEXT).split("\n")


def _without_strong(heading: Paragraph) -> Paragraph:
    """Return a heading without bold type: it is shown in bold anyway."""
    if not heading.marks:
        return heading
    return msgspec.structs.replace(heading, marks=tuple([mark for mark in heading.marks if mark.kind != "strong"]))


def _emphasized(paragraph: Paragraph, kind: str) -> Paragraph:
    if not kind:
        return paragraph
    whole = Mark(0, len(paragraph.text), kind)
    return msgspec.structs.replace(paragraph, marks=(whole, *paragraph.marks))


def _node(node: Node) -> list[str]:
    match node.name:
        case "blockquote":
            return [f"> {line}" if line else ">" for line in _spaced(_blocks(node.children))]
        case "pre":
            return _code(tree.code(node))
        case "table":
            return _table(node)
    return _spaced(_blocks(node.children))


def _code(text: str) -> list[str]:
    """Fence code. A fence may be indented by a blank, which its lines then lose: so no line of the page is "---"."""
    lines = text.split("\n")
    fence = "`" * max(3, escaping.longest_run(text) + 1)
    indent = " " if any(line.startswith("---") for line in lines) else ""
    return [f"{indent}{line}" if line else "" for line in (fence, *lines, fence)]


def _list(node: Node, other: bool) -> list[str]:
    items = _defined(node) if node.name == "dl" else [child for child in node.children if isinstance(child, Node)]
    tight = all(map(_is_tight, items))
    lines: list[str] = []
    for index, item in enumerate(items):
        sign = "*" if other else "-"
        if node.name == "ol":
            sign = f"{item.number or index + 1}{')' if other else '.'}"
        blocks = _blocks(item.children)
        inner = [line for block in blocks for line in block] if tight else _spaced(blocks)
        if not inner:
            continue
        if lines and not tight:
            lines.append("")
        margin = " " * (len(sign) + 1)
        lines += [f"{sign} {inner[0]}", *(f"{margin}{line}" if line else "" for line in inner[1:])]
    return lines


def _sign(node: Node) -> str:
    return "1" if node.name == "ol" else "-"


def _is_tight(item: Node) -> bool:
    """Return whether an item is a paragraph, perhaps with lists below it, so that no empty lines are needed.

    A numbered list that begins with another number than 1 needs an empty line before it.
    """
    first, *others = item.children
    lists = all(isinstance(other, Node) and other.name in ("ul", "ol") and _begins(other) for other in others)
    return isinstance(first, LeafBlock) and first.form == "p" and lists and len(others) < 2


def _begins(node: Node) -> bool:
    first = node.children[0]
    return node.name == "ul" or (isinstance(first, Node) and first.number in (0, 1))


def _defined(node: Node) -> list[Node]:
    """Return a list of definitions as items: each begins with a term, in bold, and continues to the next term."""
    items: list[Node] = []
    for child in node.children:
        if not isinstance(child, Node):
            continue
        if child.name == "dt":
            items.append(Node("li", 0, [_term(part) for part in child.children]))
        elif items:
            items[-1].children += child.children
        else:
            items.append(Node("li", 0, list(child.children)))
    return items


def _term(part: Content) -> Content:
    return LeafBlock(part.paragraph, "dt") if isinstance(part, LeafBlock) and part.form == "p" else part


def _table(node: Node) -> list[str]:
    """A table of GFM begins with a row of headings, which is empty if the table has none."""
    blocks = [_leaf(leaf) for leaf in tree.captions(node)]
    grid = tree.grid(tree.rows(node))
    if grid:
        width = max(map(len, grid))
        header = _is_header(grid[0])
        rows = [[_cell(cell) for cell in row] for row in grid]
        lines = [rows.pop(0) + [""] * (width - len(grid[0])) if header else [""] * width, ["---"] * width, *rows]
        blocks.append([f"| {' | '.join(row)} |" for row in lines])
    return _spaced(blocks)


def _is_header(row: Sequence[Node | None]) -> bool:
    return all(cell is None or cell.name == "th" for cell in row)


def _cell(cell: Node | None) -> str:
    if cell is None:
        return ""
    return "<br>".join([escaping.markdown(leaf.paragraph, _CELL) for leaf in tree.leaves(cell)])


def front(fields: Sequence[tuple[str, str]]) -> str:
    """Return front matter in YAML. Every value is a JSON string, which is YAML too; empty ones are left out."""
    lines = [f"{name}: {msgspec.json.encode(value).decode()}\n" for name, value in fields if value]
    return "".join(["---\n", *lines, "---\n"])
