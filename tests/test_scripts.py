"""The sets of scripts agree with Unicode's names of the characters, and with each other."""

import functools
import re
import unicodedata

import pytest

from windrow import scripts

CHARACTERS = [*map(chr, range(0xD800)), *map(chr, range(0xE000, 0x40000))]  # letters have no higher codes
NAMES = (
    "THAI ",
    "LAO ",
    "TIBETAN ",
    "MYANMAR ",
    "KHMER ",
    "HIRAGANA ",
    "KATAKANA ",
    "HALFWIDTH KATAKANA ",
    "CJK UNIFIED ",
    "CJK COMPATIBILITY ",
)
RARE = range(0x1AFF0, 0x1B170)  # kana of the supplementary plane: historic, and in no font that pages use


@functools.cache
def named() -> list[tuple[str, str]]:
    """Return each letter and mark with its name."""
    return [(one, unicodedata.name(one, "")) for one in CHARACTERS if unicodedata.category(one)[0] in "LM"]


def letters(prefixes: tuple[str, ...]) -> list[str]:
    return [one for one, name in named() if name.startswith(prefixes)]


def test_every_letter_of_the_scripts_without_spaces_is_in_the_set() -> None:
    unspaced = re.compile(f"[{scripts.UNSPACED}]")
    missing = [one for one in letters(NAMES) if not unspaced.match(one) and ord(one) not in RARE]
    assert missing == []


@pytest.mark.parametrize(
    "prefix",
    ["LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW", "DEVANAGARI", "ETHIOPIC", "GEORGIAN", "HANGUL SYLLABLE"],
)
def test_no_letter_of_a_script_with_spaces_is_in_the_set(prefix: str) -> None:
    unspaced = re.compile(f"[{scripts.UNSPACED}]")
    assert [one for one in letters((f"{prefix} ",)) if unspaced.match(one)] == []


def test_dense_scripts_are_chinese_japanese_and_korean() -> None:
    dense = re.compile(f"[{scripts.DENSE}]")
    assert all(map(dense.match, "漢字かなカナ한글𠀋"))
    assert not any(map(dense.match, "aéжไทยမြန်"))


def test_clustered_letters_are_letters_and_marks_of_the_set_without_digits_and_signs() -> None:
    unspaced = re.compile(f"[{scripts.UNSPACED}]")
    found = list(filter(re.compile(f"[{scripts.CLUSTERED}]").match, CHARACTERS))
    assert all(map(unspaced.match, found))
    assert {unicodedata.category(one)[0] for one in found if unicodedata.name(one, "")} == {"L", "M"}


def test_no_character_of_the_sets_comes_before_the_first() -> None:
    either = re.compile(f"[{scripts.UNSPACED}{scripts.DENSE}]")
    assert min(filter(either.match, CHARACTERS)) == scripts.FIRST


def test_the_pairs_of_octets_cover_the_set_but_for_small_blocks() -> None:
    pairs = {pair for first, last in scripts.UTF8_PAIRS for pair in range(first, last + 1)}
    missing = {
        ord(one) >> 8
        for one in letters(NAMES)
        if ord(one) not in RARE and int.from_bytes(one.encode()[:2], "big") not in pairs
    }
    # Shan; Burmese extensions; half-width kana; the tertiary plane of Han
    assert missing - set(range(0x300, 0x400)) == {0x10, 0xA9, 0xAA, 0xFF}
