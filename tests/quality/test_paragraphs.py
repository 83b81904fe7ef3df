"""Agreement of `paragraphs` with jusText, and its F1 on gold texts, are above the floors of floors.toml."""

import statistics
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.quality.agreement import FIVE_HUNDRED, agreement
from tests.quality.sets import WHOLE, samples
from windrow import config
from windrow.extraction.evaluation import evaluate
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.main import justext

FLOORS = tomllib.loads((Path(__file__).parent / "floors.toml").read_text(encoding="utf-8"))["paragraphs"]


def f1(pages: Iterable[Sample], preset: str) -> float:
    """Return the mean over pages of F1 by bag of words."""
    scores = []
    for page in pages:
        options = config.ParagraphsOptions(preset=preset, language=page.language)
        found = justext.extract(page.capture(), 0, options=options).paragraphs
        text = "\n".join(one.text for one in found if one.kind == "good")
        scores.append(evaluate.bag(evaluate.words(page.gold, page.language), evaluate.words(text, page.language)).f1)
    return statistics.fmean(scores)


@pytest.mark.parametrize("preset", ["stock", "tuned"])
def test_two_small_data_sets_reach_their_floors(preset: str) -> None:
    assert f1(samples("zh-web"), preset) >= FLOORS[f"{preset}_zh-web"]
    assert f1(samples("readability"), preset) >= FLOORS[f"{preset}_readability"]


def test_decisions_on_two_small_data_sets_agree_with_justext() -> None:
    same, every = agreement([*samples("zh-web"), *samples("readability")], pytest.importorskip("justext"))
    assert same / every >= FLOORS["agreement"]


@pytest.mark.long
def test_decisions_on_five_hundred_pages_agree_with_justext() -> None:
    pages = [page for dataset, every in FIVE_HUNDRED.items() for page in samples(dataset, every)]
    assert len(pages) >= 500
    same, every = agreement(pages, pytest.importorskip("justext"))
    assert same / every >= FLOORS["agreement"]


@pytest.mark.long
@pytest.mark.parametrize("preset", ["stock", "tuned"])
def test_all_data_sets_reach_their_floors(preset: str) -> None:
    figures = {dataset: f1(samples(dataset), preset) for dataset in WHOLE}
    assert statistics.fmean(figures.values()) >= FLOORS[f"{preset}_mean"], figures
