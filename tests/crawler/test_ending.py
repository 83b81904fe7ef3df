"""A crawl ends when its corpus is as large as wanted, over all runs, whatever dies meanwhile."""

from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth
from tests.crashing import DEAD, Plan
from tests.world import World
from windrow.config import CrawlOptions
from windrow.crawler.ending import Sums
from windrow.log import Tally
from windrow.records import Counts, LimitCounts

IN_FLIGHT = 2
WANTED = 600  # tokens, of some 2,000


@pytest.fixture
def world(prose_world: World) -> World:
    prose_world.reset()
    return prose_world


def prepare(directory: Path, world: World, *options: str) -> Path:
    return truth.prepare(directory, world, *truth.TEXT, f"crawl.in_flight={IN_FLIGHT}", *options)


def crawl(directory: Path, *options: str, plan: Plan | None = None) -> crashing.Result:
    return crashing.run(["crawl", str(directory), "--json", *options], plan)


def status(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = crashing.run(["status", str(directory), "--json"]).json
    return found


def in_order(directory: Path) -> list[int]:
    """Return the words of each document, in the order of the log: the oracle, by white space alone."""
    words = {
        document["url"]: sum(len(paragraph["text"].split()) for paragraph in document["paragraphs"])
        for document in truth.documents(directory)
    }
    lines = [line for frame in truth.frames(directory) for line in frame[1:] if line.get("kept")]
    assert {line["url"]: line["tokens"] for line in lines} == words
    return [words[line["url"]] for line in lines]


def assert_target(directory: Path, wanted: int) -> None:
    """The corpus has its tokens, and without the pages that were in flight at the end it would not have them."""
    words = in_order(directory)
    assert sum(words) == status(directory)["tokens"] >= wanted
    assert sum(words[: -IN_FLIGHT - 1]) < wanted


@pytest.mark.parametrize(
    ("options", "seconds", "before", "tally", "limit"),
    [
        ({}, 1e9, Counts(tokens=10**9, documents=10**6), Tally(tokens=10**9), ""),
        ({"max_tokens": 10}, 1.0, Counts(tokens=4), Tally(tokens=5), ""),
        ({"max_tokens": 10}, 1.0, Counts(tokens=4), Tally(tokens=6), "tokens"),
        ({"max_tokens": 10}, 1.0, Counts(tokens=10), Tally(), "tokens"),
        ({"max_documents": 3}, 1.0, Counts(documents=2), Tally(), ""),
        ({"max_documents": 3}, 1.0, Counts(documents=2), Tally(documents=1), "documents"),
        ({"max_seconds": 2.0, "max_tokens": 1}, 2.0, Counts(tokens=1), Tally(), "seconds"),
    ],
)
def test_time_counts_per_run_and_the_corpus_over_all_runs(
    options: dict[str, Any], seconds: float, before: Counts, tally: Tally, limit: str
) -> None:
    sums = Sums(tally)
    sums.before = before
    assert sums.reached(CrawlOptions(**options), seconds) == limit


def test_the_corpus_of_the_other_shards_counts() -> None:
    sums = Sums(Tally(tokens=4, documents=1))
    sums.before, sums.elsewhere = Counts(tokens=3, documents=2), LimitCounts(tokens=2, documents=1)
    assert sums.own() == LimitCounts(documents=3, tokens=7)
    assert sums.reached(CrawlOptions(max_tokens=10, max_documents=5), 1.0) == ""
    sums.elsewhere = LimitCounts(tokens=3, documents=1)
    assert sums.reached(CrawlOptions(max_tokens=10, max_documents=5), 1.0) == "tokens"
    assert sums.reached(CrawlOptions(max_documents=4), 1.0) == "documents"


def test_a_crawl_ends_with_its_tokens_and_a_second_run_requests_nothing(world: World, tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", world)
    first = crawl(directory, "--max-tokens", "0.6K")
    assert first.code == 0 and first.json["why"] == "tokens"
    assert_target(directory, WANTED)
    found = status(directory)
    assert first.json["counts"]["tokens"] == first.json["tally"]["tokens"] == found["tokens"]
    assert found["waiting"] > 0, "the web has more"
    requests = len(world.requests())
    again = crashing.run(["crawl", str(directory), "--max-tokens", str(WANTED)])
    assert again.code == 0 and "the corpus has as many tokens as crawl.max_tokens wants" in again.out
    assert f"The corpus has {found['documents']} documents with {found['tokens']:,} tokens." in again.out
    assert len(world.requests()) == requests
    report = crashing.run(["report", str(directory), "--json"]).json
    assert report["tokens"] == sum(share["tokens"] for share in report["languages"]) == found["tokens"]


def test_a_crawl_with_a_higher_target_continues_to_it(world: World, tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", world)
    assert crawl(directory, "--max-tokens", "300").json["why"] == "tokens"
    second = crawl(directory, "--max-tokens", str(WANTED)).json
    assert second["why"] == "tokens" and second["tally"]["tokens"] < second["counts"]["tokens"]
    assert_target(directory, WANTED)
    last = crawl(directory, "--max-tokens", "1M")
    assert last.json["why"] == "done"
    truth.assert_whole(directory, world)
    truth.assert_corpus(directory)


def test_a_crawl_ends_with_its_documents(world: World, tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", world)
    result = crawl(directory, "--max-documents", "5")
    assert result.json["why"] == "documents"
    assert 5 <= status(directory)["documents"] == len(truth.documents(directory)) <= 5 + IN_FLIGHT
    assert crashing.run(["set", str(directory), "crawl.max_documents=9"]).code == 0
    ordered = crawl(directory)
    assert ordered.json["why"] == "documents"
    assert 9 <= status(directory)["documents"] <= 9 + IN_FLIGHT


def test_without_near_duplicates_the_same_words_count(world: World, tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", world, "dedup.near_duplicates=false")
    assert crawl(directory, "--max-tokens", str(WANTED)).json["why"] == "tokens"
    assert_target(directory, WANTED)


@pytest.mark.parametrize(
    ("verb", "file", "part"), [("write", "log/", 0.9), ("pwrite", "corpus/", 0.3), ("fsync", "warc/", 0.6)]
)
def test_a_crawl_that_dies_on_the_way_has_its_tokens_in_the_end(
    verb: str, file: str, part: float, trace: list[str], world: World, tmp_path: Path
) -> None:
    places = [number for number, entry in enumerate(trace, 1) if entry.startswith(f"{verb} {file}")]
    directory = prepare(tmp_path / "crawl", world)
    died = crawl(directory, "--max-tokens", str(WANTED), plan=Plan(at=places[int(part * len(places))], how="half"))
    assert died.code == DEAD, died.err
    before = status(directory)["tokens"]
    after = crawl(directory, "--max-tokens", str(WANTED))
    assert after.code == 0 and after.json["why"] == "tokens", after.err
    assert after.json["counts"]["tokens"] == before + after.json["tally"]["tokens"]
    assert_target(directory, WANTED)


@pytest.fixture(scope="module")
def trace(prose_world: World, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the file operations of a crawl to its target."""
    directory = prepare(tmp_path_factory.mktemp("trace") / "crawl", prose_world)
    whole = crawl(directory, "--max-tokens", str(WANTED))
    assert whole.json["why"] == "tokens"
    return whole.trace


def test_a_store_made_again_from_the_log_counts_the_same(world: World, tmp_path: Path) -> None:
    directory = prepare(tmp_path / "crawl", world)
    whole = crawl(directory, "--max-tokens", str(WANTED)).json["counts"]
    assert crashing.run(["rebuild", str(directory)]).code == 0
    requests = len(world.requests())
    again = crawl(directory, "--max-tokens", str(WANTED)).json
    assert again["why"] == "tokens" and len(world.requests()) == requests
    assert (again["counts"]["tokens"], again["counts"]["documents"]) == (whole["tokens"], whole["documents"])


@pytest.mark.parametrize("written", ["many", "10X", "0", "-5", "1.5", "nan", "inf", "1e999M"])
def test_a_number_that_is_none_is_refused_in_one_sentence(written: str, tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("")
    result = crashing.run(["crawl", str(tmp_path), f"--max-tokens={written}"])
    assert result.code == 2 and result.err.count("\n") == 1
    assert f"--max-tokens {written!r} is not a number; write 300K, 10M or 1500000" in result.err
