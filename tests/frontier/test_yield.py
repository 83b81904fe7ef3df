"""What a frontier does with a domain that gives too little text: over both stores, live and from the log."""

from pathlib import Path

import pytest

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import START, options, task
from windrow import frontier
from windrow.config import Extract
from windrow.data import Frame, Ledger, Reason, Report, Task, Turn, Url
from windrow.frontier.local import leases
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


def serve_some(crawl: Hand, turn: Turn, count: int, **fields: int) -> None:
    """The first pages of a turn are answered so; the rest of it stays out."""
    for each in turn.tasks[:count]:
        crawl.settle(each, **fields)


def rest(turn: Turn, count: int) -> tuple[Task, ...]:
    return turn.tasks[count:]


def test_a_poor_domain_is_retired_and_its_urls_end_with_the_reason(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(40)])
    turn = crawl.page()
    serve_some(crawl, turn, 3, **POOR)
    assert ledger(crawl).closed is Reason.LOW_YIELD
    crawl.release(turn, rest(turn, 3), last=crawl.now)
    closing = crawl.only()
    assert (closing.closed, closing.address, len(closing.tasks)) == (Reason.LOW_YIELD, "", 37)
    crawl.serve(closing)
    assert (crawl.lease(), crawl.again) == ([], None)
    counts = do(crawl.store.counts())
    assert (counts.finished, counts.waiting, counts.seen) == ({Reason.OK: 3, Reason.LOW_YIELD: 37}, 0, 40)


def test_a_rich_domain_goes_on(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(8)])
    crawl.serve(crawl.page(), **RICH)
    assert ledger(crawl).closed is None
    assert crawl.store.closed(url("http://a.org/1")) is None


def test_what_is_out_must_not_be_asked_for_any_more(hand: Opener) -> None:
    crawl = hand(**RULE, segments=False)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(5)], "http://b.org/1")
    first, _, second = crawl.pages()
    assert (first.host, second.host) == ("x.a.org", "y.a.org")
    assert crawl.store.closed(url("http://y.a.org/0")) is None
    serve_some(crawl, first, 3, **POOR)
    assert crawl.store.closed(second.tasks[0].url) is Reason.LOW_YIELD
    assert crawl.store.closed(url("http://never.a.org/seen")) is Reason.LOW_YIELD
    assert crawl.store.closed(url("http://b.org/1")) is None
    assert crawl.store.closed(url("http://unknown.org/")) is None


def test_every_host_of_a_retired_domain_is_closed_open_or_not(hand: Opener) -> None:
    crawl = hand(**RULE, segments=False, open_hosts=2)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "wxyz" for page in range(5)])
    ended = []
    while crawl.again is not None:
        for turn in crawl.pages(1):
            ended += [(text, turn.closed) for text in texts(turn)]
            crawl.serve(turn, **POOR)
        if crawl.again is not None:
            crawl.wait()
    assert len(ended) == 20
    assert len([text for text, closed in ended if closed is None]) < 10
    assert {closed for _, closed in ended} == {None, Reason.LOW_YIELD}


def test_an_answer_that_comes_after_the_closing_is_booked_all_the_same(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(5)])
    turn = crawl.page()
    serve_some(crawl, turn, 4, **POOR)
    crawl.settle(turn.tasks[4], **RICH)
    crawl.release(turn, last=crawl.now)
    assert (ledger(crawl).pages, ledger(crawl).kept, ledger(crawl).closed) == (5, 500, Reason.LOW_YIELD)
    assert do(crawl.store.counts()).finished == {Reason.OK: 5}


def test_links_to_a_retired_domain_are_refused_and_counted(hand: Opener) -> None:
    crawl = hand(**RULE, segments=False)
    crawl.add(*[f"http://a.org/{page}" for page in range(3)], "http://b.org/1")
    first, second = crawl.pages()
    crawl.serve(first, **POOR)
    links = ["http://a.org/1", "http://a.org/new", "http://other.a.org/new", "http://c.org/"]
    [settled] = crawl.serve(second, links=links)
    assert [each.url.text for each in settled.found] == ["http://c.org/"]
    assert settled.refused == {"low-yield": 2}
    assert do(crawl.store.counts()).refused == {"low-yield": 2}


