"""The kernel and its reference give the same sums, to the last bit; both are what kenlm gives."""

import functools
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from windrow.judge.focus import model, query, tokens, training
from windrow.judge.focus.model import NgramModel, Scored
from windrow.judge.focus.tokens import Tokeniser

needs_kernel = pytest.mark.skipif(query._query is None, reason="needs the C kernel, which was not built")
ALPHABET = "ab cdÀé.!?…)\"'\n。1-\u0301\u00ad猫はก Σσİ\U00020000\U000f0000\u200d।"


def sample(seed: int = 1, words: int = 3000) -> list[list[str]]:
    draw = random.Random(seed)
    names = [f"{one}{two}" for one in "abcde" for two in ["", "b", "cd", "猫"]] + ["猫", "は", "À", "é"]
    return [[draw.choice(names) for _ in range(draw.randint(1, 14))] for _ in range(words // 7)]


def scored(scorer: NgramModel, texts: list[str]) -> tuple[Scored, Scored]:
    """Return what the kernel and what the reference gives."""
    return scorer.score_texts(texts), scorer.score(plain(scorer.tokeniser, texts))


def plain(tokeniser: Tokeniser, texts: list[str]) -> list[list[str]]:
    """Return the sequences as the reference finds them."""
    return [one for text in texts for one in tokeniser._sequences(tokeniser.prepare(text))]


@needs_kernel
@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text(st.sampled_from(ALPHABET), max_size=60) | st.text(max_size=30), max_size=4),
    st.sampled_from([None, True, False]),
    st.booleans(),
)
@example(["a b c d e." + "!" * 50 + " a b", "1. a. aa. b) c"], None, True)
def test_kernel_and_reference_are_equal_for_any_text(texts: list[str], characters: bool | None, lower: bool) -> None:
    tokeniser = Tokeniser(characters=characters, lower=lower, least=2)
    assert list(tokeniser.sequences(texts)) == plain(tokeniser, texts)
    for order in (1, 2, 3, 5, 6):
        kernel, reference = scored(small(order, tokeniser), texts)
        assert kernel == reference


@functools.cache
def small(order: int, tokeniser: Tokeniser) -> NgramModel:
    return model.make(training.train(sample(words=400), order, tokeniser=tokeniser))


@needs_kernel
def test_kernel_and_reference_are_equal_for_long_sequences() -> None:
    scorer = model.make(training.train(sample(), 5))
    texts = [" ".join(word for one in sample(2) for word in one), "\n".join(" ".join(one) for one in sample(3))]
    kernel, reference = scored(scorer, texts)
    assert kernel == reference
    assert kernel.words > 5000


@needs_kernel
def test_without_the_kernel_a_text_has_the_same_score(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer, texts = model.make(training.train(sample(), 5)), [" ".join(one) + "." for one in sample(2)]
    found = scorer.score_texts(texts)
    for module in (query, tokens):
        monkeypatch.setattr(module, "_query", None)
    assert scorer.score_texts(texts) == found


def test_sums_are_of_words_known_words_windows_and_ends() -> None:
    scorer = model.make(training.train(sample(), 5))
    words = ["a", "ab", "new", "b", "bb", "cd"]
    rows = scorer.log10(words)
    found = scorer.score([words])
    values = [row[0] for row in rows]
    assert (found.words, found.known_words, found.windows, found.ends) == (6, sum(not row[2] for row in rows) - 1, 4, 1)
    assert found.log10 == pytest.approx(sum(values[:-1]))
    assert found.windows_log10 == pytest.approx(sum(values[3:]))
    assert found.ends_log10 == pytest.approx(values[-1])
    assert found.perplexity == pytest.approx(10 ** (-sum(values[:-1]) / 6))
    assert found.perplexity_ends == pytest.approx(10 ** (-sum(values) / 7))


def test_a_text_without_a_sequence_has_an_infinite_perplexity() -> None:
    found = model.make(training.train(sample(), 3)).score_texts(["one two", ""])
    assert found == Scored()
    assert found.perplexity == found.perplexity_windows == float("inf")


@needs_kernel
def test_the_kernel_refuses_a_plan_that_leaves_the_block() -> None:
    classes = tokens.classes(None)
    with pytest.raises(ValueError, match="order from 1 to 6"):
        query._query.score([], b"x" * 64, b"", classes, 5)
    with pytest.raises(ValueError, match="does not lie in the block"):
        query._query.score([], b"x" * 64, (1000).to_bytes(8, "little") * 7, classes, 5)
    with pytest.raises(TypeError, match="a text is expected"):
        query._query.sequences([1], classes, 5)  # type: ignore[list-item]
