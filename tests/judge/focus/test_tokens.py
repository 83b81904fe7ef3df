"""Words and sequences."""

import pytest

from windrow.judge.focus import tokens
from windrow.judge.focus.tokens import Tokeniser


@pytest.fixture(autouse=True, params=["kernel", "reference"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "reference":
        monkeypatch.setattr(tokens, "_query", None)
    elif tokens._query is None:
        pytest.skip("needs the C kernel, which was not built")


def joined(text: str, **settings: object) -> list[str]:
    given = {"least": 1, "lower": False, **settings}
    return [" ".join(one) for one in Tokeniser(**given).sequences([text])]  # type: ignore[arg-type]


def test_numbers_and_punctuation_are_left_out() -> None:
    assert joined("On 3 May, 1.5 (one-and-a-half) of them… were at 10:30; cost: €20") == [
        "On May one and a half of them",
        "were at cost",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("First one. Second one! Third one? Fourth", ["First one", "Second one", "Third one", "Fourth"]),
        ("He said “no.” Then left", ["He said no", "Then left"]),
        ("See (p. 3). Next", ["See p", "Next"]),
        ("J. R. R. Tolkien wrote", ["J R R Tolkien wrote"]),
        ("am 3. Mai und z. B. heute", ["am Mai und z B heute"]),
        ("node.js and example.org", ["node js and example org"]),
        ("what?! really", ["what", "really"]),
        ("one\ntwo\r\nthree\u2028four", ["one", "two", "three", "four"]),
        ("हिन्दी भाषा। दूसरा वाक्य", ["हिन्दी भाषा", "दूसरा वाक्य"]),
    ],
)
def test_sentences_are_divided_at_their_ends(text: str, expected: list[str]) -> None:
    assert joined(text) == expected


def test_sequences_of_fewer_than_five_words_are_left_out() -> None:
    assert tokens.sequences(["Home News Sport Contact", "This one has five words."]) == [
        ["this", "one", "has", "five", "words"]
    ]


def test_scripts_without_spaces_are_read_by_character() -> None:
    assert joined("猫は動物。犬も") == ["猫 は 動 物", "犬 も"]
    assert joined("Windows の猫") == ["Windows の 猫"]
    assert joined("猫は動物", characters=False) == ["猫は動物"]


def test_every_letter_is_a_word_where_characters_are_wanted() -> None:
    assert joined("Ab c", characters=True) == ["A b c"]


def test_a_letter_with_a_mark_is_one_letter_however_it_is_written() -> None:
    assert joined("cafe\u0301 noir") == joined("café noir") == ["café noir"]


def test_soft_hyphens_and_joiners_do_not_divide_words() -> None:
    assert joined("Donau\u00addampf\u00adschiff می\u200cخواهم") == ["Donaudampfschiff میخواهم"]


def test_words_are_in_lower_case_unless_case_is_kept() -> None:
    assert tokens.sequences(["The Cat sat on ΠΑΝΤΕΣ mats"]) == ["the cat sat on παντες mats".split()]
    assert joined("The Cat", lower=False) == ["The Cat"]
