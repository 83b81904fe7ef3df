"""Dates as machines and datelines write them, in many languages, and none where a text has none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.extraction.page import dates
from windrow.records import Paragraph

SOME_DAY = "2024-05-06"
LATER = 1_800_000_000.0  # January 2027


@pytest.mark.parametrize(
    "written",
    [
        *(
            "2024-05-06",
            "2024-05-06T23:59:00+02:00",
            "2024/05/06",
            "2024.5.6",
            "20240506",
            "20240506120000",
            "1714953600",
        ),
        *(
            "May 6, 2024",
            "6 May 2024",
            "6th of May 2024",
            "Published on May 6th, 2024 at noon",
            "06.05.2024",
            "6. 5. 2024",
        ),
        *("2024年5月6日", "2024年05月06日 10:20", "1714953600000"),
    ],
)
def test_a_date_is_read_in_every_common_format(written: str) -> None:
    assert dates.day(written) == SOME_DAY


@pytest.mark.parametrize(
    "written", ["", "yesterday", "2024-13-01", "2024-02-30", "05/06/2024", "1066-10-14", "12345", "2024", "v2.0.24"]
)
def test_a_text_without_a_date_or_with_an_ambiguous_one_gives_none(written: str) -> None:
    assert dates.day(written) == ""


def test_a_date_after_the_fetch_is_ignored() -> None:
    assert dates.day("2030-01-01", LATER) == ""
    assert dates.day("2030-01-01") == "2030-01-01"


@pytest.mark.parametrize(
    ("blocks", "date"),
    [
        (["h1 Headline", "- By Ann, 6 May 2024", "+ The text."], SOME_DAY),
        (["- 1 May 2021", "h1 Headline", "+ Vienna, 6 May 2024. The text."], SOME_DAY),
        (["- Today is 6 May 2024", *["- menu"] * 20, "+ The text."], ""),
        (["+ The text.", "- 6 May 2024"], ""),
        (["h1 Headline", "+ A summary.", "- By Ann", "- Updated 6 May 2024", "+ The text."], SOME_DAY),
        (["h1 Headline", "+ A summary.", "+ " + "The text. " * 20, "- 6 May 2024"], ""),
        (["h1 Headline", "+ The text.", *["- menu"] * 8, "- 6 May 2024"], ""),
        (["h1 Headline", "+ The text.", "- Another story, which is of 6 May 2024, is here"], ""),
        (["+ " + "A long sentence that happens to name 6 May 2024. " * 9], ""),
        (["h1 6 May 2024"], ""),
        (["h1 Headline", "- Updated on 9 June 2024", "- By Ann, 6 May 2024", "+ The text."], SOME_DAY),
        (["h1 Headline", "- Published 6 May 2024 Updated 9 June 2024", "+ The text."], SOME_DAY),
        (["h1 Headline", "- Last updated: 6 May 2024", "+ The text."], SOME_DAY),
        (["- 6 May 2024", "h1 Headline", "+ The text."], SOME_DAY),
        (["- 6 May 2024", *["- menu"] * 5, "h1 Headline", "+ The text."], ""),
        (["- A line that says much more than 6 May 2024", "h1 Headline", "+ The text."], ""),
        (["h1 Headline", "- 6 May 2024", *["- contents"] * 40, "+ The text."], SOME_DAY),
        ([], ""),
    ],
)
def test_a_date_between_headline_and_text_is_the_date_of_the_page(blocks: list[str], date: str) -> None:
    kinds = {
        "h1": ("bad", True, "html.body.h1"),
        "-": ("bad", False, "html.body.p"),
        "+": ("good", False, "html.body.p"),
    }
    found = [Paragraph(text, *kinds[kind]) for kind, text in (block.split(" ", 1) for block in blocks)]
    assert dates.line(found) == date


def test_the_date_of_today_above_a_headline_is_that_of_the_visit() -> None:
    headline = Paragraph("Headline", "bad", True, "html.body.h1")
    found = [Paragraph("15 January 2027", "bad"), headline, Paragraph("The text.", "good")]
    assert dates.line(found, LATER) == ""
    assert dates.line(found) == "2027-01-15"


@pytest.mark.parametrize(
    "written",
    [
        *("6. Mai 2024", "le 6 mai 2024", "6 de mayo de 2024", "6 de maio de 2024", "6 maggio 2024", "6 mei 2024"),
        *("6 maja 2024", "6. května 2024", "6. mája 2024", "6 mai 2024", "2024. május 6.", "6. toukokuuta 2024"),
        *("6 maj 2024", "6 мая 2024 г.", "6 травня 2024", "6 май 2024", "6 Μαΐου 2024", "6 Mayıs 2024", "6 Mei 2024"),
        *("6 tháng 5, 2024", "2024년 5월 6일", "6 مايو 2024", "٦ مايو ٢٠٢٤", "6 मई 2024", "৬ মে ২০২৪"),
        *("Monday, May 6, 2024", "·May 6, 2024", "Mon, 06 May 2024 10:00:00 GMT"),
    ],
)
def test_months_have_names_in_many_languages(written: str) -> None:
    assert dates.day(written) == SOME_DAY


def test_no_name_means_two_months() -> None:
    lines = [line.split() for line in dates._NAMES.strip().splitlines()]
    assert {len(line) for line in lines} == {12}
    pairs = {(name, number) for line in lines for number, name in enumerate(line) if name != "-"}
    assert len({name for name, _ in pairs}) == len(pairs)


@pytest.mark.parametrize(
    ("written", "date"),
    [
        *(("25/12/2024", "2024-12-25"), ("12/25/2024", "2024-12-25"), ("25-12-2024", "2024-12-25")),
        *(("06/06/2024", "2024-06-06"), ("05/06/2024", ""), ("31/31/2024", ""), ("1/2/25/2024", "")),
    ],
)
def test_a_numeric_date_is_read_if_it_means_one_day_only(written: str, date: str) -> None:
    assert dates.day(written) == date


@pytest.mark.parametrize(
    ("language", "date"),
    [
        *(("de", "2024-06-05"), ("fr-CA", "2024-06-05"), ("en-GB", "2024-06-05"), ("en_us", "2024-05-06")),
        *(("en", ""), ("en-CA", ""), ("zh-CN", ""), ("", "")),
    ],
)
def test_the_language_decides_whether_day_or_month_comes_first(language: str, date: str) -> None:
    assert dates.day("05/06/2024", 0.0, language) == date


@pytest.mark.parametrize("path", ["/2024/05/06/story", "/2024-05-06-story", "/20240506", "/2024/may/06/story"])
def test_a_path_has_a_date(path: str) -> None:
    assert dates.in_url(f"http://site.test{path}") == SOME_DAY


def test_a_path_without_a_date_gives_none() -> None:
    assert dates.in_url("http://site.test/2024/news/06/story") == ""
    assert dates.in_url("http://site.test/2030/05/06/", LATER) == ""


@given(st.text(), st.floats(0, 4e9))
def test_any_text_gives_a_date_or_none(text: str, latest: float) -> None:
    for found in (dates.day(text, latest), dates.in_url(text, latest)):
        assert found == "" or len(found) == 10
