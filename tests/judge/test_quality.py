"""Running text passes, what is none is refused by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import declarations
from windrow.config import Quality
from windrow.data import Paragraph
from windrow.judge import quality

OPTIONS = Quality()
LANGUAGES = ("ar", "cs", "de", "en", "es", "fi", "fr", "ja", "pl", "ru", "tr", "vi")


@pytest.mark.parametrize("language", LANGUAGES)
def test_prose_of_every_script_is_kept(language: str) -> None:
    ruling = quality.judge(declarations.shipped(language), OPTIONS)
    assert ruling.reason == ""
    assert ruling.scores["letters"] > 0.9
    assert ruling.scores["sentences"] > 0.8


MENU = ["Home", "About us", "Products", "Downloads", "Contact", "News", "Imprint", "Sitemap", "Archive", "Partners"]
NUMBERS = ["12.5 0.001 99 17 2024-01-01 18:30 77 1,234 55.1 Total 9 10 11"]


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ([], "short"),
        (["Not found."], "short"),
        (NUMBERS * 20, "digits"),
        (["{ $x == $y } && [ #z ] || <a> = @b; _c_ ^ ~ | \\d+ */ %p `q`"] * 20, "symbols"),
        (["x. -- (!) ... ;; ''' - - - ?! :: a, b. " * 20], "letters"),
        (["Buy the best watches here, cheap and fast."] * 50, "repeated-lines"),
        (["cheap watches best price " * 100], "repeated-words"),
        ([f"{entry} {number}" for number in range(40) for entry in map(str.lower, MENU)], "no-sentences"),
    ],
)
def test_what_is_not_running_text_is_refused_by_name(texts: list[str], reason: str) -> None:
    assert quality.judge(texts, OPTIONS).reason == reason


def test_the_share_of_good_paragraphs_counts_where_it_is_asked_for() -> None:
    paragraphs = [Paragraph("a" * 20), Paragraph("b" * 60, "bad"), Paragraph("c" * 20, "neargood")]
    assert quality.good_share(paragraphs) == 0.2
    assert quality.good_share([]) == 0.0
    prose = declarations.shipped("en")
    assert quality.judge(prose, Quality(min_good=0.3), 0.2).reason == "boilerplate"
    assert quality.judge(prose, Quality(min_good=0.3), 0.3).reason == ""


def test_the_numbers_of_a_small_text() -> None:
    found = quality.scores(["Two dogs, 12 cats.", "Two dogs, 12 cats.", "& more"])
    assert found["characters"] == 35
    assert found["words"] == 10
    assert found["digits"] == pytest.approx(4 / 35)
    assert found["symbols"] == pytest.approx(1 / 35)
    assert found["letters"] == pytest.approx(26 / 35)
    assert found["repeated_lines"] == pytest.approx(18 / 42)
    assert found["sentences"] == pytest.approx(36 / 42)
    assert found["repeated_words"] == 0.0


def test_an_ideograph_counts_for_three() -> None:
    assert quality.scores(["人人生而自由"])["characters"] == 18


def test_a_long_text_has_the_shares_of_its_beginning_and_the_length_of_all() -> None:
    text = "Ten chars " * 2000
    found = quality.scores([text])
    assert found["characters"] == pytest.approx(16000, rel=0.01)
    assert found["letters"] == 1.0


@given(st.lists(st.text(max_size=80), max_size=12))
def test_every_number_of_every_text_is_in_its_range(texts: list[str]) -> None:
    found = quality.scores(texts)
    assert all(value >= 0 for value in found.values())
    assert all(
        found[name] <= 1 for name in ("letters", "digits", "symbols", "repeated_lines", "repeated_words", "sentences")
    )


@pytest.mark.parametrize(
    ("root", "fields", "texts", "marker"),
    [
        ({"lang": "de-x-mtfrom-en"}, [], [], "lang"),
        ({"lang": "de-t-en-t0-und"}, [], [], "lang"),
        ({"class": "no-js translated-ltr"}, [], [], "html"),
        ({"data-wg-translated": "de"}, [], [], "html"),
        ({}, [("X-Translated-By", "Google")], [], "x-translated-by"),
        ({}, [("generator", "GTranslate 3 - automatic translation")], [], "generator"),
        ({}, [], ["Diese Seite wurde maschinell übersetzt."], "notice"),
        ({}, [], ["Текст.", "Машинный перевод"], "notice"),
        ({}, [], ["This article was automatically translated from English."], "notice"),
        (
            {"lang": "de", "class": "translated"},
            [("generator", "WordPress 6.4"), ("description", "translated")],
            ["Wir übersetzen."],
            "",
        ),
        ({"lang": "en-t-jp"}, [], [], ""),  # translated, but not by a machine
        ({}, [], ["Machine translated text has improved a lot since 2016; " * 10], ""),
    ],
)
def test_machine_translations_are_known_by_their_marks(
    root: dict[str, str], fields: list[tuple[str, str]], texts: list[str], marker: str
) -> None:
    assert quality.machine_translated(root, fields, texts) == marker


PROBE = [
    "Shop of Things",
    "Sorry, we could not find /e7f3a9/nothing-here.html on our server.",
    "Try the search, or go to the start page.",
]


def test_a_page_like_the_probe_is_missing_and_another_is_not() -> None:
    same = [
        "Shop of Things",
        "Sorry, we could not find /products/17 on our server.",
        "Try the search, or go to the start page.",
    ]
    article = ["Shop of Things", *declarations.shipped("en")[:6], "Try the search, or go to the start page."]
    assert quality.likeness(same, PROBE) >= OPTIONS.soft_404
    assert quality.likeness(article, PROBE) < OPTIONS.soft_404


def test_likeness_is_symmetric_and_whole_for_equal_texts() -> None:
    one, other = declarations.shipped("en")[:5], declarations.shipped("en")[3:8]
    assert quality.likeness(one, other) == quality.likeness(other, one)
    assert 0 < quality.likeness(one, other) < 1
    assert quality.likeness(one, one) == 1.0
    assert quality.likeness(one, []) == 0.0
    assert quality.likeness([], []) == 1.0


@pytest.mark.parametrize("text", ["a" * 10**6, "1/" * 10**5, "-t-" * 10**5, " ." * 10**5, "人" * 10**6])
def test_a_hostile_text_takes_no_longer_than_linear_time(text: str) -> None:
    assert quality.judge([text], OPTIONS).reason in ("", "digits", "letters", "symbols", "repeated-words")
    assert quality.likeness([text], [text]) == 1.0
    assert quality.machine_translated({"lang": text, "class": text}, [("generator", text)], [text]) == ""
