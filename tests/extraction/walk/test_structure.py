"""The structure of blocks: its parts and numbers, which tables are tables, and that kernel and reference agree."""

import array
import functools
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extraction.walk import pages
from tests.extraction.walk.pages import written
from tests.shared import shared
from tests.spent import cpu_seconds
from windrow.extraction import walk
from windrow.extraction.evaluation import gold
from windrow.extraction.readers import html
from windrow.extraction.walk import Walk, structure
from windrow.records import Mark

Read = Callable[[Walk, bytes, int], list[str]]


def by_kernel(page: Walk, scores: bytes, least: int) -> list[str]:
    if structure._structure is None:
        pytest.skip("needs the C kernel, which was not built")
    return structure.structures(page, scores, least)


def of_all(page: Walk, read: Read) -> list[str]:
    return read(page, array.array("H", [1] * len(page.texts)).tobytes(), 1)


@pytest.fixture(params=[by_kernel, structure.reference], ids=["kernel", "reference"])
def structured(request: pytest.FixtureRequest) -> Callable[[str], dict[str, str]]:
    def read(page: str) -> dict[str, str]:
        found = walk.walk(written(page))
        return dict(zip(found.texts, of_all(found, request.param), strict=True))

    return read


TABLE = "<table><tr><th>A<th>B<tr><td>c<td>d</table>"


@pytest.mark.parametrize(
    ("page", "structures"),
    [
        ("<h1>a</h1><div><h6>b</h6></div><p>c", {"a": "h1", "b": "h6", "c": ""}),
        (
            "<ul><li>a<li><li>b</ul><ol><li>c<p>d</ol>",
            {"a": "ul:1 li:1", "b": "ul:1 li:3", "c": "ol:2 li:1", "d": "ol:2 li:1"},
        ),
        ("<ul><li>a<ol><li>b</ol>c</ul>", {"a": "ul:1 li:1", "b": "ul:1 li:1 ol:2 li:1", "c": "ul:1 li:1"}),
        ("<ul><li>a<ul><li>b</ul></li><ol><li>c</ol><li>d</ul>", {"c": "ul:1 li:1 ol:3 li:1", "d": "ul:1 li:2"}),
        ("<ul><ul><li>a</ul></ul>", {"a": "ul:2 li:1"}),
        ("<ul>a<li>b</ul><li>c", {"a": "", "b": "ul:1 li:1", "c": ""}),
        ("<menu><li>a</menu><dir><li>b</dir>", {"a": "ul:1 li:1", "b": "ul:2 li:1"}),
        (
            "<dl><dt>a<dd>b<div><dt>c<dd><p>d</div></dl>",
            {"a": "dl:1 dt:1", "b": "dl:1 dd:2", "c": "dl:1 dt:3", "d": "dl:1 dd:4"},
        ),
        ("<blockquote><p>a<ul><li>b</ul></blockquote>", {"a": "blockquote:1", "b": "blockquote:1 ul:1 li:1"}),
        (
            "<blockquote>a<blockquote>b</blockquote></blockquote>",
            {"a": "blockquote:1", "b": "blockquote:1 blockquote:2"},
        ),
        ("<ul><li><blockquote><li>a</blockquote></ul>", {"a": "ul:1 li:1 blockquote:1"}),
        ("<pre>a<div>b</div></pre><listing>c</listing>", {"a": "pre:1", "b": "pre:1", "c": "pre:2"}),
        ("<pre><ul><li>a</ul></pre><h2><ul><li>b</ul></h2>", {"a": "pre:1", "b": "h2"}),
        (
            "<figure>a<figcaption>b<p>c</figcaption></figure>",
            {"a": "figure:1", "b": "figure:1 figcaption", "c": "figure:1 figcaption"},
        ),
        ("<figcaption>a</figcaption><figure><ul><li><figcaption>b</ul></figure>", {"a": "", "b": "figure:1 ul:1 li:1"}),
        ("<ul><li><h3>a</h3><pre>b</pre></ul>", {"a": "ul:1 li:1 h3", "b": "ul:1 li:1 pre:1"}),
        (
            TABLE,
            {"A": "table:1 tr:1 th:1", "B": "table:1 tr:1 th:2", "c": "table:1 tr:2 td:1", "d": "table:1 tr:2 td:2"},
        ),
        (
            "<table><caption>a</caption><tr><td>b<td>c<tr><td>d</table>",
            {"a": "table:1 caption", "d": "table:1 tr:2 td:1"},
        ),
        (
            "<table><tr><td colspan=2>a<td>b<tbody><tr><td><td>c<p>d</table>",
            {"b": "table:1 tr:1 td:3", "d": "table:1 tr:2 td:2"},
        ),
        (f"<ol><li>{TABLE}</ol>", {"c": "ol:1 li:1 table:1 tr:2 td:1"}),
        ("<table><tr><th>A<th>B<tr><td><ul><li>c</ul><td>d</table>", {"c": "table:1 tr:2 td:1 ul:1 li:1"}),
    ],
)
def test_a_structure_has_the_elements_around_a_block(
    page: str, structures: dict[str, str], structured: Callable[[str], dict[str, str]]
) -> None:
    found = structured(page)
    assert {text: found[text] for text in structures} == structures


