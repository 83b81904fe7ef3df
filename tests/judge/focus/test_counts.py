"""Models from counts of n-grams."""

import collections
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.judge.focus.test_training import TEXTS, ngrams
from windrow.config import ConfigError
from windrow.judge.focus import counts, model, training
from windrow.judge.focus.tokens import Tokeniser


def counted(text: list[list[str]], sizes: range) -> Iterator[bytes]:
    found: collections.Counter[str] = collections.Counter()
    for words in text:
        tagged = ["<s>", *words, "</s>"]
        for size in sizes:
            found.update(" ".join(tagged[at : at + size]) for at in range(len(tagged) - size + 1))
    return (f"{ngram}\t{number}\n".encode() for ngram, number in found.items())


@settings(max_examples=80, deadline=None)
@given(TEXTS, st.integers(2, 5))
def test_counts_of_all_orders_give_the_model_of_the_text(text: list[list[str]], order: int) -> None:
    expected = training.train(text, order, deduplicate=False)
    found = counts.train([("counts", counted(text, range(1, order + 1)))], expected.order)
    for size in range(1, expected.order + 1):
        ours, theirs = ngrams(found, size), ngrams(expected, size)
        assert ours.keys() == theirs.keys()
        for ngram, values in theirs.items():
            assert ours[ngram] == pytest.approx(values, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=3, max_size=12), min_size=1, max_size=40))
def test_counts_of_the_highest_order_are_enough_where_every_sentence_is_long_enough(text: list[list[str]]) -> None:
    expected = training.train(text, 3, deduplicate=False)
    found = counts.train([("counts", counted(text, range(3, 4)))])
    for size in range(1, 4):
        ours, theirs = ngrams(found, size), ngrams(expected, size)
        assert ours.keys() == theirs.keys()
        for ngram, values in theirs.items():
            assert ours[ngram] == pytest.approx(values, abs=1e-6)


def test_lines_with_numbers_and_punctuation_are_left_out_and_case_is_folded() -> None:
    lines = [b"The cat\t3\n", b"the Cat\t4\n", b"cat ,\t9\n", b"in 1999\t9\n", b"<S> the\t2\n", b"cat </S>\t2\n"]
    found = counts.train([("counts", lines)])
    assert sorted(found.words) == ["</s>", "<s>", "<unk>", "cat", "the"]
    assert set(ngrams(found, 2)) == {("the", "cat"), ("<s>", "the"), ("cat", "</s>")}
    kept = counts.train([("counts", lines)], tokeniser=Tokeniser(lower=False))
    assert set(ngrams(kept, 2)) >= {("The", "cat"), ("the", "Cat")}


def test_a_word_that_only_begins_ngrams_has_a_probability() -> None:
    scorer = model.make(counts.train([("counts", [b"one two three\t5\n", b"two three four\t5\n"])]))
    assert -5 < scorer.log10(["one"])[0][0] < 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([b"one two\t3\n", b"one two 3\n"], "counts, line 2: “word word word<TAB>count”"),
        ([b"one\t0\n"], "line 1: .* above 0"),
        ([b"one\t-3\n"], "line 1: "),
        ([b"one\t3.5\n"], "line 1: "),
        ([b"one\t99999999999999999999\n"], "line 1: "),
        ([b"\xff\t3\n"], "line 1: not UTF-8 text"),
        ([b"\n", b"1999\t3\n"], "counts has no n-grams of words"),
        ([], "counts has no n-grams of words"),
    ],
)
def test_what_is_not_counts_gets_one_sentence(lines: list[bytes], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        counts.train([("counts", lines)])


def test_an_order_that_the_counts_do_not_have_is_refused() -> None:
    with pytest.raises(ConfigError, match="at most 2 words; give --order 2"):
        counts.train([("counts", [b"one two\t3\n"])], 5)


def test_an_error_names_the_file_and_its_line() -> None:
    with pytest.raises(ConfigError, match="two, line 2: "):
        counts.train([("one", [b"one two\t3\n", b"two one\t1\n"]), ("two", [b"two\t1\n", b"two one\n"])])


def test_longer_ngrams_than_wanted_are_left_out() -> None:
    assert counts.train([("counts", [b"one two\t3\n", b"one two three\t3\n"])], 2).order == 2