def test_the_page_that_closes_its_domain_brings_no_more_links_to_it(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(3)])
    reports = crawl.serve(crawl.page(), links=["http://a.org/next", "http://b.org/"], **POOR)
    assert [[each.url.text for each in report.found] for report in reports] == [
        ["http://a.org/next", "http://b.org/"],
        [],
        [],
    ]


def test_a_page_that_failed_and_waits_to_be_tried_again_ends_too(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(4)])
    turn = crawl.page()
    crawl.settle(turn.tasks[0], Reason.SERVER_ERROR, status=500)
    serve_some(crawl, Turn(turn.host, turn.address, turn.tasks[1:], 0.0, (), 0), 3, **POOR)
    crawl.release(turn, last=crawl.now)
    closing = crawl.only()
    assert (closing.closed, texts(closing), closing.tasks[0].attempt) == (Reason.LOW_YIELD, ["http://a.org/0"], 1)


def test_however_many_wait_they_end_in_large_turns(hand: Opener) -> None:
    crawl = hand(**RULE)
    count = 2 * leases.MOST_CLOSED + 10
    crawl.add(*[f"http://a.org/{page}" for page in range(count)])
    crawl.serve(crawl.page(), **POOR)
    sizes = []
    while batch := crawl.lease():
        sizes += [len(turn.tasks) for turn in batch]
        for turn in batch:
            crawl.serve(turn)
    assert sizes == [leases.MOST_CLOSED, count - leases.MOST - leases.MOST_CLOSED]


def test_a_robots_txt_that_was_moved_to_a_retired_domain_is_still_fetched_there(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(4)])
    turn = crawl.page()
    serve_some(crawl, turn, 3, **POOR)
    crawl.add("http://b.org/1")
    crawl.resolve(crawl.only())
    crawl.moved(crawl.only(), "http://a.org/robots.txt")
    crawl.release(turn, rest(turn, 3), last=crawl.now)
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


