"""The extractor `paragraphs` beside jusText and beside gold texts, held above the floors of floors.toml."""

import statistics
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.shared import shared
from windrow import config
from windrow.extract import evaluate, gold, paragraphs, stoplists
from windrow.extract.gold import Sample

FLOORS = tomllib.loads((Path(__file__).parent / "floors.toml").read_text(encoding="utf-8"))["paragraphs"]
WHOLE = ("newspaper-ds", "readability", "wcxb-dev", "zh-news", "zh-web")  # sets whose gold texts are whole, not passages
Decisions = dict[str, list[bool]]  # by text without blanks: whether each paragraph with it is good


def samples(dataset: str, every: int = 1) -> list[Sample]:
    return list(gold.samples(shared(f"extraction/{dataset}.tar.xz")))[::every]


def f1(pages: Iterable[Sample], preset: str) -> float:
    """Mean over pages of F1 by bag of words."""
    scores = []
    for page in pages:
        options = config.Paragraphs(preset=preset, language=page.language)
        found = paragraphs.extract(page.capture(), 0, options=options).paragraphs
        text = "\n".join(one.text for one in found if one.kind == "good")
        scores.append(evaluate.bag(evaluate.words(page.gold, page.language), evaluate.words(text, page.language)).f1)
    return statistics.fmean(scores)


def ours(page: Sample) -> Decisions:
    decisions: Decisions = defaultdict(list)
    for one in paragraphs.extract(page.capture(), 0, options=config.Paragraphs(preset="stock", language=page.language)).paragraphs:
        decisions["".join(one.text.split())].append(one.kind == "good")
    return decisions


def theirs(page: Sample) -> Decisions:
    """jusText's, with its own list; without stop words where it has none for the language, as its manual advises."""
    justext = pytest.importorskip("justext")
    names = {code: name for code, _, name in stoplists.languages()}
    name = names.get(stoplists.code(page.language))
    text = page.body.decode(page.encoding or "utf-8", "replace")
    options = {} if name else {"stopwords_low": 0, "stopwords_high": 0}
    decisions: Decisions = defaultdict(list)
    for one in justext.justext(text, justext.get_stoplist(name) if name else frozenset(), **options):
        decisions["".join(one.text.split())].append(not one.is_boilerplate)
    return decisions


def agreement(pages: Iterable[Sample]) -> float:
    """Share of jusText's paragraphs that we have too and call the same."""
    same = every = 0
    for page in pages:
        own = ours(page)
        for text, decisions in theirs(page).items():
            every += len(decisions)
            same += sum(one == other for one, other in zip(decisions, own.get(text, []), strict=False))
    return same / every


@pytest.mark.parametrize("preset", ["stock", "tuned"])
def test_two_small_sets_are_read_as_well_as_before(preset: str) -> None:
    assert f1(samples("zh-web"), preset) >= FLOORS[f"{preset}_zh-web"]
    assert f1(samples("readability"), preset) >= FLOORS[f"{preset}_readability"]


def test_the_decisions_on_two_small_sets_are_those_of_justext() -> None:
    assert agreement([*samples("zh-web"), *samples("readability")]) >= FLOORS["agreement"]


@pytest.mark.long
def test_the_decisions_on_five_hundred_pages_are_those_of_justext() -> None:
    datasets = {"newspaper-ds": 5, "readability": 2, "trafilatura-eval": 8, "wcxb-dev": 10, "zh-news": 12, "zh-web": 2}
    pages = [page for dataset, every in datasets.items() for page in samples(dataset, every)]
    assert len(pages) >= 500
    assert agreement(pages) >= FLOORS["agreement"]


@pytest.mark.long
@pytest.mark.parametrize("preset", ["stock", "tuned"])
def test_all_sets_are_read_as_well_as_before(preset: str) -> None:
    figures = {dataset: f1(samples(dataset), preset) for dataset in WHOLE}
    assert statistics.fmean(figures.values()) >= FLOORS[f"{preset}_mean"], figures
