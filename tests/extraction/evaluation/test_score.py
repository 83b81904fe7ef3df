"""One extractor on one page: scores, failures, headlines, comments, and the site that a page belongs to."""

import pytest

from windrow.extraction.evaluation import score
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.score import Tool
from windrow.records import Page, Paragraph

GOLD = "The mill burned\nIt was an old mill by the river."
BODY = (
    "<h1>The mill burned</h1><p>It was an old mill by the river.</p>"
    "<div class=comments><p>I have never seen such a fire before</p><p>Me too</p></div>"
)
PAGE = Sample("1", "set", BODY.encode(), GOLD, language="en")


def says(name: str, *texts: str) -> Tool:
    return Tool(name, lambda sample, markup: Page(paragraphs=tuple(map(Paragraph, texts))))


def test_a_program_is_scored_by_the_words_of_its_good_paragraphs() -> None:
    found = score.page([says("x", *GOLD.splitlines())], PAGE)[0]
    assert (found.extractor, found.bag.f1, found.ngram.f1, found.words) == ("x", 1.0, 1.0, 11)
    assert (found.empty, found.error, found.milliseconds >= 0) == (False, False, True)


def test_a_program_that_fails_gives_an_empty_text_and_an_error() -> None:
    found = score.page([Tool("x", lambda sample, markup: None), says("y")], PAGE)
    assert [(one.empty, one.error, one.f1) for one in found] == [(True, True, 0.0), (True, False, 0.0)]


def test_headlines_of_the_gold_text_and_comments_outside_it_are_counted() -> None:
    kept, dropped = score.page([says("x", GOLD, "I have never seen such a fire before!"), says("y", "It was")], PAGE)
    assert (kept.headlines, kept.comments) == ((1, 1), (1, 1))  # "Me too" is too short for a comment
    assert (dropped.headlines, dropped.comments) == ((0, 1), (0, 1))
    other = score.page([says("x", GOLD)], Sample("1", "set", BODY.encode(), "Another text"))[0]
    assert (other.headlines, other.comments) == ((0, 0), (0, 1))


def test_every_program_reads_the_same_decoded_source_and_the_first_of_them_alternates() -> None:
    order: list[str] = []

    def reading(name: str) -> Tool:
        def read(sample: Sample, markup: str) -> Page:
            order.append(f"{name} {markup}")
            return Page()

        return Tool(name, read)

    page = Sample("1", "set", "<p>č".encode("iso-8859-2"), "", encoding="iso-8859-2")
    for number in range(3):
        assert [one.extractor for one in score.page([reading("x"), reading("y")], page, number)] == ["x", "y"]
    assert order == ["x <p>č", "y <p>č", "y <p>č", "x <p>č", "x <p>č", "y <p>č"]


def test_a_page_with_passages_only_is_scored_by_these() -> None:
    page = Sample("1", "set", b"", "mill river", partial=True, wanted=("mill", "river"), unwanted=("menu",))
    found = score.page([says("x", "by the mill, menu")], page)[0]
    assert (found.hits, found.f1) == ((1, 1, 1, 0), 0.5)


@pytest.mark.parametrize(
    ("facts", "site"),
    [
        ({"site": "mill", "url": "http://a.test/"}, "mill"),
        ({"url": "http://www.a.test/x"}, "www.a.test"),
        ({"url": "http://[::1"}, "1"),
        ({}, "1"),
    ],
)
def test_a_page_belongs_to_its_site_or_host_or_stands_alone(facts: dict[str, str], site: str) -> None:
    assert score.site(Sample("1", "set", b"", "", **facts)) == site  # type: ignore[arg-type]
