"""HTML documents, read back with the parser of the standard library."""

import html.parser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.corpus.render import html as renderer
from windrow.corpus.render.subject import PageText
from windrow.records import Mark, Paragraph

VOID = ("meta", "link", "br")


class Reader(html.parser.HTMLParser):
    """Collects the text by element, and checks that every element is closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.found: list[tuple[str, str]] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)
        elif tag == "br":
            self.handle_data("|")

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.found.append((" ".join(self.stack).removeprefix("html body article").strip(), data.strip("\n")))


def read(source: str) -> Reader:
    reader = Reader()
    reader.feed(source)
    reader.close()
    assert reader.stack == []
    return reader


def body(*paragraphs: Paragraph) -> list[tuple[str, str]]:
    found = read(renderer.document(PageText(paragraphs=paragraphs))).found
    return [pair for pair in found if not pair[0].startswith("html head")]


def structured(*pairs: tuple[str, str]) -> list[tuple[str, str]]:
    return body(*(Paragraph(text, structure=structure) for structure, text in pairs))


def test_the_head_says_what_is_known() -> None:
    page = PageText(
        url="https://a.example/?a=1&b=2",
        title='Wind & "Mill" <b>',
        author="Ada",
        date="2024-02-29",
        site="Mills",
        description="Of mills",
        tags=("mill", "wind"),
        image="https://a.example/i.png",
        language="de-AT",
        licence="https://creativecommons.org/licenses/by/4.0/",
    )
    found = read(renderer.document(page))
    assert found.found == [("html head title", 'Wind & "Mill" <b>')]
    named = {
        facts.get("name") or facts.get("property"): facts["content"]
        for tag, facts in found.attributes
        if "content" in facts
    }
    assert named == {
        "author": "Ada",
        "date": "2024-02-29",
        "description": "Of mills",
        "keywords": "mill, wind",
        "og:site_name": "Mills",
        "og:image": "https://a.example/i.png",
    }
    links = {facts["rel"]: facts["href"] for tag, facts in found.attributes if tag == "link"}
    assert links == {"canonical": page.url, "license": page.licence}
    assert found.attributes[0] == ("html", {"lang": "de-AT"})


def test_structure_becomes_elements() -> None:
    assert structured(
        ("title", "T"),
        ("h2", "H"),
        ("ul:1 li:1", "one"),
        ("ul:1 li:1 ol:2 li:1", "deep"),
        ("table:1 caption", "C"),
        ("table:1 tr:1 th:1", "Name"),
        ("table:1 tr:2 td:1", "Ada"),
        ("dl:1 dt:1", "term"),
        ("dl:1 dd:2", "meaning"),
        ("blockquote:1", "said"),
        ("figure:1 figcaption", "seen"),
        ("pre:1", "x = 1"),
    ) == [
        ("h1", "T"),
        ("h2", "H"),
        ("ul li", "one"),
        ("ul li ol li", "deep"),
        ("table caption", "C"),
        ("table tr th", "Name"),
        ("table tr td", "Ada"),
        ("dl dt", "term"),
        ("dl dd", "meaning"),
        ("blockquote p", "said"),
        ("figure figcaption", "seen"),
        ("pre", "x = 1"),
    ]


def test_code_keeps_its_lines_and_a_first_empty_line() -> None:
    source = renderer.document(PageText(paragraphs=(Paragraph("a b", structure="pre:1", lines="\n  a\n\tb"),)))
    assert "<pre>\n\n  a\n\tb</pre>" in source


def test_marks_and_line_ends_become_elements() -> None:
    marks = (Mark(0, 3, "strong"), Mark(4, 7, "link", "https://a.example/?a&b"), Mark(4, 13, "em"))
    source = renderer.document(PageText(paragraphs=(Paragraph("one two three", lines="one two\nthree", marks=marks),)))
    assert '<strong>one</strong> <em><a href="https://a.example/?a&amp;b">two</a><br>\nthree</em></p>' in source


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "JavaScript:x", " javascript:x", "data:text/html,x", "vbscript:x"]
)
def test_a_link_that_would_run_a_script_is_no_link(url: str) -> None:
    page = PageText(paragraphs=(Paragraph("click", marks=(Mark(0, 5, "link", url),)),), url=url, licence=url, image=url)
    for source in (renderer.document(page), renderer.article(page, "x")):
        assert not any("href" in facts for _, facts in read(source).attributes)
        assert "<p>click</p>" in source


def test_an_item_has_its_number_where_one_before_it_is_missing() -> None:
    paragraphs = [Paragraph("x", structure=f"ol:1 li:{number}") for number in (1, 2, 5, 6)]
    assert renderer.document(PageText(paragraphs=tuple(paragraphs))).count("<li>") == 3
    assert '<li value="5">' in renderer.document(PageText(paragraphs=tuple(paragraphs)))


def test_comments_are_a_section_at_the_end() -> None:
    source = renderer.document(PageText(paragraphs=(Paragraph("Yes.", "comment"), Paragraph("Text."))))
    assert '<p>Text.</p>\n<section class="comments">\n<p>Yes.</p>\n</section>\n</article>' in source


def test_several_pages_are_articles_of_one_document() -> None:
    page = PageText(paragraphs=(Paragraph("Text."),), url="https://a.example/", title="T")
    source = (
        renderer.start("Pages") + renderer.article(page, "a.html") + renderer.article(page, "b.html") + renderer.END
    )
    found = read(source)
    assert [tag for tag, _ in found.attributes].count("article") == 2
    assert ("header dl dd", "b.html") in found.found


@given(
    st.text(max_size=30),
    st.sampled_from(["", "ul:1 li:1", "table:1 tr:1 td:1", "h2", "pre:1", "li:1", "tr:2 td:1", "ul:1"]),
)
def test_any_text_is_read_back(text: str, structure: str) -> None:
    line = " ".join("".join(character for character in text if character.isprintable()).split())
    found = body(Paragraph(line, structure=structure))
    assert "".join(data for _, data in found) == line
