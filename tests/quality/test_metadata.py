"""Title, author and date of pages are those that people wrote down, in the shares of floors.toml.

metadata.jsonl has 117 pages of the part `dev` of the Web Content Extraction Benchmark (github.com/Murrough-Foley/
web-content-extraction-benchmark, CC BY 4.0, Murrough Foley 2026), with the title, author and date of its annotators.
Rules were made by looking at the pages with an even number only; those with an odd one are the fair test.
"""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shared import shared
from windrow import config, extraction
from windrow.extraction.evaluation import gold
from windrow.records import Page

HERE = Path(__file__).parent
FLOORS = tomllib.loads((HERE / "floors.toml").read_text(encoding="utf-8"))["metadata"]
ROWS = {row["id"]: row for row in map(json.loads, (HERE / "metadata.jsonl").read_text(encoding="utf-8").splitlines())}
FIELDS: dict[str, Callable[[Page], str]] = {
    "title": lambda page: " ".join(page.title.split()),
    "author": lambda page: page.author.replace(";", ","),
    "date": lambda page: page.date,
}

Score = tuple[float, float]  # right of all that have one, right of those given


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    read = extraction.extractor(config.make([], Path()))
    samples = gold.samples(shared("extraction/wcxb-dev.tar.xz"))
    return {sample.name: read(sample.capture()) for sample in samples if sample.name in ROWS}


def score(pages: dict[str, Page], field: str, names: list[str]) -> Score:
    found = [(FIELDS[field](pages[name]), ROWS[name][field]) for name in names if ROWS[name][field]]
    right = sum(ours.startswith(wanted) if field == "date" else ours == wanted for ours, wanted in found)
    return right / len(found), right / sum(bool(ours) for ours, _ in found)


def test_the_gold_is_complete() -> None:
    assert len(ROWS) == 117
    assert all(row["title"] and set(row) == {"id", "type", "url", "title", "author", "date"} for row in ROWS.values())


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("part", ["all", "odd"])
def test_metadata_reach_their_floors(pages: dict[str, Page], part: str, field: str) -> None:
    names = [name for name in ROWS if part == "all" or int(name) % 2]
    right, precise = score(pages, field, names)
    assert right >= FLOORS[f"{part}_{field}"]
    assert precise >= FLOORS[f"{part}_{field}_given"]
