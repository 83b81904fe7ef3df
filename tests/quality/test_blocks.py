"""The extractor `blocks` beside gold texts, held above the floors of floors.toml."""

import statistics
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.shared import shared
from windrow.extract import blocks
from windrow.extract.evaluation import evaluate, gold
from windrow.extract.evaluation.gold import Sample

FLOORS = tomllib.loads((Path(__file__).parent / "floors.toml").read_text(encoding="utf-8"))["blocks"]
WHOLE = (
    "newspaper-ds",
    "readability",
    "wcxb-dev",
    "zh-news",
    "zh-web",
)  # sets whose gold texts are whole, not passages


def samples(dataset: str, every: int = 1) -> list[Sample]:
    return list(gold.samples(shared(f"extraction/{dataset}.tar.xz")))[::every]


def f1(pages: Iterable[Sample]) -> float:
    """Mean over pages of F1 by bag of words. The model has learned from these pages: how it does on others, its training command says."""
    scores = []
    for page in pages:
        text = evaluate.text(blocks.extract(page.capture(), 0))
        scores.append(evaluate.bag(evaluate.words(page.gold, page.language), evaluate.words(text, page.language)).f1)
    return statistics.fmean(scores)


@pytest.mark.parametrize("dataset", ["readability", "zh-web"])
def test_two_small_sets_are_read_as_well_as_before(dataset: str) -> None:
    assert f1(samples(dataset)) >= FLOORS[dataset]


@pytest.mark.long
def test_all_sets_are_read_as_well_as_before() -> None:
    figures = {dataset: f1(samples(dataset)) for dataset in WHOLE}
    assert statistics.fmean(figures.values()) >= FLOORS["mean"], figures


@pytest.mark.long
def test_passages_are_told_apart_as_well_as_before() -> None:
    """trafilatura's own measure: passages that belong to the text, and that do not."""
    hits = [
        evaluate.passages(page, evaluate.text(blocks.extract(page.capture(), 0)))
        for page in samples("trafilatura-eval")
    ]
    found, missed, wrong, _ = (sum(column) for column in zip(*hits, strict=True))
    assert 2 * found / (2 * found + missed + wrong) >= FLOORS["passages"]
