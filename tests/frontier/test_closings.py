"""Closings: the replies of a frontier say what was closed, or opened again, of the open hosts."""

import pytest

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, make_report
from tests.frontier.simulation import task
from windrow.frontier.policy import budget
from windrow.records import Closing, Kind, Lease, Reason

POOR = {"downloaded": 1000, "kept": 0}
RULE = {"delay": 0.0, "yield_threshold": "0.1,0", "grace_pages": 3, "grace_bytes": 3000}


def ack(crawl: Hand, lease: Lease, count: int, **fields: int) -> list[tuple[Closing, ...]]:
    """Acknowledge the first pages of a lease; return the closings of each receipt."""
    found = []
    for each in lease.tasks[:count]:
        receipt = do(crawl.store.ack([make_report(each, Reason.OK, crawl.now, status=200, **fields)]))
        found.append(receipt.closings)
    return found


def test_a_dead_host_is_announced_once(hand: Opener) -> None:
    crawl = hand(delay=0.0, host_failures=2)
    crawl.add("http://a.org/1", "http://a.org/2", "http://b.org/1")
    [lease, _] = crawl.pages()
    failures = [make_report(each, Reason.CONNECT, crawl.now, final=False) for each in lease.tasks]
    assert do(crawl.store.ack(failures[:1])).closings == ()
    assert do(crawl.store.ack(failures[1:])).closings == (Closing("a.org", Reason.HOST_DEAD),)
    assert do(crawl.store.ack([])).closings == ()
    assert do(crawl.store.lease(0, crawl.now)).closings == ()


def test_a_failed_lookup_may_close_its_host(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only(), Reason.BLOCKED_ADDRESS)
    assert crawl.closings == {"a.org": Closing("a.org", Reason.BLOCKED_ADDRESS)}


def test_a_retired_domain_closes_each_of_its_open_hosts(hand: Opener) -> None:
    crawl = hand(**RULE, segments=False)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(5)], "http://b.org/1")
    first = crawl.pages()[0]
    *before, closings = ack(crawl, first, 3, **POOR)
    assert before == [(), ()]
    assert {closing.host: closing.reason for closing in closings} == {
        "x.a.org": Reason.LOW_YIELD,
        "y.a.org": Reason.LOW_YIELD,
    }


def test_a_closed_part_is_announced_with_the_open_parts(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/forum/{page}" for page in range(3)], *[f"http://a.org/shop/{page}" for page in range(5)])
    lease = crawl.page()
    assert set(ack(crawl, lease, 3, downloaded=1000, kept=900)) == {()}
    for each in lease.tasks[3:5]:
        crawl.ack(each, **POOR)
    assert crawl.closings == {}
    crawl.ack(lease.tasks[5], **POOR)
    closing = Closing("a.org", None, closed_parts=frozenset({"shop"}), open_parts=frozenset({"forum"}))
    assert crawl.closings == {"a.org": closing}


def test_a_host_closed_with_its_domain_is_announced_as_open_when_a_later_page_saves_it(hand: Opener) -> None:
    crawl = hand(**{**RULE, "grace_bytes": 20_000})
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(20)])
    first, second = crawl.pages()
    for each in first.tasks[:3]:
        crawl.ack(each, downloaded=1000, kept=0)
    for each in second.tasks[:10]:
        crawl.ack(each, downloaded=2000, kept=0)
    assert crawl.closed("http://x.a.org/19") is Reason.LOW_YIELD
    crawl.ack(first.tasks[3], downloaded=1000, kept=3000)
    assert crawl.closings["x.a.org"].reason is None
    assert crawl.closed("http://x.a.org/19") is None
    assert crawl.closed("http://y.a.org/19") is Reason.LOW_YIELD


def test_several_reports_in_one_ack_give_the_final_state_of_each_host(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(6)])
    lease = crawl.page()
    reports = [make_report(each, Reason.OK, crawl.now, status=200, downloaded=1000) for each in lease.tasks]
    [closing] = do(crawl.store.ack(reports)).closings
    assert (closing.host, closing.reason) == ("a.org", Reason.LOW_YIELD)


def test_errands_still_run_at_a_retired_host(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(3)])
    crawl.serve(crawl.page(), **POOR)
    crawl.add("http://b.org/1")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "http://a.org/robots.txt")
    crawl.resolve(crawl.only())
    errand = crawl.only()
    assert (errand.host, errand.closed, errand.tasks[0].kind) == ("a.org", None, Kind.FILE)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://a.org/shop/1", Reason.LOW_YIELD),
        ("http://a.org/forum/1", None),
        ("http://a.org/blog/1", None),
        ("http://a.org/shop", None),
    ],
)
def test_a_url_is_closed_with_its_part(text: str, reason: Reason | None) -> None:
    closing = Closing("a.org", None, closed_parts=frozenset({"shop"}), open_parts=frozenset({"forum"}))
    assert budget.closes(closing, text) is reason


def test_a_closed_host_closes_all_its_urls() -> None:
    assert budget.closes(Closing("a.org", Reason.HOST_DEAD), "http://a.org/forum/1") is Reason.HOST_DEAD


def test_an_open_host_closes_none_of_its_urls() -> None:
    assert budget.closes(Closing("a.org", None), "http://a.org/forum/1") is None


def test_parts_beyond_the_known_ones_are_closed_together() -> None:
    known = frozenset(map(str, range(budget.SEGMENTS)))
    closing = Closing("a.org", None, closed_parts=frozenset({budget.REST}), open_parts=known)
    assert budget.closes(closing, "http://a.org/other/1") is Reason.LOW_YIELD
    assert budget.closes(closing, "http://a.org/7/1") is None


def test_the_driver_and_the_frontier_agree_on_what_is_closed(hand: Opener) -> None:
    """A waiting URL that the frontier would not lease is one that the driver would not request."""
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{part}/{page}" for page in range(4) for part in ("shop", "forum")])
    lease = crawl.page()
    for each in lease.tasks[:6]:
        crawl.ack(each, downloaded=1000, kept=900 if "forum" in each.url.text else 0)
    for part in ("shop", "forum"):
        fate = do(crawl.store.find(task(f"http://a.org/{part}/3").url))
        assert fate is not None
        assert (fate.state, fate.reason) == ("in flight", crawl.closed(f"http://a.org/{part}/3"))
