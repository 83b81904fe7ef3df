"""Markdown, with a parser of its own as oracle: whatever a page contains, the parser reads the same text back."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.corpus.render import oracle
from tests.corpus.render.oracle import Block
from windrow.corpus.render import markdown
from windrow.corpus.render.subject import PageText
from windrow.records import Mark, Paragraph


def rendered(*paragraphs: Paragraph) -> str:
    return markdown.markdown(PageText(paragraphs=paragraphs))


def structured(*pairs: tuple[str, str]) -> str:
    """Render paragraphs, each given as structure and text."""
    return rendered(*(Paragraph(text, structure=structure) for structure, text in pairs))


SIGNS = (*"\\`*_[]()<>&~|!#+-=:.)1^$\"'/;@ ab　é風€«»", "<b", "&amp;", "http://a.b", "- ", "1. ", "![", "](")
TEXTS = (
    st.lists(st.sampled_from(SIGNS), min_size=1, max_size=14)
    .map(lambda parts: " ".join("".join(parts).split()))
    .filter(bool)
)


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


@settings(max_examples=100)
@given(st.lists(st.tuples(paragraphs(), st.sampled_from(STRUCTURES)), min_size=1, max_size=4))
@example([(Paragraph("\\" * 10 + "&amp;1", marks=(Mark(0, 2, "em"), Mark(1, 15, "strong"))), "")])
def test_a_parser_reads_the_text_back(drawn: list[tuple[Paragraph, str]]) -> None:
    shown = [
        Paragraph(found.text, lines=found.lines, marks=found.marks, structure=structure.format(number + 1))
        for number, (found, structure) in enumerate(drawn)
    ]
    expected = [(found.lines or found.text if found.structure != "h2" else found.text) for found in shown]
    source = rendered(*shown)
    assert [block.text for block in oracle.blocks(source)] == expected, source


@settings(max_examples=60)
@given(st.lists(paragraphs(), min_size=1, max_size=6), st.integers(1, 3))
@example([Paragraph("\\<b1. \\", lines="\\<b1.\n\\", marks=(Mark(0, 1, "link", "/x"), Mark(0, 6, "link", "/x")))], 1)
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


@settings(max_examples=60)
@given(st.text(st.sampled_from("`~-# \t\nax>"), min_size=1, max_size=30).filter(lambda text: bool(text.strip())))
@pytest.mark.parametrize("structure", ["pre:1", "ul:1 li:1 pre:1", "blockquote:1 pre:1"])
def test_a_parser_reads_code_back(structure: str, code: str) -> None:
    lines = "\n".join(line.rstrip() for line in code.strip("\n").split("\n"))
    source = rendered(Paragraph(" ".join(code.split()), structure=structure, lines=lines))
    found = oracle.blocks(source)
    assert [block.text for block in found if block.where.endswith("fence")] == [lines], source
    assert "---" not in source.splitlines()


@pytest.mark.parametrize(
    "text",
    [
        *(
            "# no heading",
            "#",
            "1. no item",
            "12) no item",
            "- no item",
            "+ no item",
            "---",
            "- - -",
            "===",
            "> no quote",
        ),
        *("```no fence", "~~~", "*no* _emphasis_ **here**", "[no](link)", "[no]: http://a.example/", "![no](image)"),
        *(
            "<b>no tag</b>",
            "<!-- no comment",
            "<http://a.example/>",
            "&lt; &#65; &nbsp;",
            "a\\",
            "\\*",
            "no ~~strike~~",
        ),
        *("`no code`", "| no | table |", "[^1] no note", "[ ] no task", "1.", "-", "=", "_ _ _", "\\", "!", "]("),
    ],
)
def test_text_that_looks_like_markup_stays_text(text: str) -> None:
    for structure in ("", "ul:1 li:1", "h3", "blockquote:1", "table:1 tr:1 td:1"):
        found = [block.text for block in oracle.blocks(structured((structure, text))) if block.text]
        assert found == [text], structured((structure, text))


def test_text_without_markup_is_not_escaped() -> None:
    text = "AT&T sells snake_case (3 < 4, a > b) for 5 % - or [1] + $2 = 7! See http://a.example/x_y?a=1&b=2: it's #1."
    assert structured(("", text)) == f"{text}\n"


def test_headings_have_their_level_and_the_title_is_the_first() -> None:
    source = structured(("title", "Mill"), ("h2", "Wind"), ("", "It turns."), ("h6", "Deep"), ("h2", "C #"))
    assert source == "# Mill\n\n## Wind\n\nIt turns.\n\n###### Deep\n\n## C \\#\n"
    assert oracle.blocks(source)[-1] == Block("h2", "C #")


def test_a_heading_keeps_its_links_and_loses_its_bold_type() -> None:
    heading = Paragraph("Of mills", structure="h2", marks=(Mark(0, 8, "strong"), Mark(3, 8, "link", "/m")))
    assert rendered(heading) == "## Of [mills](/m)\n"


def test_a_heading_without_structure_has_the_level_of_its_element() -> None:
    assert rendered(Paragraph("A", heading=True, path="html.body.h3")) == "### A\n"
    assert rendered(Paragraph("A", heading=True)) == "## A\n"


def test_nested_lists_have_indents_and_numbers() -> None:
    source = structured(
        ("ul:1 li:1", "one"),
        ("ul:1 li:2", "two"),
        ("ul:1 li:2 ol:2 li:1", "first"),
        ("ul:1 li:2 ol:2 li:3", "third"),
        ("ul:1 li:3", "three"),
    )
    assert source == "- one\n- two\n  1. first\n  3. third\n- three\n"
    assert [block.where for block in oracle.blocks(source)] == ["ul li p"] * 2 + ["ul li ol li p"] * 2 + ["ul li p"]


def test_a_number_of_two_digits_has_a_wider_indent() -> None:
    source = structured(("ol:1 li:10", "ten"), ("ol:1 li:10", "more of ten"), ("ol:1 li:11", "eleven"))
    assert source == "10. ten\n\n    more of ten\n\n11. eleven\n"
    assert [block.where for block in oracle.blocks(source)] == ["ol li p"] * 3


def test_a_nested_list_that_does_not_begin_with_one_is_still_a_list() -> None:
    source = structured(("ul:1 li:1", "one"), ("ul:1 li:1 ol:2 li:4", "four"))
    assert [block.where for block in oracle.blocks(source)] == ["ul li p", "ul li ol li p"]


def test_two_lists_in_a_row_stay_two() -> None:
    source = structured(
        ("ul:1 li:1", "a"), ("ul:2 li:1", "b"), ("ul:3 li:1", "c"), ("ol:4 li:1", "d"), ("ol:5 li:1", "e")
    )
    opened = [token.type for token in oracle.PARSER.parse(source) if token.type.endswith("list_open")]
    assert opened == ["bullet_list_open"] * 3 + ["ordered_list_open"] * 2


def test_a_list_that_a_paragraph_interrupts_continues_with_its_number() -> None:
    source = structured(("ol:1 li:1", "one"), ("", "between"), ("ol:1 li:2", "two"))
    assert source == "1. one\n\nbetween\n\n2. two\n"


def test_a_list_item_holds_blocks() -> None:
    source = structured(("ul:1 li:1 blockquote:1", "said"), ("ul:1 li:1 pre:1", "code"), ("ul:1 li:2 h4", "head"))
    assert [block.where for block in oracle.blocks(source)] == ["ul li blockquote p", "ul li fence", "ul li h4"]


def test_a_table_has_a_row_of_headings_and_empty_places() -> None:
    source = structured(
        ("table:1 caption", "Ages"),
        ("table:1 tr:1 th:1", "Name"),
        ("table:1 tr:1 th:2", "Age"),
        ("table:1 tr:2 td:2", "7 | 8"),
        ("table:1 tr:3 td:1", "Ada"),
        ("table:1 tr:3 td:1", "Byron"),
    )
    table = "| Name | Age |\n| --- | --- |\n|  | 7 \\| 8 |\n| Ada<br>Byron |\n"
    assert source == f"_Ages_\n\n{table}"
    assert [block.text for block in oracle.blocks(source)][1:] == ["Name", "Age", "", "7 | 8", "Ada\nByron", ""]


def test_a_table_without_headings_has_an_empty_row_of_headings() -> None:
    source = structured(("table:1 tr:1 th:1", "row"), ("table:1 tr:1 td:2", "1"))
    assert source == "|  |  |\n| --- | --- |\n| row | 1 |\n"


def test_a_sparse_table_takes_linear_space() -> None:
    source = structured(*((f"table:1 tr:{number} td:{number * 1000}", "x") for number in range(1, 3000)))
    assert len(source) < 100_000 and source.count("x") == 2999


def test_a_fence_is_longer_than_any_in_the_code() -> None:
    source = rendered(Paragraph("a ``` b", structure="pre:1", lines="a\n````\n\tb"))
    assert source == "`````\na\n````\n\tb\n`````\n"


def test_a_definition_list_is_a_list_with_bold_terms() -> None:
    source = structured(("dl:1 dt:1", "Mill"), ("dl:1 dd:2", "It grinds."), ("dl:1 dt:3", "Wind"))
    assert source == "- **Mill**\n\n  It grinds.\n\n- **Wind**\n"


def test_line_ends_are_hard_breaks() -> None:
    source = rendered(Paragraph("Rose red - green", lines="Rose red\n- green"))
    assert source == "Rose red\\\n\\- green\n"
    assert oracle.blocks(source) == [Block("p", "Rose red\n- green")]


@pytest.mark.parametrize(
    ("marks", "source"),
    [
        ((Mark(0, 3, "strong"),), "**one** two three"),
        ((Mark(0, 4, "em"),), "_one_ two three"),
        ((Mark(4, 7, "link", "http://a.example/?a=(1)"),), "one [two](http://a.example/?a=\\(1\\)) three"),
        ((Mark(4, 7, "link", "http://a.example/a b"),), "one [two](http://a.example/a%20b) three"),
        ((Mark(4, 7, "code"),), "one `two` three"),
        ((Mark(0, 13, "strong"), Mark(4, 7, "em")), "**one _two_ three**"),
        ((Mark(0, 7, "strong"), Mark(4, 13, "em")), "**one _two_** _three_"),
        ((Mark(0, 7, "link", "/x"), Mark(4, 13, "strong")), "[one **two**](/x) **three**"),
        ((Mark(0, 7, "code"), Mark(4, 7, "link", "/x")), "`one`[`two`](/x) three".replace("`[", "` [")),
        ((Mark(1, 2, "strong"),), "o**n**e two three"),
        ((Mark(1, 2, "em"),), "o*n*e two three"),
        ((Mark(0, 3, "other"), Mark(5, 5, "em"), Mark(9, 99, "link", "")), "one two three"),
    ],
)
def test_marks_become_markup(marks: tuple[Mark, ...], source: str) -> None:
    assert rendered(Paragraph("one two three", marks=marks)) == f"{source}\n"


def test_a_parser_finds_links_and_emphasis() -> None:
    marks = (Mark(0, 13, "strong"), Mark(4, 7, "link", "http://a.example/[1]_*"), Mark(8, 13, "code"))
    source = rendered(Paragraph("one two thr`e", marks=marks))
    assert oracle.spans(source) == [
        ("http://a.example/%5B1%5D_*", "two"),
        ("code", "thr`e"),
        ("strong", "one two thr`e"),
    ]


def test_emphasis_that_a_parser_would_not_read_is_left_out() -> None:
    assert rendered(Paragraph('a"b"c', marks=(Mark(1, 4, "strong"),))) == 'a"b"c\n'
    assert rendered(Paragraph("風吹過田野", marks=(Mark(1, 3, "strong"),))) == "風**吹過**田野\n"


def test_comments_are_a_section_at_the_end() -> None:
    source = rendered(Paragraph("First!", "comment"), Paragraph("Text."), Paragraph("Second.", "comment"))
    assert source == "Text.\n\n## Comments\n\nFirst!\n\nSecond.\n"


def test_a_page_without_text_is_empty() -> None:
    assert rendered() == ""


def test_structures_nested_without_end_are_cut() -> None:
    deep = " ".join(f"blockquote:{number}" for number in range(5000))
    assert rendered(Paragraph("deep", structure=deep)).endswith("> deep\n")


def test_front_matter_is_yaml() -> None:
    yaml = pytest.importorskip("yaml", reason="mkdocs brings it")
    facts = [("title", 'A "b": c\\ #d\n---'), ("url", "http://a.example/"), ("date", "")]
    source = markdown.front(facts)
    assert source.startswith("---\n") and source.endswith("\n---\n") and source.count("\n---\n") == 1
    assert yaml.safe_load(source.removesuffix("---\n")) == {"title": facts[0][1], "url": facts[1][1]}
