"""The table of well-known files."""

import dataclasses

import pytest

from windrow import origin, urls
from windrow.config import Config, ExtractOptions, FetchOptions, SignalsOptions
from windrow.origin import WellKnown
from windrow.records import Access, Capture, Failure, FileState, Kind, Origin, OriginFile, Reason, Signal, Task

KNOWN = Origin(name="http://site.test", stamp=1.0, fetched=1.0, expires=2.0)


def capture(task: Task, body: bytes) -> Capture:
    return Capture(task, 200, b"", b"HTTP/1.1 200 OK\r\n\r\n", body, 100.0, 0.1, "192.0.2.1", "http/1.1")


def test_the_files_before_pages_are_those_that_the_options_want() -> None:
    assert origin.before_pages(Config()) == {"tdmrep": "/.well-known/tdmrep.json"}
    assert origin.before_pages(Config(signals=SignalsOptions(tdmrep=False))) == {}
    assert origin.before_pages(Config(extract=ExtractOptions(extractor="none"))) == {}


def test_a_task_names_its_file_and_the_origin_that_needs_it() -> None:
    task = origin.task("robots", "https://site.test:8443")
    assert task.url.text == "https://site.test:8443/robots.txt"
    assert (task.kind, task.file, origin.needed_by(task)) == (Kind.FILE, "robots", "https://site.test:8443")
    url = urls.parse("https://other.test/robots.txt")
    assert url is not None
    moved = Task(url, kind=Kind.FILE, via="https://site.test:8443", file="robots")
    assert origin.needed_by(moved) == "https://site.test:8443"


def test_an_origin_knows_the_sitemaps_that_its_robots_txt_names() -> None:
    body = b"Sitemap: /a.xml\nUser-agent: *\nDisallow: /x\nSitemap: https://cdn.test/b.xml.gz\n"
    learnt = origin.learn(None, capture(origin.task("robots", "http://site.test"), body), Config(), 101.0)
    assert origin.sitemaps(learnt) == ("http://site.test/a.xml", "https://cdn.test/b.xml.gz")
    assert origin.sitemaps(KNOWN) == ()


def test_a_robots_txt_that_fails_for_an_unknown_origin_closes_it() -> None:
    failure = Failure(origin.task("robots", "http://site.test"), Reason.TIMEOUT, "", 100.0)
    assert origin.learn(None, failure, Config(), 100.0).access is Access.CLOSED


def test_a_new_file_costs_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything but the row and its reader follows by itself: path, task, record, signals."""

    def read(before: OriginFile | None, answer: Capture | Failure) -> OriginFile:
        return (
            OriginFile(FileState.PRESENT, answer.body.decode())
            if isinstance(answer, Capture)
            else OriginFile(FileState.ABSENT)
        )

    row = WellKnown(
        path=lambda _: "/ai.txt",
        wanted=lambda config: True,
        limit=lambda fetch: 1000,
        read=read,
        signals=lambda text, path: (Signal("ai.txt", "train-ai", text),),
    )
    monkeypatch.setitem(origin.FILES, "ai", row)
    assert origin.before_pages(Config())["ai"] == "/ai.txt"
    learnt = origin.learn(KNOWN, capture(origin.task("ai", KNOWN.name), b"n"), Config(), 101.0)
    assert learnt.files["ai"] == OriginFile(FileState.PRESENT, "n")
    assert origin.signals(learnt, "/page") == (Signal("ai.txt", "train-ai", "n"),)


def test_the_body_limits_are_those_of_each_file() -> None:
    fetch = dataclasses.replace(FetchOptions(), max_bytes=100_000, robots_max_bytes=500_000)
    limits = {name: row.limit(fetch) for name, row in origin.FILES.items()}
    assert limits == {"robots": 500_000, "tdmrep": 100_000, "soft404": 100_000}
