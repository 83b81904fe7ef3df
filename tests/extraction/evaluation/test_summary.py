"""Rows of an evaluation: equal weight of data sets, groups, differences page by page, and facts."""

import pytest

from windrow.extraction.evaluation import score, summary
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.score import PageScore, Tool
from windrow.extraction.evaluation.summary import ScoreRow
from windrow.records import Page, Paragraph


def sample(name: str, dataset: str, gold: str, **facts: object) -> Sample:
    return Sample(name, dataset, b"", gold, **{"language": "en", "kind": "article", **facts})  # type: ignore[arg-type]


def says(text: str, name: str = "x") -> Tool:
    return Tool(name, lambda sample, markup: Page(paragraphs=(Paragraph(text),)))


def scored(samples: list[Sample], *tools: Tool) -> list[list[PageScore]]:
    return [score.page(tools, one) for one in samples]


def by_group(rows: list[ScoreRow], extractor: str = "x") -> dict[tuple[str, str], ScoreRow]:
    return {(row.group, row.value): row for row in rows if row.extractor == extractor}


def test_every_data_set_has_the_same_weight_and_groups_are_means_over_pages() -> None:
    samples = [sample("1", "big", "a"), sample("2", "big", "a"), sample("3", "small", "b", language="de", kind="forum")]
    rows = summary.rows(scored(samples, says("a")))
    assert {place: (row.pages, row.sites, row.scores.f1.value) for place, row in by_group(rows).items()} == {
        ("all", ""): (3, 3, 0.5),
        ("dataset", "big"): (2, 2, 1.0),
        ("dataset", "small"): (1, 1, 0.0),
        ("kind", "article"): (2, 2, 1.0),
        ("kind", "forum"): (1, 1, 0.0),
        ("language", "de"): (1, 1, 0.0),
        ("language", "en"): (2, 2, 1.0),
        ("length", "under 100"): (3, 3, pytest.approx(2 / 3)),
    }
    assert all(row.mean_ms >= 0 and row.empty == row.errors == 0 for row in rows)


def test_a_set_of_passages_is_measured_by_passages_and_left_out_of_the_mean() -> None:
    passages = sample("1", "passages", "", partial=True, wanted=("the first", "the last"), unwanted=("menu",))
    rows = by_group(summary.rows(scored([passages, sample("2", "whole", "the first menu")], says("the  first\nmenu"))))
    found = rows["dataset", "passages"]
    assert (found.passages, found.scores.precision.value, found.scores.f1.value) == (True, 0.5, 0.5)
    assert rows["all", ""].scores.f1.value == 1.0
    assert rows["kind", "article"].pages == 1


def test_passages_alone_are_measured_too_and_none_found_is_zero() -> None:
    page = sample("1", "passages", "", partial=True, wanted=("first",), unwanted=("menu",))
    found = by_group(summary.rows(scored([page], says("nothing of it"))))["all", ""]
    assert (found.scores.precision.value, found.scores.recall.value, found.scores.f1.value) == (0.0, 0.0, 0.0)


def test_the_difference_of_two_programs_is_taken_page_by_page() -> None:
    """One program is always a little better: the difference is more certain than the means."""
    samples = [sample(str(number), "set", "w " * (number + 1) + "end") for number in range(30)]
    rows = summary.rows(scored(samples, says("w end", "better"), says("w", "worse")))
    worse = by_group(rows, "worse")["all", ""]
    better = by_group(rows, "better")["all", ""]
    assert better.ahead is None and worse.ahead is not None
    difference = worse.ahead.f1
    assert difference.value == pytest.approx(better.scores.f1.value - worse.scores.f1.value)
    assert difference.low is not None and difference.low > 0
    assert difference.margin is not None and worse.scores.f1.margin is not None
    assert difference.margin < worse.scores.f1.margin


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (0, "under 100"),
        (99, "under 100"),
        (100, "100 to 199"),
        (999, "500 to 999"),
        (1000, "1000 to 2999"),
        (3000, "3000 and more"),
    ],
)
def test_the_length_of_the_gold_text_has_six_classes(words: int, value: str) -> None:
    assert summary.length(words) == value


def test_facts_are_counted_where_they_are_known() -> None:
    samples = [
        sample("1", "set", "", title="The mill"),
        sample("2", "set", "", title="Another"),
        sample("3", "set", "", title=""),
        sample("4", "set", ""),
    ]
    given = Tool("x", lambda sample, markup: Page(title="The mill"), has_facts=True)
    none = Tool("y", lambda sample, markup: Page(), has_facts=True)
    rows = {row.extractor: row for row in summary.facts(scored(samples, given, none, says("", "z")))}
    assert list(rows) == ["x", "y"]
    found, empty = rows["x"], rows["y"]
    assert (found.fact, found.pages, found.exact.value, found.given, found.right_where_given) == (
        *("title", 2, 0.5, 2),
        0.5,
    )
    assert (found.without, found.invented, found.missing) == (1, 1, 0)
    assert (empty.exact.value, empty.missing, empty.invented, empty.right_where_given) == (0.0, 2, 0, 0.0)


def test_no_pages_give_no_rows() -> None:
    assert summary.rows([]) == [] == summary.facts([])
