"""`windrow size`: three sizes of a crawl, or one, for people and for programs."""

from pathlib import Path

import pytest

from tests import crashing


def test_without_a_crawl_the_defaults_give_three_sizes() -> None:
    shown = crashing.run(["size"])
    assert shown.code == 0
    assert "1,000,000 pages  10,000,000 pages  100,000,000 pages" in shown.out
    assert "From measured defaults; 1,000 hosts at a time, fetch.delay = 5." in shown.out
    assert "dedup.table_bytes that forgets nothing" in shown.out


def test_the_numbers_for_programs_are_those_for_people() -> None:
    (need,) = crashing.run(["size", "--pages", "2M", "--no-text", "--urls-per-page", "3", "--json"]).json
    assert (need["pages"], need["urls"]) == (2_000_000, 6_000_000)
    assert need["disk_total"] == sum(need["disk"].values()) and "corpus" not in need["disk"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pages", "many"], "--pages 'many' is not a number"),
        (["--no-text"], "has its own ratios"),
        (["--urls-per-page", "3"], "has its own ratios"),
    ],
)
def test_what_cannot_be_computed_is_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = crashing.run(["size", str(tmp_path), *arguments])
    assert result.code == 2 and message in result.err


def test_a_directory_without_a_crawl_is_refused(tmp_path: Path) -> None:
    result = crashing.run(["size", str(tmp_path)])
    assert result.code == 2 and "holds no crawl" in result.err
