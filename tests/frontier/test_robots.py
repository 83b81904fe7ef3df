"""robots.txt: each origin has one, it may be unavailable, and it may have been moved."""

import pytest

from tests.frontier.conftest import Opener
from tests.frontier.hand import do, texts
from windrow.records import Access, Kind, Lease, Reason


def hosts(leases: list[Lease]) -> list[str]:
    return [lease.host for lease in leases]


def test_each_origin_of_a_host_has_a_robots_txt_of_its_own(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1", "https://a.org/1", "http://a.org:8080/1", "https://a.org/2")
    crawl.resolve(crawl.only())
    requested = []
    while crawl.again is not None:
        for lease in crawl.lease():
            requested += texts(lease)
            crawl.allow(lease) if lease.tasks[0].file == "robots" else crawl.serve(lease)
        if crawl.again is not None:
            crawl.wait()
    assert requested == [
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
    crawl.finish()
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
    crawl.finish()
    assert do(crawl.store.counts()).finished == {Reason.OK: 2}


def test_a_host_with_many_errands_still_gets_leases_for_its_own_pages(hand: Opener) -> None:
    crawl = hand(delay=1.0, open_domains=1, open_hosts=1)
    names = [f"h{number}.org" for number in range(6)]
    crawl.add("http://h0.org/1", "http://central.net/1", *[f"http://{name}/1" for name in names[1:]])
    requested = []
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
                requested.append(lease.host)
                crawl.serve(lease)
        if crawl.again is not None:
            crawl.wait()
    assert requested == ["h0.org", "central.net", *names[1:]]


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