LONG = "A cell that holds a whole paragraph of the text, as the tables did by which pages were laid out once. " * 3


@pytest.mark.parametrize(
    "page",
    [
        "<table><tr><td>c<td>b</table>",
        "<table><tr><td>c<tr><td>b</table>",
        "<table><tr><td><td>c<tr><td><td>b</table>",
        "<table role=presentation><tr><th>A<th>B<tr><td>c<td>d</table>",
        "<table role=none><tr><th>A<th>B<tr><td>c<td>d</table>",
        "<table><tr><th>A<th>B<tr><td>c<td><h2>d</h2></table>",
        f"<table><tr><th>A<th>B<tr><td>c<td>{TABLE.replace('c', 'x')}</table>",
        f"<table><tr><td>{LONG}<td>{LONG}<tr><td>c<td>{LONG}</table>",
        "<table><tr><td><p>1<p>2<p>3<p>4<td>b<tr><td>c<td><p>1<p>2<p>3<p>4</table>",
    ],
)
def test_the_cells_of_a_layout_table_are_plain_blocks(page: str, structured: Callable[[str], dict[str, str]]) -> None:
    assert structured(page)["c"] == ""


def test_long_cells_are_cells_if_the_table_has_a_header_or_a_caption(
    structured: Callable[[str], dict[str, str]],
) -> None:
    for mark in ("<caption>A</caption><tr><td>B", "<tr><th>B"):
        found = structured(f"<table>{mark}<td>c<tr><td>{LONG}<td>{LONG}</table>")
        assert found[LONG.strip()] == "table:1 tr:2 td:2"


def test_a_table_inside_a_layout_table_is_judged_by_itself(structured: Callable[[str], dict[str, str]]) -> None:
    found = structured(f"<table><tr><td>menu<td>{TABLE}</table>")
    assert (found["menu"], found["c"]) == ("", "table:1 tr:2 td:1")


def test_numbers_are_those_of_the_page_and_not_of_the_kept_text() -> None:
    page = walk.walk(written("<ul><li>a</ul><ul><li>b<li>c</ul>"))
    for read in (by_kernel, structure.reference):
        assert read(page, array.array("H", [3, 4, 5]).tobytes(), 5) == ["", "", "ul:2 li:2"]


def test_a_very_deep_structure_is_truncated_and_the_page_is_not() -> None:
    for tags in ("<blockquote>", "<ul><li>", "<figure>", "<table><tr><td>a<td>b<tr><td>c<td>"):
        page = walk.walk(written(f"{tags}text" * 2000))
        found = of_all(page, by_kernel)
        assert found == of_all(page, structure.reference)
        assert max(len(one) for one in found) < 16 * structure.MAX_PARTS


PIECES = st.sampled_from(
    "<ul>|</ul>|<ol>|</ol>|<li>|</li>|<dl>|<dt>|<dd>|</dl>|<table>|<table role=none>|<caption>|<tr>|<td>|<td colspan=3>"
    "|<th>|</table>|<figure>|<figcaption>|</figure>|<blockquote>|</blockquote>|<pre>|</pre>|<h2>|</h2>|<menu>|</menu>"
    "|<div>|</div>|<p>|<tr><td>a<td>b|<tr><td>c<td>d|x|y|z".split("|")
)
GRAMMAR = re.compile(
    r"(?:(?:[uo]l:\d+ li:\d+|dl:\d+ d[td]:\d+|table:\d+ (?:tr:\d+ t[dh]:\d+|caption)|figure:\d+(?: figcaption)?"
    r"|blockquote:\d+|pre:\d+\Z|h[1-6]\Z)(?: (?!\Z)|\Z))*"
)


