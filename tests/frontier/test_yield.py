"""Domains with low yield: they are retired, in a running crawl and in a replay of its log."""

from pathlib import Path

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, texts
from tests.frontier.ledger import Ledger
from tests.frontier.simulation import START, options, task
from tests.frontier.yields import POOR, RICH, RULE, ledger, rest, serve_some, url
from windrow import frontier
from windrow.frontier.local.leases import MOST, MOST_CLOSED
from windrow.records import Entry, Frame, Reason


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


def half(pages: int) -> float:
    """A user's threshold."""
    return 0.5 if pages > 3 else 0.0


def test_a_threshold_of_the_user_retires_a_domain(hand: Opener) -> None:
    crawl = hand(**{**RULE, "yield_threshold": f"{__name__}:half"})
    crawl.add(*[f"http://a.org/{page}" for page in range(40)])
    lease = crawl.page()
    serve_some(crawl, lease, 3, downloaded=1000, kept=400)
    assert ledger(crawl).closed is None
    for each in lease.tasks[3:4]:
        crawl.ack(each, downloaded=1000, kept=400)
    assert ledger(crawl).closed is Reason.LOW_YIELD
