"""What a frontier does with a domain that gives too little text: over both stores, live and from the log."""

from pathlib import Path

import pytest

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import START, local, options, task
from windrow import frontier
from windrow.data import Entry, Frame, Lease, Ledger, Reason, Task, Url
from windrow.frontier.local.leases import MOST, MOST_CLOSED
from windrow.frontier.policy import budget

POOR = {"downloaded": 1000, "kept": 0}
RICH = {"downloaded": 1000, "kept": 500}
RULE = {"delay": 0.0, "order": "breadth", "yield_threshold": "0.1,0", "grace_pages": 3, "grace_bytes": 3000}


def url(text: str) -> Url:
    return task(text).url


def ledger(crawl: Hand, domain: str = "a.org") -> Ledger:
    found = do(crawl.store.ledger(domain))
    assert found is not None
    return found


def serve_some(crawl: Hand, lease: Lease, count: int, **fields: int) -> None:
    """The first pages of a lease are answered so; the rest of it stays out."""
    for each in lease.tasks[:count]:
        crawl.ack(each, **fields)


def rest(lease: Lease, count: int) -> tuple[Task, ...]:
    return lease.tasks[count:]


def test_a_poor_domain_is_retired_and_its_urls_end_with_the_reason(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(40)])
    lease = crawl.page()
    serve_some(crawl, lease, 3, **POOR)
    assert ledger(crawl).closed is Reason.LOW_YIELD
    crawl.release(lease, rest(lease, 3), last=crawl.now)
    closing = crawl.only()
    assert (closing.closed, closing.address, len(closing.tasks)) == (Reason.LOW_YIELD, "", 37)
    crawl.serve(closing)
    assert (crawl.lease(), crawl.again) == ([], None)
    counts = do(crawl.store.counts())
    assert (counts.finished, counts.waiting, counts.seen) == ({Reason.OK: 3, Reason.LOW_YIELD: 37}, 0, 40)


def test_a_rich_domain_stays_open(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(8)])
    crawl.serve(crawl.page(), **RICH)
    assert ledger(crawl).closed is None
    assert crawl.closings == {}


def test_leased_pages_of_a_retired_domain_must_not_be_requested(hand: Opener) -> None:
    crawl = hand(**RULE, segments=False)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(5)], "http://b.org/1")
    first, _, second = crawl.pages()
    assert (first.host, second.host) == ("x.a.org", "y.a.org")
    assert crawl.closed("http://y.a.org/0") is None
    serve_some(crawl, first, 3, **POOR)
    assert crawl.closed(second.tasks[0].url.text) is Reason.LOW_YIELD
    assert crawl.closed("http://b.org/1") is None
    assert crawl.add("http://never.a.org/seen", "http://unknown.org/") == ["http://unknown.org/"]


def test_every_host_of_a_retired_domain_is_closed_whether_open_or_not(hand: Opener) -> None:
    crawl = hand(**RULE, segments=False, open_hosts=2)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "wxyz" for page in range(5)])
    ended = []
    while crawl.again is not None:
        for lease in crawl.pages(1):
            ended += [(text, lease.closed) for text in texts(lease)]
            crawl.serve(lease, **POOR)
        if crawl.again is not None:
            crawl.wait()
    assert len(ended) == 20
    assert len([text for text, closed in ended if closed is None]) < 10
    assert {closed for _, closed in ended} == {None, Reason.LOW_YIELD}


def test_a_response_after_the_closing_is_entered_all_the_same(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(5)])
    lease = crawl.page()
    serve_some(crawl, lease, 4, **POOR)
    crawl.ack(lease.tasks[4], **RICH)
    crawl.release(lease, last=crawl.now)
    assert (ledger(crawl).pages, ledger(crawl).kept, ledger(crawl).closed) == (5, 500, Reason.LOW_YIELD)
    assert do(crawl.store.counts()).finished == {Reason.OK: 5}


def test_links_to_a_retired_domain_are_refused_and_counted(hand: Opener) -> None:
    crawl = hand(**RULE, segments=False)
    crawl.add(*[f"http://a.org/{page}" for page in range(3)], "http://b.org/1")
    first, second = crawl.pages()
    crawl.serve(first, **POOR)
    links = ["http://a.org/1", "http://a.org/new", "http://other.a.org/new", "http://c.org/"]
    [entry] = crawl.serve(second, links=links)
    assert [each.url.text for each in entry.admitted] == ["http://c.org/"]
    assert entry.refused == {"low-yield": 2}
    assert do(crawl.store.counts()).refused == {"low-yield": 2}


def test_links_of_the_page_that_closes_its_domain_are_refused(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(3)])
    entries = crawl.serve(crawl.page(), links=["http://a.org/next", "http://b.org/"], **POOR)
    assert [[each.url.text for each in entry.admitted] for entry in entries] == [
        ["http://a.org/next", "http://b.org/"],
        [],
        [],
    ]


def test_a_page_that_waits_for_a_retry_ends_with_its_domain(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(4)])
    lease = crawl.page()
    crawl.ack(lease.tasks[0], Reason.SERVER_ERROR, status=500)
    for each in lease.tasks[1:]:
        crawl.ack(each, **POOR)
    crawl.release(lease, last=crawl.now)
    closing = crawl.only()
    assert (closing.closed, texts(closing), closing.tasks[0].attempt) == (Reason.LOW_YIELD, ["http://a.org/0"], 1)


