"""Order by expected yield: the figures by themselves, and what a frontier makes of them."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import Simulation, options, task, world
from windrow.data import Kind, Lease, Reason
from windrow.frontier.policy import steer
from windrow.frontier.policy.rank import KEPT, OTHER, RANK
from windrow.frontier.policy.steer import CrawlYield, YieldSums

POOR = {"downloaded": 5000, "kept": 0}
RICH = {"downloaded": 5000, "kept": 2500}
STEERED = {"order": "yield", "yield_threshold": "off", "delay": 0.0}

sums = st.tuples(st.integers(0, 10**8), st.integers(0, 10**8))
accounts = st.builds(
    CrawlYield,
    st.builds(YieldSums, st.floats(0, 1e8), st.floats(0, 1e8)),
    st.builds(YieldSums, st.floats(0, 1e8), st.floats(0, 1e8)),
)


def hosts(leases: list[Lease]) -> list[str]:
    return [lease.host for lease in leases]


# The figures


@given(sums, sums, accounts, st.integers(0, 254))
def test_a_better_rank_and_more_text_are_never_worse(
    host: tuple[int, int], domain: tuple[int, int], account: CrawlYield, rank: int
) -> None:
    here = steer.expected(host, domain, account, rank)
    assert here >= 0
    assert steer.expected(host, domain, account, rank + 1) <= here
    assert steer.expected((host[0] + 1000, host[1]), domain, account, rank) >= here
    assert steer.expected(host, (domain[0] + 1000, domain[1]), account, rank) >= here


def test_the_yield_of_a_host_counts_more_the_more_it_sent() -> None:
    account = CrawlYield()
    guesses = [steer.expected((size // 2, size), (0, 10**6), account, RANK) for size in (0, 10_000, 100_000, 10**7)]
    assert guesses == sorted(guesses)
    assert guesses[0] < 0.01
    assert guesses[-1] == pytest.approx(0.5, abs=0.01)


def test_a_new_host_is_expected_to_yield_like_its_domain_or_like_other_new_hosts() -> None:
    account = CrawlYield(first=YieldSums(200_000, 1_000_000))
    assert steer.expected((0, 0), (0, 0), account, RANK) == pytest.approx(205_000 / 1_100_000)
    assert steer.expected((0, 0), (9 * 10**6, 10**7), account, RANK) == pytest.approx(0.9, abs=0.01)


def test_32_ranks_earlier_mean_twice_the_yield() -> None:
    here, better = (steer.expected((10, 100), (10, 100), CrawlYield(), rank) for rank in (100 + steer.DOUBLE, 100))
    assert better == pytest.approx(2 * here)


def test_only_the_first_pages_of_a_host_predict_the_yield_of_new_hosts() -> None:
    account = CrawlYield()
    for pages in range(2 * steer.FIRST):
        steer.enter(account, pages, 10, 100)
    assert (account.first.text, account.first.downloaded) == (10 * steer.FIRST, 100 * steer.FIRST)


def test_the_yield_of_the_crawl_is_that_of_its_recent_pages() -> None:
    account = CrawlYield()
    for _ in range(3000):
        steer.enter(account, 100, 90, 100)
    for _ in range(10_000):
        steer.enter(account, 100, 10, 100)
    assert account.recent.text / account.recent.downloaded == pytest.approx(0.1, abs=0.001)
    assert steer.good(0.051, account)
    assert not steer.good(0.049, account)


def test_before_any_text_was_found_every_host_is_good() -> None:
    account = CrawlYield()
    steer.enter(account, 0, 0, 1000)
    assert steer.good(0.0, account)


# What a frontier makes of them


def test_the_rank_of_a_link_depends_on_its_page_and_is_logged(hand: Opener) -> None:
    crawl = hand(**STEERED)
    crawl.add("http://a.org/1", "http://a.org/2")
    lease = crawl.page()
    kept = crawl.ack(lease.tasks[0], links=[task("http://a.org/3"), task("http://b.org/1")], **RICH)
    other = crawl.ack(
        lease.tasks[1], Reason.LANGUAGE, status=200, links=[task("http://a.org/4"), task("http://c.org/1")], **POOR
    )
    assert [each.priority for each in (*kept.admitted, *other.admitted)] == [RANK + term for term in (*KEPT, *OTHER)]
    crawl.release(lease, last=crawl.now)
    assert sorted((each.url.text, each.priority) for lease in crawl.pages() for each in lease.tasks) == [
        ("http://a.org/3", RANK + KEPT[0]),
        ("http://b.org/1", RANK + KEPT[1]),
        ("http://c.org/1", RANK + OTHER[1]),
    ]


def test_the_target_of_a_redirect_has_the_rank_of_its_page(hand: Opener) -> None:
    crawl = hand(**STEERED)
    crawl.add("http://a.org/1", priority=77)
    moved = crawl.ack(crawl.page().tasks[0], Reason.REDIRECT, status=301, links=[task("http://b.org/", priority=77)])
    assert [each.priority for each in moved.admitted] == [77]


def test_in_breadth_first_order_a_link_keeps_its_rank(hand: Opener) -> None:
    crawl = hand(delay=0.0)
    crawl.add("http://a.org/1")
    entry = crawl.ack(crawl.page().tasks[0], links=[task("http://a.org/2", priority=9)], **RICH)
    assert [each.priority for each in entry.admitted] == [9]


def known(crawl: Hand, **yields: dict[str, int]) -> None:
    """So many pages of each host were answered that it is known what they give; many more wait."""
    crawl.add(*[f"http://{name}.org/{page}" for name in yields for page in range(60)])
    for _ in range(steer.FIRST // steer.TRIAL_PAGES):
        for lease in crawl.pages(len(yields)):
            crawl.serve(lease, **yields[lease.host[:-4]])


def test_the_host_with_the_higher_yield_is_leased_first(hand: Opener) -> None:
    crawl = hand(**STEERED)
    known(crawl, a={"downloaded": 5000, "kept": 500}, b=RICH, c={"downloaded": 5000, "kept": 2000})
    assert hosts(crawl.lease(1)) == ["b.org"]
    assert hosts(crawl.lease(1)) == ["c.org"]


def test_a_new_host_gets_few_pages_and_no_more_until_they_are_acknowledged(hand: Opener) -> None:
    crawl = hand(**STEERED)
    crawl.add(*[f"http://a.org/{page}" for page in range(60)])
    sizes = []
    for _ in range(6):
        lease = crawl.page()
        sizes.append(len(lease.tasks))
        crawl.release(lease, last=crawl.now)
        if len(sizes) <= steer.FIRST // steer.TRIAL_PAGES:
            assert (crawl.lease(), crawl.again) == ([], float("inf"))
        for each in lease.tasks:
            crawl.ack(each, **RICH)
    assert sizes == [2, 2, 2, 2, 16, 16]


def test_poor_hosts_are_tried_a_few_at_a_time_while_good_ones_have_work(hand: Opener) -> None:
    crawl = hand(**STEERED, explore=2)
    known(crawl, a=RICH, b=POOR, c=POOR, d=POOR, e=POOR)
    leases = crawl.pages()
    assert hosts(leases)[0] == "a.org"
    assert [len(lease.tasks) for lease in leases] == [16, 2, 2]
    assert crawl.again == float("inf")
    crawl.release(leases[1], last=crawl.now)
    assert crawl.lease() == []  # its pages are still out
    for each in leases[1].tasks:
        crawl.ack(each, **POOR)
    [third] = crawl.lease()
    assert third.host not in hosts(leases)


def test_poor_hosts_are_leased_when_the_good_ones_are_done(hand: Opener) -> None:
    crawl = hand(**STEERED, explore=1)
    crawl.add(*[f"http://{name}.org/{page}" for name in "abc" for page in range(30)])
    asked = []
    while crawl.again is not None:
        for lease in crawl.pages():
            asked += [lease.host] * len(lease.tasks)
            crawl.serve(lease, **(RICH if lease.host == "b.org" else POOR))
    assert {name: asked.count(name) for name in set(asked)} == {"a.org": 30, "b.org": 30, "c.org": 30}
    assert asked.index("b.org") + 45 > max(place for place, name in enumerate(asked) if name == "b.org")


def test_a_poor_host_that_improves_goes_to_the_front(hand: Opener) -> None:
    crawl = hand(**STEERED, explore=1)
    known(crawl, a=RICH, b=POOR, c=POOR)
    first = crawl.pages()
    assert hosts(first)[0] == "a.org"
    [trial] = first[1:]
    for each in trial.tasks:
        crawl.ack(each, downloaded=5000, kept=60_000)
    crawl.release(trial, last=crawl.now)
    assert hosts(crawl.lease(1)) == [trial.host]


def test_work_that_cannot_wait_comes_before_any_yield(hand: Opener) -> None:
    """A robots.txt that another origin waits for, and the URLs of a host that was closed."""
    crawl = hand(**STEERED, explore=1)
    known(crawl, a=RICH, b=POOR, c=POOR)
    crawl.add("http://new.org/1")
    held = crawl.lease(2)
    assert hosts(held)[0] == "a.org"
    crawl.release(held[1], held[1].tasks)
    [resolving] = crawl.lease(1)
    assert resolving.host == "new.org"
    crawl.resolve(resolving)
    [asking] = crawl.lease(1)
    crawl.move(asking, "http://b.org/robots.txt")
    assert texts(crawl.lease(1)[0]) == ["http://b.org/robots.txt"]


def test_poor_domains_make_room_for_others_and_good_ones_stay(hand: Opener) -> None:
    crawl = hand(**STEERED, open_domains=2, explore=1)
    crawl.add(*[f"http://{name}.org/{page}" for name in "abcdef" for page in range(40)])
    asked: list[str] = []
    while len(asked) < 60:
        for lease in crawl.pages():
            asked += [lease.host] * len(lease.tasks)
            crawl.serve(lease, **(RICH if lease.host == "a.org" else POOR))
    assert set(asked) == {f"{name}.org" for name in "abcdef"}
    assert asked.count("a.org") == 40


def test_the_same_reports_give_the_same_order(tmp_path: Path) -> None:
    async def run(directory: Path | None) -> list[tuple[float, Lease]]:
        sim = Simulation(world(7, hosts=12), options(order="yield", delay=0.0, explore=2), directory, 7)
        assert await sim.run()
        await sim.frontier.close()
        return sim.leases

    assert asyncio.run(run(None)) == asyncio.run(run(None)) == asyncio.run(run(tmp_path))


def test_without_an_extractor_hosts_are_not_ordered_by_yield(hand: Opener) -> None:
    crawl = hand(**STEERED, extractor="none")
    crawl.add(*[f"http://a.org/{page}" for page in range(40)])
    lease = crawl.page()
    entry = crawl.ack(lease.tasks[0], links=[task("http://b.org/", priority=128)])
    assert len(lease.tasks) == 16
    assert [each.priority for each in entry.admitted] == [128]
    assert lease.tasks[0].kind is Kind.PAGE
    assert do(crawl.store.counts()).in_flight == 15


def test_a_good_host_that_gets_new_work_is_opened_at_once(hand: Opener) -> None:
    crawl = hand(**STEERED, open_domains=1)
    crawl.add(*[f"http://a.org/{page}" for page in range(8)])
    for _ in range(4):
        crawl.serve(crawl.page(), **RICH)
    crawl.add(*[f"http://{name}.org/1" for name in "bcdefgh"])
    [lease] = crawl.pages()
    assert lease.host == "b.org"
    crawl.serve(lease, links=["http://a.org/8", "http://i.org/1"], **RICH)
    assert hosts(crawl.pages(1)) == ["a.org"]
