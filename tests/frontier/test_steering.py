"""Order by expected yield: which hosts a frontier leases, and how many pages."""

import asyncio
from pathlib import Path

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do, texts
from tests.frontier.simulation import Simulation, options, task
from tests.frontier.world import world
from windrow.frontier.policy import rank, steer
from windrow.frontier.policy.rank import KEPT, OTHER, RANK, HostTerm, RankedHost
from windrow.frontier.store.rows import HostRow
from windrow.records import Kind, Lease, Reason

POOR = {"downloaded": 5000, "kept": 0}
RICH = {"downloaded": 5000, "kept": 2500}
STEERED = {"order": "yield", "yield_threshold": "off", "delay": 0.0}


def hosts(leases: list[Lease]) -> list[str]:
    return [lease.host for lease in leases]


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
    """Serve enough pages of each host to know its yield; many more wait."""
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
    assert crawl.lease() == []  # its pages are still in flight
    for each in leases[1].tasks:
        crawl.ack(each, **POOR)
    [third] = crawl.lease()
    assert third.host not in hosts(leases)


def test_poor_hosts_are_leased_when_the_good_ones_are_done(hand: Opener) -> None:
    crawl = hand(**STEERED, explore=1)
    crawl.add(*[f"http://{name}.org/{page}" for name in "abc" for page in range(30)])
    requested = []
    while crawl.again is not None:
        for lease in crawl.pages():
            requested += [lease.host] * len(lease.tasks)
            crawl.serve(lease, **(RICH if lease.host == "b.org" else POOR))
    assert {name: requested.count(name) for name in set(requested)} == {"a.org": 30, "b.org": 30, "c.org": 30}
    assert requested.index("b.org") + 45 > max(place for place, name in enumerate(requested) if name == "b.org")


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
    """Such work is a robots.txt that another origin waits for, or the URLs of a closed host."""
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
    requested: list[str] = []
    while len(requested) < 60:
        for lease in crawl.pages():
            requested += [lease.host] * len(lease.tasks)
            crawl.serve(lease, **(RICH if lease.host == "a.org" else POOR))
    assert set(requested) == {f"{name}.org" for name in "abcdef"}
    assert requested.count("a.org") == 40


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


def preferred(options: dict[str, dict[str, float]], inner: None) -> HostTerm:
    """A user's term of a host: a factor by its domain."""
    return lambda host: options["factors"].get(host.domain, 1.0)


def small(host: RankedHost) -> float:
    return 2.0 if host.downloaded < 50_000 else -1.0


def test_a_term_of_the_user_changes_which_host_is_leased_first(hand: Opener) -> None:
    yields = {"a": {"downloaded": 5000, "kept": 500}, "b": RICH, "c": {"downloaded": 5000, "kept": 2000}}
    factors = {"preferred": {"factors": {"a.org": 10.0, "b.org": 0.5}}}
    crawl = hand(**STEERED, host_terms=(f"{__name__}:preferred",), plugins=factors)
    known(crawl, **yields)
    assert [hosts(crawl.lease(1)) for _ in range(2)] == [["a.org"], ["c.org"]]


def test_terms_of_hosts_are_multiplied_and_none_is_below_nothing(hand: Opener) -> None:
    sections = {"preferred": {"factors": {"a.org": 3.0}}}
    term = rank.host_term((f"{__name__}:preferred", f"{__name__}:small"), sections)
    assert term(HostRow(1, "a.org", "a.org", downloaded=1)) == 6.0
    assert term(HostRow(1, "a.org", "a.org", downloaded=60_000)) == 0.0
    assert rank.host_term((), {})(HostRow(1, "a.org", "a.org")) == 1.0


def test_the_value_of_a_host_has_the_same_terms(hand: Opener) -> None:
    factors = {"preferred": {"factors": {"b.org": 100.0}}}
    crawl = hand(
        order="value", yield_threshold="off", delay=0.0, host_terms=(f"{__name__}:preferred",), plugins=factors
    )
    known(crawl, a=RICH, b={"downloaded": 5000, "kept": 400})
    assert hosts(crawl.lease(1)) == ["b.org"]
