"""The order of pages and hosts, and what a lease holds."""

from tests.frontier.conftest import Opener
from tests.frontier.hand import do, texts
from tests.frontier.simulation import task
from windrow.frontier.local.leases import MOST


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
