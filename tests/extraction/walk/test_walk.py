"""The walk: where blocks begin and end, their columns, and that kernel and reference agree on every page."""

import dataclasses
import functools
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extraction.walk.pages import by_kernel, by_reference, written
from tests.shared import shared
from tests.spent import cpu_seconds
from windrow.extraction import walk
from windrow.extraction.evaluation import gold
from windrow.extraction.readers import html
from windrow.extraction.walk import Walk, elements, reference


@pytest.fixture(params=[by_kernel, by_reference], ids=["kernel", "reference"])
def walked(request: pytest.FixtureRequest) -> Callable[..., Walk]:
    return lambda page, stock=False: request.param(written(page, stock), stock)


def names(bits: int, of: tuple[str, ...]) -> set[str]:
    return {name for place, name in enumerate(of) if bits >> place & 1}


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ("<p>one<p>two", ["one", "two"]),
        ("<div>before<div>inside</div>after</div>", ["before", "inside", "after"]),
        ("<section>a</section><article>b<nav>c</nav></article>", ["a", "b", "c"]),
        ("<table><tr><td>a<td>b<tr><th>c</table>", ["a", "b", "c"]),
        ("one<br>two<br> <br>three<br><br><br>four", ["one two", "three", "four"]),
        ("one<br><b></b><br>two", ["one two"]),
        ("one<br></b><br>two", ["one", "two"]),
        ("one<hr>two", ["one", "two"]),
        ("<p>a<b>b</b> <i>c</i>\n<span>d</span>e", ["ab c de"]),
        ("<pre>  two\n  lines\n</pre>", ["two lines"]),
        ("a&nbsp;&nbsp;b &lt;c&gt; &amp;amp; d\u3000e\u2003f", ["a b <c> &amp; d e f"]),
        ("soft\u00adhyphen zero\u200bwidth", ["soft\u00adhyphen zero\u200bwidth"]),
        ("a<script>x</script>b<style>y</style>c<!-- > -->d<?php x ?>e", ["abcde"]),
        (
            "<p>kept<svg><text>no</text></svg><select><option>no</select><noscript>no</noscript><button>no</button>",
            ["kept"],
        ),
        ("<iframe>no</iframe><textarea>no</textarea><object>no</object><video>no</video><title>no</title>yes", ["yes"]),
        ("<div><template><p>no</p></template></div>yes", ["yes"]),
        ("<div><template shadowrootmode=open><p>yes</p></template></div>", ["yes"]),
        ("<frameset><frame src=x><noframes>no</noframes></frameset>", []),
        ("", []),
        ("\0\1 \x7f\x80", []),
        ("a\1b \2 c&#128;", ["ab c€"]),
        ("no body at all", ["no body at all"]),
    ],
)
def test_blocks_split_where_a_reader_sees_them_split(page: str, texts: list[str], walked: Callable[..., Walk]) -> None:
    assert walked(page).texts == texts


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ("<p>a<b>b</b> <i>c</i> d", ["abc d"]),
        ("<div>a<section>b</section>c</div>", ["abc"]),
        ("<div>a<form>b<input>c</form>d<button>no</button></div>", ["abcd"]),
        ("<div>a<ul><li>b<li>c</ul>d</div>", ["a", "b", "c", "d"]),
        ("<p>a<!-- x --> <!-- y -->b", ["a b"]),
        ("<p>svg <svg><text>is</text></svg> kept<noscript> and this</noscript>", ["svg is kept and this"]),
        ("<p>one<br>two<br><br>three", ["one two", "three"]),
    ],
)
def test_stock_splits_as_justext_does(page: str, texts: list[str], walked: Callable[..., Walk]) -> None:
    assert walked(page, stock=True).texts == texts


