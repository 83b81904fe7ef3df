"""Training: every figure equals that of the formulas, computed in plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.judge.focus.plain import PlainModel, sizes
from windrow.config import ConfigError
from windrow.judge.focus import model, query, training
from windrow.judge.focus.tables import NgramTables

WORDS = st.sampled_from("a b c d e f g".split())
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=40)


def ngrams(tables: NgramTables, order: int) -> dict[tuple[str, ...], tuple[float, float]]:
    level = tables.levels[order - 1]
    names = [tuple(tables.words[number] for number in row) for row in tables.rows(order).tolist()]
    return dict(zip(names, zip(level.log10.tolist(), level.backoff.tolist(), strict=True), strict=True))


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(1, 6))
def test_ngrams_and_probabilities_are_those_of_the_formulas(text: list[list[str]], order: int) -> None:
    tables = training.train(text, order, deduplicate=False)
    plain = PlainModel(text, tables.order)
    assert [len(level) for level in tables.levels] == sizes(plain)
    for size in range(1, tables.order + 1):
        found = ngrams(tables, size)
        for ngram, (log10, backoff) in found.items():
            if ngram != ("<s>",):
                assert log10 == pytest.approx(math.log10(plain.probability(ngram[-1], ngram[:-1])), abs=1e-6)
            if size < tables.order:
                assert backoff == pytest.approx(math.log10(max(1e-99, plain.backoff(ngram))), abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(1, 5), st.lists(st.sampled_from("a b c d h".split()), min_size=1, max_size=9))
def test_scores_are_those_of_the_formulas_also_for_unseen_text(
    text: list[list[str]], order: int, words: list[str]
) -> None:
    tables = training.train(text, order, deduplicate=False)
    plain = PlainModel(text, tables.order)
    found = model.make(tables).log10(words)
    assert [row[0] for row in found] == pytest.approx(plain.log10(words), abs=1e-5)
    assert [row[2] for row in found] == [word not in plain.vocabulary for word in words] + [False]


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(1, 4))
def test_the_probabilities_after_each_context_sum_to_one(text: list[list[str]], order: int) -> None:
    tables = training.train(text, order)
    scorer = model.make(tables)
    words = [number for number, word in enumerate(tables.words) if word != "<s>"]  # <unk> and </s> are among them
    for context in PlainModel(text, tables.order).contexts():
        before = [tables.words.index(word) for word in context]
        place = np.arange(len(before) + 1)
        rows = [query.probabilities(scorer._block, np.array([*before, word]), place)[0][-1] for word in words]
        assert np.sum(10.0 ** np.array(rows)) == pytest.approx(1.0, abs=1e-5), context


def test_a_sequence_that_occurs_again_counts_once_unless_told_otherwise() -> None:
    text = [["one", "two", "three"]] * 3 + [["four", "five"]]
    once = training.train(text, 2)
    assert (once.origin.sentences, once.origin.duplicates, once.origin.words) == (4, 2, 5)
    assert once.levels[1].log10.tolist() == training.train(text[2:], 2).levels[1].log10.tolist()
    assert training.train(text, 2, deduplicate=False).origin.words == 11


def test_the_order_is_cut_to_the_longest_sequence() -> None:
    assert training.train([["one"]], 5).order == 3


def test_discounts_that_the_counts_cannot_give_are_the_fallback() -> None:
    origin = training.train([["one", "two"]], 2).origin
    assert origin.fallback == [1, 2]
    assert origin.discounts == [[0.5, 1.0, 1.5]] * 2


def test_an_unknown_word_gets_the_probability_that_the_user_sets() -> None:
    assert model.make(training.train([["one", "two"]], 2, unknown=-7)).log10(["three"])[0] == (
        pytest.approx(-7, abs=1),
        1,
        True,
    )


@pytest.mark.parametrize("order", [0, 7])
def test_an_order_out_of_range_is_refused(order: int) -> None:
    with pytest.raises(ConfigError, match="from 1 to 6"):
        training.train([["one"]], order)


def test_no_text_is_refused() -> None:
    with pytest.raises(ConfigError, match="running text"):
        training.train([])
