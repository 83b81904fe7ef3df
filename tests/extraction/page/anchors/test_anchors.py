"""What a page says of its links: anchor, context and language; and that kernel and reference agree on every page."""

import functools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extraction.walk.pages import written
from tests.shared import shared
from tests.spent import cpu_seconds
from windrow.extraction.evaluation import gold
from windrow.extraction.page import anchors
from windrow.extraction.page.anchors import Description, reference
from windrow.extraction.readers import html

Describe = Callable[[str, int], dict[str, Description]]


def by_kernel(markup: str, most: int = 10_000) -> dict[str, Description]:
    if anchors._anchors is None:
        pytest.skip("needs the C kernel, which was not built")
    return anchors.describe(markup, most)


def by_reference(markup: str, most: int = 10_000) -> dict[str, Description]:
    return reference.describe(markup, most)


@pytest.fixture(params=[by_kernel, by_reference], ids=["kernel", "reference"])
def describe(request: pytest.FixtureRequest) -> Callable[[str], dict[str, Description]]:
    return lambda page: request.param(written(page))


Of = Callable[[str], dict[str, Description]]


@pytest.mark.parametrize(
    ("page", "anchor"),
    [
        ("<a href=x> some\n <b>te</b>xt&nbsp;&amp; more </a>", "some text & more"),
        ("<a href=x><h3>Title</h3><p>Teaser</p></a>", "Title Teaser"),
        ("<a href=x>" + "long " * 100 + "</a>", ("long " * 26)[:128].rstrip()),
        ("<a href=x title=Title aria-label=Label><img alt=''><img alt=' A  &quot;picture&quot; '></a>", 'A "picture"'),
        ("<a href=x title=Title aria-label=Label><img></a>", "Title"),
        ("<a href=x title=' ' aria-label=Label><i class=icon></i></a>", "Label"),
        ("<a href=x title=Title>text<img alt=picture></a>", "text"),
        ("<a href=x></a>", ""),
        ("<a href=x>not closed", "not closed"),
        ("<a href=x>one<a href=y>two</a>", "one"),
        ("<a href=x><img src=a></a><p><a href=x#part>Named</a><a href=x>again</a>", "Named"),
        ("<a href=x>first</a><a href=x>second</a>", "first"),
        ("<a href=x>ça 漢字 😀</a>", "ça 漢字 😀"),
    ],
)
def test_the_anchor_is_the_text_of_the_link_or_what_stands_for_it(page: str, anchor: str, describe: Of) -> None:
    assert describe(page)["x"][0] == anchor


@pytest.mark.parametrize(
    ("page", "context"),
    [
        ("<p>before it <a href=x>anchor</a> and behind", "before it and behind"),
        ("<p>other block<p>own <b>block</b> <a href=x>anchor</a>, yes<p>other block", "own block , yes"),
        ("<p>" + "before " * 50 + "<a href=x>anchor</a> " + "behind " * 50, "before " * 14 + ("behind " * 14).rstrip()),
        ("<p>" + "漢" * 300 + "<a href=x>字</a>" + "字" * 300, "漢" * 100 + " " + "字" * 100),
        ("<ul><li><a href=x>anchor</a><p>teaser of it</p><li>other item</ul>", "teaser of it"),
        ("<table><tr><td>2024<td><a href=x>anchor</a><td>a row<tr><td>other row</table>", "2024 a row"),
        ("<article><h3><a href=x>anchor</a></h3><p>teaser of it</p></article>", "teaser of it"),
        ("<h1>Site</h1><h2>The <i>birds</i></h2><ul><li><a href=y>one</a><li>• <a href=x>two</a></ul>", "The birds"),
        (
            "<h2>Above</h2><h3><a href=x>anchor</a></h3><div></div><p>what follows the heading",
            "what follows the heading",
        ),
        ("<h2><a href=x>anchor</a></h2><h3>another heading</h3>", ""),
        ("<dl><dt><a href=x>term</a><dd>what it means</dl>", "what it means"),
        ("<dl><dt>a term<dd><a href=x>anchor</a></dl>", "a term"),
        ("<h2>" + "word " * 100 + "</h2><p><a href=x>anchor</a>", ("word " * 40).rstrip()),
        ("<div><a href=x>alone</a> | </div>", ""),
        ("<p>text before<br><a href=x><img></a><br>text behind", "text before text behind"),
        ("<p>plain <a href=x>one</a> between <a href=y>two</a> end", "plain between two end"),
    ],
)
def test_the_context_is_the_text_around_the_link_that_belongs_to_it(page: str, context: str, describe: Of) -> None:
    assert describe(page)["x"][1] == context


@pytest.mark.parametrize(
    ("page", "language"),
    [
        ("<html lang=en><a href=x hreflang=de-AT>", "de-AT"),
        ("<html lang=en><a href=x hreflang=en>", "en"),
        ("<html lang=en><a href=x lang=fr>", "fr"),
        ("<html lang=en><div lang=fr><p><a href=x></a></div>", "fr"),
        ("<html lang=en><div lang=fr><p>a</div><a href=x>", ""),
        ("<html lang=en><div lang=fr><p lang=EN-us><a href=x></a>", ""),
        ("<html lang=en-GB><div lang=en><a href=x hreflang=' '></a>", ""),
        ("<div lang=fr><br><img><input><a href=x></a>", "fr"),
        ("<div lang=fr></div><a href=x></a>", ""),
        ("<a href=x hreflang='a language with a long name'>", "a language w"),
    ],
)
def test_the_language_is_that_of_the_target_or_of_the_words_around_the_link(
    page: str, language: str, describe: Of
) -> None:
    assert describe(page)["x"][2] == language