PAGE = """<html><body class="Page"><nav class="main-menu x"><ul><li><a href="/a">One</a> <a href="/b">Two</a></ul></nav>
<article id="post-1"><h2>Head <i>it</i></h2><img src=x>
<p>A line with <a href="/c">a <b>bold</b> link</a>, 3 digits… <br>more!
<p style="color:red; display : none">unseen</p>
<a href="/d"><div>card</div>tail</a> rest<a name=x>named</a></article></body></html>"""


def test_every_column_has_the_right_values(walked: Callable[..., Walk]) -> None:
    page = walked(PAGE)
    columns = zip(*map(page.column, walk.BLOCK), strict=True)
    rows = {text: dict(zip(walk.BLOCK, row, strict=True)) for text, row in zip(page.texts, columns, strict=True)}
    assert list(rows) == [
        "One Two",
        "Head it",
        "A line with a bold link, 3 digits… more!",
        "unseen",
        "card",
        "tail restnamed",
    ]
    menu, head, line = rows["One Two"], rows["Head it"], rows["A line with a bold link, 3 digits… more!"]
    assert (menu["chars"], menu["words"], menu["link_chars"], menu["links"], menu["tags"]) == (7, 2, 6, 2, 2)
    assert (walk.TAGS[menu["tag"]], menu["depth"], menu["heading"]) == ("li", 5, 0)
    assert names(menu["flags"], walk.FLAGS) == {"nav", "list"}
    assert {"nav", "content"} <= names(menu["hints"], tuple(walk.HINTS))
    assert (head["heading"], walk.TAGS[head["tag"]], names(head["flags"], walk.FLAGS)) == (
        2,
        "h2",
        {"article", "heading"},
    )
    assert (line["link_chars"], line["links"], line["tags"], line["breaks"], line["images"]) == (11, 1, 3, 1, 1)
    assert (line["stops"], line["commas"], line["digits"]) == (2, 1, 1)
    assert "hidden" in names(rows["unseen"]["flags"], walk.FLAGS)
    assert (rows["card"]["link_chars"], rows["card"]["links"]) == (4, 1)
    assert (rows["tail restnamed"]["link_chars"], rows["tail restnamed"]["links"]) == (4, 1)


def test_containers_hold_runs_of_blocks(walked: Callable[..., Walk]) -> None:
    page = walked(PAGE)
    columns = {name: page.container_column(name) for name in walk.CONTAINER}
    tags = [walk.TAGS[tag] for tag in columns["tag"]]
    assert tags == ["", "html", "body", "nav", "ul", "li", "article", "h2", "p", "p", "div"]
    assert [tags[parent] if parent >= 0 else None for parent in columns["parent"]] == [
        *(None, "", "html", "body", "nav", "ul", "body", "article", "article", "article", "article")
    ]
    assert list(zip(columns["first"], columns["end"], strict=True))[:7] == [
        (0, 6),
        (0, 6),
        (0, 6),
        (0, 1),
        (0, 1),
        (0, 1),
        (1, 6),
    ]
    assert [tags[row] for row in page.column("container")] == ["li", "h2", "p", "p", "div", "article"]
    assert names(columns["hints"][tags.index("article")], tuple(walk.HINTS)) == {"content"}
    assert page.container_column("hints")[tags.index("ul")] == 0


def test_paths_are_written_out_and_equal_paths_have_one_number(walked: Callable[..., Walk]) -> None:
    page = walked("<div><p>a<p>b</div><ul><li><span>c</span></ul>")
    first, second, third = page.column("path")
    assert first == second != third
    assert [page.paths()[number] for number in (first, third)] == ["html.body.div.p", "html.body.ul.li"]


def test_stock_paths_hold_inline_elements_too(walked: Callable[..., Walk]) -> None:
    page = walked("<main><form><span><p>a</span></main>", stock=True)
    assert page.paths()[page.column("path")[0]] == "html.body.main.span.p"


