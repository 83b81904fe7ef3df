"""Relevance: how probably a page is on the topic."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.judge.focus import relevance
from windrow.judge.focus.relevance import Typical

BOTH = Typical(400.0, 0.4, 1.4)
MODEL = Typical(400.0)
PERPLEXITIES = st.floats(1.0, 1e7)
RATIOS = st.floats(0.01, 2.0)


def test_text_like_the_held_out_sample_is_on_the_topic_and_text_without_its_words_is_not() -> None:
    assert relevance.odds(400.0, 0.4, BOTH) == pytest.approx(math.exp(-2.4))
    assert relevance.odds(400.0, 1.4, BOTH) == pytest.approx(math.exp(0.6))
    assert relevance.odds(4000.0, 1.4, BOTH) == pytest.approx(math.exp(0.6) * 10**0.8)
    assert relevance.probability(1.0) == 0.5


@given(PERPLEXITIES, PERPLEXITIES, RATIOS, RATIOS)
def test_a_worse_score_never_makes_a_page_more_relevant(one: float, two: float, first: float, second: float) -> None:
    better = relevance.odds(min(one, two), min(first, second), BOTH)
    worse = relevance.odds(max(one, two), max(first, second), BOTH)
    assert better <= worse
    assert 0 < relevance.probability(worse) <= relevance.probability(better) < 1


@given(PERPLEXITIES)
def test_without_words_the_perplexity_decides_alone(perplexity: float) -> None:
    expected = max(1e-4, math.exp(1.2 * math.log(perplexity / 400) - 1.4))
    for typical, ratio in ((MODEL, None), (MODEL, 0.5), (BOTH, None)):
        assert relevance.odds(perplexity, ratio, typical) == pytest.approx(expected)


def test_scores_beyond_measure_stay_finite_numbers() -> None:
    for perplexity, ratio in ((math.inf, 2.0), (1.0, 1e-30), (1e308, 2.0)):
        assert math.isfinite(relevance.odds(perplexity, ratio, BOTH))
        assert relevance.odds(perplexity, ratio, BOTH) >= 1e-4
