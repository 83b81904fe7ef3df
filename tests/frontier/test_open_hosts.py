"""Which hosts and domains are open, and when they make room for others."""

import asyncio
from pathlib import Path

import pytest

from tests.frontier.conftest import Opener, simulation
from tests.frontier.simulation import options
from tests.frontier.world import world
from windrow.records import Kind, Lease, Reason


def hosts(leases: list[Lease]) -> list[str]:
    return [lease.host for lease in leases]


def test_the_number_of_open_domains_is_limited(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=2)
    crawl.add(*[f"http://{host}.{domain}.org/{page}" for page in (1, 2) for domain in "abcd" for host in "xy"])
    leases = crawl.pages()
    assert {lease.host[2:] for lease in leases} == {"a.org", "b.org"}
    assert len(leases) == 4
    for lease in leases:
        crawl.serve(lease)
    assert len(crawl.crawl()) == 12


def test_the_number_of_open_hosts_is_limited(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_hosts=3)
    crawl.add(*[f"http://{host}.{domain}.org/1" for domain in "ab" for host in "uvwxyz"])
    assert len(crawl.pages()) == 3


def test_new_domains_are_opened_before_more_hosts_of_open_ones(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_hosts=4)
    crawl.add(*[f"http://{host}.{domain}.org/1" for domain in "ab" for host in "xyz"])
    assert sorted(hosts(crawl.pages())) == ["x.a.org", "x.b.org", "y.a.org", "y.b.org"]


@pytest.mark.parametrize("limit", [{"open_domains": 1}, {"open_hosts": 1}])
def test_a_domain_that_had_its_share_goes_to_the_end_of_the_backlog(hand: Opener, limit: dict[str, int]) -> None:
    crawl = hand(delay=1.0, quantum=2, **limit)
    crawl.add(*[f"http://{name}.org/{page}" for name in "abc" for page in range(3)])
    assert [text[7] for text in crawl.crawl()] == list("aabbccabc")


def test_a_domain_stays_open_while_no_other_waits(hand: Opener) -> None:
    crawl = hand(delay=1.0, quantum=2, open_domains=1)
    crawl.add(*[f"http://a.org/{page}" for page in range(6)])
    kinds = []
    while leases := crawl.lease():
        for lease in leases:
            kinds.append(lease.tasks[0].kind)
            if lease.tasks[0].kind is Kind.RESOLVE:
                crawl.resolve(lease)
            elif lease.tasks[0].file == "robots":
                crawl.allow(lease)
            else:
                crawl.serve(lease)
        crawl.now += 1.0
    assert kinds == [Kind.RESOLVE, Kind.FILE] + [Kind.PAGE] * 6


def test_hosts_of_one_domain_are_opened_in_turn(hand: Opener) -> None:
    crawl = hand(delay=1.0, quantum=1, open_hosts=1)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xyz" for page in range(2)])
    assert [text[7] for text in crawl.crawl()] == list("xyzxyz")


def test_a_host_that_gets_work_while_its_domain_is_open_is_opened(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=1)
    crawl.add("http://x.a.org/1", "http://x.a.org/2")
    crawl.serve(crawl.page(), links=["http://y.a.org/1"])
    assert hosts(crawl.pages()) == ["y.a.org"]


def test_a_host_that_gets_work_while_the_last_pages_of_its_domain_are_in_flight_is_opened(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=1)
    crawl.add("http://x.a.org/1")
    lease = crawl.page()
    crawl.ack(lease.tasks[0])
    crawl.add("http://y.a.org/1")
    assert hosts(crawl.pages()) == ["y.a.org"]


def test_a_host_that_rests_long_makes_room_for_one_that_waits(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=1)
    crawl.add("http://a.org/1", "http://b.org/1")
    crawl.serve(crawl.page(), Reason.THROTTLED, until=crawl.now + 3600.0)
    assert hosts(crawl.pages()) == ["b.org"]


def test_a_host_that_made_room_is_not_leased_before_its_rest_ends(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=1)
    crawl.add("http://a.org/1", "http://b.org/1")
    crawl.serve(crawl.page(), Reason.THROTTLED, until=crawl.now + 3600.0)
    crawl.serve(crawl.page())
    assert crawl.pages() == []
    assert crawl.wait() == 3600.0
    assert hosts(crawl.pages()) == ["a.org"]


@pytest.mark.parametrize("seed", range(8))
def test_everything_ends_however_few_hosts_are_open(store: str, tmp_path: Path, seed: int) -> None:
    config = options(
        delay=0.5, quantum=1 + seed % 3, open_domains=1 + seed % 2, open_hosts=1 + seed % 4, checkpoint=1e9
    )
    web = world(seed, hosts=10, kinds=False)
    sim = simulation(store, tmp_path, web, config, seed)
    assert asyncio.run(sim.run())
    assert {text: [Reason.OK] for text in web.reachable()} == sim.finished
    asyncio.run(sim.frontier.close())
