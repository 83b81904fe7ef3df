"""Author, date and licence of a page, from meta elements, linked data, time elements and the URL; nothing raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extract.test_html import capture
from windrow.data import Page, Paragraph
from windrow.extract import html, metadata
from windrow.extract.metadata import MetadataSources

SOME_DAY = "2024-05-06"
LATER = 1_800_000_000.0  # January 2027


def read(body: str, url: str = "http://site.test/page") -> Page:
    return html.read(capture(body, url=url), 10).page


@pytest.mark.parametrize(
    "written",
    [
        *(
            "2024-05-06",
            "2024-05-06T23:59:00+02:00",
            "2024/05/06",
            "2024.5.6",
            "20240506",
            "20240506120000",
            "1714953600",
        ),
        *(
            "May 6, 2024",
            "6 May 2024",
            "6th of May 2024",
            "Published on May 6th, 2024 at noon",
            "06.05.2024",
            "6. 5. 2024",
        ),
        *("2024年5月6日", "2024年05月06日 10:20", "1714953600000"),
    ],
)
def test_a_date_is_read_in_every_common_format(written: str) -> None:
    assert metadata.day(written) == SOME_DAY


@pytest.mark.parametrize(
    "written", ["", "yesterday", "2024-13-01", "2024-02-30", "05/06/2024", "1066-10-14", "12345", "2024", "v2.0.24"]
)
def test_a_text_without_a_date_or_with_an_ambiguous_one_gives_none(written: str) -> None:
    assert metadata.day(written) == ""


def test_a_date_after_the_fetch_is_ignored() -> None:
    assert metadata.day("2030-01-01", LATER) == ""
    assert metadata.day("2030-01-01") == "2030-01-01"


@pytest.mark.parametrize(
    ("blocks", "date"),
    [
        (["h1 Headline", "- By Ann, 6 May 2024", "+ The text."], SOME_DAY),
        (["- 1 May 2021", "h1 Headline", "+ Vienna, 6 May 2024. The text."], SOME_DAY),
        (["- Today is 6 May 2024", *["- menu"] * 20, "+ The text."], ""),
        (["+ The text.", "- 6 May 2024"], ""),
        (["+ " + "A long sentence that happens to name 6 May 2024. " * 9], ""),
        (["h1 6 May 2024"], ""),
        ([], ""),
    ],
)
def test_a_date_between_headline_and_text_is_the_date_of_the_page(blocks: list[str], date: str) -> None:
    kinds = {
        "h1": ("bad", True, "html.body.h1"),
        "-": ("bad", False, "html.body.p"),
        "+": ("good", False, "html.body.p"),
    }
    found = [Paragraph(text, *kinds[kind]) for kind, text in (block.split(" ", 1) for block in blocks)]
    assert metadata.dateline(found) == date


def linked_data(**fields: object) -> str:
    return f"<script type='application/ld+json'>{json.dumps(fields)}</script>"


@pytest.mark.parametrize(
    "head",
    [
        "<meta property='article:published_time' content='2024-05-06T10:00:00Z'>",
        "<meta name=DC.date.issued content=2024-05-06>",
        "<meta itemprop=datePublished content=2024-05-06>",
        linked_data(**{"@type": "NewsArticle", "datePublished": "2024-05-06"}),
        linked_data(**{"@graph": [{"@type": "WebSite"}, {"@type": "Article", "datePublished": "2024-05-06"}]}),
        "<script type='application/ld+json'>{</script><time datetime=2024-05-06>",
        "<time datetime=2020-01-01>old</time><time pubdate datetime=2024-05-06>new</time>",
        "<time>6 May 2024</time>",
    ],
)
def test_the_date_is_found_where_authors_put_it(head: str) -> None:
    assert read(head).date == SOME_DAY


def test_the_url_gives_the_date_of_a_page_without_one() -> None:
    assert read("<p>x", "http://site.test/2024/05/06/story").date == SOME_DAY
    assert read("<meta name=date content=2023-01-01>", "http://site.test/2024/05/06/story").date == "2023-01-01"


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ("<meta name=author content='By Ann Example'>", "Ann Example"),
        ("<meta name=author content='https://site.test/ann'>", ""),
        (
            "<meta property='article:author' content='http://facebook.test/x'><a rel=author href=/ann>Ann  Example</a>",
            "Ann Example",
        ),
        (
            linked_data(**{"@type": "Article", "author": [{"name": "Ann"}, {"name": "Ben"}, {"name": "Ann"}]}),
            "Ann; Ben",
        ),
        (linked_data(**{"@type": "Article", "author": {"name": ["x"]}}), ""),
        ("<p>x", ""),
    ],
)
def test_the_author_is_a_name(head: str, author: str) -> None:
    assert read(head).author == author


def test_licences_are_absolute_and_the_first_is_the_licence() -> None:
    page = read("<link rel=license href=/terms><a rel='nofollow license' href=//cc.test/by/4.0/>CC</a><a href=x>y</a>")
    assert page.licences == ("http://cc.test/by/4.0/", "http://site.test/terms")
    assert page.licence == "http://cc.test/by/4.0/"
    assert (
        read(linked_data(**{"@type": "Article", "license": "https://cc.test/by/4.0/"})).licence
        == "https://cc.test/by/4.0/"
    )
    assert (read("<p>x").licence, read("<p>x").licences) == ("", ())


def test_metadata_is_read_only_by_extractors_of_text() -> None:
    body = "<meta name=author content=Ann><meta name=date content=2024-05-06>"
    page = html.extract(capture(body), 10)
    assert (page.author, page.date) == ("", "")


@given(
    st.lists(st.tuples(st.sampled_from(("date", "author", "license")), st.text())),
    st.lists(st.text()),
    st.lists(st.text()),
)
def test_any_sources_give_clean_lines(metas: list[tuple[str, str]], scripts: list[str], times: list[str]) -> None:
    found = metadata.read(MetadataSources(metas, scripts, times))
    assert found.author.isprintable() and found.licence.isprintable()
    assert found.date == "" or len(found.date) == 10


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.sampled_from(("@graph", "@type", "author", "datePublished", "license", "mainEntity")), JSON))
def test_any_linked_data_gives_clean_lines(thing: dict[str, object]) -> None:
    found = metadata.read(MetadataSources(scripts=[json.dumps(thing)]))
    assert found.author.isprintable() and found.licence.isprintable()


def test_linked_data_that_is_deep_or_huge_is_ignored() -> None:
    assert (
        metadata.read(MetadataSources(scripts=["[" * 100_000, '{"@graph":' * 100_000, " " * 300_000 + "{}"]))
        == metadata.Metadata()
    )