def test_a_url_of_a_retired_domain_that_waits_says_why_it_will_not_be_asked_for(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/{page}" for page in range(20)])
    crawl.serve(crawl.page(), **POOR)
    found = do(crawl.store.find(url("http://a.org/19")))
    assert found is not None
    assert (found.state, found.reason) == ("waiting", Reason.LOW_YIELD)


def test_a_ledger_has_all_sums(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1", "http://a.org/2", "http://a.org/3")
    turn = crawl.page()
    crawl.settle(turn.tasks[0], downloaded=1000, kept=100, clean=300, primary=200)
    crawl.settle(turn.tasks[1], Reason.NOT_FOUND, status=404, downloaded=50)
    crawl.settle(turn.tasks[2], downloaded=500, kept=100, clean=100, primary=100)
    assert ledger(crawl) == Ledger("a.org", 3, 1550, 200, 3, 1, None, clean=400, primary=300, yields=0.3)


def test_where_no_text_is_taken_nothing_is_retired(store: str, tmp_path: Path) -> None:
    config = options(**RULE, store=store, ip_delay=0.0)
    config = type(config)(frontier=config.frontier, fetch=config.fetch, extract=Extract(extractor="none"))
    crawl = Hand(frontier.open(tmp_path, config, START))
    crawl.add(*[f"http://a.org/{page}" for page in range(5)])
    crawl.serve(crawl.page(), **POOR)
    assert ledger(crawl).closed is None
    do(crawl.store.close())


def test_a_share_of_the_primary_language_too_small_retires_a_domain(hand: Opener) -> None:
    crawl = hand(**{**RULE, "yield_threshold": "off", "min_primary_share": 0.5})
    crawl.add(*[f"http://{name}.org/{page}" for name in "ab" for page in range(3)])
    first, second = crawl.pages()
    crawl.serve(first, downloaded=1000, clean=100, primary=40)
    crawl.serve(second, downloaded=1000, clean=100, primary=60)
    assert [ledger(crawl, f"{name}.org").closed for name in "ab"] == [Reason.LOW_YIELD, None]


def test_a_log_taken_in_again_closes_the_same_domains(hand: Opener, tmp_path: Path) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://{name}.org/{page}" for name in "abc" for page in range(4)])
    reports: list[Report] = []
    for turn, fields in zip(crawl.pages(), (POOR, RICH, POOR), strict=True):
        reports += crawl.serve(turn, links=["http://a.org/new", "http://b.org/new"], **fields)
    for turn in crawl.pages():
        reports += crawl.serve(turn, **RICH)
    seeds = tuple([task(f"http://{name}.org/{page}") for name in "abc" for page in range(4)])
    rebuilt = Hand(frontier.open(tmp_path / "rebuilt", options(**RULE, ip_delay=0.0), START))
    do(rebuilt.store.replay(Frame(1, START, tuple(reports), {}, seeds=seeds), ("log", 1)))
    assert [ledger(rebuilt, f"{name}.org") for name in "abc"] == [ledger(crawl, f"{name}.org") for name in "abc"]
    assert [ledger(crawl, f"{name}.org").closed for name in "abc"] == [Reason.LOW_YIELD, None, Reason.LOW_YIELD]
    assert do(rebuilt.store.counts()).refused == do(crawl.store.counts()).refused
    assert rebuilt.store.closed(url("http://a.org/x")) is Reason.LOW_YIELD
    do(rebuilt.store.close())


def test_a_retired_domain_stays_retired_after_a_restart(tmp_path: Path) -> None:
    settings = options(**RULE, ip_delay=0.0)
    crawl = Hand(frontier.open(tmp_path, settings, START))
    crawl.add(*[f"http://a.org/{page}" for page in range(30)])
    crawl.serve(crawl.page(), **POOR)
    crawl.checkpoint()
    do(crawl.store.close())
    crawl = Hand(frontier.open(tmp_path, settings, START + 10.0), START + 10.0)
    assert crawl.store.closed(url("http://a.org/20")) is Reason.LOW_YIELD
    [closing] = crawl.lease()
    assert (closing.closed, len(closing.tasks)) == (Reason.LOW_YIELD, 14)
    do(crawl.store.close())


# Segments


def test_a_poor_host_is_retired_by_itself_and_its_domain_goes_on(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(20)])
    rich, poor = crawl.pages()
    crawl.serve(rich, **RICH)
    crawl.serve(poor, **POOR)
    assert [crawl.store.closed(url(f"http://{host}.a.org/19")) for host in "xy"] == [None, Reason.LOW_YIELD]
    assert ledger(crawl).closed is None
    assert [(turn.host, turn.closed, len(turn.tasks)) for turn in crawl.pages()] == [
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
    assert crawl.store.closed(url("http://y.a.org/19")) is None


@pytest.mark.parametrize(("segments", "spared"), [(True, None), (False, Reason.LOW_YIELD)])
def test_a_host_that_has_shown_to_be_better_outlives_its_domain(
    hand: Opener, segments: bool, spared: Reason | None
) -> None:
    crawl = hand(**{**RULE, "grace_bytes": 20_000}, segments=segments)
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "wxyz" for page in range(20)])
    first, second, third, fourth = crawl.pages()
    crawl.serve(first, downloaded=1000, kept=300)
    serve_some(crawl, fourth, 2, **RICH)
    crawl.serve(second, downloaded=2000, kept=0)
    crawl.serve(third, downloaded=2000, kept=0)
    assert ledger(crawl).closed is Reason.LOW_YIELD
    closed = {host: crawl.store.closed(url(f"http://{host}.a.org/19")) for host in "vwxyz"}
    low = Reason.LOW_YIELD
    assert closed == {"v": spared, "w": spared, "x": low, "y": low, "z": spared}  # of v and z too little is known
    new = ["http://w.a.org/new", "http://v.a.org/new"]
    assert crawl.add(*new) == ([] if spared else new)


