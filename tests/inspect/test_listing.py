"""Lists of URLs come from the log, also if more wait than fit into memory."""

import json
import time
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.finished import Finished
from tests.logs import entry, frame, page, task, url, write
from windrow.config import ConfigError
from windrow.inspect import listing
from windrow.inspect.listing import Wish
from windrow.records import Kind, Order, Reason


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl of a few pages: two are done, one failed once, four wait."""
    directory = tmp_path / "crawl"
    directory.mkdir()
    (directory / "crawl.toml").write_text("")
    write(
        directory / "log",
        frame(1, page("", links=["a", "b", "c"]), seeds=[task("")]),
        frame(
            2,
            page("a", reason=Reason.QUALITY, detail="short", links=["d", "e"], time=2000.0),
            entry(task("b"), Reason.TIMEOUT, seconds=1.0, final=False, seq=0, time=2001.0),
            entry(task("robots.txt", kind=Kind.FILE, file="robots"), seconds=1.0, time=2002.0),
        ),
    )
    return directory


def paths(rows: object) -> list[str]:
    return [row.url.removeprefix("http://a.example.org/") for row in rows]  # type: ignore[attr-defined]


def test_urls_are_listed_by_reason(crawl: Path) -> None:
    (row,) = listing.outcomes(crawl, Wish(reasons=("quality",)))
    assert (row.url, row.state, row.reason, row.detail, row.status) == (
        url("a").text,
        "finished",
        "quality",
        "short",
        200,
    )
    assert paths(listing.outcomes(crawl, Wish(reasons=("quality", "ok")))) == ["", "a"]


def test_a_reason_in_another_field_does_not_count(crawl: Path) -> None:
    write(crawl / "log", frame(3, page("d", detail='"reason":"robots"')))
    assert paths(listing.outcomes(crawl, Wish(reasons=("robots",)))) == []


def test_attempts_kinds_and_times_are_chosen(crawl: Path) -> None:
    assert paths(listing.outcomes(crawl, Wish())) == ["", "a"]
    again = list(listing.outcomes(crawl, Wish(attempts=True)))
    assert paths(again) == ["", "a", "b"] and again[2].state == "again"
    assert paths(listing.outcomes(crawl, Wish(kind="file"))) == ["robots.txt"]
    assert paths(listing.outcomes(crawl, Wish(kind="all", since=2000.0))) == ["a", "robots.txt"]
    assert paths(listing.outcomes(crawl, Wish(until=1999.0))) == [""]


def test_hosts_match_exactly_and_domains_with_all_below(crawl: Path) -> None:
    write(crawl / "log", frame(3, page("x", host="b.example.org"), page("y", host="notexample.org")))
    assert paths(listing.outcomes(crawl, Wish(hosts=("example.org",)))) == []
    assert paths(listing.outcomes(crawl, Wish(hosts=("a.example.org",)))) == ["", "a"]
    assert len(paths(listing.outcomes(crawl, Wish(domains=("example.org",))))) == 3


def test_waiting_urls_are_those_admitted_and_not_finished(crawl: Path) -> None:
    rows = list(listing.waiting(crawl, Wish()))
    assert paths(rows) == ["b", "c", "d", "e"]
    assert [row.via for row in rows] == [url("").text] * 2 + [url("a").text] * 2


@pytest.mark.parametrize("held", [1, 2, 3])
def test_more_waiting_urls_than_fit_into_memory_are_listed_once_each(crawl: Path, held: int) -> None:
    many = [f"page/{number}" for number in range(40)]
    write(crawl / "log", frame(3, page("d", links=many), page("page/7")))
    expected = {"b", "c", "e", *many} - {"page/7"}
    found = paths(listing.waiting(crawl, Wish(), held))
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("held", [1, 100])
def test_urls_that_an_order_reopened_wait_again(crawl: Path, held: int) -> None:
    dead = [entry(task(name), Reason.HOST_DEAD, final=True) for name in "bc"]
    retry = Order(id="1", time=9.0, verb="retry", values=("host-dead",), reopened={"host-dead": 2})
    write(crawl / "log", frame(3, *dead), frame(4, page("b"), orders=(retry,)))
    rows = list(listing.waiting(crawl, Wish(), held))
    assert sorted(paths(rows)) == ["c", "d", "e"]
    assert [(row.time, row.via) for row in rows if row.url.endswith("/c")] == [(9.0, url("").text)]


def test_a_whole_crawl_is_listed_as_its_log_says(finished: Finished) -> None:
    result = crashing.run(["list", str(finished.directory), "--json"])
    rows = [json.loads(line) for line in result.out.splitlines()]
    lines = [line for part in truth.frames(finished.directory) for line in part[1:]]
    ends = [line for line in lines if line.get("kind", 0) == 0 and line.get("final", True)]
    assert [(row["url"], row["reason"]) for row in rows] == [(line["url"], line["reason"]) for line in ends]
    assert crashing.run(["list", str(finished.directory), "--waiting"]).out == ""


def test_urls_alone_are_a_seed_list(finished: Finished) -> None:
    out = crashing.run(["list", str(finished.directory), "--reason", "not-found", "--urls", "--limit", "2"]).out
    assert set(out.splitlines()) <= finished.world.expected.missing and len(out.splitlines()) == 2


def test_refused_seeds_are_listed_with_their_rule(crawl: Path) -> None:
    (crawl / "seeds.txt").write_text("http://a.test/\nhttp://b.example/\nhttp://c.example/x.jpg\n")
    (crawl / "crawl.toml").write_text('[scope]\ntlds = ["example"]\n')
    result = crashing.run(["list", str(crawl), "--refused-seeds", "--json"])
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert [(row["url"], row["reason"]) for row in rows] == [
        ("http://a.test/", "tld"),
        ("http://c.example/x.jpg", "suffix"),
    ]
    assert 'scope.tlds = ["example"]' in rows[0]["detail"]


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish(reasons=("dupplicate",)), "did you mean 'duplicate'"),
        (Wish(reasons=("qqq",)), "windrow reasons"),
        (Wish(kind="robots"), "page, file, resolve, session-redirect or all"),
        (Wish(since=2.0, until=1.0), "change one of them"),
    ],
)
def test_a_wish_that_cannot_be_fulfilled_is_refused(wish: Wish, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        listing.check(wish)


def test_a_time_is_local_unless_it_names_a_zone() -> None:
    assert listing.moment("", "--since") == 0.0
    assert listing.moment("2026-11-15T10:44Z", "--since") == 1794739440.0
    assert listing.moment("2026-11-15", "--since") == time.mktime((2026, 11, 15, 0, 0, 0, 0, 0, -1))
    with pytest.raises(ConfigError, match="--since 'noon' is not a time"):
        listing.moment("noon", "--since")
