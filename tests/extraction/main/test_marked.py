"""Authors and dates in elements that a page marks for machines within its text."""

import pytest

from tests.extraction.readers.test_html import capture
from windrow.extraction.readers import html
from windrow.records import Page

HEADLINE = "<h1>A headline about the wind</h1>"


def read(body: str) -> Page:
    return html.read(capture(body), 10).page


@pytest.mark.parametrize(
    ("body", "author"),
    [
        ("<div itemprop=author><a itemprop='name' href=/x>Jane Doe</a><p>Writes about the wind.</div>", "Jane Doe"),
        ('<span itemprop="author">By Jane Doe, Senior Editor</span>', "Jane Doe"),
        ("<span itemprop=author itemscope><meta itemprop=name content='Jane Doe'></span>", "Jane Doe"),
        ("<span itemprop='author'>jane_doe77</span>", "jane_doe77"),
        (f"<span itemprop=author>{'word ' * 40}</span>", ""),
        ("<span itemprop=authority>Jane Doe</span>", ""),
        ("<span class=article-author>By Jane Doe</span>", "Jane Doe"),
        ("<span class=comment-author>Jane Doe</span>", ""),
    ],
)
def test_an_author_is_marked_near_the_headline(body: str, author: str) -> None:
    assert read(HEADLINE + body).author == author


def test_marks_far_from_the_headline_are_not_searched() -> None:
    assert read(HEADLINE + "<p>word" * 200 + "<span itemprop=author>Jane Doe</span>").author == ""
    assert read("<p>no headline<span itemprop=author>Jane Doe</span>").author == ""


@pytest.mark.parametrize(
    "body",
    [
        "<span itemprop=datePublished content=2024-05-06>on Monday</span>",
        "<span itemprop='datePublished'>6 May 2024</span>",
    ],
)
def test_a_date_is_marked_near_the_headline(body: str) -> None:
    assert read(HEADLINE + body).date == "2024-05-06"


def test_marks_inside_each_other_are_read_a_few_times_only() -> None:
    nested = "<div itemprop=author class=author>" * 300 + "word " * 100
    assert read(HEADLINE + nested).author == ""
    assert read(HEADLINE + "<h1>" * 300 + nested).author == ""