@pytest.mark.parametrize(("kept", "end"), [(300, None), (0, Reason.LOW_YIELD)])
def test_a_host_of_a_closed_domain_of_which_little_is_known_is_tried(
    hand: Opener, kept: int, end: Reason | None
) -> None:
    crawl = hand(**{**RULE, "grace_bytes": 20_000})
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(20)])
    first, second = crawl.pages()
    serve_some(crawl, first, 2, downloaded=1000, kept=kept)
    serve_some(crawl, second, 16, downloaded=3000, kept=0)
    assert ledger(crawl).closed is Reason.LOW_YIELD
    assert crawl.store.closed(url("http://x.a.org/19")) is None, "it had two of the three answers of its grace"
    crawl.settle(first.tasks[2], downloaded=1000, kept=kept)
    assert crawl.store.closed(url("http://x.a.org/19")) is end
    crawl.release(first, first.tasks[3:], last=crawl.now)
    crawl.release(second, last=crawl.now)
    assert [(turn.host, turn.closed) for turn in crawl.pages()] == [("x.a.org", end), ("y.a.org", Reason.LOW_YIELD)]


def test_while_nothing_was_found_anywhere_nothing_is_retired(hand: Opener) -> None:
    crawl = hand(**{**RULE, "order": "yield"})
    crawl.add(*[f"http://a.org/{page}" for page in range(9)], "http://b.org/1")
    for _ in range(4):
        for turn in crawl.pages():
            crawl.serve(turn, **(POOR if turn.host == "a.org" else {}))
    assert ledger(crawl).closed is None and ledger(crawl).pages > RULE["grace_pages"]
    crawl.add("http://c.org/1", "http://a.org/10")
    for turn in sorted(crawl.pages(), key=lambda turn: turn.host, reverse=True):
        crawl.serve(turn, **(RICH if turn.host == "c.org" else POOR))
    assert ledger(crawl).closed is Reason.LOW_YIELD


def test_links_that_name_a_wanted_language_go_first(hand: Opener) -> None:
    crawl = hand(**{**RULE, "order": "yield"})
    crawl.store.prefer(["ces", "cs"])
    crawl.add("http://a.org/")
    plain = ["http://a.org/en/1", "http://a.org/css/2", "http://a.org/docs.html", "http://a.org/x?lang=css"]
    named = [
        "http://a.org/cs/3",
        "http://a.org/x.cs.html",
        "http://a.org/x?lang=cs",
        "http://a.org/cs-CZ/4",
        "http://cs.a.org/",
    ]
    [settled] = crawl.serve(crawl.page(), links=[*plain, *named], **POOR)
    ranks = {each.url.text: each.priority for each in settled.found}
    assert max(ranks[text] for text in named) < min(ranks[text] for text in plain)


def test_a_host_that_outlived_its_domain_is_retired_once_it_is_no_better(hand: Opener) -> None:
    crawl = hand(**{**RULE, "grace_bytes": 20_000})
    crawl.add(*[f"http://{host}.a.org/{page}" for host in "xy" for page in range(20)])
    first, second = crawl.pages()
    crawl.serve(first, downloaded=1000, kept=300)
    crawl.serve(second, downloaded=3000, kept=0)
    assert crawl.store.closed(url("http://x.a.org/19")) is None
    [last] = [turn for turn in crawl.pages() if turn.closed is None]
    crawl.serve(last, downloaded=50_000, kept=0)
    assert crawl.store.closed(url("http://x.a.org/19")) is Reason.LOW_YIELD


