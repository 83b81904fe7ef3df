"""Models trained from samples distinguish languages; a model file is read back, or rejected if it is damaged."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.judge import declarations
from windrow.config import ConfigError
from windrow.judge.language import trigrams
from windrow.judge.language.trigrams import TrigramModel


def model(language: str, share: int = 2) -> TrigramModel:
    """Return a model trained on the first half of the Declaration, or on another part of it."""
    paragraphs = declarations.shipped(language)
    return trigrams.train(language, "\n".join(paragraphs[: len(paragraphs) // share]))


@pytest.fixture(scope="module")
def models() -> list[TrigramModel]:
    return [model(language) for language in ("cs", "pl", "de", "en", "fr", "es", "fi", "tr", "vi", "ru", "ar")]


def test_each_model_recognises_the_second_half_of_its_text(models: list[TrigramModel]) -> None:
    for language in ("cs", "pl", "de", "en", "fr", "es", "fi", "tr", "vi", "ru", "ar"):
        paragraphs = declarations.shipped(language)
        for paragraph in paragraphs[len(paragraphs) // 2 :]:
            if len(paragraph) > 60:
                assert trigrams.classify(paragraph, models)[0] == language, paragraph


def test_the_order_of_the_models_and_the_case_of_the_text_change_nothing(models: list[TrigramModel]) -> None:
    text = declarations.shipped("cs")[-1]
    assert trigrams.classify(text, models) == pytest.approx(trigrams.classify(text.upper(), models[::-1]))


def test_a_longer_text_gives_a_higher_probability(models: list[TrigramModel]) -> None:
    text = " ".join(declarations.shipped("pl")[-6:])
    scores = [trigrams.classify(text[:length], models)[1] for length in (20, 80, 320)]
    assert scores == sorted(scores)
    assert scores[-1] > 0.99
    assert all(0 < score <= 1 for score in scores)


def test_the_probabilities_of_all_next_characters_add_up_to_no_more_than_one() -> None:
    table = trigrams._Probabilities(model("cs").trigrams)
    letters = sorted({gram[2] for gram in model("cs").trigrams})
    for context in ("pr", " s", "ě ", "zz", "qq"):
        total = math.fsum(2 ** table[context + letter] for letter in letters)
        assert 0.9 < total <= 1.0 + 1e-9


def test_a_text_without_letters_is_in_no_language(models: list[TrigramModel]) -> None:
    for text in ("", "   ", "12 34 -- !!", "\n"):
        assert trigrams.classify(text, models) == ("und", 0.0)
        assert trigrams.distance(text, models[0]) == math.inf


def test_a_text_fits_its_own_model_and_no_other(models: list[TrigramModel]) -> None:
    czech = next(one for one in models if one.name == "cs")
    own = [paragraph for paragraph in declarations.shipped("cs")[30:] if len(paragraph) > 60]
    assert sum(trigrams.distance(paragraph, czech) <= 3 for paragraph in own) >= 0.95 * len(own)
    for other in ("pl", "de", "en", "fi", "ru"):
        foreign = [paragraph for paragraph in declarations.shipped(other) if len(paragraph) > 60]
        assert all(trigrams.distance(paragraph, czech) > 3 for paragraph in foreign)


def test_the_difference_is_one_minus_the_cosine_of_the_counts() -> None:
    made = msgspec.structs.replace(model("de"), trigrams={" ab": 3, "ab ": 4})
    assert trigrams.difference("ab", made) == pytest.approx(1 - (3 + 4) / (5 * 2**0.5))
    assert trigrams.difference("AB! ab, ab", made) == pytest.approx(1 - (3 * 3 + 3 * 4) / (5 * (9 + 9 + 4) ** 0.5))
    assert trigrams.difference("xyz", made) == trigrams.difference("", made) == trigrams.difference("12", made) == 1.0


def test_a_sample_too_short_to_train_on_is_rejected() -> None:
    with pytest.raises(ConfigError, match=r"the sample for 'hsb' has 9 letters; a model needs at least 2,000"):
        trigrams.train("hsb", "Dobry dźeń! 1234567890\n" + 5000 * "- ")


def test_a_model_is_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    made = model("fi")
    trigrams.write(made, tmp_path / "fi.json")
    assert trigrams.read(tmp_path / "fi.json") == made


def test_training_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        trigrams.write(model("fr"), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_error_for_a_missing_model_says_how_to_train_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="windrow language train"):
        trigrams.read(tmp_path / "none.json")


@pytest.fixture(scope="module")
def german() -> bytes:
    return msgspec.json.encode(model("de"))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda whole: b"", id="empty"),
        pytest.param(lambda whole: whole[: len(whole) // 2], id="cut short"),
        pytest.param(lambda whole: b"<html></html>", id="another file"),
        pytest.param(lambda whole: b'{"a": 1}', id="another object"),
        pytest.param(lambda whole: whole.replace(b"windrow", b"\xff\xfe"), id="not UTF-8"),
        pytest.param(lambda whole: whole.replace(b'"version":2', b'"version":1'), id="another version"),
        pytest.param(lambda whole: whole.replace(b"windrow trigrams", b"windrow pentagrams"), id="another format"),
        pytest.param(lambda whole: re.sub(rb'"name":"[^"]*"', b'"name":"zzzz"', whole), id="no language"),
        pytest.param(lambda whole: whole.replace(b'"trigrams":{', b'"trigrams":{"xyz":0,'), id="a count of nothing"),
        pytest.param(lambda whole: whole.replace(b'"trigrams":{', b'"trigrams":{"wxyz":1,'), id="a count of four"),
        pytest.param(lambda whole: re.sub(rb'"trigrams":{[^}]*}', b'"trigrams":{}', whole), id="no counts"),
    ],
)
def test_a_damaged_model_file_is_rejected_in_a_sentence_that_names_it(
    damage: Callable[[bytes], bytes], german: bytes, tmp_path: Path
) -> None:
    assert damage(german) != german
    path = tmp_path / "model.json"
    path.write_bytes(damage(german))
    with pytest.raises(ConfigError, match=r"model\.json"):
        trigrams.read(path)
