"""Counts, fates, ledgers and fingerprints."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from tests.frontier import ledger
from tests.frontier.conftest import Opener, simulation
from tests.frontier.hand import do
from tests.frontier.simulation import options, task
from tests.frontier.world import world
from windrow.records import Counts, Reason


def seen(counts: Counts) -> int:
    return counts.waiting + counts.in_flight + sum(counts.finished.values())


@pytest.mark.parametrize("seed", range(20, 30))
def test_every_url_ends_with_one_reason_and_the_counts_always_add_up(store: str, tmp_path: Path, seed: int) -> None:
    async def run() -> None:
        config = options(delay=0.5, quantum=3, open_domains=3, open_hosts=4, max_host_urls=9, checkpoint=1e9)
        sim = simulation(store, tmp_path, world(seed), config, seed)
        admitted: set[str] = set()
        while not await sim.run(1):
            counts = await sim.frontier.counts()
            admitted |= {each.url.text for each in sim.seeds} | {
                each.url.text for entry in sim.pending for each in entry.admitted
            }
            assert counts.seen == seen(counts)
            assert counts.in_flight <= sum(len(lease.tasks) for _, lease in sim.leases)
            assert dict(Counter(reason for ends in sim.finished.values() for reason in ends)) == counts.finished
        counts = await sim.frontier.counts()
        assert (counts.waiting, counts.in_flight) == (0, 0)
        assert counts.seen == len(sim.finished)
        assert {len(ends) for ends in sim.finished.values()} == {1}
        await sim.frontier.close()

    asyncio.run(run())


def test_a_page_that_is_acknowledged_twice_counts_once(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    lease = crawl.page()
    crawl.ack(lease.tasks[0])
    again = crawl.ack(lease.tasks[0], Reason.NOT_FOUND, links=[task("http://a.org/3")])
    counts = do(crawl.store.counts())
    assert (again.admitted, counts.seen, counts.finished) == ((), 2, {Reason.OK: 1})


def test_the_crawl_is_done_only_when_nothing_is_left(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    assert (crawl.lease(), crawl.again) == ([], None)
    crawl.add("http://a.org/1")
    lease = crawl.page()
    assert (crawl.lease(), crawl.again) == ([], float("inf"))
    crawl.release(lease, last=crawl.now)
    assert (crawl.lease(), crawl.again) == ([], float("inf"))
    crawl.ack(lease.tasks[0], links=[task("http://b.org/1")])
    crawl.finish()
    assert do(crawl.store.counts()).finished == {Reason.OK: 2}
    crawl.add("http://a.org/2")
    crawl.again = 0.0
    crawl.finish()
    assert do(crawl.store.counts()).finished == {Reason.OK: 3}


def test_hosts_left_over_by_a_small_lease_request_are_due_now(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://b.org/1", "http://c.org/1")
    assert len(crawl.lease(2)) == 2
    assert crawl.again == crawl.now


def test_the_fate_of_a_url_can_be_found(hand: Opener) -> None:
    crawl = hand(delay=1.0, host_failures=1)
    crawl.add("http://a.org/1", "http://a.org/2", "http://b.org/1")
    assert do(crawl.store.find(task("http://a.org/9").url)) is None
    assert do(crawl.store.find(task("http://c.org/1").url)) is None
    first, second = crawl.pages()
    state = {text: do(crawl.store.find(task(text).url)) for text in ("http://a.org/1", "http://a.org/2")}
    assert [(fate.state, fate.reason) for fate in state.values() if fate] == [("in flight", None), ("waiting", None)]
    crawl.serve(first, Reason.CONNECT)
    crawl.serve(second, links=["http://b.org/2"])
    for text, expected in {
        "http://a.org/2": ("waiting", Reason.HOST_DEAD, ""),
        "http://b.org/1": ("finished", Reason.OK, ""),
        "http://b.org/2": ("waiting", None, "http://b.org/1"),
    }.items():
        fate = do(crawl.store.find(task(text).url))
        assert fate is not None
        assert (fate.state, fate.reason, fate.task.via) == expected


def test_a_domain_has_an_account(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://x.a.org/1", "http://y.a.org/1")
    for lease in crawl.pages():
        crawl.serve(lease, downloaded=500, kept=200, links=["http://x.a.org/2"])
    account = ledger.of(crawl.store, "a.org")
    assert account is not None
    assert (account.pages, account.downloaded, account.kept, account.admitted, account.hosts) == (2, 1000, 400, 3, 2)
    assert ledger.of(crawl.store, "b.org") is None


def test_the_first_url_with_a_fingerprint_is_remembered(hand: Opener) -> None:
    crawl = hand()
    assert do(crawl.store.first_seen([(5, 100), (6, 200), (5, 300)])) == [100, 200, 100]
    assert do(crawl.store.first_seen([(6, 400), (5, 100), (2**64 - 1, 2**64 - 1)])) == [200, 100, 2**64 - 1]


def test_the_counts_say_how_many_hosts_are_open(hand: Opener) -> None:
    crawl = hand(delay=5.0, open_domains=3)
    crawl.add(*[f"http://{name}.org/{page}" for name in "abcde" for page in (1, 2)])
    leases = crawl.pages(1)
    counts = do(crawl.store.counts())
    assert (counts.hosts_ready, counts.hosts_waiting, counts.hosts_backlog) == (2, 0, 2)
    crawl.serve(leases[0])
    crawl.lease(0)
    counts = do(crawl.store.counts())
    assert (counts.hosts_ready, counts.hosts_waiting, counts.hosts_backlog) == (2, 1, 2)
    assert (counts.hosts, counts.domains) == (5, 5)
