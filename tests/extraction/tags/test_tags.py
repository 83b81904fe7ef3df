"""The reader of tags: which links and which text it finds, and that kernel and reference agree."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow.extraction import tags
from windrow.extraction.tags import PageTags, elements

PIECES = (
    *(
        "<",
        ">",
        "/",
        "a",
        " ",
        '"',
        "'",
        "=",
        "&",
        "&amp;",
        "&amp",
        "&nbsp",
        "&nGt;",
        "&#x41;",
        "&#128",
        "&#0;",
        "&notit;",
    ),
    *(
        "<a href=",
        '<a href="x&copy=1">',
        "</a>",
        "<pre>",
        "</pre>",
        "<title>",
        "</title>",
        "<svg>",
        "</svg>",
        "<script>",
    ),
    *(
        "</script>",
        "<style>",
        "</style>",
        "url(a.png)",
        '@import "x";',
        "<!--",
        "-->",
        "--!>",
        "<!-->",
        "<!doctype html>",
    ),
    *("<div onclick=\"location='abc'\">", "<meta name=a content=b>", "<html lang=en>", "<base href=z>", "<td>", "<p>"),
    *(
        "<br/>",
        "\u00a0",
        "\u3000",
        "\u2003",
        "é",
        "漢",
        "😀",
        "\n",
        "\t",
        "\r",
        "\x01",
        "\x85",
        "<textarea>",
        "</textarea>",
    ),
    *("<img src=a alt=b title=c longdesc=d>", "<link rel=x href=y>", "<head>", "<body background=q>", "<?xml ?>", "</"),
    *(
        "<x data-href=1 DATA-URI=2>",
        "text",
        "word",
        "<q cite=1>",
        "<a href=b/>",
        '<a href="c"/>',
        "<TITLE >",
        "</sCript x>",
    ),
)


def found(source: str, most: int = 1000) -> PageTags:
    return tags.read(source, most)


def text(source: str) -> str:
    return found(source).text.decode()


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from([0, 1, 3, 1000]))
def test_kernel_and_reference_agree(pieces: list[str], most: int) -> None:
    source = "".join(pieces)
    assert tags.read(source, most) == tags.by_reference(source, most)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=60))
def test_kernel_and_reference_agree_on_any_text(source: str) -> None:
    assert tags.read(source, 10) == tags.by_reference(source, 10)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>one<p>two", "one\ntwo"),
        ("a <b>bold</b>word", "a boldword"),
        ("<td>1</td><td>2</td>", "1 2"),
        ("x<br>y<br/>z", "x\ny\nz"),
        ("<title>T</title><p>x", "T\nx"),
        ("  a \n\t b  ", "a b"),
        ("a&nbsp;b\u3000c", "a b c"),
        ("<script>var a = '<p>no</p>';</script>yes", "yes"),
        ("<style>p {}</style>yes", "yes"),
        ("a<!-- no <p> -->b", "ab"),
        ("1 < 2 &lt; 3 &amp; 4 &#8364; &notit; &copy 5", "1 < 2 < 3 & 4 € ¬it; © 5"),
        ("<textarea>a <b>c</textarea>", "a <b>c\n"),
        ("<noscript><p>shown</noscript>", "shown\n"),
        ("<pre>a\n  b\n</pre>c", "a\n  b\nc"),
        ("<svg><title>icon</title></svg>", "icon\n"),
        ("\x00a\x07b\x9fc", "a b c"),
        ("<p", ""),
        ('<p class="never closed', ""),
        ("<title>never closed <p>text", "never closed\ntext"),
        ("<script>never closed <p>text", ""),
        ("", ""),
    ],
)
def test_text_has_a_line_per_block(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('<a href="x">Some <b>text</b></a>', {"path": "A@/href", "url": "x", "text": "Some text"}),
        (
            "<a href=x target=_top title=T rel='nofollow ugc' hreflang=de type=text/html alt=A>y</a>",
            {
                **{"path": "A@/href", "url": "x", "target": "_top", "alt": "A", "title": "T", "rel": "nofollow ugc"},
                **{"hreflang": "de", "type": "text/html", "text": "y"},
            },
        ),
        ("<A HREF=x>y", {"path": "A@/href", "url": "x", "text": "y"}),
        ("<a href='a&amp;b&copy=1'>", {"path": "A@/href", "url": "a&b&copy=1"}),
        ("<a href=''>y</a>", {"path": "A@/href", "url": "", "text": "y"}),
        ("<a href=first href=second>y</a>", {"path": "A@/href", "url": "first", "text": "y"}),
        ("<a href=a/>y</a>", {"path": "A@/href", "url": "a/", "text": "y"}),
        ("<img src=a alt=b>", {"path": "IMG@/src", "url": "a", "alt": "b"}),
        ("<form action=/s method=post>", {"path": "FORM@/action", "url": "/s", "method": "post"}),
        ("<body background=b>", {"path": "BODY@/background", "url": "b"}),
        ("<span data-href=b>", {"path": "SPAN@/data-href", "url": "b"}),
        ("<div onclick=\"window.location='/x/y'\">", {"path": "DIV@/onclick", "url": "/x/y"}),
        ("<video poster=p>", {"path": "VIDEO@/poster", "url": "p"}),
        ("<style>a { background: url( 'i.png' ) }</style>", {"path": "STYLE/#text", "href": "i.png"}),
        ('<style>@import "a.css";</style>', {"path": "STYLE/#text", "href": "a.css"}),
    ],
)
def test_a_link_has_its_path_and_attributes(source: str, expected: dict[str, str]) -> None:
    assert found(source).links == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "<a>x</a>",
        "<a name=x>x</a>",
        "<a href>x</a>",
        "<div onclick=\"alert('x')\">",
        "<!-- <a href=x> -->",
        "<a href='x",
    ],
)
def test_other_tags_are_no_links(source: str) -> None:
    assert found(source).links == []


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("url(foo.gif)", ["foo.gif"]),
        ("url('foo.gif')", ["foo.gif"]),
        ('url("foo (1).gif")', ["foo (1).gif"]),
        ("url(\\'foo.gif\\')", ["foo.gif"]),
        ("url(''foo.gif'')", ["foo.gif"]),
        ("url('foo.gif'')", ["foo.gif"]),
        ("url(  foo.gif  )", ["foo.gif"]),
        ("url()", []),
        ("url('')", []),
        ("url('''')", []),
        ("@import 'b.css'; p { x: url(c.png) } @import url(d.css);", ["b.css", "c.png", "d.css"]),
    ],
)
def test_urls_of_a_style_sheet(style: str, expected: list[str]) -> None:
    assert [record["href"] for record in elements.of_style(style)] == expected


def test_an_anchor_ends_at_the_next_one_and_is_listed_where_it_ends() -> None:
    links = found("<a href=1>one <img src=i> <a href=2>two</a>").links
    assert [(link["url"], link.get("text")) for link in links] == [("i", None), ("1", "one"), ("2", "two")]


def test_an_anchor_has_at_most_128_characters() -> None:
    link = found(f"<a href=x>{'ä' * 200}</a>").links[0]
    assert link["text"] == "ä" * elements.ANCHOR == "ä" * 128


def test_the_head_of_a_page() -> None:
    page = found(
        "<html lang=de xml:lang=de-AT><head><meta charset=utf-8><title> A  title\n</title><base href=/b><base href=/c>"
        "<meta name=robots content=noindex><meta property='og:title' content=O><meta itemprop=x content=y>"
        "<link rel=canonical href=/x><script src=s.js type=module></script></head><body><title>other</title>"
    )
    assert (page.title, page.base) == ("A title", "/b")
    assert page.metas == [
        {"name": "HTML@/lang", "content": "de"},
        {"name": "HTML@/xml:lang", "content": "de-AT"},
        {"name": "robots", "content": "noindex"},
        {"content": "O", "property": "og:title"},
    ]
    assert page.relations == [{"path": "LINK@/href", "url": "/x", "rel": "canonical"}]
    assert page.scripts == [{"path": "SCRIPT@/src", "url": "s.js", "type": "module"}]


def test_the_title_of_a_picture_is_not_that_of_the_page() -> None:
    assert found("<body><svg><title>icon</title></svg><title>page</title>").title == "page"
    assert found("<body><svg><title>icon</title></svg>").title is None
    assert found("<title></title>").title is None


def test_most_limits_the_records_and_not_the_text() -> None:
    page = found("<meta name=a>" + "<a href=x>y</a> " * 50, 10)
    assert (len(page.metas), len(page.links)) == (1, 9)
    assert page.text.split() == [b"y"] * 50


def test_a_url_of_more_than_8_kib_is_left_out_and_another_value_is_cut() -> None:
    page = found(f"<img src=data:{'x' * 9000}><img src=i alt='{'ü' * 5000}'>")
    assert [(link["url"], len(link["alt"].encode())) for link in page.links] == [("i", elements.LONGEST)]


@pytest.mark.parametrize(
    "source",
    [
        "<title>" * 40_000,
        "<script>" * 40_000,
        "<a href=x>" * 40_000,
        "<" * 200_000,
        "&" * 200_000,
        "<!--" * 60_000,
        "<a " + "x=1 " * 60_000,
        "<textarea><" * 40_000,
        "<style>" + "url(" * 40_000,
        "<style>" + "url(" + "'" * 40_000,
        "<style>" + 'url("' * 40_000,
        "<style>" + "@import '" * 40_000,
        "<pre>" * 40_000,
    ],
)
def test_a_hostile_page_is_read_to_its_end(source: str) -> None:
    """Each would take minutes in quadratic time: the time limit of the test run ends it."""
    assert len(found(source, 100).links) <= 100


def test_random_bytes_are_read_alike() -> None:
    chance = random.Random(7)
    for _ in range(300):
        source = bytes(chance.choices(b"<>ab/=\"' &;-!\n\xc3\xa4title", k=200)).decode("utf-8", "replace")
        assert tags.read(source, 50) == tags.by_reference(source, 50)
