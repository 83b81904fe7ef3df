"""Hosts and parts of hosts that are retired alone, and hosts that outlive their domain."""

from pathlib import Path

import pytest

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import START, local, options, task
from tests.frontier.yields import POOR, RICH, RULE, ledger, serve_some
from windrow import frontier
from windrow.frontier.policy import budget
from windrow.records import Entry, Frame, Reason


def test_a_poor_host_is_retired_alone_and_its_domain_stays_open(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(20)])
    rich, poor = crawl.pages()
    crawl.serve(rich, **RICH)
    crawl.serve(poor, **POOR)
    assert [crawl.closed(f"http://{host}.a.org/19") for host in "xy"] == [None, Reason.LOW_YIELD]
    assert ledger(crawl).closed is None
    assert [(lease.host, lease.closed, len(lease.tasks)) for lease in crawl.pages()] == [
        ("x.a.org", None, 4),
        ("y.a.org", Reason.LOW_YIELD, 4),
    ]
    assert crawl.add("http://y.a.org/new", "http://z.a.org/new") == ["http://z.a.org/new"]
    assert do(crawl.store.counts()).refused == {"low-yield": 1}


def test_without_segments_only_the_domain_counts(hand: Opener) -> None:
    crawl = hand(**RULE, segments=False)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(20)])
    rich, poor = crawl.pages()
    crawl.serve(rich, **RICH)
    crawl.serve(poor, **POOR)
    assert crawl.closed("http://y.a.org/19") is None


@pytest.mark.parametrize(("segments", "spared"), [(True, None), (False, Reason.LOW_YIELD)])
def test_a_host_that_proved_better_outlives_its_domain(hand: Opener, segments: bool, spared: Reason | None) -> None:
    crawl = hand(**{**RULE, "grace_bytes": 20_000}, segments=segments)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "wxyz" for page in range(20)])
    first, second, third, fourth = crawl.pages()
    crawl.serve(first, downloaded=1000, kept=300)
    serve_some(crawl, fourth, 2, **RICH)
    crawl.serve(second, downloaded=2000, kept=0)
    crawl.serve(third, downloaded=2000, kept=0)
    assert ledger(crawl).closed is Reason.LOW_YIELD
    closed = {host: crawl.closed(f"http://{host}.a.org/19") for host in "wxyz"}
    low = Reason.LOW_YIELD
    assert closed == {"w": spared, "x": low, "y": low, "z": spared}  # z has too few pages to judge it, like v below
    new = ["http://w.a.org/new", "http://v.a.org/new"]
    assert crawl.add(*new) == ([] if spared else new)


@pytest.mark.parametrize(("kept", "end"), [(300, None), (0, Reason.LOW_YIELD)])
def test_an_unknown_host_of_a_closed_domain_is_tried(hand: Opener, kept: int, end: Reason | None) -> None:
    crawl = hand(**{**RULE, "grace_bytes": 20_000})
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(20)])
    first, second = crawl.pages()
    serve_some(crawl, first, 2, downloaded=1000, kept=kept)
    serve_some(crawl, second, 16, downloaded=3000, kept=0)
    assert ledger(crawl).closed is Reason.LOW_YIELD
    assert crawl.closed("http://x.a.org/19") is None, "it had two of the three answers of its grace"
    crawl.ack(first.tasks[2], downloaded=1000, kept=kept)
    assert crawl.closed("http://x.a.org/19") is end
    crawl.release(first, first.tasks[3:], last=crawl.now)
    crawl.release(second, last=crawl.now)
    assert [(lease.host, lease.closed) for lease in crawl.pages()] == [("x.a.org", end), ("y.a.org", Reason.LOW_YIELD)]


def test_nothing_is_retired_before_any_text_was_found(hand: Opener) -> None:
    crawl = hand(**{**RULE, "order": "yield"})
    crawl.add(*[f"http://a.org/{page}" for page in range(9)], "http://b.org/1")
    for _ in range(4):
        for lease in crawl.pages():
            crawl.serve(lease, **(POOR if lease.host == "a.org" else {}))
    assert ledger(crawl).closed is None and ledger(crawl).pages > RULE["grace_pages"]
    crawl.add("http://c.org/1", "http://a.org/10")
    for lease in sorted(crawl.pages(), key=lambda lease: lease.host, reverse=True):
        crawl.serve(lease, **(RICH if lease.host == "c.org" else POOR))
    assert ledger(crawl).closed is Reason.LOW_YIELD


def test_links_that_name_a_wanted_language_go_first(hand: Opener) -> None:
    crawl = hand(languages=("ces", "cs"), **{**RULE, "order": "yield"})
    crawl.add("http://a.org/")
    plain = ["http://a.org/en/1", "http://a.org/css/2", "http://a.org/docs.html", "http://a.org/x?lang=css"]
    named = [
        "http://a.org/cs/3",
        "http://a.org/x.cs.html",
        "http://a.org/x?lang=cs",
        "http://a.org/cs-CZ/4",
        "http://cs.a.org/",
    ]
    [entry] = crawl.serve(crawl.page(), links=[*plain, *named], **POOR)
    ranks = {each.url.text: each.priority for each in entry.admitted}
    assert max(ranks[text] for text in named) < min(ranks[text] for text in plain)


