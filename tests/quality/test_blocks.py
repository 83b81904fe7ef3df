"""F1 of the extractor `blocks` on gold texts is above the floors of floors.toml."""

import statistics
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.quality.sets import WHOLE, samples
from windrow.extraction.evaluation import evaluate
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.main import blocks

FLOORS = tomllib.loads((Path(__file__).parent / "floors.toml").read_text(encoding="utf-8"))["blocks"]


def f1(pages: Iterable[Sample], title: bool = False) -> float:
    """Return the mean over pages of F1 by bag of words, with or without the headline, which no model decides on.

    The model was trained on these pages; the command that trains it measures it on others.
    """
    scores = []
    for page in pages:
        text = evaluate.text(blocks.extract(page.capture(), 0, title=title))
        scores.append(evaluate.bag(evaluate.words(page.gold, page.language), evaluate.words(text, page.language)).f1)
    return statistics.fmean(scores)


@pytest.mark.parametrize("dataset", ["readability", "zh-web"])
def test_two_small_data_sets_reach_their_floors(dataset: str) -> None:
    assert f1(samples(dataset)) >= FLOORS[dataset]


@pytest.mark.parametrize("dataset", ["readability", "zh-web"])
def test_two_small_data_sets_reach_their_floors_with_the_headline(dataset: str) -> None:
    assert f1(samples(dataset), title=True) >= FLOORS[f"{dataset}_headline"]


@pytest.mark.long
def test_all_data_sets_reach_their_floors() -> None:
    figures = {dataset: f1(samples(dataset)) for dataset in WHOLE}
    assert statistics.fmean(figures.values()) >= FLOORS["mean"], figures


@pytest.mark.long
def test_passages_reach_their_floor() -> None:
    """F1 over passages that belong to the text and passages that do not, which is trafilatura's own measure."""
    hits = [
        evaluate.passages(page, evaluate.text(blocks.extract(page.capture(), 0, title=False)))
        for page in samples("trafilatura-eval")
    ]
    found, missed, wrong, _ = (sum(column) for column in zip(*hits, strict=True))
    assert 2 * found / (2 * found + missed + wrong) >= FLOORS["passages"]
