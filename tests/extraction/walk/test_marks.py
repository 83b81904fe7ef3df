"""The marks within blocks: where they begin and end, across blanks, other elements and blocks."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings

from tests.extraction.walk.pages import by_kernel, by_reference, written
from tests.extraction.walk.test_walk import PIECES, st
from windrow.extraction.walk import Walk
from windrow.extraction.walk.elements import MARKS


@pytest.fixture(params=[by_kernel, by_reference], ids=["kernel", "reference"])
def walked(request: pytest.FixtureRequest) -> Callable[..., Walk]:
    return lambda page, stock=False, marks=True: request.param(written(page, stock), stock, marks)


def shown(page: Walk) -> list[tuple[str, str, str]]:
    return [(MARKS[kind], page.texts[block][start:end], href) for block, start, end, kind, href in page.marks]


@pytest.mark.parametrize(
    ("page", "marks"),
    [
        ("<p>a <b>bold</b> word", [("strong", "bold", "")]),
        ("<p>a<strong> two  words </strong>b", [("strong", "two words", "")]),
        (
            "<p><i>a</i><em>b</em> <code>c</code><kbd>d</kbd>",
            [("em", "a", ""), ("em", "b", ""), ("code", "c", ""), ("code", "d", "")],
        ),
        ("<p><b>a <b>b</b> c</b>", [("strong", "a b c", "")]),
        ("<p><b></b><b> </b><b><img></b><b>\1</b>x", []),
        (
            "<p>see <a href='/x?a=1&amp;b'>the <i>page</i></a>.",
            [("em", "page", ""), ("link", "the page", "/x?a=1&amp;b")],
        ),
        ("<p><a name=x>named</a> <a href>empty</a>", [("link", "empty", "")]),
        ("<p><a href=1>one<a href=2>two</a>", [("link", "one", "1"), ("link", "two", "2")]),
        ("<a href=x><h2>Head</h2><p>Text</p></a>", [("link", "Head", "x"), ("link", "Text", "x")]),
        ("<b>a<p>b</p>c</b>d", [("strong", "a", ""), ("strong", "b", ""), ("strong", "c", "")]),
        ("<p>\1 <b>\2 a\3</b>\4b", [("strong", "a", "")]),
        ("<p>a <b>b<br>c</b> d", [("strong", "b c", "")]),
        ("<p><b>a<script></b></script>b</b>c", [("strong", "ab", "")]),
        ("<pre>x = <b>1</b>\n</pre>", [("strong", "1", "")]),
    ],
)
def test_marks_are_places_in_the_text(
    page: str, marks: list[tuple[str, str, str]], walked: Callable[..., Walk]
) -> None:
    assert shown(walked(page)) == marks


def test_marks_are_found_only_on_request_and_not_in_stock(walked: Callable[..., Walk]) -> None:
    page = "<p>a <b>bold</b> <a href=x>link</a>"
    assert walked(page, marks=False).marks == walked(page, stock=True).marks == []


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_a_mark_begins_and_ends_with_a_character(markup: str) -> None:
    page = by_kernel(markup, marks=True)
    for block, start, end, _, _ in page.marks:
        text = page.texts[block]
        assert 0 <= start < end <= len(text)
        assert " " not in (text[start], text[end - 1])
