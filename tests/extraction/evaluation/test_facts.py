"""Title, author and date against those that a person has written down."""

import pytest

from windrow.extraction.evaluation import facts, score
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.score import Tool
from windrow.records import Page


@pytest.mark.parametrize(
    ("name", "gold", "found", "exact", "f1"),
    [
        ("title", "The Mill  burned", "the mill: burned!", True, 1.0),
        ("title", "The mill", "mill the", False, 1.0),
        ("title", "The mill", "The mill - News", False, 0.8),
        ("title", "The mill", "", False, 0.0),
        ("author", "Ann Lee, Bo Ek", "Bo Ek; Ann Lee", True, 1.0),
        ("author", "", "", True, 1.0),
        ("author", "", "Admin", False, 0.0),
        ("date", "2024-05-06", "2024-05-06", True, 1.0),
        ("date", "2024-05", "2024-05-06", True, 0.8),
        ("date", "2024-05-06", "2024-05", False, 0.8),
        ("date", "2024-05-06", "2024-05-07", False, 2 / 3),
    ],
)
def test_words_are_compared_without_case_and_punctuation(
    name: str, gold: str, found: str, exact: bool, f1: float
) -> None:
    sample = Sample("1", "set", b"", "", **{name: gold})  # type: ignore[arg-type]
    one = facts.scores(sample, Page(**{name: found}))[0]  # type: ignore[arg-type]
    assert (one.fact, one.exact, one.given, one.wanted) == (name, exact, bool(found), bool(gold))
    assert one.f1 == pytest.approx(f1)


def test_a_fact_that_is_not_known_is_not_scored() -> None:
    sample = Sample("1", "set", b"", "", title="x")
    assert [one.fact for one in facts.scores(sample, Page(author="y"))] == ["title"]
    assert facts.known(sample) and not facts.known(Sample("1", "set", b"", ""))


def test_facts_that_need_another_call_are_requested_only_where_they_are_known() -> None:
    calls = []

    def title(sample: Sample, markup: str) -> Page:
        calls.append(sample.name)
        return Page(title="The mill")

    tool = Tool("x", lambda sample, markup: Page(), facts=title, has_facts=True)
    without = Tool("y", lambda sample, markup: Page(title="The mill"))
    known, unknown = Sample("1", "set", b"", "", title="The mill"), Sample("2", "set", b"", "")
    assert [one.exact for one in score.page([tool], known)[0].facts] == [True]
    assert score.page([tool], unknown)[0].facts == () == score.page([without], known)[0].facts
    assert calls == ["1"]