def test_links_are_found_by_their_hrefs_without_fragments_and_only_so_many(describe: Of) -> None:
    page = "<a href='a?b=1&amp;c=&quot;#x'>1</a><a href=#top>2</a><a name=y>3</a><a href=''>4</a><a href=é>5</a>"
    assert {href: anchor for href, (anchor, _, _) in describe(page).items()} == {'a?b=1&c="': "1", "": "2", "é": "5"}
    many = written("".join(f"<a href={number}>x</a>" for number in range(50)))
    assert list(by_kernel(many, 7)) == list(by_reference(many, 7)) == list("0123456")


def test_without_the_kernel_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    markup = written("<h2>Above<ul><li><a href=x>one</a><li><a href=y>two</a> behind")
    found = by_kernel(markup)
    monkeypatch.setattr(anchors, "_anchors", None)
    assert anchors.describe(markup, 10_000) == found


PIECES = st.sampled_from(
    [
        *('<a href="x">', '<a href="y#f" title="T &amp; x">', '<a aria-label="L" hreflang="EN  x" href="z?a&amp;b">'),
        *('<a href="">', '<a name="q">', "</a>", "<p>", "</p>", "<h2>", "</h2>", "<li>", "</li>", "<tr>", "</tr>"),
        *("<td>", "</td>", "<article>", "</article>", "<dt>", "</dt>", "<hr>", "<br>", '<img alt="Alt">', "<img>"),
        *(
            '<html lang="en">',
            '<div lang="EN-us">',
            '<div lang="de">',
            '<i lang="äB_x">',
            '<html lang=" ÄB">',
            "</div>",
        ),
        *("<!--", "-->", "<!-- c -->", "<!DOCTYPE html>", "</", "<", ">", "&", '"', ' lang="', ' href="', "<x"),
        *("&amp;", "&nbsp;", "&lt;", "&quot;", "word ", "другой ", "漢字漢字", "😀", "x" * 60 + " ", "a" * 130, "•"),
        *("\x85", "\u2003", "\x1f", "\ud800", " ", "long words here again and more words to come "),
    ]
)


@settings(max_examples=1000, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=200), st.sampled_from([0, 1, 3, 100]))
def test_kernel_and_reference_agree_on_any_text(markup: str, most: int) -> None:
    assert list(by_kernel(markup, most).items()) == list(by_reference(markup, most).items())


@pytest.mark.parametrize("dataset", ["zh-web", "readability"])
def test_kernel_and_reference_agree_on_real_pages(dataset: str) -> None:
    for sample in gold.samples(shared(f"extraction/{dataset}.tar.xz")):
        markup = html.read(sample.capture(), 10_000, known=()).markup
        assert by_kernel(markup) == by_reference(markup), sample.name


HOSTILE = {
    "links in one block": lambda n: "<p>" + "".join(f"some words <a href={i}>y</a> " for i in range(n)),
    "links in one block of long text": lambda n: (
        "<p>" + "".join(f"{'w' * 100} <a href={i}>y</a> " for i in range(n // 4)) + "x" * 40 * n
    ),
    "links in nested blocks": lambda n: "".join(f"<div><a href={i}>y</a>" for i in range(n)),
    "links in nested items": lambda n: "".join(f"<ul><li><a href={i}>y</a>" for i in range(n)),
    "links in headings": lambda n: "".join(f"<h2><a href={i}>y</a></h2><div>" for i in range(n)),
    "links in nested languages": lambda n: "".join(f"<div lang=d{i}><a href={i}>y</a>" for i in range(n)),
    "the same link": lambda n: "<a href=x><img></a>" * n,
    "images in a link": lambda n: "<a href=x>" + "<img alt=' '>" * n,
    "open links": lambda n: "<a href=x>y" * n,
    "a long href": lambda n: "<a href='" + "&amp;x" * n + "'>y",
    "attributes": lambda n: "<a " + " ".join(f"a{i}=b" for i in range(n)) + " href=x>y",
    "comments": lambda n: "<!--" * n,
    "brackets": lambda n: "<" * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_linear_time(name: str) -> None:
    for way, counts in ((by_kernel, (2000, 16000)), (by_reference, (1000, 8000))):
        pages = [written(HOSTILE[name](count)) for count in counts]
        few, many = (cpu_seconds(functools.partial(way, page, 100_000)) for page in pages)
        assert many < 8 * 6 * max(few, 0.002), way.__name__


def test_the_kernel_refuses_wrong_input() -> None:
    if anchors._anchors is None:
        pytest.skip("needs the C kernel, which was not built")
    limits = (128, 100, 12, 8)
    with pytest.raises(ValueError, match="a tag is empty or too long"):
        anchors._anchors.compile([("p" * 20, 1)], limits)
    with pytest.raises(ValueError, match="a tag is empty or too long"):
        anchors._anchors.compile([("", 1)], limits)
    with pytest.raises(ValueError, match="PyCapsule"):
        anchors._anchors.describe("", object(), 1)
