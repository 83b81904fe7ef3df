"""Stop lists: found by any name of a language, made from a sample, and used to guess the language of a page."""

from pathlib import Path

import pytest

from windrow.config import ConfigError
from windrow.extraction.main.justext import stoplists

TEXTS = Path(stoplists.__file__).resolve().parents[4] / "demo" / "texts"


@pytest.mark.parametrize("name", ["en", "eng", "English", "EN-gb", "en_US", " en "])
def test_a_language_has_many_names(name: str) -> None:
    assert stoplists.code(name) == "eng"
    assert {"the", "of", "and"} <= stoplists.load(name).words


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("no", "nob"),
        ("zh-Hant-TW", "zho"),
        ("ja", "jpn"),
        ("Norwegian_Bokmal", "nob"),
        ("West Frisian", ""),
        ("tlh", ""),
        ("", ""),
    ],
)
def test_aliases_are_resolved_and_unknown_languages_have_no_code(name: str, code: str) -> None:
    assert stoplists.code(name) == code


def test_every_language_has_its_list() -> None:
    codes = [code for code, _, _ in stoplists.languages()]
    assert len(codes) == len(set(codes)) == 100
    assert all(stoplists.load(code).words for code in codes)
    assert not any(stoplists.load(code).by_character for code in codes)


def test_the_error_for_an_unknown_language_names_it_and_the_fix() -> None:
    with pytest.raises(
        ConfigError, match="no stop list for 'Klingon'; make one with 'windrow extract stoplist SAMPLE -o FILE'"
    ):
        stoplists.load("Klingon")


def test_density_is_the_share_of_words_regardless_of_case() -> None:
    assert stoplists.load("en").density("The CAT sat on the mat") == 0.5
    assert stoplists.load("vi").density("cu\u0309a") == 1.0  # the same letter in another Unicode form
    assert stoplists.load("en").density("") == 0.0


def test_languages_without_blanks_are_counted_by_character() -> None:
    chinese = stoplists.load("zh")
    assert chinese.by_character
    assert chinese.density("我们在这里，是的。") > 0.6 > 0.2 > chinese.density("股票基金理财")
    assert stoplists.load("ja").density("これはペンです") > 0.6


@pytest.mark.parametrize("code", ["ar", "cs", "de", "en", "es", "fi", "fr", "ja", "pl", "ru", "tr", "vi"])
def test_the_language_of_a_text_is_guessed(code: str) -> None:
    texts = (TEXTS / f"{code}.txt").read_text("utf-8").splitlines()
    wanted = stoplists.code(code)
    assert [stoplists.guess(texts, declared) for declared in ("", code, "en")] == [wanted] * 3


def test_the_declared_language_is_used_if_the_text_shows_none() -> None:
    assert stoplists.guess(["12345", "qqq"], "cs") == "ces"
    assert stoplists.guess([], "") == ""


def test_a_language_without_a_list_is_not_taken_for_another() -> None:
    thai = ["มนุษย์ทั้งหลายเกิดมามีอิสระ และเสมอภาคกัน ในเกียรติศักดิ์ และสิทธิ"] * 20 + ["Home of the brand"]
    somali = ["Aadanaha dhammaantiis wuxuu dhashaa isagoo xor ah kana siman xagga sharafta iyo xuquuqada"]
    assert stoplists.guess(thai, "") == stoplists.guess(thai, "th") == ""
    assert stoplists.guess(somali, "so") == ""


def test_a_list_made_from_a_sample_has_the_wanted_coverage() -> None:
    sample = (TEXTS / "en.txt").read_text("utf-8")
    words = stoplists.make(sample)
    assert words[:3] == ["the", "and", "of"]
    made = stoplists.Stoplist(frozenset(words))
    assert stoplists.COVERAGE - 0.02 < made.density(sample) < stoplists.COVERAGE + 0.02


def test_a_list_for_a_language_without_blanks_is_made_of_characters() -> None:
    words = stoplists.make((TEXTS / "ja.txt").read_text("utf-8"))
    assert words[0] == "の"
    assert {len(word) for word in words} == {1}


def test_equal_counts_are_ordered_so_that_equal_samples_make_equal_lists() -> None:
    assert stoplists.make("b a c a b d", 1.0) == ["a", "b", "c", "d"]
    assert stoplists.make("") == []
    assert stoplists.make("1 2 … –") == []


def test_a_stop_list_of_the_user_is_read(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_bytes("\ufeffThe\nof # a comment\n\n# another\nand\n".encode())
    assert stoplists.read(path) == stoplists.Stoplist(frozenset({"the", "of", "and"}))
    path.write_text("的\n是\n", "utf-8")
    assert stoplists.read(path).by_character


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"the\nof and\n", "line 2: 'of and' is more than one word"),
        (b"the\n\xff\n", "line 2: not UTF-8"),
        (b"# nothing\n", "holds no words"),
    ],
)
def test_the_error_for_a_bad_list_names_the_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        stoplists.read(path)


def test_a_missing_list_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read the stop list .*: No such file"):
        stoplists.read(tmp_path / "none.txt")
