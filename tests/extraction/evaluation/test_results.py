"""The table of an evaluation fits on a hundred columns, with all programs in one row as long as they fit."""

import re

import pytest

from windrow.extraction.evaluation import PEERS, results, score, summary
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.results import Evaluation, Version
from windrow.extraction.evaluation.score import Tool
from windrow.records import Page, Paragraph


def evaluation(names: list[str], **facts: object) -> Evaluation:
    texts = ["a b c d", "a b c", "a b", "a"]
    tools = [
        Tool(
            name,
            lambda sample, markup, number=number: Page(  # type: ignore[misc]
                paragraphs=(Paragraph(texts[number % 4]),), title="The mill"
            ),
            "1.0",
            has_facts=number < 2,
        )
        for number, name in enumerate(names)
    ]
    pages = [
        Sample(
            str(number),
            "trafilatura-eval" if number % 3 else "a-very-long-name-of-a-data-set",
            b"",
            "a b c d " * (number % 4 + 1),
            language="en" if number else "de",
            kind="article",
            **facts,  # type: ignore[arg-type]
        )
        for number in range(24)
    ]
    scores = [score.page(tools, page) for page in pages]
    rows, known = summary.rows(scores), summary.facts(scores)
    return Evaluation([Version(name, "1.0") for name in names], len(pages), rows, known)


@pytest.mark.parametrize("count", [1, 2, 8, 20])
def test_no_line_is_longer_than_a_hundred_columns(count: int) -> None:
    names = ["blocks", *PEERS, *(f"other.program:number_{number}" for number in range(20))][:count]
    lines = results.text(evaluation(names, title="The mill")).splitlines()
    assert max(map(len, lines)) <= results.WIDTH
    assert all(any(name[:16] in line for line in lines) for name in names)
    assert any(line.startswith("title") for line in lines)


def test_ours_and_all_peers_stand_in_one_row() -> None:
    lines = results.text(evaluation(["blocks", *PEERS])).splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("data set"))
    heads = " ".join(lines[place - 1 : place + 1])
    assert all(name in heads for name in ("blocks", *PEERS))
    assert sum(line.startswith("data set") for line in lines) == 1


def test_a_figure_has_its_margin_and_the_difference_its_sign() -> None:
    lines = results.text(evaluation(["blocks", "other"])).splitlines()
    assert re.search(r" \+\S+±\S+ ", lines[3]) and not re.search(r" \+", lines[2])
    assert any(line.split()[:1] == ["ahead"] and "+" in line and "±" in line for line in lines)
    assert "1 language with fewer than 10 pages: de" in lines
    assert "blocks 1.0" in lines[2]


def test_languages_with_few_pages_are_shown_if_there_are_no_others() -> None:
    found = evaluation(["blocks"])
    few = [row for row in found.rows if row.value != "en"]
    assert any(line.startswith("de ") for line in results.text(Evaluation(found.tools, 1, few, [])).splitlines())
