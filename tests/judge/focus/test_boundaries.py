"""What is typical of a topic, measured on parts of its sample."""

import itertools

import pytest

from tests.judge.focus import subjects
from windrow.judge.focus import boundaries, model, relevance, training, weights
from windrow.judge.focus.relevance import Typical
from windrow.judge.focus.tokens import Tokeniser
from windrow.judge.focus.topic import TopicScorer
from windrow.judge.focus.weights import Background, Weigher

BACKGROUND = Background("test", neutral=frozenset("the of a and is in it to with".split()))


def test_parts_have_the_length_of_a_page_and_lose_no_word_but_the_last_ones() -> None:
    text = subjects.text("cats", 600)
    parts = boundaries.parts(text)
    sizes = [len(part.split()) for part in parts]
    assert all(boundaries.PART <= size < boundaries.PART + 20 for size in sizes)
    words = list(itertools.chain(*Tokeniser(least=1).sequences(text)))
    assert " ".join(parts).split() == words[: sum(sizes)]
    assert len(words) - sum(sizes) < boundaries.PART


def test_a_small_sample_has_shorter_parts() -> None:
    assert len(boundaries.parts(subjects.text("cats", 100))) >= 15


def test_a_part_is_scored_by_the_other_four_fifths_of_the_sample_only() -> None:
    text = subjects.text("cats", 400)
    held = boundaries.held_out(text, BACKGROUND, 5, pairs=False)
    parts = boundaries.parts(text)
    assert len(held.scores) == len(parts)
    rest = [part for place, part in enumerate(parts) if place * 5 // len(parts) != 0]
    ngrams = model.make(training.train(Tokeniser().sequences(rest)))
    weigher = Weigher(weights.make(weights.count(rest), BACKGROUND))
    assert held.scores[0] == TopicScorer(ngrams, weigher).score([parts[0]])


def test_of_a_large_sample_five_stretches_are_scored_by_all_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundaries, "_LARGE", 20)
    monkeypatch.setattr(boundaries, "_STRETCH", 2)
    text = subjects.text("cats", 600)
    parts = boundaries.parts(text)
    assert len(parts) > 20
    held = boundaries.held_out(text, BACKGROUND, 5, pairs=False)
    assert len(held.scores) == 10
    starts = [-(-fold * len(parts) // 5) for fold in range(5)]
    own = {place for start in starts for place in (start, start + 1)}
    rest = [part for place, part in enumerate(parts) if place not in own]
    weigher = Weigher(weights.make(weights.count(rest), BACKGROUND))
    scorer = TopicScorer(model.make(training.train(Tokeniser().sequences(rest))), weigher)
    assert held.scores == [scorer.score([parts[place]]) for place in sorted(own)]


def test_the_boundaries_rise_and_text_without_a_known_word_is_beyond_the_last() -> None:
    sample = subjects.text("cats", 500)
    held = boundaries.held_out(sample, BACKGROUND, 5, pairs=False)
    typical = Typical(boundaries.median([one.perplexity for one in held.scores]).value, 0.3, 1.4)
    words = Weigher(weights.make(weights.count(sample), BACKGROUND))
    scorer = TopicScorer(model.make(training.train(Tokeniser().sequences(sample))), words, typical)
    found = boundaries.propose([0.1, 0.2, 3.0], scorer, typical)
    assert found.by == "odds"
    assert 1 <= found.high < found.medium < found.cutoff
    foreign = scorer.score(["Nichts davon steht irgendwo sonst geschrieben, sagte niemand jemals dazu."])
    assert foreign.odds is not None and foreign.odds > found.cutoff


def test_boundaries_by_perplexity_lie_between_held_out_text_and_unknown_words() -> None:
    found = boundaries.propose_by("perplexity", [300.0, 350.0, 500.0], worst=4000.0)
    assert 350 < found.high < found.medium < found.cutoff < 4000


def test_an_interval_holds_its_figure_and_is_the_same_each_time() -> None:
    values = [float(value % 17) for value in range(200)]
    found = boundaries.median(values)
    assert found.low <= found.value <= found.high
    assert found.size == 200
    assert boundaries.median(values) == found
    assert boundaries.median([5.0]) == boundaries.Interval(5.0, 5.0, 5.0, 1)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.0), (0.75, 2.5), (1.0, 3.0)])
def test_quantiles_are_interpolated(share: float, expected: float) -> None:
    assert boundaries.quantile([3.0, 1.0, 2.0], share) == expected


def test_relevance_separates_pages_of_the_subject_from_pages_of_others() -> None:
    sample = subjects.text("cats", 600)
    held = boundaries.held_out(sample, BACKGROUND, 5, pairs=False)
    counts = weights.count(sample)
    words = weights.make(counts, BACKGROUND)
    ratio = boundaries.median([one.ratio for one in held.scores if one.ratio]).value
    perplexity = boundaries.median([one.perplexity for one in held.scores]).value
    typical = Typical(perplexity, ratio, weights.worst(counts, words, BACKGROUND))
    scorer = TopicScorer(model.make(training.train(Tokeniser().sequences(sample))), Weigher(words), typical)
    own = [scorer.score(subjects.text("cats", 20, seed)).relevance or 0.0 for seed in range(5, 25)]
    others = [scorer.score(subjects.text("ships", 20, seed)).relevance or 0.0 for seed in range(5, 25)]
    assert min(own) > max(others)
    assert relevance.odds(perplexity, ratio, typical) < 1
