"""Delays of hosts and addresses."""

import asyncio
from pathlib import Path

import pytest

from tests.frontier.conftest import Opener, simulation
from tests.frontier.hand import texts
from tests.frontier.simulation import check_politeness, options
from tests.frontier.world import world
from windrow.records import Kind, Lease, Reason


def hosts(leases: list[Lease]) -> list[str]:
    return [lease.host for lease in leases]


@pytest.mark.parametrize("seed", range(12))
def test_no_host_and_no_address_gets_a_request_too_soon(store: str, tmp_path: Path, seed: int) -> None:
    config = options(delay=[0.0, 1.0, 5.0][seed % 3], ip_delay=[0.0, 0.5, 2.0][seed % 4 % 3], checkpoint=1e9)
    sim = simulation(store, tmp_path, world(seed), config, seed)
    assert asyncio.run(sim.run())
    assert len(sim.requests) > 10
    check_politeness(sim)
    asyncio.run(sim.frontier.close())


def test_all_of_many_hosts_on_one_address_are_leased_in_turn(hand: Opener) -> None:
    crawl = hand(delay=1.0, ip_delay=0.5)
    names = [f"h{number}.org" for number in range(40)]
    crawl.addresses = dict.fromkeys(names, "10.0.0.1")
    crawl.add(*[f"http://{name}/{page}" for name in names for page in range(3)])
    requested = [text.split("/")[2] for text in crawl.crawl()]
    assert requested == names * 3


def test_an_address_is_leased_to_one_host_at_a_time(hand: Opener) -> None:
    crawl = hand(delay=1.0, ip_delay=0.5)
    crawl.addresses = {
        "a.org": "10.0.0.1",
        "b.org": "10.0.0.1:8080",
        "c.org": "10.0.0.2",
        "d.org": "[::1]:80",
        "e.org": "::1",
    }
    crawl.add(*[f"http://{name}/1" for name in crawl.addresses])
    first = crawl.pages()
    assert sorted(hosts(first)) == ["a.org", "c.org", "d.org"]
    crawl.now += 10.0
    assert crawl.pages() == []
    crawl.serve(next(lease for lease in first if lease.host == "a.org"))
    assert crawl.pages() == []
    assert crawl.wait() == 0.5
    assert hosts(crawl.pages()) == ["b.org"]


def test_a_resolve_lease_does_not_free_the_address_that_another_host_holds(hand: Opener) -> None:
    crawl = hand(delay=0.0, ip_delay=0.5)
    crawl.addresses = {"a.org": "10.0.0.1", "b.org": "10.0.0.1", "c.org": "10.0.0.1"}
    crawl.add("http://a.org/1", "http://c.org/1")
    [held] = crawl.pages()
    crawl.add("http://b.org/1")
    resolving = crawl.only()
    assert (resolving.host, resolving.tasks[0].kind) == ("b.org", Kind.RESOLVE)
    crawl.resolve(resolving)
    crawl.now += 10.0
    assert crawl.lease() == []
    crawl.serve(held)
    crawl.wait()
    assert len(crawl.pages()) == 1


def test_a_closed_host_does_not_free_the_address_that_another_host_holds(hand: Opener) -> None:
    crawl = hand(delay=0.0, ip_delay=0.0, host_failures=1)
    crawl.addresses = dict.fromkeys(["a.org", "b.org", "c.org"], "10.0.0.1")
    crawl.add("http://a.org/1", "http://a.org/2", "http://b.org/1", "http://c.org/1")
    failing = crawl.page()
    crawl.ack(failing.tasks[0], Reason.CONNECT)
    crawl.release(failing, failing.tasks[1:], last=crawl.now)
    leases = crawl.pages()
    assert sorted((lease.host, lease.closed) for lease in leases) == [("a.org", Reason.HOST_DEAD), ("b.org", None)]
    crawl.serve(next(lease for lease in leases if lease.closed))
    assert crawl.pages() == []


def test_the_delay_starts_at_the_end_of_the_last_request(hand: Opener) -> None:
    crawl = hand(delay=5.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    lease = crawl.page()
    crawl.now += 3.0
    crawl.serve(lease)
    assert crawl.pages() == []
    assert crawl.wait() == 5.0
    assert len(crawl.pages()) == 1


def test_the_delay_holds_for_a_host_that_had_no_work_in_between(hand: Opener) -> None:
    crawl = hand(delay=5.0)
    crawl.add("http://a.org/1", "http://b.org/1")
    first, second = crawl.pages()
    crawl.serve(first)
    crawl.now += 1.0
    crawl.serve(second, links=["http://a.org/2"])
    assert crawl.pages() == []
    assert crawl.wait() == 4.0


def test_a_crawl_delay_is_obeyed_up_to_the_limit(hand: Opener) -> None:
    crawl = hand(delay=1.0, max_crawl_delay=20.0)
    crawl.delays = {"http://a.org": 7.0, "http://b.org": 500.0, "http://c.org": 0.1}
    crawl.add(*[f"http://{name}.org/{page}" for name in "abc" for page in (1, 2)])
    leases = crawl.pages()
    assert [lease.delay for lease in leases] == [7.0, 20.0, 1.0]
    for lease in leases:
        crawl.serve(lease)
    waits = []
    while not waits or len(waits) < 3:
        waits.append(crawl.wait())
        assert len(crawl.pages()) == 1
    assert waits == [1.0, 6.0, 13.0]


def test_a_host_keeps_the_longest_delay_that_one_of_its_origins_demands(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.delays = {"http://a.org": 7.0}
    crawl.add("http://a.org/1", "https://a.org/1", "https://a.org/2")
    crawl.serve(crawl.page())
    crawl.pages()
    assert crawl.wait() == 7.0
    lease = crawl.page()
    assert (texts(lease), lease.delay) == (["https://a.org/1"], 7.0)


def test_a_rest_of_more_than_a_day_comes_from_a_clock_that_jumped(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=1)
    crawl.add("http://a.org/1", "http://b.org/1")
    crawl.now += 400 * 86400.0
    crawl.serve(crawl.page(), Reason.THROTTLED, until=crawl.now + 3600.0)
    assert hosts(crawl.pages()) == ["b.org"]