@pytest.mark.parametrize(
    ("attributes", "groups"),
    [
        ('class="ARTICLE-BODY"', {"body", "content"}),
        ('class="x" id="sidebar1"', {"side"}),
        ('role="navigation"', {"nav"}),
        ('itemprop="articleBody"', {"body", "content"}),
        ('data-class="sidebar" title=\'class="sidebar"\'', set()),
        ('class="side bar"', set()),
        ('class="İARTICLE\u212aarticle"', {"content"}),
    ],
)
def test_hints_are_found_in_class_id_role_and_itemprop(
    attributes: str, groups: set[str], walked: Callable[..., Walk]
) -> None:
    (hints,) = walked(f"<div {attributes}>text</div>").column("hints")
    assert names(hints, tuple(walk.HINTS)) == groups


@pytest.mark.parametrize("attribute", ["hidden", 'aria-hidden="true"', 'style="display:none"'])
def test_hidden_elements_are_flagged(attribute: str, walked: Callable[..., Walk]) -> None:
    seen, unseen = walked(f'<div aria-hidden="false" style="display:block">a</div><div {attribute}>b</div>').column(
        "flags"
    )
    assert [names(flags, walk.FLAGS) for flags in (seen, unseen)] == [set(), {"hidden"}]


def test_a_column_of_an_empty_page_is_empty(walked: Callable[..., Walk]) -> None:
    page = walked("")
    assert (page.texts, page.blocks, page.containers, page.column("chars"), page.paths()) == ([], b"", b"", [], [""])


def test_an_unclosed_title_does_not_swallow_the_page() -> None:
    text = "<html><head><title>My page\n<meta name=a content=b></head><body>" + "<p>A paragraph of text.</p>" * 100
    tree = html.parse(text, False)
    walk.strip(tree)
    assert walk.walk(walk.markup(tree)).texts == ["A paragraph of text."] * 100


TAGS = """<p>|</p>|<div>|</div>|<div class='post-content sidebar'>|<section id=nav hidden>|</section>|<ul><li>
</ul>|<x-y z>|<pre>|<hr>|<a href=x>|</a>|<a>|<a name=y class=menu>|<b>|</b>|<i class=meta>|</i>|<span>
</span>|<br>|<br/>|</br>|<br class=x>|<img src=x>|<img>|<h1>|</h1>|<h3>|</h3>|<table>|<tr>|<td>|</table>
<caption>|<form>|<input>|</form>|<select><option>|</select>|<button>|<svg><path/>|</svg>|<math><mi>
</math>|<script>if (a<b) x</script>|<style>p<q</style>|<title>|</title>|<textarea>|</textarea>|<noscript>
</noscript>|<iframe>|</iframe>|<template>|</template>|<xmp>|</xmp>|<template shadowrootmode=open>
<object>|</object>|<plaintext>|<frameset>|<body class=x>|</body>|</html>|<wbr>|<!-- c -->|<!-->
<!-- <p> --|<?php x ?>|<![CDATA[x]]>|<!doctype html>|<|>|</|<>|</>|<a<p>|</a<p>|<b<!--|<a <p>|<b <!-- x>
<i "=1 <x>|<div =a>|<p a=b=c>|<div style='x;display: none'>|<p aria-hidden=true>|<p É=1>|&|&amp;|&nbsp;
&lt;p&gt;|&copy;|&#1;|&#xD800;|word|Two words.|1,5!|é|日本。|ا؟|…|😀"""
SPACES = ["\0", "\1", "\x1c", "\x85", "\x9f", "\ud800", "\u00ad", "\u2028", "\u3000", " ", "\n", "\t ", "x" * 80]
STRUCTURE = """<ul>|</ul>|<ol>|<li>|</li>|<menu>|<dl>|<dt>|<dd>|<tr>|<td colspan=3>|<th>|<td colspan='99999999'>|<td>x
<tr><td>|<table role=presentation>|<table role=none>|</table>|<caption>|<figure>|<figcaption>|</figure>|<blockquote>
</blockquote>|<pre>|</pre>|<listing>|<strong>|</strong>|<em>|</em>|<code>|</code>|<kbd>|<tt>|</tt>|<a href="">
<a href='/x?a=1&amp;b="'>"""
INDENTS = ["  indented", "\n", "\n\n", "\t", "\r\n", "&#13;", "&#x2028;", "&#x85;", " a b ", "\n  \n"]
PIECES = st.sampled_from(
    [*TAGS.replace("\n", "|").split("|"), *SPACES, *STRUCTURE.replace("\n", "|").split("|"), *INDENTS]
)


