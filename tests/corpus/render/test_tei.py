"""TEI documents: well formed, and of the content that TEI P5 allows in each element."""

import re
import xml.etree.ElementTree as etree
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow.corpus.render import tei
from windrow.corpus.render.subject import PageText
from windrow.records import Mark, Paragraph

# Name of an element -> what may be in it, as an expression over the names of its children, each followed by a blank.
# "#" is text. It is the part of the content models of TEI P5 (4.8) that these documents use.
INLINE = "(#|hi |ref |code |lb )*"
BLOCK = "(p |ab |list |table |quote |figure )"
MIXED = f"(#|hi |ref |code |lb |{BLOCK[1:-1]})*"
MODELS = {
    "teiCorpus": "teiHeader (TEI )+",
    "TEI": "teiHeader text ",
    "teiHeader": "fileDesc (encodingDesc )?(profileDesc )?",
    "fileDesc": "titleStmt publicationStmt sourceDesc ",
    "titleStmt": "title (author )?",
    "publicationStmt": "publisher (date )?(idno )?(availability )?",
    "availability": "licence ",
    "sourceDesc": "(bibl |p )",
    "bibl": "title (author )?(publisher )?(date )?(ref )?",
    "encodingDesc": "appInfo ",
    "appInfo": "application ",
    "application": "label ",
    "profileDesc": "(abstract )?(langUsage )?(textClass )?",
    "abstract": "(p )+",
    "langUsage": "language ",
    "language": "",
    "textClass": "keywords ",
    "keywords": "(term )+",
    "text": "body ",
    "body": "(div )+",
    "div": f"(head )?{BLOCK}*(div )*",
    "list": "(item )+|(label item )+",
    "table": "(head )*(row )+",
    "row": "(cell )+",
    "figure": f"(head |{BLOCK[1:-1]})*",
    **dict.fromkeys(("item", "cell", "quote"), MIXED),
    **dict.fromkeys(("p", "ab", "head", "label", "hi", "ref"), INLINE),
    **dict.fromkeys(("title", "author", "publisher", "date", "idno", "licence", "term", "code"), "#?"),
    "lb": "",
}


def check(source: str) -> etree.Element:
    """Return the root of a document after checking every element of it."""
    root = etree.fromstring(source)
    for element in root.iter():
        name = plain(element)
        texts = [element.text, *(child.tail for child in element)]
        children = [f"{plain(child)} " for child in element]
        shown = [("#" if (text or "").strip() else "") for text in texts]
        parts = [shown[0], *(part for pair in zip(children, shown[1:], strict=True) for part in pair)]
        assert re.fullmatch(MODELS[name], "".join(parts)), f"{name}: {''.join(parts)!r}"
    return root


def plain(element: etree.Element) -> str:
    space, _, name = element.tag[1:].partition("}")
    assert space == tei.NAMESPACE
    return name


def texts(root: etree.Element, name: str) -> list[str]:
    return ["".join(found.itertext()).strip() for found in root.iter(f"{{{tei.NAMESPACE}}}{name}")]


STRUCTURES = (
    *("", "", "title", "h1", "h2", "h3", "ul:1 li:1", "ul:1 li:2", "ul:1 li:2 ol:2 li:1", "ol:3 li:4 h3", "pre:1"),
    *("table:1 caption", "table:1 tr:1 th:1", "table:1 tr:2 td:3", "table:1 tr:2 td:3 ul:4 li:1", "table:2", "ul:9"),
    *("dl:1 dt:1", "dl:1 dd:2", "dl:1 dt:3", "blockquote:1", "blockquote:1 h2", "blockquote:1 ul:5 li:1", "li:3"),
    *("figure:1 figcaption", "figure:1", "tr:1 td:1", "blockquote:1 pre:2", "ul:7 li:1 figure:2 figcaption", "caption"),
    "table:3 tr:1 td:1 table:4 tr:1 td:1",
)
MARKS = st.builds(
    lambda start, length, kind: Mark(start, start + length, kind, "http://a.example/<x y>" if kind == "link" else ""),
    st.integers(0, 20),
    st.integers(0, 9),
    st.sampled_from(["link", "strong", "em", "code"]),
)
PARAGRAPHS = st.builds(
    lambda structure, kind, marks, lines: Paragraph(
        "alpha beta gamma delta", kind, structure=structure, marks=tuple(marks), lines=lines
    ),
    st.sampled_from(STRUCTURES),
    st.sampled_from(["good", "good", "comment"]),
    st.lists(MARKS, max_size=3),
    st.sampled_from(["", "alpha beta\ngamma delta"]),
)
FACTS = st.sampled_from(["", 'A & <b> "c" \x01\ud800'])


