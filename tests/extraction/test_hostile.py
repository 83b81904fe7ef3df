"""Any bytes: every extractor returns a page of clean text, within limits that the system enforces."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extraction import hostile

ROOT = Path(__file__).resolve().parents[2]
MEGABYTES = 2048  # twice the limit of a worker; the largest page has 100 MB, a crawl reads 1 MiB
# Of CPU: ten times what the kernels need for all extractors of a part together. The reference in Python needs up to
# twenty times as much as the kernels, in proportion to the page as they do, and gets as much for each extractor.
SECONDS = 60

STARTED: "list[subprocess.Popen[str]]" = []
EXTRACTORS = {title: read for part in hostile.PARTS for title, read in hostile.extractors(part)}


def read(name: str, *arguments: str) -> list[dict[str, Any]]:
    rows = [row for part in hostile.PARTS for row in rows_of(name, part, *arguments)]
    assert len(rows) == len(EXTRACTORS)
    return rows


@functools.cache
def rows_of(name: str, part: str, *arguments: str) -> list[dict[str, Any]]:
    process = reader(part, *arguments)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{name}\n")
    process.stdin.flush()
    rows: list[dict[str, Any]] = []
    while "exit" not in (row := json.loads(process.stdout.readline())):
        rows.append(row)
    assert row["exit"] == 0, (name, part, row["exit"])
    return rows


@functools.cache
def reader(part: str, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.extraction.hostile", part, str(MEGABYTES), str(SECONDS), *arguments]
    environment = {**os.environ, "PYTHONPATH": "src", "OPENBLAS_NUM_THREADS": "1"}
    started = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    STARTED.append(started)
    return started


@pytest.fixture(scope="module", autouse=True)
def readers() -> Iterator[None]:
    yield
    for process in STARTED:
        process.communicate()  # which closes its input: it ends


@pytest.mark.parametrize("name", hostile.QUICK)
def test_a_hostile_page_is_read_within_limits_and_gives_clean_text(name: str) -> None:
    assert [row["unclean"] for row in read(name)] == [[]] * (len(EXTRACTORS))


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in hostile.PAGES if name not in hostile.QUICK])
def test_a_slow_hostile_page_is_read_within_limits_and_gives_clean_text(name: str) -> None:
    assert [row["unclean"] for row in read(name)] == [[]] * (len(EXTRACTORS))


@pytest.mark.long
@pytest.mark.parametrize("name", hostile.PAGES)
def test_a_hostile_page_is_read_within_limits_without_the_kernel(name: str) -> None:
    assert read(name, "reference") == read(name)


@pytest.mark.parametrize(
    "name",
    ["20,000 links", *(pytest.param(f"{count} links", marks=pytest.mark.long) for count in ("100,000", "a million"))],
)
def test_of_many_links_only_max_links_are_taken(name: str) -> None:
    assert {row["links"] for row in read(name)} == {10_000}


@pytest.mark.parametrize("name", ["200,000 nested divs", "200,000 nested bold", "no tags"])
def test_paragraphs_finds_the_text_at_the_bottom(name: str) -> None:
    assert all(row["good"] > 500 for row in rows_of(name, "plain") if "paragraphs" in row["extractor"])


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_give_a_clean_page(body: bytes, marked: bool) -> None:
    for name, read in EXTRACTORS.items():
        assert hostile.unclean(read(hostile.captured(b"<!doctype html><p>" * marked + body))) == [], name


BROKE = {
    "a control character in a relation": b"<a href=x rel='nofol\x01low'>x</a>",
    "a line break in a relation": b"<a href=x rel='n\n  f'>x</a><a rel='license\n\x02' href=y>y</a>",
    "a form within noscript within a button": b"<button><noscript><p>text</p></noscript></button>",
    "noscript within noscript": b"<noscript><p>a<noscript><p>b</noscript></noscript><noscript>c",
}


@pytest.mark.parametrize("name", BROKE)
def test_a_page_that_once_broke_an_extractor_gives_a_clean_page(name: str) -> None:
    for extractor, read in EXTRACTORS.items():
        assert hostile.unclean(read(hostile.captured(BROKE[name]))) == [], extractor
