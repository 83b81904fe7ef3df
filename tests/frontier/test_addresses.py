"""Lookups of addresses."""

import pytest

from tests.frontier.conftest import Opener
from tests.frontier.hand import texts
from windrow.records import Kind, Reason


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


def test_an_answer_that_is_in_doubt_closes_no_host_and_is_counted(hand: Opener) -> None:
    crawl = hand(delay=1.0, host_failures=2)
    crawl.add("http://a.org/1")
    for attempt in range(4):
        lease = crawl.lease_next()
        assert lease.tasks[0].attempt == attempt
        crawl.resolve(lease, Reason.NO_SUCH_HOST, final=False)
    crawl.resolve(crawl.lease_next(), Reason.NO_SUCH_HOST)
    assert crawl.only().closed is Reason.NO_SUCH_HOST


@pytest.mark.parametrize(
    ("reason", "end"), [(Reason.DNS, Reason.HOST_DEAD), (Reason.NO_SUCH_HOST, Reason.NO_SUCH_HOST)]
)
def test_a_host_that_has_answered_is_closed_only_after_a_long_time_without_dns(
    hand: Opener, reason: Reason, end: Reason
) -> None:
    crawl = hand(delay=5.0, host_failures=2, lost_host_seconds=7200.0)
    crawl.add("http://a.org/1", "http://a.org/2", "http://a.org/3")
    crawl.resolve(crawl.only(), ttl=8.0)
    crawl.serve(crawl.page())
    lost = 0.0
    while (lease := crawl.lease_next()).closed is None:
        if lease.tasks[0].kind is Kind.RESOLVE:
            lost = lost or crawl.now
            assert lease.tasks[0].attempt == 0, "failures of DNS do not add up to a dead host"
            crawl.resolve(lease, reason, final=False)
        else:
            crawl.serve(lease)
    assert lease.closed is end
    assert crawl.now - lost >= 7200.0


def test_a_host_that_dns_finds_again_starts_from_the_beginning(hand: Opener) -> None:
    crawl = hand(delay=5.0, host_failures=2, lost_host_seconds=100.0, max_backoff=10.0)
    crawl.add(*[f"http://a.org/{number}" for number in range(9)])
    crawl.resolve(crawl.only(), ttl=1.0)
    crawl.serve(crawl.page())
    for _ in range(3):
        start = crawl.now
        while crawl.now < start + 80.0:
            crawl.resolve(crawl.lease_next(), Reason.DNS)
        crawl.resolve(crawl.lease_next(), ttl=1.0)
        crawl.serve(crawl.lease_next())
    assert crawl.closed("http://a.org/8") is None
