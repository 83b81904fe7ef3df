"""What a page says of itself, in meta elements, linked data, marked elements and the URL; nothing raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extraction.readers.test_html import capture
from windrow.extraction.page import metadata
from windrow.extraction.page.metadata import MetadataSources
from windrow.extraction.readers import html
from windrow.records import Page

SOME_DAY = "2024-05-06"


def read(body: str, url: str = "http://site.test/page") -> Page:
    return html.read(capture(body, url=url), 10).page


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
        (linked_data(**{"@type": "Article", "author": {"name": ["Ann Example"]}}), "Ann Example"),
        (linked_data(**{"@type": "Article", "author": {"name": [["x"]]}}), ""),
        (linked_data(**{"@type": "Article", "author": {"name": {"x": "y"}}}), ""),
        (linked_data(**{"@type": "Article", "author": {"givenName": "Ann", "familyName": "Example"}}), "Ann Example"),
        (linked_data(**{"@type": "Article", "author": {"name": "Ann O&#039;Neil"}}), "Ann O'Neil"),
        (
            linked_data(
                **{
                    "@graph": [
                        {"@type": "Article", "author": [{"@id": "#site"}, {"@id": "#ann"}, {"@id": "#none"}]},
                        {"@type": "Organization", "@id": "#site", "name": "The Site"},
                        {"@type": ["Person", "x"], "@id": "#ann", "name": "Ann Example"},
                    ]
                }
            ),
            "Ann Example",
        ),
        (linked_data(**{"@type": "Article", "author": {"@type": "Organization", "name": "The Site"}}), "The Site"),
        (
            "<meta name=citation_author content='Example, Ann'><meta name=citation_author content='Doe, Ben'>",
            "Ann Example; Ben Doe",
        ),
        ("<meta name=author content='Ann Example, MD, and Ben Doe'>", "Ann Example; Ben Doe"),
        ("<meta name=author content='Ann Example, Senior Editor'>", "Ann Example"),
        ("<meta name=author content='Smith, Jones &amp; Co'>", "Smith, Jones & Co"),
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


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("<span>Title:</span>A study of the wind", "A study of the wind"),
        ("A study <i>of the</i> w<b>in</b>d", "A study of the wind"),
        ("<div>A study</div><div>of the wind</div>", "A study of the wind"),
        ("A study of the wind<sup>87</sup><a href=x>comments</a>", "A study of the wind"),
    ],
)
def test_the_title_is_the_part_of_the_heading_that_the_page_declares(heading: str, title: str) -> None:
    assert read(f"<title>A study of the wind - Site</title><h1>{heading}</h1>").title == title


@pytest.mark.parametrize(
    ("page", "licence"),
    [
        ("<p>" + "text " * 99 + "<a href=http://creativecommons.org/licenses/by/4.0/>CC</a>", "by/4.0/"),
        ("<p>" + "text " * 99 + "<a href=//creativecommons.org/licenses/by/4.0/>CC</a>", "by/4.0/"),
        ("<a href=http://creativecommons.org/licenses/by/4.0/>CC</a><p>" + "text " * 99, ""),
        (
            "<p>" + "text " * 99 + "".join(f"<a href=http://creativecommons.org/licenses/{n}/4.0/>x</a>" for n in "ab"),
            "",
        ),
        ("<p>" + "text " * 99 + "<a href=http://creativecommons.org/about>CC</a>", ""),
    ],
)
def test_one_link_to_creative_commons_at_the_end_is_the_licence(page: str, licence: str) -> None:
    found = read(page)
    assert found.licence.endswith(licence) and bool(found.licence) == bool(licence)
    assert found.licences == ()


def test_a_page_names_its_site_summary_tags_and_picture() -> None:
    page = read(
        "<meta property=og:site_name content='The  Site |'><meta name=description content='A &amp;amp; B'>"
        "<meta name=keywords content='wind, Mill ; wind,,x'><meta property=article:tag content='Old mill, sea'>"
        "<meta property=article:tag content=mill><meta property=og:image content='/a b.png'>"
    )
    assert (page.site, page.description, page.image) == ("The Site", "A & B", "http://site.test/a%20b.png")
    assert page.tags == ("wind", "Mill", "x", "Old mill", "sea")


def test_linked_data_names_site_summary_tags_and_picture_too() -> None:
    story = {
        "@type": "Article",
        "description": "Short.",
        "keywords": ["one, two", {"name": "three"}, 4, None],
        "articleSection": "News",
        "image": [{"@id": "#picture"}],
        "publisher": {"@id": "#us"},
    }
    others = [{"@id": "#picture", "url": "http://img.test/p.jpg"}, {"@id": "#us", "name": "Us"}]
    page = read(linked_data(**{"@graph": [story, *others]}))
    assert (page.site, page.description, page.image) == ("Us", "Short.", "http://img.test/p.jpg")
    assert page.tags == ("one", "two", "three", "News")


def test_what_a_page_says_of_itself_has_limits() -> None:
    page = read(
        f"<meta name=description content='{'word ' * 900}'><meta property=og:site_name content='{'x' * 101}'>"
        f"<meta name=keywords content='{','.join(f'tag{n}' for n in range(99))},{'y' * 65}'>"
        "<meta property=og:image content='data:image/png;base64,AAAA'>"
    )
    assert len(page.description) <= 2000 and page.description.startswith("word word")
    assert len(page.tags) == 32 and (page.site, page.image) == ("", "")


def test_metadata_is_read_only_by_extractors_of_text() -> None:
    body = "<meta name=author content=Ann><meta name=date content=2024-05-06>"
    page = html.extract(capture(body), 10)
    assert (page.author, page.date) == ("", "")


NAMES = (
    *("date", "author", "license", "citation_author", "keywords", "article:tag", "og:site_name", "description"),
    *("og:image", "twitter:label1", "twitter:data1", "og:title"),
)


def check(found: metadata.Metadata) -> None:
    lines = (found.author, found.licence, found.image)
    assert all(line.isprintable() for line in lines)
    assert found.date == "" or len(found.date) == 10
    assert not any(end in line for line in (found.site, found.description, *found.tags) for end in "\r\n\t")


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.text())), st.lists(st.text()), st.lists(st.text()))
def test_any_sources_give_clean_lines(metas: list[tuple[str, str]], scripts: list[str], times: list[str]) -> None:
    check(metadata.read(MetadataSources(metas, scripts, times)))


KEYS = (
    *("@graph", "@type", "@id", "@value", "author", "creator", "name", "givenName", "publisher", "datePublished"),
    *("license", "mainEntity", "headline", "description", "keywords", "articleSection", "image", "url", "articleBody"),
)
KINDS = st.sampled_from(("Article", "Person", "Organization", "WebSite", "#a", "#b", "http://x.test/y"))
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters(codec=None)) | KINDS,
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner),
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_linked_data_gives_clean_lines(thing: dict[str, object]) -> None:
    check(metadata.read(MetadataSources(scripts=[json.dumps(thing)])))


def test_things_that_refer_to_each_other_are_not_followed_forever() -> None:
    ring = [{"@type": "Article", "@id": f"#{n}", "author": {"@id": f"#{(n + 1) % 3}"}} for n in range(3)]
    knot: dict[str, object] = {"@type": "Article", "@id": "#x", "author": {"@id": "#x"}, "image": {"@id": "#x"}}
    assert metadata.read(MetadataSources(scripts=[json.dumps([*ring, knot])])).author == ""


def test_linked_data_that_is_deep_or_huge_is_ignored() -> None:
    scripts = ["[" * 100_000, '{"@graph":' * 100_000, " " * 3_000_000 + "{}", '{"author": "Ann"}']
    assert metadata.read(MetadataSources(scripts=scripts)) == metadata.Metadata()


def test_only_the_first_of_very_many_things_are_examined() -> None:
    many = [[{"@type": "Thing", "@graph": [{}] * 20}] * 200] * 25  # 100,000 objects
    found = metadata.read(MetadataSources(scripts=[json.dumps([{"author": "Ann"}, many, {"author": "Ben"}])]))
    assert found.author == "Ann"