def test_a_part_of_a_host_is_retired_by_itself(hand: Opener) -> None:
    crawl = hand(**RULE)
    crawl.add(*[f"http://a.org/shop/{page}" for page in range(5)], *[f"http://a.org/forum/{page}" for page in range(5)])
    turn = crawl.page()
    for each in (*turn.tasks[5:8], *turn.tasks[:3]):
        crawl.settle(each, **(POOR if "shop" in each.url.text else RICH))
    assert crawl.store.closed(url("http://a.org/shop/9")) is Reason.LOW_YIELD
    assert [
        crawl.store.closed(url(f"http://a.org/{path}")) for path in ("forum/9", "", "shop", "shop?x/y", "shop2/1")
    ] == [None] * 5
    crawl.release(turn, (*turn.tasks[3:5], *turn.tasks[8:]), last=crawl.now)
    assert crawl.add("http://a.org/shop/new", "http://a.org/forum/new") == ["http://a.org/forum/new"]
    closing = crawl.page()
    assert (closing.closed, texts(closing)) == (Reason.LOW_YIELD, ["http://a.org/shop/3", "http://a.org/shop/4"])
    crawl.serve(closing)
    assert texts(crawl.page()) == ["http://a.org/forum/3", "http://a.org/forum/4", "http://a.org/forum/new"]


def test_a_host_has_a_limited_number_of_parts_and_the_rest_is_one(hand: Opener) -> None:
    crawl = hand(**RULE)
    names = [f"http://a.org/{number}/" for number in range(budget.SEGMENTS + 6)]
    crawl.add(*names)
    while turns := crawl.pages():
        for turn in turns:
            for each in turn.tasks:
                crawl.settle(each, **(RICH if int(each.url.text[13:-1]) < budget.SEGMENTS else POOR))
            crawl.release(turn, last=crawl.now)
    assert crawl.store.closed(url(names[0] + "x")) is None
    assert crawl.store.closed(url(names[-1] + "x")) is Reason.LOW_YIELD
    assert crawl.store.closed(url("http://a.org/another/x")) is Reason.LOW_YIELD


def test_parts_and_hosts_that_were_retired_stay_so_after_a_restart_and_from_the_log(tmp_path: Path) -> None:
    settings = options(**RULE, ip_delay=0.0)
    crawl = Hand(frontier.open(tmp_path / "first", settings, START))
    seeds = [f"http://{place}/{page}" for place in ("x.a.org/forum", "x.a.org/shop", "y.a.org") for page in range(4)]
    crawl.add(*seeds)
    reports: list[Report] = []
    for turn in crawl.pages():
        reports += [crawl.settle(each, **(RICH if "forum" in each.url.text else POOR)) for each in turn.tasks]
        crawl.release(turn, last=crawl.now)
    crawl.checkpoint(*reports)
    do(crawl.store.close())
    again = frontier.open(tmp_path / "first", settings, START + 10.0)
    rebuilt = frontier.open(tmp_path / "second", settings, START + 10.0)
    do(rebuilt.replay(Frame(1, START, tuple(reports), {}, seeds=tuple(map(task, seeds))), ("log", 1)))
    for store in (again, rebuilt):
        closed = [store.closed(url(f"http://{place}/9")) for place in ("x.a.org/shop", "x.a.org/forum", "y.a.org")]
        assert closed == [Reason.LOW_YIELD, None, Reason.LOW_YIELD]
        assert store.meta.account == crawl.store.meta.account
        do(store.close())


@pytest.mark.parametrize("delay", [0.0, 5.0])
def test_a_retired_domain_needs_no_patience(hand: Opener, delay: float) -> None:
    """Its URLs end at once, however long its host has to rest."""
    crawl = hand(**{**RULE, "delay": delay})
    crawl.add(*[f"http://a.org/{page}" for page in range(6)])
    answered = 0
    while ledger(crawl).closed is None:
        turn = crawl.page()
        for each in turn.tasks[: 3 - answered]:
            crawl.settle(each, **POOR)
            answered += 1
        crawl.release(turn, turn.tasks[answered:] if delay == 0.0 else (), last=crawl.now)
    before = crawl.now
    closing = crawl.only()
    assert (closing.closed, len(closing.tasks), crawl.now) == (Reason.LOW_YIELD, 3, before)