def test_a_host_that_outlived_its_domain_is_retired_once_it_is_no_better(hand: Opener) -> None:
    crawl = hand(**{**RULE, "grace_bytes": 20_000})
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(20)])
    first, second = crawl.pages()
    crawl.serve(first, downloaded=1000, kept=300)
    crawl.serve(second, downloaded=3000, kept=0)
    assert crawl.closed("http://x.a.org/19") is None
    [last] = [lease for lease in crawl.pages() if lease.closed is None]
    crawl.serve(last, downloaded=50_000, kept=0)
    assert crawl.closed("http://x.a.org/19") is Reason.LOW_YIELD


def test_a_part_of_a_host_is_retired_alone(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/shop/{page}" for page in range(5)], *[f"http://a.org/forum/{page}" for page in range(5)])
    lease = crawl.page()
    for each in (*lease.tasks[5:8], *lease.tasks[:3]):
        crawl.ack(each, **(POOR if "shop" in each.url.text else RICH))
    assert crawl.closed("http://a.org/shop/9") is Reason.LOW_YIELD
    others = ("forum/9", "", "shop", "shop?x/y", "shop2/1")
    assert [crawl.closed(f"http://a.org/{path}") for path in others] == [None] * 5
    crawl.release(lease, (*lease.tasks[3:5], *lease.tasks[8:]), last=crawl.now)
    assert crawl.add("http://a.org/shop/new", "http://a.org/forum/new") == ["http://a.org/forum/new"]
    closing = crawl.page()
    assert (closing.closed, texts(closing)) == (Reason.LOW_YIELD, ["http://a.org/shop/3", "http://a.org/shop/4"])
    crawl.serve(closing)
    assert texts(crawl.page()) == ["http://a.org/forum/3", "http://a.org/forum/4", "http://a.org/forum/new"]


def test_the_parts_of_a_host_beyond_a_limit_share_one_account(hand: Opener) -> None:
    crawl = hand(**RULE)
    names = [f"http://a.org/{number}/" for number in range(budget.SEGMENTS + 6)]
    crawl.add(*names)
    while leases := crawl.pages():
        for lease in leases:
            for each in lease.tasks:
                crawl.ack(each, **(RICH if int(each.url.text[13:-1]) < budget.SEGMENTS else POOR))
            crawl.release(lease, last=crawl.now)
    assert crawl.closed(names[0] + "x") is None
    assert crawl.closed(names[-1] + "x") is Reason.LOW_YIELD
    assert crawl.closed("http://a.org/another/x") is Reason.LOW_YIELD


def test_retired_parts_and_hosts_stay_retired_after_a_restart_and_a_replay(tmp_path: Path) -> None:
    settings = options(**RULE, ip_delay=0.0)
    crawl = Hand(frontier.open(tmp_path / "first", settings, START))
    seeds = [f"http://{place}/{page}" for place in ("x.a.org/forum", "x.a.org/shop", "y.a.org") for page in range(4)]
    crawl.add(*seeds)
    entries: list[Entry] = []
    for lease in crawl.pages():
        entries += [crawl.ack(each, **(RICH if "forum" in each.url.text else POOR)) for each in lease.tasks]
        crawl.release(lease, last=crawl.now)
    crawl.checkpoint(*entries)
    do(crawl.store.close())
    again = frontier.open(tmp_path / "first", settings, START + 10.0)
    rebuilt = frontier.open(tmp_path / "second", settings, START + 10.0)
    do(rebuilt.replay(Frame(1, START, tuple(entries), {}, seeds=tuple(map(task, seeds))), ("log", 1)))
    for store in (again, rebuilt):
        places = ("x.a.org/shop", "x.a.org/forum", "y.a.org")
        assert Hand(store).add(*[f"http://{place}/9" for place in places]) == ["http://x.a.org/forum/9"]
        assert local(store).meta.account == local(crawl.store).meta.account
        do(store.close())


@pytest.mark.parametrize("delay", [0.0, 5.0])
def test_urls_of_a_retired_domain_end_at_once(hand: Opener, delay: float) -> None:
    """They end even while their host rests."""
    crawl = hand(**{**RULE, "delay": delay})
    crawl.add(*[f"http://a.org/{page}" for page in range(6)])
    answered = 0
    while ledger(crawl).closed is None:
        lease = crawl.page()
        for each in lease.tasks[: 3 - answered]:
            crawl.ack(each, **POOR)
            answered += 1
        crawl.release(lease, lease.tasks[answered:] if delay == 0.0 else (), last=crawl.now)
    before = crawl.now
    closing = crawl.only()
    assert (closing.closed, len(closing.tasks), crawl.now) == (Reason.LOW_YIELD, 3, before)
