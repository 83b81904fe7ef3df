"""Running text is kept; other text is rejected with the name of the limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import declarations
from windrow.config import Config, QualityOptions
from windrow.judge import Facts, quality
from windrow.records import Page, Paragraph, Reason

OPTIONS = QualityOptions()
LANGUAGES = ("ar", "cs", "de", "en", "es", "fi", "fr", "ja", "pl", "ru", "tr", "vi")


def limit(texts: list[str], options: QualityOptions = OPTIONS, good: float = 1.0) -> str:
    """Return the name of the limit that rejects these texts; "" if none does."""
    return quality.exceeded({**quality.scores(texts), "good": good}, options)


@pytest.mark.parametrize("language", LANGUAGES)
def test_prose_of_every_script_is_kept(language: str) -> None:
    texts = declarations.shipped(language)
    assert limit(texts) == ""
    assert quality.scores(texts)["letters"] > 0.9
    assert quality.scores(texts)["sentences"] > 0.8


def test_the_judge_looks_at_the_paragraphs_that_earlier_judges_kept() -> None:
    texts = [*declarations.shipped("en"), *NUMBERS * 300]
    page = Page(paragraphs=tuple(map(Paragraph, texts)))
    judge = quality.build(Config())
    assert judge(page, Facts(url="", texts=texts[::-1])).detail == "digits"
    numbers = frozenset(range(len(texts) - 300, len(texts)))
    kept = judge(page, Facts(url="", texts=texts, dropped=numbers))
    assert (kept.reason, kept.detail) == (Reason.OK, "")


def test_a_page_that_may_have_no_main_text_has_a_score_for_it() -> None:
    texts = declarations.shipped("en")
    judge = quality.build(Config())
    for doubtful in (True, False):
        page = Page(paragraphs=tuple(map(Paragraph, texts)), doubtful=doubtful)
        assert ("doubtful" in judge(page, Facts(url="", texts=texts)).scores) == doubtful


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
def test_text_that_is_not_running_text_is_rejected_with_the_name_of_the_limit(texts: list[str], reason: str) -> None:
    assert limit(texts) == reason


def test_the_share_of_good_paragraphs_has_a_limit_if_the_option_is_set() -> None:
    paragraphs = [Paragraph("a" * 20), Paragraph("b" * 60, "bad"), Paragraph("c" * 20, "neargood")]
    assert quality.good_share(paragraphs) == 0.2
    assert quality.good_share([]) == 0.0
    prose = declarations.shipped("en")
    assert limit(prose, QualityOptions(min_good=0.3), 0.2) == "boilerplate"
    assert limit(prose, QualityOptions(min_good=0.3), 0.3) == ""


def test_the_scores_of_a_small_text() -> None:
    found = quality.scores(["Two dogs, 12 cats.", "Two dogs, 12 cats.", "& more"])
    assert found["characters"] == 35
    assert found["words"] == 10
    assert found["digits"] == pytest.approx(4 / 35)
    assert found["symbols"] == pytest.approx(1 / 35)
    assert found["letters"] == pytest.approx(26 / 35)
    assert found["repeated_lines"] == pytest.approx(18 / 42)
    assert found["sentences"] == pytest.approx(36 / 42)
    assert found["repeated_words"] == 0.0


def test_a_chinese_character_counts_three_times() -> None:
    assert quality.scores(["人人生而自由"])["characters"] == 18


def test_a_long_text_has_the_shares_of_its_beginning_and_the_length_of_the_whole() -> None:
    text = "Ten chars " * 2000
    found = quality.scores([text])
    assert found["characters"] == pytest.approx(16000, rel=0.01)
    assert found["letters"] == 1.0


@given(st.lists(st.text(max_size=80), max_size=12))
def test_every_score_of_every_text_is_in_its_range(texts: list[str]) -> None:
    found = quality.scores(texts)
    assert all(value >= 0 for value in found.values())
    assert all(
        found[name] <= 1 for name in ("letters", "digits", "symbols", "repeated_lines", "repeated_words", "sentences")
    )


@pytest.mark.parametrize("text", ["a" * 10**6, "1/" * 10**5, "-t-" * 10**5, " ." * 10**5, "人" * 10**6])
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert limit([text]) in ("", "digits", "letters", "symbols", "repeated-words")
