"""A full disk: each verb that needs room on it raises OSError, changes nothing, and may be repeated as it is."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.frontier import ledger
from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, make_report, texts
from tests.frontier.simulation import task
from windrow.frontier.local import rows
from windrow.frontier.store.lmdb import LmdbStore
from windrow.frontier.store.memory import MemoryStore
from windrow.records import Reason, Task

FullDisk = Callable[[], AbstractContextManager[None]]


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    """Return a context in which no store can reserve room, so the verb that it holds must fail."""

    def refuse(store: object, writes: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @contextmanager
    def full() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(MemoryStore, "reserve", refuse)
            patch.setattr(LmdbStore, "reserve", refuse)
            with pytest.raises(OSError, match="No space left on device"):
                yield

    return full


def links(count: int) -> list[Task]:
    return [task(f"http://h{number}.org/") for number in range(count)]


def known(crawl: Hand, *tasks: Task) -> object:
    """Return everything that the frontier says of itself and of these tasks."""
    domains = {each.url.domain for each in tasks}
    return (
        do(crawl.store.counts()),
        [do(crawl.store.find(each.url)) for each in tasks],
        [ledger.of(crawl.store, domain) for domain in sorted(domains)],
        crawl.store.position(),
    )


def test_tasks_can_be_added_again(hand: Opener, full_disk: FullDisk) -> None:
    crawl = hand(max_host_urls=2)
    tasks = [*links(250), *[task(f"http://a.org/{page}") for page in range(3)]]
    before = known(crawl, *tasks)
    for _ in range(2):
        with full_disk():
            do(crawl.store.add(tasks))
        assert known(crawl, *tasks) == before
    assert do(crawl.store.add(tasks)) == tasks[:-1]
    assert do(crawl.store.counts()).refused == {"host-urls": 1}


def test_tasks_are_added_even_if_rows_cannot_be_saved_meanwhile(hand: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """`add` reserves room once, at its beginning. If the disk fills up later, rows stay in memory."""
    monkeypatch.setattr(rows, "MOST", 2)
    crawl = hand()
    calls = []

    def reserve(store: object, writes: int) -> None:
        calls.append(writes)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(MemoryStore, "reserve", reserve)
        patch.setattr(LmdbStore, "reserve", reserve)
        assert do(crawl.store.add(links(250))) == links(250)
    assert len(calls) > 1
    assert sorted(crawl.crawl()) == sorted(each.url.text for each in links(250))


def test_reports_can_be_acknowledged_again(hand: Opener, full_disk: FullDisk) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    lease = crawl.page()
    reports = [
        make_report(each, Reason.OK, crawl.now, status=200, downloaded=100, kept=50, links=tuple(links(20)))
        for each in lease.tasks
    ]
    before = known(crawl, *lease.tasks, *links(20))
    for _ in range(2):
        with full_disk():
            do(crawl.store.ack(reports))
        assert known(crawl, *lease.tasks, *links(20)) == before
    receipt = do(crawl.store.ack(reports))
    assert [entry.report for entry in receipt.entries] == reports
    assert [len(entry.admitted) for entry in receipt.entries] == [20, 0]
    crawl.release(lease, last=crawl.now)
    assert do(crawl.store.counts()).finished == {Reason.OK: 2}


def test_a_lease_can_be_released_again(hand: Opener, full_disk: FullDisk) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2", "http://a.org/3")
    lease = crawl.page()
    crawl.ack(lease.tasks[0])
    before = known(crawl, *lease.tasks)
    for _ in range(2):
        with full_disk():
            crawl.release(lease, lease.tasks[1:], last=crawl.now)
        assert known(crawl, *lease.tasks) == before
    assert crawl.lease() == []
    crawl.release(lease, lease.tasks[1:], last=crawl.now)
    assert texts(crawl.page()) == ["http://a.org/2", "http://a.org/3"]


def test_fingerprints_can_be_looked_up_again(hand: Opener, full_disk: FullDisk) -> None:
    crawl = hand()
    for _ in range(2):
        with full_disk():
            do(crawl.store.first_seen([(5, 100), (6, 100)]))
    assert do(crawl.store.first_seen([(5, 200), (6, 200)])) == [200, 200]


def test_a_checkpoint_can_be_made_again(hand: Opener, full_disk: FullDisk) -> None:
    crawl = hand(checkpoint=20.0)
    crawl.add("http://a.org/1")
    before = known(crawl, task("http://a.org/1"))
    for _ in range(2):
        with full_disk():
            do(crawl.store.checkpoint(crawl.now + 30.0))
        assert known(crawl, task("http://a.org/1")) == before
        assert crawl.store.checkpoint_due(crawl.now + 30.0)
    do(crawl.store.checkpoint(crawl.now + 30.0))
    assert not crawl.store.checkpoint_due(crawl.now + 30.0)


def test_nothing_is_leased(hand: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(store: object, writes: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1")
    with monkeypatch.context() as patch:
        patch.setattr(MemoryStore, "reserve", refuse)
        patch.setattr(LmdbStore, "reserve", refuse)
        assert (crawl.lease(), crawl.again) == ([], crawl.now + 1.0)
    assert texts(crawl.page()) == ["http://a.org/1"]
