"""The weights of a topic's words: what they are, how they are stored, and the ratio of a text."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.config import ConfigError
from windrow.judge.focus import query, weights
from windrow.judge.focus.weights import UNKNOWN, Background, TopicWords, Weigher


def test_a_word_that_is_more_frequent_in_the_sample_speaks_for_the_topic() -> None:
    background = Background("test", {"cat": 0.001, "house": 0.01}, rest=1e-5)
    found = weights.make({"cat": 10, "house": 1, "whisker": 2, "the": 87}, background).weights
    assert found["cat"] == pytest.approx(math.log(0.5 * (9.5 / 100 / 0.001) + 0.5))
    assert found["whisker"] > found["cat"] > 0 > found["house"] > UNKNOWN


def test_neutral_words_say_nothing_also_if_the_sample_does_not_have_them() -> None:
    found = weights.make({"the": 50, "cat": 5}, Background("test", neutral=frozenset({"the", "of"})))
    assert (found.weights["the"], found.weights["of"]) == (0.0, 0.0)
    assert Weigher(found).ratio(["Of the the of."]) == pytest.approx(1.0)


@given(st.lists(st.sampled_from(["cat", "dog", "the", "ship", "Café"]), min_size=1, max_size=60))
def test_the_ratio_is_e_to_the_minus_mean_weight(words: list[str]) -> None:
    known = {"cat": 2.5, "dog": -0.25, "the": 0.0, "café": 1.25}
    mean = sum(known.get(word.lower(), UNKNOWN) for word in words) / len(words)
    assert Weigher(TopicWords(known)).ratio([" ".join(words)]) == pytest.approx(math.exp(-mean), rel=1e-5)


def test_text_without_a_word_of_the_sample_has_the_ratio_two_and_no_text_has_none() -> None:
    weigher = Weigher(TopicWords({"cat": 2.0}))
    assert weigher.ratio(["a dog barks"]) == pytest.approx(2.0)
    assert weigher.ratio(["1234 …", ""]) is None


def test_pairs_of_characters_are_weighed_where_words_have_no_spaces() -> None:
    sample = ["猫は毛づくろいをする。猫の毛は柔らかい。" * 20]
    words = weights.make(weights.count(sample, pairs=True), Background("test", neutral=frozenset("はのをする")), True)
    weigher = Weigher(words)
    on_topic, off_topic = weigher.ratio(["猫の毛づくろい"]), weigher.ratio(["船の帆を張る港"])
    assert on_topic is not None and off_topic is not None
    assert on_topic < 0.1 < 1 < off_topic


def test_the_kernel_and_the_reference_give_the_same_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    words = TopicWords({"cat": 2.0, "naïve": 0.5, "the": 0.0})
    texts = ["The cat, the naïve cat. CAT!", "a dog"]
    by_kernel = Weigher(words).ratio(texts)
    monkeypatch.setattr(query, "_query", None)
    assert Weigher(words).ratio(texts) == pytest.approx(by_kernel, rel=1e-9)


def test_general_text_is_expected_to_have_the_neutral_words_of_the_sample_and_no_other() -> None:
    background = Background("test", neutral=frozenset({"the", "of"}), rest=0.0001)
    sample = {"the": 30, "of": 20, "cat": 50}
    words = weights.make(sample, background)
    assert weights.worst(sample, words, background) == pytest.approx(math.exp(-0.5 * UNKNOWN), rel=0.01)


def test_a_crawl_moves_the_background_half_way_to_its_own_frequencies() -> None:
    found = weights.joined(Background("list", {"cat": 0.01}, rest=1e-5), {"cat": 50, "ship": 50})
    assert found.frequencies["cat"] == pytest.approx(math.sqrt(0.01 * 50 / 102))
    assert found.frequencies["ship"] == pytest.approx(math.sqrt(1e-5 * 50 / 102))
    assert found.rest == pytest.approx(math.sqrt(1e-5 * 0.5 / 102))


@pytest.mark.parametrize("pairs", [False, True])
def test_a_file_of_weights_is_read_as_it_was_written(pairs: bool, tmp_path: Path) -> None:
    words = TopicWords({"是的" if pairs else "café": 2.5, "ab": -0.6931}, pairs, "the stop list of French")
    weights.write(words, tmp_path / "topic.words")
    assert weights.read(tmp_path / "topic.words") == words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cat\t2.0\n", "not a file of topic words"),
        ("", "not a file of topic words"),
        ("# windrow topic words {\n", "line 1"),
        ("# windrow topic words {}\ncat\t2.0\n\n# a comment\ndog 1.0\n", "line 5: 'dog 1.0'"),
        ("# windrow topic words {}\ncat\tnan\n", "line 2"),
        ("# windrow topic words {}\n\t1.0\n", "line 2"),
    ],
)
def test_a_broken_file_of_weights_is_refused_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "topic.words"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        weights.read(path)


def test_a_missing_file_of_weights_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no .*topic\.words"):
        weights.read(tmp_path / "topic.words")
