"""The words of two texts aligned: in order, equal, and quickly enough for long texts."""

import random

import pytest

from windrow.extraction.evaluation.losses import diff


@pytest.mark.parametrize(
    ("first", "second", "aligned"),
    [
        ("a b c", "a b c", "a b c"),
        ("a b c", "", ""),
        ("", "a", ""),
        ("a b c d e", "a x c d e", "a c d e"),
        ("menu a b c d e f", "a b c d e f footer", "a b c d e f"),
        ("a b c d x y z", "x y z a b c d", "a b c d"),
        ("a a a a a a", "a a a", "a a a"),
    ],
)
def test_equal_words_are_aligned_in_order(first: str, second: str, aligned: str) -> None:
    one, two = first.split(), second.split()
    found = diff.matches(one, two)
    assert [one[place] for place in sorted(found)] == aligned.split()
    assert all(one[left] == two[right] for left, right in found.items())
    assert sorted(found.values()) == [found[place] for place in sorted(found)]


def test_any_two_texts_are_aligned_in_order_without_a_word_twice() -> None:
    chance = random.Random(5)
    for _ in range(300):
        one, two = (chance.choices("abcdefgh", k=chance.randrange(60)) for _ in range(2))
        found = diff.matches(one, two)
        places = [found[place] for place in sorted(found)]
        assert places == sorted(set(places))
        assert all(one[left] == two[right] for left, right in found.items())


def test_long_texts_are_aligned_at_their_anchors_and_strange_ones_are_given_up() -> None:
    words = [f"w{number}" for number in range(30_000)]
    found = diff.matches(words, ["menu", *words[:10_000], *words[20_000:]])
    assert len(found) == 20_000
    assert diff.matches(["a", "b"] * 20_000, ["b", "c"] * 20_000) == {}
