"""Held-out text: a model of a growing sample, or of a part of it, scores as one trained on the same text alone."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow.judge.focus import heldout, model, training
from windrow.judge.focus.heldout import GrowingSample, HeldOut

WORDS = st.sampled_from("a b c d e f g".split())
SENTENCE = st.lists(WORDS, min_size=1, max_size=9)
FLAGGED = st.lists(st.tuples(SENTENCE, st.booleans()), min_size=1, max_size=30)
UNKNOWN = -7.0


@settings(max_examples=80, deadline=None)
@given(FLAGGED, st.lists(SENTENCE, min_size=1, max_size=10), st.booleans(), st.integers(2, 30))
def test_a_part_of_the_sample_scores_as_if_it_were_the_whole(
    sample: list[tuple[list[str], bool]], tested: list[list[str]], wanted: bool, chunk: int
) -> None:
    growing = GrowingSample()
    first: dict[tuple[str, ...], bool] = {}  # each sentence counts once, with the flag of its first occurrence
    for words, flag in sample:
        growing.add(words, flag)
        first.setdefault(tuple(words), flag)
    chosen = [list(words) for words, flag in first.items() if flag or not wanted]
    tables = growing.tables(3, UNKNOWN, wanted)
    if not chosen:
        assert tables is None
        return
    assert tables is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heldout, "_CHUNK", chunk)  # sentences are never divided, however few words are looked up at once
        found = HeldOut(tested, None).fit(tables)
    alone = model.make(training.train(chosen, 3, unknown=UNKNOWN)).score(tested)
    assert found.perplexity == pytest.approx(alone.perplexity, rel=1e-6)
    known = alone.perplexity_known if alone.known_words else 0.0
    assert found.perplexity_known == pytest.approx(known, rel=1e-6)
    assert found.unknown == pytest.approx(alone.unknown)
    assert (found.words, found.sentences) == (sum(map(len, chosen)), len(chosen))


def test_a_sample_grows_after_a_model_was_made_of_it() -> None:
    growing = GrowingSample()
    growing.add("die Katze schläft heute lange".split(), True)
    growing.add("the cat sleeps for long".split(), False)
    before = growing.tables(2, UNKNOWN, wanted=True)
    assert before is not None and "cat" not in before.words and len(growing) == 10
    growing.add("der Hund schläft heute nicht".split(), True)
    after = growing.tables(2, UNKNOWN, wanted=True)
    assert after is not None and {"Hund", "Katze"} <= {*after.words} and after.origin.words == 10
    assert growing.vocabulary() >= {"cat", "Katze"} and "<s>" not in growing.vocabulary()


def test_known_words_are_those_of_the_basis_whatever_the_model_has() -> None:
    growing = GrowingSample()
    growing.add("a b c d e".split(), True)
    tables = growing.tables(1, UNKNOWN, wanted=False)
    assert tables is not None
    held_out = HeldOut(["a b x".split()], {"a", "x"})
    found = held_out.fit(tables)
    every = {word: log10 for word, log10 in zip(tables.words, tables.levels[0].log10.tolist(), strict=True)}
    assert found.perplexity_known == pytest.approx(10 ** (-(every["a"] + UNKNOWN) / 2), rel=1e-5)
    assert found.perplexity == pytest.approx(10 ** (-(every["a"] + every["b"] + UNKNOWN) / 3), rel=1e-5)
    assert math.isclose(found.unknown, 1 / 3)
    assert "a b x".split() in held_out and "a b".split() not in held_out and len(held_out) == 3


def test_text_of_unknown_words_alone_has_the_greatest_perplexity() -> None:
    growing = GrowingSample()
    growing.add("a b c d e".split(), True)
    tables = growing.tables(5, UNKNOWN, wanted=False)
    assert tables is not None
    found = HeldOut(["x y z x y".split()], None).fit(tables)
    assert 1e7 <= found.perplexity < 2e7 and found.perplexity_known == 0.0 and found.unknown == 1.0