@settings(max_examples=900, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.booleans(), st.booleans())
def test_kernel_and_reference_agree_on_any_page(page: str, stock: bool, marks: bool) -> None:
    markup = written(page, stock)
    assert by_kernel(markup, stock, marks) == by_reference(markup, stock, marks)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_marks_change_nothing_else(page: str) -> None:
    markup = written(page)
    assert dataclasses.replace(by_kernel(markup, marks=True), marks=[]) == by_kernel(markup)


DISAGREED = (
    "<a<title>n",
    "<p<p>t",
    "<b<!--><//><p >&",
    "<d<script>i",
    "<s<!--><!><li >>",
    "<hr><b <!-- x><a <p>t",
    "<a href>6<i<!--><//></p>a",
)


@pytest.mark.parametrize("page", DISAGREED)
def test_kernel_and_reference_agree_on_pages_on_which_they_once_differed(page: str) -> None:
    markup = written(page)
    assert by_kernel(markup, False) == by_reference(markup, False)


def test_without_the_kernel_the_walk_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [written(PAGE * count) for count in (1, 40)] + [written("<a<p>" + PAGE * 40)]
    found = [by_kernel(page, False) for page in pages]
    monkeypatch.setattr(walk, "_walk", None)
    assert [walk.walk(page) for page in pages] == found


def test_kernel_and_reference_agree_on_unknown_tags() -> None:
    name = "x-unheard-of-element"
    markup = f'<{name} class="x">a<blockquote>b</blockquote><h>c</h></{name}><!doctype><?x?>d<figcaption>e</figcaption>'
    assert by_reference(markup, False) == by_kernel(markup, False)


UNCLEAN = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=200), st.booleans())
def test_the_walk_of_any_text_gives_clean_text(markup: str, stock: bool) -> None:
    for page in (by_kernel(markup, stock), by_reference(markup, stock)):
        assert all(text and text == " ".join(text.split()) for text in page.texts)
        assert not UNCLEAN.search("".join(page.texts))
        assert page.column("chars") == [len(text) for text in page.texts]
        assert page.column("words") == [len(text.split()) for text in page.texts]
        assert all(
            0 <= first < end <= len(page.texts)
            for first, end in zip(*map(page.container_column, ("first", "end")), strict=True)
        )


@pytest.mark.parametrize("dataset", ["zh-web", "readability"])
def test_kernel_and_reference_agree_on_real_pages(dataset: str) -> None:
    for number, sample in enumerate(gold.samples(shared(f"extraction/{dataset}.tar.xz"))):
        stock = number % 2 == 1
        tree = html.read(sample.capture(), 0, stock=stock).tree
        assert tree is not None
        markup = walk.markup(tree)
        marks = number % 4 == 0
        assert by_kernel(markup, stock, marks) == by_reference(markup, stock, marks), sample.name


