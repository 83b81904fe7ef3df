"""A URL that is due again after a minute, from the frontier to the log and to everything that reads the log.

The driver here is a few lines in passed time: it leases, asks a server of its own with the validators of the task, and
writes what the frontier answers into a log.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.frontier.hand import Hand, do
from tests.frontier.simulation import START, options, task
from windrow import config, frontier, log
from windrow.crawler.orders import give
from windrow.inspect import listing
from windrow.inspect.status import status
from windrow.inspect.story import why
from windrow.log.writer import Log
from windrow.records import Frame, History, Lease, Reason, Report

URL = "http://a.org/1"
VERSIONS = ("A" * 32, "B" * 32)  # digests of the payload of the page


def every_minute(history: History, report: Report) -> float:
    """Visit each URL three times, a minute apart."""
    return report.time + 60.0 if history.visits < 3 else 0.0


class Crawl:
    """A crawl of one page, which changes after the second visit, with its log."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.log = Log(directory / "log", ("", 0))
        store = frontier.open(directory / "state", crawl_options(), START, policy=every_minute)
        self.hand = Hand(store)
        self.requests: list[tuple[float, str, int]] = []  # seconds since the start, If-None-Match, If-Modified-Since
        self.commit(seeds=(task(URL),), entries=())

    def commit(self, **fields: object) -> None:
        self.hand.frame += 1
        frame = Frame(number=self.hand.frame, time=self.hand.now, lengths={}, **fields)  # type: ignore[arg-type]
        do(self.hand.store.committed(frame, self.log.append(log.encode(frame))))

    def answer(self, lease: Lease) -> None:
        """Answer as the server does: with "not modified" if the page is still the one that the validators name."""
        [page] = lease.tasks
        assert page.history is not None
        number = len(self.requests) // 2
        self.requests.append((self.hand.now - START, page.history.etag, page.history.modified))
        if page.history.etag == f'"{number}"':
            entries = self.hand.serve(lease, Reason.NOT_MODIFIED, status=304, seconds=0.1)
        else:
            found = {"digest": VERSIONS[number], "etag": f'"{number}"', "modified": 1000 + number, "downloaded": 500}
            entries = self.hand.serve(lease, links=["http://a.org/robots-forbids-it"] * number, seconds=0.1, **found)
        self.commit(entries=tuple(entries))


def crawl_options() -> config.Config:
    return options(ip_delay=0.0, delay=1.0, order="breadth", max_host_urls=1)


@pytest.fixture
def crawled(tmp_path: Path) -> Iterator[Crawl]:
    """Crawl to the end."""
    (tmp_path / "crawl.toml").write_text("", "utf-8")
    crawl = Crawl(tmp_path)
    do(crawl.hand.store.add([task(URL)]))
    while crawl.hand.again is not None:
        for lease in crawl.hand.pages():
            crawl.answer(lease)
        if crawl.hand.again is not None:
            crawl.hand.wait()
    yield crawl
    with contextlib.suppress(Exception):
        do(crawl.hand.store.close())


def test_it_is_requested_three_times_and_each_task_has_the_validators_of_the_last_answer(crawled: Crawl) -> None:
    assert crawled.requests == [(0.0, "", 0), (60.0, '"0"', 1000), (120.0, '"0"', 1000)]


def test_the_log_has_every_visit_with_its_reason_and_the_time_of_the_next(crawled: Crawl) -> None:
    frames = [frame for frame, _ in log.frames(crawled.directory / "log")]
    entries = [entry for frame in frames for entry in frame.entries]
    assert [(entry.report.reason, entry.due and entry.due - START) for entry in entries] == [
        (Reason.OK, 60.0),
        (Reason.NOT_MODIFIED, 120.0),
        (Reason.OK, 0),
    ]
    histories = [entry.report.task.history for entry in entries]
    assert histories == [None, History(visits=1, reason=Reason.OK), History(visits=2, reason=Reason.NOT_MODIFIED)]
    assert [(entry.report.etag, entry.report.modified) for entry in entries] == [('"0"', 1000), ("", 0), ('"1"', 1001)]


def test_the_counts_have_one_reason_per_visit_and_the_last_one_for_the_url(crawled: Crawl) -> None:
    counts, found = do(crawled.hand.store.counts()), status(crawled.directory)
    assert (found.seen, found.waiting, found.finished) == (1, 0, {"ok": 1})
    assert (found.earlier, found.due) == ({"ok": 1, "not-modified": 1}, 0)
    assert {reason.value: count for reason, count in counts.finished.items()} == found.finished
    assert {reason.value: count for reason, count in counts.earlier.items()} == found.earlier


def test_the_story_has_all_visits_in_order_and_ends_with_the_last_reason(crawled: Crawl) -> None:
    story = why(crawled.directory, URL, crawl_options())
    visits = [event for event in story.events if event.kind == "requested"]
    assert [(event.reason, event.visits) for event in visits] == [("ok", 0), ("not-modified", 1), ("ok", 2)]
    assert [("visited again from" in event.what, event.due > 0) for event in visits] == [(True, True)] * 2 + [
        (False, False)
    ]
    assert (story.state, story.reason, story.due) == ("finished", "ok", 0)


def test_a_list_names_every_visit_and_nothing_waits(crawled: Crawl) -> None:
    listed = list(listing.outcomes(crawled.directory, listing.Wish()))
    assert [(each.url, each.reason) for each in listed] == [(URL, "ok"), (URL, "not-modified"), (URL, "ok")]
    assert list(listing.waiting(crawled.directory, listing.Wish())) == []


def test_a_store_that_is_built_from_any_part_of_the_log_continues_like_the_first(
    crawled: Crawl, tmp_path: Path
) -> None:
    for frames in range(1, 5):
        rebuilt = frontier.open(tmp_path / f"state{frames}", crawl_options(), START, policy=every_minute)
        for frame, position in log.frames(crawled.directory / "log"):
            if frame.number <= frames:
                do(rebuilt.replay(frame, position))
        hand = Hand(rebuilt, START + 60.0 * (frames - 1))
        if frames < 4:
            hand.wait()
            [page] = hand.page().tasks
            assert page.history is not None
            assert (page.history.visits, page.history.etag, page.history.modified) == (
                (0, "", 0) if frames == 1 else (frames - 1, '"0"', 1000)
            )
        else:
            assert (hand.lease(), hand.again) == ([], None)
            assert do(rebuilt.counts()) == do(crawled.hand.store.counts())
        do(rebuilt.close())


def test_an_order_to_retry_counts_no_url_that_is_due_again(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("", "utf-8")
    crawl = Crawl(tmp_path)
    do(crawl.hand.store.add([task(URL)]))
    crawl.commit(entries=tuple(crawl.hand.serve(crawl.hand.page(), Reason.NOT_FOUND, status=404)))
    assert status(tmp_path).due == 1
    assert give.count(tmp_path, ["not-found"]) == {"not-found": 0}
    crawl.hand.now += 120.0
    for _ in range(2):
        crawl.commit(entries=tuple(crawl.hand.serve(crawl.hand.page(), Reason.NOT_FOUND, status=404)))
        crawl.hand.now += 120.0
    assert status(tmp_path).due == 0
    assert give.count(tmp_path, ["not-found"]) == {"not-found": 1}
    do(crawl.hand.store.close())
