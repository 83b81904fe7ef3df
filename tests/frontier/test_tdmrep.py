"""An origin is asked for its tdmrep.json between its robots.txt and its first page; one that was moved is fetched where it lies."""

import msgspec
import pytest

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import task
from windrow import urls
from windrow.data import AGAIN, Kind, Reason, Robots, Task, Turn


@pytest.fixture
def asking(hand: Opener) -> Opener:
    def opened(**options: object) -> Hand:
        crawl = hand(**options)
        crawl.store.ask_tdmrep(True)
        return crawl

    return opened  # type: ignore[return-value]


def origin(each: Task) -> str:
    return each.via or urls.origin(each.url.text)


def told(crawl: Hand, turn: Turn, tdm: str = "-", reason: Reason = Reason.OK) -> None:
    """What the origins say by their files."""
    known = {rules.origin: rules for rules in turn.robots}
    for each in turn.tasks:
        assert each.kind is Kind.TDMREP
        crawl.settle(each, reason, robots=msgspec.structs.replace(known[origin(each)], tdm=tdm))
    crawl.release(turn)


def moved(crawl: Hand, turn: Turn, target: str) -> None:
    [each] = turn.tasks
    onward = task(target, kind=Kind.TDMREP, priority=0, redirects=each.redirects + 1, via=origin(each))
    crawl.settle(each, Reason.REDIRECT, found=[onward])
    crawl.release(turn)


def upto(crawl: Hand, kind: Kind, host: str = "") -> Turn:
    """The next turn of this kind, at this host; addresses are found and robots.txt files allow everything on the way."""
    while True:
        turn = crawl.lease_next()
        if turn.tasks[0].kind is kind and host in ("", turn.host):
            return turn
        if turn.tasks[0].kind is Kind.RESOLVE:
            crawl.resolve(turn)
        else:
            assert turn.tasks[0].kind is Kind.ROBOTS, turn
            crawl.allow(turn)


def test_an_origin_is_asked_after_its_robots_txt_and_before_its_first_page(asking: Opener) -> None:
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2", "https://a.org/1")
    asked = []
    while crawl.again is not None:
        for turn in crawl.lease():
            asked += texts(turn) if turn.tasks[0].kind is not Kind.RESOLVE else []
            {
                Kind.RESOLVE: crawl.resolve,
                Kind.ROBOTS: crawl.allow,
                Kind.TDMREP: lambda turn: told(crawl, turn, "1 /"),
            }.get(turn.tasks[0].kind, crawl.serve)(turn)
        if crawl.again is not None:
            crawl.wait()
    assert asked == [
        "http://a.org/robots.txt",
        "http://a.org/.well-known/tdmrep.json",
        "http://a.org/1",
        "http://a.org/2",
        "https://a.org/robots.txt",
        "https://a.org/.well-known/tdmrep.json",
        "https://a.org/1",
    ]


def test_what_an_origin_says_comes_with_its_turns(asking: Opener) -> None:
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1")
    told(crawl, upto(crawl, Kind.TDMREP), "1 /news/")
    turn = crawl.lease_next()
    assert [(rules.origin, rules.tdm) for rules in turn.robots] == [("http://a.org", "1 /news/")]


def test_nobody_is_asked_where_that_is_not_wanted(hand: Opener) -> None:
    crawl = hand(delay=1.0)
    crawl.add("http://a.org/1")
    assert texts(upto(crawl, Kind.PAGE)) == ["http://a.org/1"]


def test_an_origin_that_is_closed_is_not_asked(asking: Opener) -> None:
    crawl = asking(delay=1.0, host_failures=100)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    for _ in range(5):
        crawl.unreachable(crawl.lease_next())
    turn = crawl.lease_next()
    assert (turn.tasks[0].kind, turn.robots[0].closed) == (Kind.PAGE, True)


def test_one_that_did_not_answer_is_asked_once_more(asking: Opener) -> None:
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1")
    told(crawl, upto(crawl, Kind.TDMREP), AGAIN)
    turn = crawl.lease_next()
    assert (turn.tasks[0].kind, turn.robots[0].tdm) == (Kind.TDMREP, AGAIN)
    told(crawl, turn)
    assert crawl.lease_next().tasks[0].kind is Kind.PAGE


def test_it_is_asked_again_when_its_robots_txt_is(asking: Opener) -> None:
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1", "http://a.org/2")
    told(crawl, upto(crawl, Kind.TDMREP), "1 /")
    crawl.serve(crawl.lease_next())
    crawl.now += 86400.0
    crawl.resolve(crawl.lease_next())
    robots = crawl.lease_next()
    assert texts(robots) == ["http://a.org/robots.txt"]
    crawl.allow(robots)
    again = crawl.lease_next()
    assert (texts(again), again.robots[0].tdm) == (["http://a.org/.well-known/tdmrep.json"], "")


@pytest.mark.parametrize("life", [0.0, 0.5])
def test_rules_that_hardly_live_serve_for_the_file_and_a_page(asking: Opener, life: float) -> None:
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1")
    crawl.resolve(crawl.only())
    crawl.allow(crawl.lease_next(), life)
    told(crawl, crawl.lease_next())
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