@settings(max_examples=900, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_kernel_and_reference_agree_on_any_page(page: str) -> None:
    found = walk.walk(written(page))
    structures = of_all(found, by_kernel)
    assert structures == of_all(found, structure.reference)
    assert all(GRAMMAR.fullmatch(one) for one in structures)


WHOLE = """<html><body><nav><ul><li><a href=/a>One</a><li><a href=/b>Two</a></ul></nav><main><h1>Head</h1>
<p>Some <b>bold <a href='c?d&amp;e'>link</a></b> and <code>x</code>.<br>A line<br>more</p><ol><li><p>a<p>b<li><ul><li>c
<ol><li>d</ol></ul><ul><li>e</ul></ol><dl><dt>t<dd>d<div><dt>u<dd></div></dl><table><caption>Of data</caption><thead>
<tr><th>A<th colspan=2>B<tbody><tr><td>1<td><td>3<tr><td>4<td><p>5<p>6</table><figure><table role=presentation><tr><td>x
<td>y<tr><td>z<td><pre>  if x:\n\ty\n\n</pre></table><figcaption>Legend</figcaption></figure><blockquote><p>Quoted
<pre>code\n  more<br>end</pre></blockquote></main></body></html>"""


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 999), st.integers(0, 40), st.integers(0, 999)), max_size=12))
def test_kernel_and_reference_agree_on_mutated_pages(changes: list[tuple[int, int, int]]) -> None:
    page = WHOLE
    for place, length, target in changes:  # cut a piece out and put it elsewhere
        piece, page = page[place : place + length], page[:place] + page[place + length :]
        page = page[:target] + piece * 2 + page[target:]
    found = pages.by_kernel(pages.written(page), marks=True)
    assert found == pages.by_reference(pages.written(page), marks=True)
    structures = of_all(found, by_kernel)
    assert structures == of_all(found, structure.reference)
    assert all(GRAMMAR.fullmatch(one) for one in structures)


@pytest.mark.parametrize("dataset", ["zh-web", "readability"])
def test_kernel_and_reference_agree_on_real_pages(dataset: str) -> None:
    seen = set()
    for sample in gold.samples(shared(f"extraction/{dataset}.tar.xz")):
        tree = html.read(sample.capture(), 0).tree
        assert tree is not None
        page = walk.walk(walk.markup(tree))
        structures = of_all(page, by_kernel)
        assert structures == of_all(page, structure.reference), sample.name
        assert all(GRAMMAR.fullmatch(one) for one in structures)
        seen |= {one.partition(":")[0] for one in structures}
    assert {"ul", "h2"} <= seen


HOSTILE = {
    "nested tables": lambda n: "<table><tr><td>a<td>b<tr><td>c<td>" * n,
    "cells": lambda n: "<table>" + ("<tr>" + "<td>a" * 10) * n,
    "lists": lambda n: "<ul><li>a" * n,
    "lists in lists": lambda n: "<ul>" * n + "<li>a",
    "quotations": lambda n: "<blockquote>a" * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_linear_time(name: str) -> None:
    found = [walk.walk(written(HOSTILE[name](count))) for count in (1250, 10_000)]
    for read in (by_kernel, structure.reference):
        few, many = (cpu_seconds(functools.partial(of_all, page, read)) for page in found)
        assert many < 8 * 6 * max(few, 0.002), read.__name__


def test_the_kernel_refuses_columns_that_do_not_fit() -> None:
    if structure._structure is None:
        pytest.skip("needs the C kernel, which was not built")
    page = walk.walk(written(TABLE))
    scores, tags = b"\1\0" * len(page.texts), (b"\0", ("",))
    for arguments in (
        (page.blocks, page.containers, (scores, 1), tags, (1, 1)),
        (page.blocks, page.containers[:32], (scores, 1), (structure._ROLE, structure._NAMES), (1, 1)),
        (page.blocks, page.containers, (scores[2:], 1), (structure._ROLE, structure._NAMES), (1, 1)),
        (page.blocks, page.containers, (scores, 1), (structure._ROLE, structure._NAMES[1:]), (1, 1)),
        (page.blocks, page.containers, (scores, 1), (b"\xff" * len(structure._ROLE), structure._NAMES), (1, 1)),
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            structure._structure.structures(*arguments)


def test_marks_are_ordered_and_a_link_without_a_target_is_none() -> None:
    page = walk.walk(
        written("<p>a <i><b>b</b> <a href='http://x.test/?a&amp;b'>c</a></i> <a href=''>d</a><p><b>e</b>"), marks=True
    )
    assert structure.marks(page, array.array("H", [1, 0]).tobytes(), 1) == {
        0: (Mark(2, 5, "em"), Mark(2, 3, "strong"), Mark(4, 5, "link", "http://x.test/?a&b"))
    }