def test_many_waiting_pages_end_in_large_leases(hand: Opener) -> None:
    crawl = hand(**RULE)
    count = 2 * MOST_CLOSED + 10
    crawl.add(*[f"http://a.org/{page}" for page in range(count)])
    crawl.serve(crawl.page(), **POOR)
    sizes = []
    while batch := crawl.lease():
        sizes += [len(lease.tasks) for lease in batch]
        for lease in batch:
            crawl.serve(lease)
    assert sizes == [MOST_CLOSED, count - MOST - MOST_CLOSED]


def test_a_robots_txt_moved_to_a_retired_domain_is_still_fetched_there(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(4)])
    lease = crawl.page()
    serve_some(crawl, lease, 3, **POOR)
    crawl.add("http://b.org/1")
    crawl.resolve(crawl.only())
    crawl.move(crawl.only(), "http://a.org/robots.txt")
    crawl.release(lease, rest(lease, 3), last=crawl.now)
    closing = crawl.only()
    assert closing.closed is Reason.LOW_YIELD
    crawl.serve(closing)
    errand = crawl.only()
    assert (texts(errand), errand.closed, errand.address) == (["http://a.org/robots.txt"], None, "address of a.org")
    crawl.allow(errand)
    assert texts(crawl.page()) == ["http://b.org/1"]


def test_seeds_of_a_retired_domain_are_refused(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(3)])
    crawl.serve(crawl.page(), **POOR)
    assert crawl.add("http://a.org/late", "http://b.org/") == ["http://b.org/"]
    assert do(crawl.store.counts()).refused == {"low-yield": 1}


def test_the_fate_of_a_waiting_url_names_the_reason_that_closes_it(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(20)])
    crawl.serve(crawl.page(), **POOR)
    found = do(crawl.store.find(url("http://a.org/19")))
    assert found is not None
    assert (found.state, found.reason) == ("waiting", Reason.LOW_YIELD)


def test_a_ledger_has_all_sums(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2", "http://a.org/3")
    lease = crawl.page()
    crawl.ack(lease.tasks[0], downloaded=1000, kept=100, clean=300, primary=200)
    crawl.ack(lease.tasks[1], Reason.NOT_FOUND, status=404, downloaded=50)
    crawl.ack(lease.tasks[2], downloaded=500, kept=100, clean=100, primary=100)
    assert ledger(crawl) == Ledger("a.org", 3, 1550, 200, 3, 1, None, clean=400, primary=300, yields=0.3)


def test_without_an_extractor_nothing_is_retired(hand: Opener) -> None:
    crawl = hand(**RULE, extractor="none")
    crawl.add(*[f"http://a.org/{page}" for page in range(5)])
    crawl.serve(crawl.page(), **POOR)
    assert ledger(crawl).closed is None


def test_too_small_a_share_of_the_primary_language_retires_a_domain(hand: Opener) -> None:
    crawl = hand(**{**RULE, "yield_threshold": "off", "min_primary_share": 0.5})
    crawl.add(*[f"http://{name}.org/{page}" for name in "ab" for page in range(3)])
    first, second = crawl.pages()
    crawl.serve(first, downloaded=1000, clean=100, primary=40)
    crawl.serve(second, downloaded=1000, clean=100, primary=60)
    assert [ledger(crawl, f"{name}.org").closed for name in "ab"] == [Reason.LOW_YIELD, None]


def test_a_replay_of_the_log_closes_the_same_domains(hand: Opener, tmp_path: Path) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://{name}.org/{page}" for name in "abc" for page in range(4)])
    entries: list[Entry] = []
    for lease, fields in zip(crawl.pages(), (POOR, RICH, POOR), strict=True):
        entries += crawl.serve(lease, links=["http://a.org/new", "http://b.org/new"], **fields)
    for lease in crawl.pages():
        entries += crawl.serve(lease, **RICH)
    seeds = tuple([task(f"http://{name}.org/{page}") for name in "abc" for page in range(4)])
    rebuilt = Hand(frontier.open(tmp_path / "rebuilt", options(**RULE, ip_delay=0.0), START))
    do(rebuilt.store.replay(Frame(1, START, tuple(entries), {}, seeds=seeds), ("log", 1)))
    assert [ledger(rebuilt, f"{name}.org") for name in "abc"] == [ledger(crawl, f"{name}.org") for name in "abc"]
    assert [ledger(crawl, f"{name}.org").closed for name in "abc"] == [Reason.LOW_YIELD, None, Reason.LOW_YIELD]
    assert do(rebuilt.store.counts()).refused == do(crawl.store.counts()).refused
    assert rebuilt.add("http://a.org/x", "http://b.org/x") == ["http://b.org/x"]
    do(rebuilt.store.close())


def test_a_retired_domain_stays_retired_after_a_restart(tmp_path: Path) -> None:
    settings = options(**RULE, ip_delay=0.0)
    crawl = Hand(frontier.open(tmp_path, settings, START))
    crawl.add(*[f"http://a.org/{page}" for page in range(30)])
    crawl.serve(crawl.page(), **POOR)
    crawl.checkpoint()
    do(crawl.store.close())
    crawl = Hand(frontier.open(tmp_path, settings, START + 10.0), START + 10.0)
    found = do(crawl.store.find(url("http://a.org/20")))
    assert found is not None
    assert found.reason is Reason.LOW_YIELD
    [closing] = crawl.lease()
    assert (closing.closed, len(closing.tasks)) == (Reason.LOW_YIELD, 14)
    do(crawl.store.close())


# Segments


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
    assert closed == {"w": spared, "x": low, "y": low, "z": spared}  # too little is known of z, and of v below
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
    """Its URLs end at once, however long its host has to rest."""
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