def test_a_file_that_moved_is_fetched_there_by_the_rules_of_that_place(asking: Opener) -> None:
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1")
    moved(crawl, upto(crawl, Kind.TDMREP), "http://b.net/policy")
    crawl.resolve(crawl.only())
    robots = crawl.lease_next()
    assert texts(robots) == ["http://b.net/robots.txt"]
    crawl.settle(robots.tasks[0], robots=Robots("http://b.net", "disallow: /x", crawl.now, crawl.now + 1000))
    crawl.release(robots)
    errand = crawl.lease_next()
    assert (errand.host, texts(errand), errand.tasks[0].via) == ("b.net", ["http://b.net/policy"], "http://a.org")
    assert {rules.origin: rules.rules for rules in errand.robots} == {
        "http://a.org": "",
        "http://b.net": "disallow: /x",
    }
    told(crawl, errand, "1 /")
    turn = crawl.lease_next()
    assert (texts(turn), turn.robots[0].tdm) == (["http://a.org/1"], "1 /")


def test_a_file_that_moved_within_its_origin_needs_no_further_rules(asking: Opener) -> None:
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1")
    moved(crawl, upto(crawl, Kind.TDMREP), "http://a.org/policy")
    errand = crawl.lease_next()
    assert texts(errand) == ["http://a.org/policy"]
    told(crawl, errand, "0 /")
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


def test_a_file_that_moved_to_another_scheme_waits_for_the_rules_there_wherever_these_are(asking: Opener) -> None:
    """The robots.txt that decides was moved to the same host: its errand is behind the one that waits for it."""
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1")
    moved(crawl, upto(crawl, Kind.TDMREP), "https://a.org/policy")
    robots = crawl.lease_next()
    assert texts(robots) == ["https://a.org/robots.txt"]
    crawl.moved(robots, "http://a.org/other-robots.txt")
    errand = crawl.lease_next()
    assert texts(errand) == ["http://a.org/other-robots.txt"]
    crawl.allow(errand)
    errand = crawl.lease_next()
    assert texts(errand) == ["https://a.org/policy"]
    told(crawl, errand, "1 /")
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


@pytest.mark.parametrize("first", ["a.org", "b.net"])
def test_two_origins_that_send_to_each_other_do_not_wait_for_ever(asking: Opener, first: str) -> None:
    other = {"a.org": "b.net", "b.net": "a.org"}
    crawl = asking(delay=1.0)
    crawl.add(f"http://{first}/1", f"http://{other[first]}/1")
    pages = []
    while crawl.again is not None:
        for turn in crawl.lease():
            each = turn.tasks[0]
            if each.kind is Kind.RESOLVE:
                crawl.resolve(turn)
            elif each.kind is Kind.ROBOTS:
                crawl.allow(turn)
            elif each.kind is Kind.TDMREP and each.redirects < 3:
                moved(crawl, turn, f"http://{other[turn.host]}/{each.redirects}")
            elif each.kind is Kind.TDMREP:
                told(crawl, turn)
            else:
                pages += texts(turn)
                crawl.serve(turn)
        if crawl.again is not None:
            crawl.wait()
    assert sorted(pages) == ["http://a.org/1", "http://b.net/1"]


@pytest.mark.parametrize("reason", [Reason.NO_SUCH_HOST, Reason.BLOCKED_ADDRESS])
def test_an_errand_to_a_dead_host_comes_back_with_what_is_known_of_the_origin(asking: Opener, reason: Reason) -> None:
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1")
    moved(crawl, upto(crawl, Kind.TDMREP), "http://b.net/policy")
    while (errand := crawl.lease_next()).closed is None:
        crawl.resolve(errand, reason)
    assert (errand.host, errand.closed, [rules.origin for rules in errand.robots]) == (
        "b.net",
        reason,
        ["http://a.org"],
    )
    told(crawl, errand, reason=reason)
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


def test_an_errand_to_a_host_without_robots_txt_ends_when_that_is_given_up(asking: Opener) -> None:
    crawl = asking(delay=1.0, host_failures=100)
    crawl.add("http://a.org/1")
    moved(crawl, upto(crawl, Kind.TDMREP), "http://b.net/policy")
    crawl.resolve(crawl.only())
    for _ in range(5):
        crawl.unreachable(crawl.lease_next())
    errand = crawl.lease_next()
    assert (texts(errand), {rules.origin: rules.closed for rules in errand.robots}) == (
        ["http://b.net/policy"],
        {"http://a.org": False, "http://b.net": True},
    )
    told(crawl, errand, reason=Reason.ROBOTS_UNREACHABLE)
    assert texts(crawl.lease_next()) == ["http://a.org/1"]


def test_files_count_neither_as_pages_of_a_domain_nor_as_urls(asking: Opener) -> None:
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1")
    told(crawl, upto(crawl, Kind.TDMREP), "1 /")
    counts = do(crawl.store.counts())
    assert (counts.seen, counts.waiting, counts.in_hand, counts.finished) == (1, 1, 0, {})


def test_what_comes_back_after_the_rules_were_fetched_anew_does_not_bring_the_old_ones_back(asking: Opener) -> None:
    """Another origin's errand to this one needs its robots.txt, which has run out while its own file is being fetched elsewhere."""
    crawl = asking(delay=1.0)
    crawl.add("http://a.org/1")
    moved(crawl, upto(crawl, Kind.TDMREP), "http://b.net/policy")
    errand = upto(crawl, Kind.TDMREP, "b.net")
    crawl.now += 1.0
    fresh = Robots("http://a.org", "disallow: /new", crawl.now, crawl.now + 1000)
    crawl.settle(task("http://a.org/robots.txt", kind=Kind.ROBOTS), robots=fresh)
    told(crawl, errand, "1 /")
    turn = crawl.lease_next()
    assert (texts(turn), turn.robots) == (["http://a.org/.well-known/tdmrep.json"], (fresh,))
