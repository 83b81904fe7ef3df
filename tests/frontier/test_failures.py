"""Retries, rests, and hosts that are closed."""

from tests.frontier.conftest import Opener
from tests.frontier.hand import do
from tests.frontier.simulation import START
from windrow.records import Lease, Reason


def hosts(leases: list[Lease]) -> list[str]:
    return [lease.host for lease in leases]


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
    requested = 0
    while do(crawl.store.counts()).finished.get(Reason.HOST_DEAD, 0) < 40:
        for lease in crawl.pages():
            requested += lease.host == "a.org" and lease.closed is None
            crawl.serve(lease, Reason.CONNECT if lease.host == "a.org" else Reason.OK)
        crawl.wait()
    assert requested == 3
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
