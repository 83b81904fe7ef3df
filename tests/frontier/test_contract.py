"""What every frontier keeps to, whatever remembers for it."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from tests.frontier.conftest import Opener, simulation
from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import START, check_politeness, options, task, world
from windrow.data import Access, Counts, Kind, Lease, Reason
from windrow.frontier.local.leases import MOST


def hosts(leases: list[Lease]) -> list[str]:
    return [lease.host for lease in leases]


def seen(counts: Counts) -> int:
    return counts.waiting + counts.in_flight + sum(counts.finished.values())


# Order


def test_pages_of_a_host_come_in_the_order_they_were_found(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    links = {"http://a.org/1": ["http://a.org/3", "http://a.org/4"], "http://a.org/2": ["http://a.org/0"]}
    assert [text[-1] for text in crawl.crawl(links)] == ["1", "2", "3", "4", "0"]


def test_a_better_rank_goes_before_an_earlier_discovery(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/late")
    crawl.add("http://a.org/soon", priority=7)
    crawl.add("http://a.org/sooner", priority=6)
    assert [text[13:] for text in crawl.crawl()] == ["sooner", "soon", "late"]


def test_of_two_hosts_that_are_due_the_one_with_the_better_rank_is_leased_first(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2", "http://b.org/1", "http://b.org/2", "http://c.org/1")
    for lease in crawl.pages():
        crawl.serve(lease)
    crawl.add("http://b.org/first", priority=3)
    crawl.now += 1.0
    assert [texts(lease) for lease in crawl.pages(1)] == [["http://b.org/first"]]


def test_hosts_are_leased_in_turn(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add(*[f"http://{host}.org/{page}" for host in "abc" for page in range(3)])
    assert [text[7] for text in crawl.crawl()] == list("abcabcabc")


def test_a_lease_holds_several_pages_only_if_no_delay_separates_them(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add(*[f"http://a.org/{page}" for page in range(40)])
    assert len(crawl.page().tasks) == MOST
    assert crawl.lease() == []


def test_with_a_delay_a_lease_is_one_page(hand: Opener) -> None:
    crawl = hand(delay=5.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    lease = crawl.page()
    assert (texts(lease), lease.delay) == (["http://a.org/1"], 5.0)


def test_unused_tasks_come_first_again(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2", "http://a.org/3")
    lease = crawl.page()
    crawl.ack(lease.tasks[0])
    crawl.release(lease, lease.tasks[1:], last=crawl.now)
    assert do(crawl.store.counts()).in_flight == 0
    assert texts(crawl.page()) == ["http://a.org/2", "http://a.org/3"]


def test_a_host_may_be_leased_again_while_its_pages_are_in_flight(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    first = crawl.page()
    crawl.release(first, last=crawl.now)
    second = crawl.page()
    assert texts(second) == ["http://a.org/2"]
    crawl.release(second, last=crawl.now)
    assert (crawl.lease(), crawl.again) == ([], float("inf"))
    crawl.ack(first.tasks[0], links=[task("http://a.org/3")])
    crawl.ack(second.tasks[0])
    assert texts(crawl.page()) == ["http://a.org/3"]


def test_releasing_a_lease_twice_changes_nothing(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2", "http://a.org/3")
    first = crawl.page()
    crawl.serve(first)
    second = crawl.page()
    crawl.release(first, first.tasks, last=crawl.now)
    assert crawl.lease() == []
    crawl.serve(second)
    assert texts(crawl.page()) == ["http://a.org/3"]


def test_a_url_is_admitted_once(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    assert crawl.add("http://a.org/1", "http://a.org/1") == ["http://a.org/1"]
    assert crawl.add("http://a.org/1") == []
    [entry] = crawl.serve(crawl.page(), links=["http://a.org/1", "http://a.org/2", "http://a.org/2"])
    assert [link.url.text for link in entry.admitted] == ["http://a.org/2"]


def test_a_lease_holds_the_task_as_it_was_added(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", priority=9, depth=3)
    page = crawl.page()
    long = "http://a.org/" + "x" * 2000
    given = task(long, priority=5, depth=70, distance=2, redirects=4, via="http://a.org/1")
    crawl.ack(page.tasks[0], links=[given])
    crawl.release(page, last=crawl.now)
    assert page.tasks == (task("http://a.org/1", priority=9, depth=3),)
    assert crawl.page().tasks == (given,)


# Politeness


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
    asked = [text.split("/")[2] for text in crawl.crawl()]
    assert asked == names * 3


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


# How many are open


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


# Retry


def test_a_retried_page_goes_behind_the_others_and_counts_its_attempts(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.serve(crawl.page(), Reason.TIMEOUT)
    assert [(each.url.text, each.attempt) for each in crawl.page().tasks] == [("http://a.org/2", 0)]


def test_a_page_ends_after_the_retries_of_its_reason(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1")
    attempts = []
    while crawl.again is not None:
        for lease in crawl.pages():
            attempts.append(lease.tasks[0].attempt)
            crawl.serve(lease, Reason.SERVER_ERROR)
        if crawl.again is not None:
            crawl.wait()
    assert attempts == list(range(9))
    assert do(crawl.store.counts()).finished == {Reason.SERVER_ERROR: 1}


def test_a_host_rests_twice_as_long_after_each_error_in_a_row(hand: Opener) -> None:
    crawl = hand(delay=2.0, max_backoff=60.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    rests = []
    for _ in range(7):
        crawl.serve(crawl.page(), Reason.SERVER_ERROR)
        crawl.pages()
        rests.append(crawl.wait())
    assert rests == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    crawl.serve(crawl.page())
    crawl.pages()
    assert crawl.wait() == 2.0


def test_a_retry_after_header_is_obeyed_for_up_to_a_day(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://b.org/1")
    first, second = crawl.pages()
    crawl.serve(first, Reason.THROTTLED, until=crawl.now + 900.0)
    crawl.serve(second, Reason.THROTTLED, until=crawl.now + 1e9)
    crawl.pages()
    assert crawl.wait() == 900.0
    assert hosts(crawl.pages()) == ["a.org"]
    assert crawl.wait() == 86400.0 - 900.0


def test_a_retry_after_header_is_obeyed_by_a_host_that_is_scheduled_already(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    lease = crawl.page()
    crawl.release(lease, last=crawl.now)
    crawl.ack(lease.tasks[0], Reason.THROTTLED, until=crawl.now + 900.0)
    crawl.pages()
    crawl.wait()
    assert crawl.pages() == []
    assert crawl.now + crawl.wait() >= START + 900.0


def test_a_throttled_host_gets_fewer_requests_from_then_on(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add(*[f"http://a.org/{page}" for page in range(4)])
    crawl.serve(crawl.page(), Reason.THROTTLED)
    crawl.serve(crawl.page())
    crawl.pages()
    assert 1.5 < crawl.wait() <= 2.0


def test_a_host_is_closed_after_its_failures_and_its_pages_end_with_the_reason(hand: Opener) -> None:
    crawl = hand(delay=1.0, host_failures=3)
    crawl.add(*[f"http://a.org/{page}" for page in range(40)], "http://b.org/1")
    asked = 0
    while do(crawl.store.counts()).finished.get(Reason.HOST_DEAD, 0) < 40:
        for lease in crawl.pages():
            asked += lease.host == "a.org" and lease.closed is None
            crawl.serve(lease, Reason.CONNECT if lease.host == "a.org" else Reason.OK)
        crawl.wait()
    assert asked == 3
    assert do(crawl.store.counts()).finished == {Reason.HOST_DEAD: 40, Reason.OK: 1}
    assert crawl.pages() == []
    assert crawl.again is None


def test_a_closed_host_is_drained_at_once(hand: Opener) -> None:
    crawl = hand(delay=60.0, host_failures=1)
    crawl.add(*[f"http://a.org/{page}" for page in range(40)])
    crawl.serve(crawl.page(), Reason.CONNECT)
    before = crawl.now
    while leases := crawl.pages():
        for lease in leases:
            assert lease.closed is Reason.HOST_DEAD
            assert lease.address == ""
            crawl.serve(lease)
    assert (crawl.now, crawl.again) == (before, None)


def test_a_response_between_failures_keeps_a_host_open(hand: Opener) -> None:
    crawl = hand(delay=1.0, host_failures=2)
    crawl.add(*[f"http://a.org/{page}" for page in range(6)])
    for reason in (Reason.CONNECT, Reason.NOT_FOUND, Reason.CONNECT, Reason.OK):
        lease = crawl.page()
        assert lease.closed is None
        crawl.serve(lease, reason)
    assert crawl.page().closed is None


def test_links_to_a_closed_host_are_refused(hand: Opener) -> None:
    crawl = hand(delay=1.0, host_failures=1)
    crawl.add("http://a.org/1", "http://b.org/1")
    first, second = crawl.pages()
    crawl.serve(first, Reason.CONNECT)
    [entry] = crawl.serve(second, links=["http://a.org/1", "http://a.org/2"])
    assert (entry.admitted, entry.refused) == ((), {"host-closed": 1})


# Addresses


def test_a_host_is_resolved_before_its_first_request(hand: Opener) -> None:
    crawl = hand()
    crawl.add("https://a.org:8443/1")
    lease = crawl.only()
    assert (lease.host, lease.address, lease.tasks[0].kind) == ("a.org", "", Kind.RESOLVE)
    crawl.resolve(lease)
    lease = crawl.only()
    assert (lease.address, lease.tasks[0].file) == ("address of a.org", "robots")
    assert texts(lease) == ["https://a.org:8443/robots.txt"]


def test_an_expired_address_is_looked_up_again(hand: Opener) -> None:
    crawl = hand(delay=5.0)
    crawl.add("http://a.org/1", "http://a.org/2", "http://a.org/3")
    crawl.resolve(crawl.only(), ttl=8.0)
    crawl.serve(crawl.page())
    crawl.pages()
    crawl.wait()
    crawl.serve(crawl.only())
    crawl.lease()
    crawl.wait()
    assert crawl.only().tasks[0].kind is Kind.RESOLVE


def test_a_name_that_does_not_exist_is_looked_up_twice_before_its_host_is_closed(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.resolve(crawl.only(), Reason.NO_SUCH_HOST)
    assert crawl.lease() == []
    assert crawl.wait() == 1.0
    crawl.resolve(crawl.only(), Reason.NO_SUCH_HOST)
    lease = crawl.only()
    assert (lease.closed, texts(lease)) == (Reason.NO_SUCH_HOST, ["http://a.org/1", "http://a.org/2"])


def test_a_failed_lookup_is_repeated_with_growing_pauses(hand: Opener) -> None:
    crawl = hand(delay=1.0, host_failures=6)
    crawl.add("http://a.org/1")
    rests = []
    for _ in range(5):
        crawl.resolve(crawl.only(), Reason.DNS)
        crawl.lease()
        rests.append(crawl.wait())
    assert rests == [1.0, 2.0, 4.0, 8.0, 16.0]
    crawl.resolve(crawl.only())
    assert crawl.only().tasks[0].file == "robots"


def test_a_blocked_address_closes_its_host_at_once(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only(), Reason.BLOCKED_ADDRESS)
    assert crawl.only().closed is Reason.BLOCKED_ADDRESS


# robots.txt


def test_each_origin_of_a_host_has_a_robots_txt_of_its_own(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "https://a.org/1", "http://a.org:8080/1", "https://a.org/2")
    crawl.resolve(crawl.only())
    asked = []
    while crawl.again is not None:
        for lease in crawl.lease():
            asked += texts(lease)
            crawl.allow(lease) if lease.tasks[0].file == "robots" else crawl.serve(lease)
        if crawl.again is not None:
            crawl.wait()
    assert asked == [
        "http://a.org/robots.txt",
        "http://a.org/1",
        "https://a.org/robots.txt",
        "https://a.org/1",
        "http://a.org:8080/robots.txt",
        "http://a.org:8080/1",
        "https://a.org/2",
    ]


def test_a_lease_holds_the_rules_of_its_origins(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "https://a.org/1", "http://a.org/2")
    crawl.resolve(crawl.only())
    crawl.allow(crawl.only())
    first = crawl.only()
    assert ([origin.name for origin in first.origins], texts(first)) == (["http://a.org"], ["http://a.org/1"])
    crawl.serve(first)
    crawl.allow(crawl.only())
    second = crawl.only()
    assert [origin.name for origin in second.origins] == ["https://a.org", "http://a.org"]
    assert texts(second) == ["https://a.org/1", "http://a.org/2"]


def test_expired_rules_are_fetched_again(hand: Opener) -> None:
    crawl = hand(delay=10.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.resolve(crawl.only())
    crawl.allow(crawl.only(), life=5.0)
    crawl.serve(crawl.only())
    crawl.lease()
    crawl.wait()
    assert texts(crawl.only()) == ["http://a.org/robots.txt"]


def test_rules_serve_once_however_soon_they_expire(hand: Opener) -> None:
    crawl = hand(delay=10.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    lease = crawl.only()
    crawl.ack(lease.tasks[0], origin=crawl.origin("http://a.org", life=0.0))
    crawl.release(lease, last=crawl.now)
    crawl.lease()
    crawl.wait()
    assert texts(crawl.only()) == ["http://a.org/1"]


def test_an_unavailable_robots_txt_is_retried_before_its_origin_is_closed(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "https://a.org/1")
    crawl.resolve(crawl.only())
    tries = 0
    while (lease := crawl.only()).tasks[0].file == "robots":
        tries += 1
        crawl.unreachable(lease)
        crawl.wait()
    assert tries == 5
    assert (texts(lease), lease.origins[0].access) == (["http://a.org/1"], Access.CLOSED)
    crawl.ack(lease.tasks[0], Reason.ROBOTS_UNREACHABLE, final=True)
    crawl.release(lease)
    assert texts(crawl.lease_next()) == ["https://a.org/robots.txt"]


def test_pages_of_a_closed_origin_end_at_once_even_if_their_host_rests(hand: Opener) -> None:
    crawl = hand(delay=50.0)
    crawl.add(*[f"http://a.org/{page}" for page in range(40)])
    crawl.resolve(crawl.only())
    for _ in range(5):
        crawl.wait()
        crawl.unreachable(crawl.only(), life=1.0)
    before = crawl.now
    ended = 0
    while leases := crawl.lease():
        for lease in leases:
            assert lease.origins[0].access is Access.CLOSED
            ended += len(crawl.serve(lease, Reason.ROBOTS_UNREACHABLE, final=True, status=0))
    assert (ended, crawl.now, crawl.again) == (40, before, None)


def test_pages_of_an_open_origin_wait_while_those_of_a_closed_one_end(hand: Opener) -> None:
    crawl = hand(delay=50.0)
    crawl.add("http://a.org/1", "https://a.org/1", "http://a.org/2")
    crawl.resolve(crawl.only())
    for _ in range(5):
        crawl.wait()
        crawl.unreachable(crawl.only())
    lease = crawl.only()
    assert texts(lease) == ["http://a.org/1"]
    crawl.serve(lease, Reason.ROBOTS_UNREACHABLE, final=True, status=0)
    assert crawl.lease() == []
    assert crawl.wait() > 0
    assert texts(crawl.only()) == ["https://a.org/robots.txt"]


def test_a_stale_copy_holds_while_robots_txt_is_unavailable(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.resolve(crawl.only(), ttl=1e6)
    lease = crawl.only()
    crawl.ack(lease.tasks[0], origin=crawl.origin("http://a.org", life=1.0, rules="disallow: /x"))
    crawl.release(lease, last=crawl.now)
    crawl.lease()
    crawl.wait()
    crawl.serve(crawl.only())
    for _ in range(5):
        crawl.wait()
        crawl.unreachable(crawl.only())
    crawl.wait()
    lease = crawl.only()
    [origin] = lease.origins
    assert (texts(lease), origin.rules, origin.access) == (["http://a.org/2"], "disallow: /x", Access.STALE)


def test_no_response_for_robots_txt_is_no_permission(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    for _ in range(5):
        lease = crawl.only()
        assert lease.tasks[0].file == "robots"
        crawl.ack(lease.tasks[0])
        crawl.release(lease, last=crawl.now)
    assert crawl.only().origins[0].access is Access.CLOSED


def test_a_moved_robots_txt_is_fetched_from_its_new_place_while_its_origin_waits(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "http://b.net/robots.txt")
    assert do(crawl.store.counts()).seen == 1
    crawl.resolve(crawl.only())
    errand = crawl.only()
    assert (errand.host, texts(errand), errand.tasks[0].via) == ("b.net", ["http://b.net/robots.txt"], "http://a.org")
    assert crawl.lease() == []
    crawl.allow(errand)
    lease = crawl.only()
    assert (texts(lease), [origin.name for origin in lease.origins]) == (["http://a.org/1"], ["http://a.org"])
    crawl.serve(lease)
    assert crawl.lease() == []
    assert crawl.again is None


def test_a_robots_txt_may_move_from_host_to_host(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "http://b.net/robots.txt")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "http://c.com/robots.txt")
    crawl.resolve(crawl.only())
    errand = crawl.only()
    assert (errand.host, errand.tasks[0].via, errand.tasks[0].redirects) == ("c.com", "http://a.org", 2)
    crawl.allow(errand)
    crawl.serve(crawl.only(), links=["http://b.net/1", "http://c.com/1"])
    finish(crawl)
    assert do(crawl.store.counts()).finished == {Reason.OK: 3}


def test_two_hosts_that_hold_the_robots_txt_of_each_other_both_get_theirs(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "http://b.net/1")
    for lease in crawl.lease():
        crawl.resolve(lease)
    first, second = crawl.lease()
    crawl.move(first, "http://b.net/other.txt")
    crawl.move(second, "http://a.org/other.txt")
    errands = crawl.lease()
    assert sorted((lease.host, lease.tasks[0].via) for lease in errands) == [
        ("a.org", "http://b.net"),
        ("b.net", "http://a.org"),
    ]
    for lease in errands:
        crawl.allow(lease)
    assert sorted(hosts(crawl.lease())) == ["a.org", "b.net"]


def test_a_robots_txt_may_move_within_its_host(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "https://a.org/robots.txt")
    errand = crawl.only()
    assert (texts(errand), errand.tasks[0].via) == (["https://a.org/robots.txt"], "http://a.org")
    crawl.allow(errand)
    assert texts(crawl.only()) == ["http://a.org/1"]


def test_an_errand_comes_before_the_pages_of_the_host(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://b.net/1", "http://b.net/2")
    crawl.serve(crawl.page())
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "http://b.net/robots.txt")
    assert crawl.lease() == []
    crawl.wait()
    assert crawl.only().tasks[0].via == "http://a.org"


def test_an_errand_is_run_at_a_host_that_is_not_open(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=1, open_hosts=1)
    crawl.add("http://a.org/1", "http://b.net/1")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "http://b.net/robots.txt")
    crawl.resolve(crawl.only())
    crawl.allow(crawl.only())
    lease = crawl.only()
    assert texts(lease) == ["http://a.org/1"]
    crawl.serve(lease)
    finish(crawl)
    assert do(crawl.store.counts()).finished == {Reason.OK: 2}


def test_a_host_with_many_errands_still_gets_leases_for_its_own_pages(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=1, open_hosts=1)
    names = [f"h{number}.org" for number in range(6)]
    crawl.add("http://h0.org/1", "http://central.net/1", *[f"http://{name}/1" for name in names[1:]])
    asked = []
    while crawl.again is not None:
        for lease in crawl.lease():
            each = lease.tasks[0]
            if each.kind is Kind.RESOLVE:
                crawl.resolve(lease)
            elif each.kind is Kind.FILE and lease.host != "central.net":
                crawl.move(lease, "http://central.net/robots.txt")
            elif each.kind is Kind.FILE:
                crawl.allow(lease)
            else:
                asked.append(lease.host)
                crawl.serve(lease)
        if crawl.again is not None:
            crawl.wait()
    assert asked == ["h0.org", "central.net", *names[1:]]


@pytest.mark.parametrize("reason", [Reason.NO_SUCH_HOST, Reason.BLOCKED_ADDRESS])
def test_an_errand_to_a_dead_host_closes_the_origin_that_needs_it(hand: Opener, reason: Reason) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    errands = 0
    while True:
        lease = crawl.lease_next()
        if lease.closed is not None:
            assert (lease.host, lease.closed, lease.tasks[0].file) == ("b.net", reason, "robots")
            errands += 1
            crawl.unreachable(lease, lease.closed)
        elif lease.tasks[0].kind is Kind.RESOLVE:
            crawl.resolve(lease, reason)
        elif lease.tasks[0].file == "robots":
            crawl.move(lease, "http://b.net/robots.txt")
        else:
            break
    assert (errands, lease.host, lease.origins[0].access) == (5, "a.org", Access.CLOSED)


def test_a_failed_errand_counts_as_an_unavailable_robots_txt(hand: Opener) -> None:
    crawl = hand(delay=1.0, host_failures=100)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    for _ in range(5):
        crawl.move(crawl.lease_next(), "http://b.net/robots.txt")
        errand = crawl.lease_next()
        if errand.tasks[0].kind is Kind.RESOLVE:
            crawl.resolve(errand)
            errand = crawl.lease_next()
        crawl.unreachable(errand, Reason.TIMEOUT)
    lease = crawl.lease_next()
    assert (lease.host, lease.origins[0].access) == ("a.org", Access.CLOSED)


# Caps


def test_a_host_has_no_more_urls_than_its_cap(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_host_urls=3)
    crawl.add("http://a.org/1")
    [entry] = crawl.serve(crawl.page(), links=[f"http://a.org/{page}" for page in range(1, 7)] + ["http://b.org/1"])
    assert [link.url.text for link in entry.admitted] == ["http://a.org/2", "http://a.org/3", "http://b.org/1"]
    assert entry.refused == {"host-urls": 3}


def test_a_domain_has_no_more_urls_than_its_cap(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_domain_urls=3)
    assert (
        len(crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in (1, 2, 3)], "http://b.org/1")) == 4
    )
    counts = do(crawl.store.counts())
    assert (counts.seen, counts.refused, counts.hosts) == (4, {"domain-urls": 3}, 2)


def test_a_domain_has_no_more_hosts_than_its_cap(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_domain_hosts=2)
    new = crawl.add(*[f"http://{host}.a.org/{page}" for page in (1, 2) for host in "wxyz"])
    assert new == ["http://w.a.org/1", "http://x.a.org/1", "http://w.a.org/2", "http://x.a.org/2"]
    counts = do(crawl.store.counts())
    assert (counts.refused, counts.hosts, counts.domains) == ({"domain-hosts": 4}, 2, 1)


def test_a_known_url_does_not_count_as_refused(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_host_urls=1)
    crawl.add("http://a.org/1")
    [entry] = crawl.serve(crawl.page(), links=["http://a.org/1"])
    assert (entry.admitted, entry.refused) == ((), {})


def test_every_refusal_of_a_link_is_counted(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_host_urls=1)
    crawl.add("http://a.org/1", "http://b.org/1")
    for lease in crawl.pages():
        crawl.serve(lease, links=["http://a.org/2", "http://a.org/2"])
    assert do(crawl.store.counts()).refused == {"host-urls": 4}


def test_links_refused_by_the_driver_are_counted_too(hand: Opener) -> None:
    crawl = hand(delay=0.0, max_host_urls=1)
    crawl.add("http://a.org/1")
    [entry] = crawl.serve(crawl.page(), links=["http://a.org/2"], refused={"suffix": 3})
    assert entry.refused == {"suffix": 3, "host-urls": 1}
    assert do(crawl.store.counts()).refused == {"suffix": 3, "host-urls": 1}


def test_links_of_repeated_pages_are_refused(hand: Opener) -> None:
    crawl = hand(delay=1.0, same_pages=3)
    crawl.add(*[f"http://a.org/{page}" for page in range(5)], "http://b.org/1")
    found = {}
    while crawl.again is not None:
        for lease in crawl.pages():
            page = lease.tasks[0].url.text
            [entry] = crawl.serve(lease, links=[page + "/next"] if page[-1] != "t" else [], shape=77)
            found[page] = (len(entry.admitted), entry.refused)
        if crawl.again is not None:
            crawl.wait()
    kept = [page for page, (links, _) in found.items() if links]
    assert kept == ["http://a.org/0", "http://b.org/1", "http://a.org/1", "http://a.org/2"]
    assert found["http://a.org/4"] == (0, {"same-pages": 1})


def test_repeated_pages_are_found_among_many_others(hand: Opener) -> None:
    crawl = hand(delay=0.0, same_pages=10)
    crawl.add(*[f"http://a.org/{page}" for page in range(300)])
    refused = 0
    other = 1000
    while leases := crawl.pages():
        for each in leases[0].tasks:
            other += 1
            shape = 77 if other % 3 else other
            refused += crawl.ack(each, links=[task("http://a.org/0")], shape=shape).refused.get("same-pages", 0)
        crawl.release(leases[0], last=crawl.now)
    assert refused > 100


# Accounts


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
    finish(crawl)
    assert do(crawl.store.counts()).finished == {Reason.OK: 2}
    crawl.add("http://a.org/2")
    crawl.again = 0.0
    finish(crawl)
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
    account = do(crawl.store.ledger("a.org"))
    assert account is not None
    assert (account.pages, account.downloaded, account.kept, account.admitted, account.hosts) == (2, 1000, 400, 3, 2)
    assert do(crawl.store.ledger("b.org")) is None


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


# The clock


def test_a_rest_of_more_than_a_day_comes_from_a_clock_that_jumped(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=1)
    crawl.add("http://a.org/1", "http://b.org/1")
    crawl.now += 400 * 86400.0
    crawl.serve(crawl.page(), Reason.THROTTLED, until=crawl.now + 3600.0)
    assert hosts(crawl.pages()) == ["b.org"]


def finish(crawl: Hand) -> None:
    """Allows and serves everything."""
    while crawl.again is not None:
        for lease in crawl.pages():
            crawl.serve(lease)
        if crawl.again is not None:
            crawl.wait()
