"""The hints of a link: which features it has, and that they are the same everywhere and always."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import records, urls
from windrow.frontier.policy import hints
from windrow.records import Link


def link(anchor: str = "", context: str = "", language: str = "", url: str = "http://a.test/x") -> Link:
    found = urls.parse(url)
    assert found
    return Link(found, anchor, "", context, language)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Read the News, today!", ["read", "the", "news", "today"]),
        ("the The THE", ["the"]),
        ("(2024) e-mail: 3D v2.0 snake_case", ["e", "mail", "d", "v", "snake", "case"]),
        ("Řeka Straße ДОМ nu\u0301mero", ["řeka", "straße", "дом", "nu\u0301mero"]),
        ("हिन्दी समाचार। १२", ["हिन्दी", "समाचार"]),
        ("한국어 뉴스", ["한국어", "뉴스"]),
        ("東京都の天気", ["東京", "京都", "都の", "の天", "天気"]),
        ("Python入門書 2版", ["python", "入門", "門書", "版"]),
        ("ไทย", ["ไท", "ทย"]),
        ("– … 12 ??", []),
        ("", []),
    ],
)
def test_words_have_letters_only_and_scripts_without_spaces_give_pairs(text: str, words: list[str]) -> None:
    assert hints.words(text) == words


def test_the_hints_of_a_link_are_the_same_on_every_machine() -> None:
    """They are in logs and stores, and a model knows them by number: this list must never change."""
    known = link("River fish", "of Bohemia and Moravia, with pictures", "cs-cz")
    assert hints.features(hints.of(known, 0.4)) == [65335, 37797, 36315, 17603, 62874, 30079, 9690, 23815]


def test_an_anchor_gives_its_first_words_and_a_context_its_longest() -> None:
    six = "one two three four five six"
    assert hints.of(link(six + " seven")) == hints.of(link(six))
    assert hints.of(link("", "a tiny mountain was seen behind the village")) == hints.of(
        link("", "mountain village behind tiny")
    )
    assert hints.of(link("word")) != hints.of(link("", "word"))


def test_a_language_counts_by_its_primary_subtag() -> None:
    assert hints.of(link(language="de-at")) == hints.of(link(language="de_ch")) == hints.of(link(language="de"))
    assert hints.of(link(language="de")) != hints.of(link(language="fr"))


def test_relevance_counts_by_eighths() -> None:
    found = [hints.of(link(), relevance) for relevance in (-1.0, 0.0, 0.12, 0.13, 0.99, 1.0, 7.0)]
    assert found[0] == found[1] == found[2] != found[3]
    assert found[4] == found[5] == found[6]
    assert len({hints.of(link(), step / 8) for step in range(9)}) == 8
    assert hints.of(link()) == b""


def test_hints_take_two_bytes_each_and_come_back_as_numbers() -> None:
    full = link("one two three four five six seven", "alpha beta gamma delta epsilon", "de")
    assert len(hints.of(full, 0.5)) == 2 * hints.MOST == records.MOST_HINTS
    assert hints.features(b"\x01\x02\xff\xff") == [258, 65535]
    assert hints.features(b"") == []
    assert hints.features(b"\0\1" * 20) == [1] * 20  # a later version may write more
    assert hints.features(b"\0\1\0") == [1]


def test_the_text_for_a_topic_has_the_words_of_the_url_too() -> None:
    known = link("Anchor", "and context", url="http://a.test/river-fish/%C5%99eka_2024.html?page=2")
    assert hints.text(known) == "Anchor and context river fish řeka html page"


@given(st.text(), st.text(), st.text(alphabet=string.ascii_lowercase + "-_", max_size=12), st.none() | st.floats(0, 1))
def test_any_link_has_hints(anchor: str, context: str, language: str, relevance: float | None) -> None:
    found = hints.of(link(anchor, context, language), relevance)
    assert len(hints.features(found)) <= hints.MOST
    assert found == hints.of(link(anchor, context, language), relevance)
