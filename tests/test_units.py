"""Numbers and times for people."""

import time

import pytest

from windrow import units


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.00 kB"),
        (9994, "9.99 kB"),
        (9996, "10.0 kB"),
        (99_960, "100 kB"),
        (999_600, "1.00 MB"),
        (12_345_678, "12.3 MB"),
        (4.9e15, "4.90 PB"),
        (4.9e19, "49000 PB"),
    ],
)
def test_a_size_has_three_digits_and_a_unit(count: float, text: str) -> None:
    assert units.size(count) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "0 %"),
        (0, 9, "0 %"),
        (1, 1, "100 %"),
        (996, 1000, "100 %"),
        (99, 1000, "9.9 %"),
        (999, 10_000, "10 %"),
        (1, 8000, "0.013 %"),
    ],
)
def test_a_share_keeps_the_digits_that_matter(part: float, whole: float, text: str) -> None:
    assert units.share(part, whole) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.0 s"), (59.4, "59.4 s"), (60, "1 min 0 s"), (3599.6, "1 h 0 min"), (90_061, "1 d 1 h")],
)
def test_a_span_has_two_units(seconds: float, text: str) -> None:
    assert units.span(seconds) == text


def test_a_moment_is_local_time_and_zero_is_never() -> None:
    noon = time.mktime((2026, 11, 15, 12, 0, 1, 0, 0, -1))
    assert units.moment(noon) == "2026-11-15 12:00:01"
    assert units.moment(0) == "never"


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (0, ("page",), "0 pages"),
        (1, ("page",), "1 page"),
        (1234, ("page",), "1,234 pages"),
        (2, ("entry", "entries"), "2 entries"),
    ],
)
def test_a_count_has_the_right_plural(number: int, words: tuple[str, ...], text: str) -> None:
    assert units.count(number, *words) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1), ("300K", 300_000), ("10M", 10_000_000), ("10m", 10_000_000), ("1.5G", 1_500_000_000), ("1_000", 1000)],
)
def test_a_number_may_have_a_unit(text: str, number: int) -> None:
    assert units.number(text) == number


@pytest.mark.parametrize("text", ["", "M", "ten", "10X", "0", "-1", "0.5", "1.0001K", "nan", "10 M 5"])
def test_a_number_is_whole_and_at_least_one(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        units.number(text)


@pytest.mark.parametrize(("numbers", "text"), [([], ""), ([3], "3"), ([7, 0, 2, 1], "0-2, 7"), ([1, 3], "1, 3")])
def test_numbers_that_follow_each_other_are_one_range(numbers: list[int], text: str) -> None:
    assert units.ranges(numbers) == text
