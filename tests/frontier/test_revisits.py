"""URLs that are visited again when they are due."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import START, logged, options, task
from tests.frontier.suspending import suspending
from windrow import frontier, orders
from windrow.frontier.local import backlog
from windrow.frontier.policy.revisit import Policy
from windrow.records import Access, Entry, Frame, History, Reason, Report

ETAG, DIGEST = '"v1"', "A" * 32
Opener = Callable[..., Hand]


def after(seconds: float, visits: int = 99) -> Policy:
    """Return a policy by which each URL is due again after these seconds, until it had so many visits."""

    def policy(history: History, report: Report) -> float:
        return report.time + seconds if history.visits < visits else 0.0

    return policy


@pytest.fixture
def revisiting(store: str, tmp_path: Path) -> Iterator[Opener]:
    """Open a frontier in which URLs are due again: `revisiting(60.0, visits=3, delay=1.0)`. Opened once more, it has
    the same store."""
    opened: list[Hand] = []

    def opener(seconds: float = 60.0, visits: int = 99, now: float = START, **fields: object) -> Hand:
        kind = "memory" if store == "memory" else "lmdb"
        config = options(**{"store": kind, "ip_delay": 0.0, "delay": 1.0, "order": "breadth", **fields})
        policy = after(seconds, visits) if seconds else frontier.never
        made = frontier.open(tmp_path / "state", config, now, policy=policy)
        opened.append(Hand(suspending(made) if store == "suspending" else made, now))
        return opened[-1]

    yield opener
    for each in opened:
        if each.store is not None:
            do(each.store.close())


def close(crawl: Hand) -> None:
    do(crawl.store.close())
    crawl.store = None  # type: ignore[assignment]


def serve(crawl: Hand, **fields: object) -> list[str]:
    """Serve all that is due now; return the URLs in the order of their requests."""
    requested: list[str] = []
    while leases := crawl.pages():
        for lease in leases:
            requested += texts(lease)
            crawl.serve(lease, **{"digest": DIGEST, **fields})
    return requested


def requests(crawl: Hand, until: float) -> list[tuple[float, str]]:
    """Serve what is due up to a time; return the requests as seconds since the start, and paths."""
    found: list[tuple[float, str]] = []
    while True:
        found += [(crawl.now - START, text.removeprefix("http://")) for text in serve(crawl)]
        if crawl.again is None or crawl.again > START + until:
            return found
        crawl.wait()


def test_a_url_is_requested_again_when_it_is_due(revisiting: Opener) -> None:
    crawl = revisiting(60.0, visits=3)
    crawl.add("http://a.org/1")
    assert requests(crawl, 1e6) == [(0.0, "a.org/1"), (60.0, "a.org/1"), (120.0, "a.org/1")]
    assert crawl.again is None


def test_urls_of_a_host_are_requested_in_the_order_of_their_times(revisiting: Opener) -> None:
    crawl = revisiting(60.0, delay=2.0)
    crawl.add(*[f"http://a.org/{page}" for page in (1, 2, 3)])
    first = requests(crawl, 10.0)
    crawl.now = START + 500.0  # all of them are due
    again = requests(crawl, 510.0)
    assert [path for _, path in again] == [path for _, path in first]
    assert [time for time, _ in again] == [500.0, 502.0, 504.0]


def test_due_urls_come_before_new_ones_and_both_are_requested(revisiting: Opener) -> None:
    crawl = revisiting(60.0, visits=2, delay=2.0)
    crawl.add("http://a.org/1")
    serve(crawl)
    crawl.now += 100.0
    crawl.add("http://a.org/2", "http://a.org/3")
    assert [path for _, path in requests(crawl, 130.0)] == ["a.org/1", "a.org/2", "a.org/3"]


def test_several_due_urls_fit_into_a_lease(revisiting: Opener) -> None:
    crawl = revisiting(60.0, delay=0.0)
    crawl.add(*[f"http://a.org/{page}" for page in range(5)])
    serve(crawl)
    crawl.now += 60.0
    lease = crawl.page()
    assert [each.url.text[-1] for each in lease.tasks] == list("01234")
    counts = do(crawl.store.counts())
    assert (counts.in_flight, counts.waiting, counts.seen, counts.due) == (0, 0, 5, 5)
    crawl.serve(lease, digest=DIGEST)


def test_a_task_has_what_earlier_visits_have_shown(revisiting: Opener) -> None:
    crawl = revisiting(60.0)
    crawl.add("http://a.org/1")
    lease = crawl.page()
    assert [(each.history, each.again) for each in lease.tasks] == [(History(), False)]
    crawl.serve(lease, digest=DIGEST, etag=ETAG, modified=1000)
    crawl.now += 60.0
    [again] = crawl.page().tasks
    assert again.history is not None
    assert (again.history.visits, again.history.etag, again.history.modified) == (1, ETAG, 1000)
    crawl.ack(again, Reason.NOT_MODIFIED, status=304)
    counts = do(crawl.store.counts())
    assert (counts.finished, counts.earlier, counts.due) == ({Reason.NOT_MODIFIED: 1}, {Reason.OK: 1}, 1)


def test_without_a_policy_a_task_has_no_history_and_nothing_is_kept(revisiting: Opener) -> None:
    crawl = revisiting(0.0)
    crawl.add("http://a.org/1")
    [lease] = crawl.pages()
    assert lease.tasks[0].history is None
    [entry] = crawl.serve(lease, digest=DIGEST, etag=ETAG)
    assert entry.due == 0
    assert (crawl.lease(), crawl.again) == ([], None)


def test_every_visit_has_one_reason_and_the_last_one_counts_for_the_url(revisiting: Opener) -> None:
    crawl = revisiting(60.0, visits=3)
    crawl.add("http://a.org/1", "http://a.org/2")
    for reason in (Reason.OK, Reason.NOT_FOUND, Reason.OK):
        served = serve(crawl, reason=reason)
        while len(served) < 2:
            crawl.wait()
            served += serve(crawl, reason=reason)
        counts = do(crawl.store.counts())
        assert counts.seen == 2 == counts.waiting + counts.in_flight + sum(counts.finished.values())
        if crawl.again is not None:
            crawl.now += 60.0
    assert counts.finished == {Reason.OK: 2}
    assert counts.earlier == {Reason.OK: 2, Reason.NOT_FOUND: 2}
    assert counts.due == 0


def test_a_visit_that_fails_is_repeated_and_then_ends(revisiting: Opener) -> None:
    crawl = revisiting(60.0, visits=2, backoff=1.0)
    crawl.add("http://a.org/1")
    serve(crawl)
    attempts = []
    while crawl.again is not None:
        crawl.wait()
        for lease in crawl.pages():
            attempts.append(lease.tasks[0].attempt)
            crawl.serve(lease, Reason.TIMEOUT)
    assert attempts == [0, 1, 2, 3]
    counts = do(crawl.store.counts())
    assert (counts.finished, counts.earlier) == ({Reason.TIMEOUT: 1}, {Reason.OK: 1})


def test_a_visit_that_is_acknowledged_twice_counts_once(revisiting: Opener) -> None:
    crawl = revisiting(60.0)
    crawl.add("http://a.org/1")
    serve(crawl)
    crawl.now += 60.0
    lease = crawl.page()
    crawl.ack(lease.tasks[0], digest=DIGEST)
    entry = crawl.ack(lease.tasks[0], Reason.NOT_FOUND, links=[task("http://a.org/2")])
    counts = do(crawl.store.counts())
    assert (entry.admitted, entry.due, counts.finished, counts.earlier) == ((), 0, {Reason.OK: 1}, {Reason.OK: 1})


def test_unused_tasks_go_back_and_are_leased_again(revisiting: Opener) -> None:
    crawl = revisiting(60.0, delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    serve(crawl)
    crawl.now += 60.0
    lease = crawl.page()
    crawl.ack(lease.tasks[0], digest=DIGEST)
    crawl.release(lease, lease.tasks[1:], last=crawl.now)
    assert texts(crawl.page()) == ["http://a.org/2"]


def test_a_host_that_rests_is_not_open_and_many_of_them_cost_no_place(revisiting: Opener) -> None:
    crawl = revisiting(3600.0, visits=2, open_hosts=2, open_domains=2)
    crawl.add(*[f"http://h{number}.org/" for number in range(7)])
    while crawl.again is not None and crawl.again < START + 3000.0:
        serve(crawl)
        crawl.wait()
    counts = do(crawl.store.counts())
    assert (counts.hosts_ready, counts.hosts_waiting, counts.hosts_backlog, counts.due) == (0, 0, 0, 7)
    assert crawl.again == START + 3600.0
    assert len(requests(crawl, 1e6)) == 7


def test_many_hosts_that_are_due_at_once_are_woken_in_turn(revisiting: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "WOKEN", 2)
    crawl = revisiting(3600.0, visits=2)
    crawl.add(*[f"http://h{number}.org/" for number in range(7)])
    serve(crawl)
    crawl.now += 7200.0
    assert sorted(serve(crawl)) == [f"http://h{number}.org/" for number in range(7)]
    assert crawl.again is None


def test_links_of_a_page_that_is_visited_again_are_admitted(revisiting: Opener) -> None:
    crawl = revisiting(60.0, visits=2)
    crawl.add("http://a.org/1")
    serve(crawl)
    crawl.now += 60.0
    [entry] = crawl.serve(crawl.page(), links=["http://a.org/1", "http://b.org/1"])
    assert [each.url.text for each in entry.admitted] == ["http://b.org/1"]


def test_a_page_that_is_visited_again_is_no_page_of_a_trap_and_tells_nothing_of_the_yield(revisiting: Opener) -> None:
    crawl = revisiting(60.0, same_pages=2, yield_threshold="0.1,0", grace_pages=3, grace_bytes=3000)
    crawl.add("http://a.org/1")
    for _ in range(6):
        serve(crawl, shape=5, downloaded=1000, kept=0)
        crawl.now += 60.0
    [entry] = crawl.serve(crawl.page(), links=["http://a.org/2"], shape=5)
    assert len(entry.admitted) == 1
    assert crawl.closings == {}


def test_a_closed_host_visits_no_page_again_until_it_is_opened(revisiting: Opener) -> None:
    crawl = revisiting(60.0, visits=2, host_failures=1)
    crawl.add("http://a.org/1", "http://a.org/2")
    crawl.serve(crawl.page(), digest=DIGEST)
    crawl.wait()
    crawl.serve(crawl.page(), Reason.CONNECT)
    crawl.now += 200.0
    [lease] = crawl.pages()
    assert (lease.closed, texts(lease)) == (Reason.HOST_DEAD, ["http://a.org/2"])
    crawl.serve(lease)
    crawl.now += 200.0
    assert crawl.pages() == []
    assert do(crawl.store.counts()).finished == {Reason.OK: 1, Reason.HOST_DEAD: 1}
    do(crawl.store.carry_out(orders.make("retry", ["host-dead"]), crawl.now))
    assert [path for _, path in requests(crawl, 1e6)] == ["a.org/1", "a.org/2"]


def test_a_blocked_host_visits_no_page_again(revisiting: Opener) -> None:
    crawl = revisiting(60.0, visits=2)
    crawl.add("http://a.org/1")
    serve(crawl)
    do(crawl.store.carry_out(orders.make("block", ["a.org"]), crawl.now))
    crawl.now += 200.0
    assert crawl.pages() == []
    assert crawl.again is None
    do(crawl.store.carry_out(orders.make("unblock", ["a.org"]), crawl.now))
    assert serve(crawl) == ["http://a.org/1"]


def test_robots_txt_decides_about_later_visits_too(revisiting: Opener) -> None:
    crawl = revisiting(2 * 86400.0, visits=2)
    crawl.add("http://a.org/1")
    serve(crawl)
    crawl.wait()
    crawl.resolve(crawl.only())
    lease = crawl.only()
    assert lease.tasks[0].file == "robots"
    crawl.allow(lease, access=Access.CLOSED)
    while not (leases := crawl.lease()):
        crawl.wait()
    for _ in range(9):  # robots.txt is tried again before the origin counts as closed
        if leases[0].tasks[0].file != "robots":
            break
        crawl.allow(leases[0], access=Access.CLOSED)
        while not (leases := crawl.lease()):
            crawl.wait()
    assert [origin.access for origin in leases[0].origins] == [Access.CLOSED]
    assert leases[0].tasks[0].again


def test_an_order_lets_no_url_wait_again_that_is_due_again_anyway(revisiting: Opener) -> None:
    crawl = revisiting(60.0, visits=3)
    crawl.add("http://a.org/1", "http://b.org/1")
    for lease in crawl.pages():
        crawl.serve(lease, Reason.NOT_FOUND, status=404)
    carried = do(crawl.store.carry_out(orders.make("retry", ["not-found"]), crawl.now))
    assert carried.order.reopened == {}
    assert do(crawl.store.counts()).waiting == 0


def test_a_url_that_is_due_no_more_waits_again_by_an_order_as_if_never_visited(revisiting: Opener) -> None:
    crawl = revisiting(60.0, visits=2)
    crawl.add("http://a.org/1")
    crawl.serve(crawl.page(), Reason.NOT_FOUND, status=404)
    crawl.now += 60.0
    crawl.serve(crawl.page(), Reason.NOT_FOUND, status=404)
    assert do(crawl.store.carry_out(orders.make("retry", ["not-found"]), crawl.now)).order.reopened == {"not-found": 1}
    crawl.lease(0)
    crawl.wait()
    [again] = crawl.page().tasks
    assert again.history == History()


def test_what_is_due_outlives_a_restart(revisiting: Opener, store: str) -> None:
    if store == "memory":
        return
    crawl = revisiting(60.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    for each in ('"1"', '"2"'):
        crawl.serve(crawl.page(), digest=DIGEST, etag=each)
        crawl.lease(0)
        crawl.wait()
    crawl.now = START + 59.0
    crawl.checkpoint()
    close(crawl)
    crawl = revisiting(60.0, now=START + 1000.0)
    assert do(crawl.store.counts()).due == 2
    crawl.wait()
    [lease] = crawl.pages()
    assert lease.tasks[0].history is not None
    assert (texts(lease), lease.tasks[0].history.etag) == (["http://a.org/1"], '"1"')


def test_a_replay_of_the_log_gives_the_same_times_whatever_the_policy_says_now(
    revisiting: Opener, store: str, tmp_path: Path
) -> None:
    crawl = revisiting(60.0)
    crawl.add("http://a.org/1", "http://b.org/1")
    entries: list[Entry] = []
    for reason in (Reason.OK, Reason.NOT_MODIFIED):
        for lease in crawl.pages():
            entries += crawl.serve(lease, reason, status=304 if reason is Reason.NOT_MODIFIED else 200, digest=DIGEST)
        crawl.now += 60.0
    again = frontier.open(tmp_path / "rebuilt", crawl_options(store), crawl.now, policy=after(9.0))
    rebuilt = Hand(again, crawl.now)
    seeds = (task("http://a.org/1"), task("http://b.org/1"))
    do(again.replay(Frame(1, crawl.now, tuple(map(logged, entries)), {}, seeds=seeds), ("log", 1)))
    assert do(again.counts()) == msgspec.structs.replace(
        do(crawl.store.counts()), hosts_ready=0, hosts_waiting=0, hosts_backlog=0
    )
    both = (crawl, rebuilt)
    for one in both:
        one.wait()
    first, second = [{each.url.text: each.history for lease in one.pages() for each in lease.tasks} for one in both]
    assert len(first) == 2
    assert first == second
    do(again.close())


def crawl_options(store: str) -> object:
    return options(store="memory" if store == "memory" else "lmdb", ip_delay=0.0, delay=1.0, order="breadth")