@settings(max_examples=200)
@given(st.lists(PARAGRAPHS, max_size=8), FACTS, st.booleans())
def test_every_document_is_valid(drawn: list[Paragraph], fact: str, known: bool) -> None:
    page = PageText(
        paragraphs=tuple(drawn),
        title=fact,
        author=fact,
        site=fact,
        description=fact,
        tags=(fact,) if fact else (),
        url="http://a.example/?a&b" if known else "",
        date="2024-02-29" if known else "",
        licence="http://l.example/" if known else "",
        language="de" if known else "not a tag",
    )
    root = check(tei.document(page))
    check(tei.start("Pages") + tei.element(page) + tei.element(page) + tei.END)
    body = next(root.iter(f"{{{tei.NAMESPACE}}}body"))
    assert "".join(body.itertext()).count("gamma") == len(drawn)


# Elements that the DTD below does not have -> one with the same content that it has.
KNOWN = {"code": "hi", "figure": "quote", "table": "list", "row": "item", "cell": "quote"}


@pytest.fixture(scope="module")
def dtd() -> Any:
    """Return the DTD of TEI P5 4.8 that trafilatura brings, without the modules for tables, figures and code."""
    trafilatura = pytest.importorskip("trafilatura", reason="its data are needed: pip install trafilatura")
    lxml = pytest.importorskip("lxml.etree")
    return lxml.DTD(str(Path(trafilatura.__file__).parent / "data" / "tei_corpus.dtd"))


@settings(max_examples=200)
@given(st.lists(PARAGRAPHS, max_size=8), FACTS)
def test_every_document_is_valid_by_the_dtd(dtd: Any, drawn: list[Paragraph], fact: str) -> None:
    from lxml import etree as lxml

    page = PageText(paragraphs=tuple(drawn), title=fact, author=fact, site=fact, description=fact, date="2024-02-29")
    for source in (tei.document(page), tei.start("Pages") + tei.element(page) + tei.END):
        root = lxml.fromstring(source.encode())
        for name, known in KNOWN.items():
            for element in root.iter(f"{{{tei.NAMESPACE}}}{name}"):
                element.tag = f"{{{tei.NAMESPACE}}}{known}"
                element.attrib.pop("role", None)
                for head in element.findall(f"{{{tei.NAMESPACE}}}head") if name == "figure" else ():
                    head.tag = f"{{{tei.NAMESPACE}}}ab"
        assert dtd.validate(root), dtd.error_log


def test_the_header_says_what_is_known() -> None:
    page = PageText(
        title="Mill",
        author="Ada",
        date="2024-02-29",
        url="https://a.example/?a=1&b=2",
        licence="https://creativecommons.org/licenses/by/4.0/",
        site="Mills",
        tags=("wind", "water"),
        description="Of mills",
        language="de-AT",
    )
    root = check(tei.document(page))
    assert texts(root, "idno") == ["https://a.example/?a=1&b=2"] and texts(root, "licence") == [page.licence]
    assert (texts(root, "title")[0], texts(root, "author")[0], texts(root, "term")) == (
        "Mill",
        "Ada",
        ["wind", "water"],
    )
    dates = [found.get("when") for found in root.iter(f"{{{tei.NAMESPACE}}}date")]
    assert dates == ["2024-02-29"] * 2
    assert root.get("{http://www.w3.org/XML/1998/namespace}lang") == "de-AT"


def test_headings_begin_divisions_within_each_other() -> None:
    pairs = [("title", "T"), ("", "a"), ("h2", "A"), ("h3", "B"), ("", "b"), ("h2", "C"), ("h1", "D")]
    root = check(tei.document(PageText(paragraphs=tuple(Paragraph(text, structure=form) for form, text in pairs))))

    def outline(division: etree.Element) -> list[object]:
        inner = division.findall(f"{{{tei.NAMESPACE}}}div")
        return [division.findtext(f"{{{tei.NAMESPACE}}}head"), *map(outline, inner)]

    first = next(root.iter(f"{{{tei.NAMESPACE}}}div"))
    assert outline(first) == [None, ["T", ["A", ["B"]], ["C"], ["D"]]]


def test_lists_tables_code_and_lines() -> None:
    paragraphs = (
        Paragraph("two", structure="ol:1 li:2"),
        Paragraph("Name", structure="table:1 tr:1 th:2"),
        Paragraph("x y", structure="pre:1", lines="x\n  y"),
        Paragraph("one two", lines="one\ntwo", marks=(Mark(4, 7, "strong"),)),
        Paragraph("Yes.", "comment"),
    )
    source = tei.document(PageText(paragraphs=paragraphs))
    check(source)
    assert '<list rend="numbered">\n<item n="2">two</item>\n</list>' in source
    assert '<row>\n<cell role="label">Name</cell>\n</row>' in source
    assert '<ab type="code" xml:space="preserve">x\n  y</ab>' in source
    assert '<p>one<lb/>\n<hi rend="bold">two</hi></p>' in source
    assert source.index('<div type="comments">\n<p>Yes.</p>') > source.index("one")


@pytest.mark.parametrize("character", ["\x00", "\x0b", "\x1b", "\x7f", "\x85", "\ud800", "\ufffe", "\uffff"])
def test_a_character_that_xml_does_not_allow_is_removed(character: str) -> None:
    page = PageText(paragraphs=(Paragraph(f"a{character}b"),), title=character, url=f"http://a.example/{character}")
    assert "<p>ab</p>" in tei.document(page)
    check(tei.document(page))
