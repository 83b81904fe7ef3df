"""Markdown, with a parser of its own as oracle: whatever a page contains, the parser reads the same text back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.render import oracle
from windrow.data import Mark, Paragraph
from windrow.render import markdown
from windrow.render.subject import PageText


def rendered(*paragraphs: Paragraph) -> str:
    return markdown.markdown(PageText(paragraphs=paragraphs))


SIGNS = st.sampled_from(
    [*list("\\`*_[]()<>&~|!#+-=:.)1^$\"'/;@ ab\u3000é風€«»"), "<b", "&amp;", "http://a.b", "- ", "1. ", "![", "]("]
)
TEXTS = st.lists(SIGNS, min_size=1, max_size=14).map(lambda parts: " ".join("".join(parts).split())).filter(bool)


@st.composite
def paragraphs(draw: st.DrawFn) -> Paragraph:
    """Draw a paragraph with lines and marks."""
    text = draw(TEXTS)
    places = [at for at, character in enumerate(text) if character == " "]
    ends = draw(st.sets(st.sampled_from(places))) if places and draw(st.booleans()) else set()
    lines = "".join("\n" if at in ends else character for at, character in enumerate(text)) if ends else ""
    offset = st.integers(0, len(text))
    mark = st.builds(
        lambda ends, kind: Mark(min(ends), max(ends), kind, "http://a.example/(x) y" if kind == "link" else ""),
        st.tuples(offset, offset),
        st.sampled_from(["link", "strong", "em", "code"]),
    )
    return Paragraph(text, lines=lines, marks=tuple(draw(st.lists(mark, max_size=5))))


STRUCTURES = (
    "",
    "",
    "ul:1 li:{}",
    "ol:2 li:{}",
    "ul:3 li:1 ul:4 li:{}",
    "blockquote:1",
    "h2",
    "blockquote:2 ol:5 li:{}",
)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(paragraphs(), st.sampled_from(STRUCTURES)), min_size=1, max_size=4))
def test_a_parser_reads_the_text_back(drawn: list[tuple[Paragraph, str]]) -> None:
    shown = [
        Paragraph(found.text, lines=found.lines, marks=found.marks, structure=structure.format(number + 1))
        for number, (found, structure) in enumerate(drawn)
    ]
    expected = [(found.lines or found.text if found.structure != "h2" else found.text) for found in shown]
    source = rendered(*shown)
    assert [block.text for block in oracle.blocks(source)] == expected, source


@settings(max_examples=300, deadline=None)
@given(st.lists(paragraphs(), min_size=1, max_size=6), st.integers(1, 3))
def test_a_parser_reads_every_cell_of_a_table_back(drawn: list[Paragraph], width: int) -> None:
    cells = [
        Paragraph(
            found.text,
            lines=found.lines,
            marks=found.marks,
            structure=f"table:1 tr:{number // width + 1} t{'d' if number // width else 'h'}:{number % width + 1}",
        )
        for number, found in enumerate(drawn)
    ]
    source = rendered(*cells)
    found = [block.text for block in oracle.blocks(source) if block.where.startswith("table")]
    assert [text for text in found if text] == [cell.lines or cell.text for cell in cells], source