HOSTILE = {
    "nested": lambda n: "<div>" * n + "x",
    "nested spans with text": lambda n: "<span>a<br><br>" * n,
    "nested with text": lambda n: "<div class=post>t" * n,
    "links": lambda n: "<a href=x>y</a>" * n,
    "open links": lambda n: "<a href=x>y" * n,
    "paragraphs": lambda n: "<p>a" * n,
    "unknown tags": lambda n: "".join(f"<x{i}>a" for i in range(n)),
    "attributes": lambda n: "<p " + " ".join(f"a{i}=b" for i in range(n)) + ">x",
    "spaces in a class": lambda n: "<p class='" + "a " * n + "'>x",
    "long line": lambda n: "word " * n,
    "comments": lambda n: "<!--" * n,
    "end tags": lambda n: "</b></div>" * n,
    "tables": lambda n: "<table><tr><td>a" * n,
    "brackets": lambda n: "<" * n,
    "references": lambda n: "&amp;" * n,
    "cells": lambda n: "<table><tr>" + "<td colspan=99999999>a" * n,
    "rows": lambda n: "<table>" + "<tr><td>a" * n,
    "items": lambda n: "<ul>" + "<li>a" * n,
    "nested lists": lambda n: "<ul><li>a" * n,
    "lists in lists": lambda n: "<ol>" * n + "<li>a",
    "breaks": lambda n: "a<br>" * n,
    "code": lambda n: "<pre>" + "  a  \n\n" * n,
    "blank code": lambda n: "<pre>" + " \n" * n + "a" + " \t" * n,
    "bold": lambda n: "<b>a</b> " * n,
    "open bold": lambda n: "<b>a<p>" * n,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("stock", [False, True], ids=["plain", "stock"])
def test_hostile_pages_take_linear_time(name: str, stock: bool) -> None:
    for way, counts in ((by_kernel, (2000, 16000)), (by_reference, (1000, 8000))):
        pages = [written(HOSTILE[name](count), stock) for count in counts]
        few, many = (cpu_seconds(functools.partial(way, page, stock, marks=True)) for page in pages)
        assert many < 8 * 6 * max(few, 0.002), way.__name__


@pytest.mark.parametrize(
    ("way", "limit"),
    [
        (by_kernel, reference.MAX_BLOCKS),  # given to the kernel once, with its rules
        (by_reference, 1000),
        pytest.param(by_reference, reference.MAX_BLOCKS, marks=pytest.mark.long),
    ],
)
def test_a_page_with_too_many_blocks_is_truncated(
    way: Callable[[str], Walk], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "MAX_BLOCKS", limit)
    assert len(way("<p>a</p>" * (limit + 10)).texts) == limit


@pytest.mark.parametrize("way", [by_kernel, by_reference])
def test_a_very_deep_path_is_truncated_and_the_page_is_not(way: Callable[[str, bool], Walk]) -> None:
    page = way("<div>" * 200_000 + "x", False)
    assert (page.texts, page.column("depth")) == (["x"], [200_000])
    assert page.paths()[page.column("path")[0]].count(".") == reference.MAX_PATH - 1


def test_the_kernel_refuses_inconsistent_rules() -> None:
    if walk._walk is None:
        pytest.skip("needs the C kernel, which was not built")
    letters, following, found = elements.automaton()
    some = ([("p", 2, 8, 1, 0)], False, (100, 100, 16), (1, 2, 4), (".", ","))
    with pytest.raises(ValueError, match="do not fit together"):
        walk._walk.compile(*some, (letters, following[:-2], found))
    with pytest.raises(ValueError, match="a tag is too long"):
        walk._walk.compile([("p" * 20, 2, 8, 1, 0)], *some[1:], (letters, following, found))
    with pytest.raises(ValueError, match="a mark must be"):
        walk._walk.compile(*some[:4], ("é", ","), (letters, following, found))
    with pytest.raises(ValueError, match="PyCapsule"):
        walk._walk.scan("<p>", object(), True)


def test_a_comment_inside_a_tag_is_removed_first() -> None:
    for way in (by_kernel, by_reference):
        assert way("<p>a<b x<!-- > -->y>c</b>d</p><!-- open", False).texts == ["acd"]


def test_noscript_is_text_if_it_holds_most_of_the_page(walked: Callable[..., Walk]) -> None:
    post = "A post of a forum, with a sentence or two. " * 20
    assert walked(f"<p>Loading</p><noscript><div><p>{post}</div></noscript>").texts == ["Loading", post.strip()]
    assert walked(f"<p>{post * 3}</p><noscript><p>{post}</noscript>").texts == [(post * 3).strip()]
    assert walked("<p>Loading</p><noscript>Please allow scripts to run.</noscript>").texts == ["Loading"]
    assert walked(f"<button><noscript><p>{post}</noscript></button>seen").texts == ["seen"]


def test_a_long_noscript_is_an_article_if_the_page_does_not_show_it() -> None:
    lines = [f"Line {number} of the story tells what happened on day {number}." for number in range(60)]
    story, menu = f"<p>{'</p><p>'.join(lines)}</p>", f"<ul>{'<li>Further news of the day</li>' * 200}</ul>"
    for shown, kept in (("", True), (story, False)):
        tree = html.parse(f"<body>{menu}{shown}<noscript>{story}</noscript>", xhtml=False)
        walk.strip(tree, articles=True)
        texts = walk.walk(walk.markup(tree)).texts
        assert texts.count(lines[30]) == 1
        tree = html.parse(f"<body>{menu}{shown}<noscript>{story}</noscript>", xhtml=False)
        walk.strip(tree)
        assert walk.walk(walk.markup(tree)).texts.count(lines[30]) == (not kept)


def ordinals(page: Walk) -> list[tuple[str, int]]:
    rows = zip(page.container_column("tag"), page.container_column("ordinal"), strict=True)
    return [(walk.TAGS[tag], number) for tag, number in rows if number]


def test_items_rows_and_cells_are_numbered_with_those_that_are_empty(walked: Callable[..., Walk]) -> None:
    page = walked(
        "<ul><li><li>b<li></ul><dl><dt>t<div><dd><dd>d</div></dl><table><tr><tr><td><th colspan=2>h<td>c</table>"
    )
    assert ordinals(page) == [("li", 2), ("dt", 1), ("dd", 3), ("tr", 2), ("th", 2), ("td", 4)]


def test_an_element_outside_of_its_list_or_table_has_no_number(walked: Callable[..., Walk]) -> None:
    assert ordinals(walked("<li>a</li><div><dt>b</dt></div><ul><table><tr><td><li>c</table></ul>")) == [
        ("tr", 1),
        ("td", 1),
    ]


def test_a_list_in_a_list_has_the_number_of_the_item_before_it(walked: Callable[..., Walk]) -> None:
    page = walked("<ol><li>a</li><li>b</li><ul><li>c</li></ul><li>d</li></ol>")
    assert ordinals(page) == [("li", 1), ("li", 2), ("ul", 2), ("li", 1), ("li", 3)]


@pytest.mark.parametrize(("role", "number"), [("presentation", -1), ("none", -1), ("grid", 0), ("", 0)])
def test_a_table_that_says_that_it_is_none_is_marked(role: str, number: int, walked: Callable[..., Walk]) -> None:
    page = walked(f'<table role="{role}"><tr><td>a</table>')
    assert (
        page.container_column("ordinal")[[walk.TAGS[tag] for tag in page.container_column("tag")].index("table")]
        == number
    )


@pytest.mark.parametrize(
    ("written", "columns"),
    [
        ("3", 3),
        ("0", 1),
        ("-2", 1),
        ("x", 1),
        ("", 1),
        ("2x", 2),
        ("1000", 1000),
        ("99999999", 1000),
        ("9" * 5000, 1000),
    ],
)
def test_a_cell_counts_as_many_columns_as_a_browser_gives_it(
    written: str, columns: int, walked: Callable[..., Walk]
) -> None:
    page = walked(f'<table><tr><td colspan="{written}">a<td>b</table>')
    assert ordinals(page)[1:] == [("td", 1), ("td", 1 + columns)]


def test_numbers_do_not_grow_without_bound(walked: Callable[..., Walk]) -> None:
    page = walked("<table><tr>" + "<td colspan=1000>" * 20_000 + "<td>a</table>")
    assert ordinals(page)[1:] == [("td", reference.MAX_ORDINAL)]
