"""Order by the value of links: what is leased first, what ends as low-value, and buckets of a topic crawl."""

import dataclasses
import errno
import os
from pathlib import Path

import msgspec
import pytest

from tests.frontier.conftest import Opener
from tests.frontier.hand import Hand, do
from tests.frontier.simulation import START, options, task
from windrow import frontier
from windrow.config import Config, FocusOptions
from windrow.frontier.local.values import BAND, HIGH, MEDIUM, NORMAL, SCOUT
from windrow.frontier.store.lmdb import LmdbStore
from windrow.frontier.store.memory import MemoryStore
from windrow.records import Entry, Frame, Lease, Reason

TEXT = {"downloaded": 5000, "kept": 2500}
NONE = {"downloaded": 5000, "kept": 0}
SEEDS = [f"http://{name}.org/de/" for name in "abcdef"]
VALUED = {"order": "value", "delay": 0.0}


def ends(crawl: Hand, leases: list[Lease]) -> None:
    """Serve pages below /de/ with text and all others without; closed ones end."""
    for lease in leases:
        for each in lease.tasks:
            if lease.closed is not None:
                crawl.ack(each, lease.closed)
            elif "/de/" in each.url.text:
                crawl.ack(each, **TEXT)
            else:
                crawl.ack(each, Reason.LANGUAGE, status=200, **NONE)
        crawl.release(lease, last=crawl.now)


def test_within_a_host_links_like_those_that_gave_text_come_first(hand: Opener) -> None:
    crawl = hand(**VALUED)
    crawl.add(*[f"http://a.org/{part}/{page}.html" for page in range(80) for part in ("de", "en", "fr")])
    for _ in range(6):
        ends(crawl, crawl.pages(1))
    [lease] = crawl.pages(1)
    assert [each.url.text.split("/")[3] for each in lease.tasks] == ["de"] * len(lease.tasks)


def test_a_part_of_one_host_predicts_the_same_part_of_another(hand: Opener) -> None:
    crawl = hand(**VALUED)
    crawl.add(*[f"http://a.org/{part}/{page}.html" for page in range(20) for part in ("de", "en")])
    for _ in range(12):
        ends(crawl, crawl.pages(1))
    crawl.add("http://b.org/en/x.html", "http://c.org/de/x.html")
    assert [lease.host for lease in crawl.pages()][:1] == ["c.org"]


def parts(leases: list[Lease]) -> list[str]:
    """Return the first folders of what is leased."""
    return [each.url.text.split("/")[3] for lease in leases for each in lease.tasks]


def test_of_pages_with_the_same_text_the_small_ones_come_first(hand: Opener) -> None:
    crawl = hand(**VALUED)
    crawl.add(*[f"http://a.org/{part}/{page}.html" for page in range(80) for part in ("large", "small")])
    for _ in range(8):
        for lease in crawl.pages(1):
            for each in lease.tasks:
                crawl.ack(each, downloaded=200_000 if "/large/" in each.url.text else 5_000, kept=2_500)
            crawl.release(lease, last=crawl.now)
    assert set(parts(crawl.pages(1))) == {"small"}


def test_links_end_as_low_value_when_little_text_is_left(hand: Opener) -> None:
    crawl = hand(**VALUED, give_up=0.2)
    crawl.add(*[f"http://a.org/de/{page}.html" for page in range(60)])
    crawl.add(*[f"http://b.org/en/{page}.html" for page in range(4000)])
    reasons: dict[str, int] = {}
    for _ in range(2000):
        leases = crawl.pages()
        if not leases:
            break
        for lease in leases:
            name = lease.closed.value if lease.closed else "requested"
            reasons[name] = reasons.get(name, 0) + len(lease.tasks)
        ends(crawl, leases)
    assert reasons["low-value"] > 1000
    assert reasons["requested"] + reasons["low-value"] == 4060
    assert reasons["requested"] >= 1000  # a small crawl requests everything
    counts = do(crawl.store.counts())
    assert counts.waiting == 0
    assert counts.finished[Reason.OK] == 60


def test_nothing_ends_as_low_value_if_that_is_turned_off(hand: Opener) -> None:
    crawl = hand(**VALUED, give_up=0.0)
    crawl.add(*[f"http://a.org/de/{page}.html" for page in range(30)])
    crawl.add(*[f"http://b.org/en/{page}.html" for page in range(300)])
    for _ in range(1000):
        leases = crawl.pages()
        if not leases:
            break
        assert all(lease.closed is None for lease in leases)
        ends(crawl, leases)
    assert do(crawl.store.counts()).finished == {Reason.OK: 30, Reason.LANGUAGE: 300}


def topical(**fields: object) -> Config:
    focus = FocusOptions(model="topic.bin", by="odds", high=1.0, medium=4.0, cutoff=30.0)
    return dataclasses.replace(options(**VALUED, **fields), focus=dataclasses.replace(focus))


def opened(store: str, directory: Path, config: Config) -> Hand:
    own = dataclasses.replace(config, frontier=dataclasses.replace(config.frontier, store=store))
    return Hand(frontier.open(directory, own, START))


@pytest.fixture(params=["memory", "lmdb"])
def topic_crawl(request: pytest.FixtureRequest, tmp_path: Path) -> Hand:
    return opened(request.param, tmp_path, topical())


def scored(crawl: Hand, lease: Lease, odds: float, *links: str) -> list[int]:
    """Serve the page of a lease with this score; return the ranks of its links."""
    entry = crawl.ack(
        lease.tasks[0],
        links=[task(link) for link in links],
        scores={"odds": odds, "relevance": 1 / (1 + odds)},
        relevant=round(2500 / (1 + odds)),
        **TEXT,
    )
    crawl.release(lease, last=crawl.now)
    return [each.priority // BAND for each in entry.admitted]


def test_links_have_the_bucket_of_the_page_that_holds_them(topic_crawl: Hand) -> None:
    crawl = topic_crawl
    crawl.add("http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/")
    found = {}
    for lease in crawl.pages():
        odds = {"a.org": 0.5, "b.org": 2.0, "c.org": 9.0, "d.org": 99.0}[lease.host]
        found[lease.host] = scored(crawl, lease, odds, f"http://{lease.host}/1", f"http://{lease.host}/2")
    assert found == {"a.org": [HIGH] * 2, "b.org": [MEDIUM] * 2, "c.org": [NORMAL] * 2, "d.org": []}


def test_links_to_hosts_that_have_not_answered_are_scouts(topic_crawl: Hand) -> None:
    crawl = topic_crawl
    crawl.add("http://a.org/", "http://b.org/")
    found = {lease.host: lease for lease in crawl.pages()}
    assert scored(crawl, found["b.org"], 9.0, "http://b.org/1", "http://c.org/1", "http://a.org/1") == [3, 1, 1]
    assert scored(crawl, found["a.org"], 0.5, "http://d.org/1") == [HIGH]


def test_pages_that_name_new_hosts_are_scouts_once_that_was_learned(topic_crawl: Hand) -> None:
    crawl = topic_crawl
    crawl.add(*[f"http://a{number}.org/x/{page}.html" for number in range(30) for page in ("links", "one", "two")])
    for _ in range(200):
        crawl.now += 1.0
        for lease in crawl.pages():
            for each in lease.tasks:
                host, good = each.url.host, ".net" in each.url.host
                links = [f"http://{host}.net/"] if "links" in each.url.text else []
                links += [f"http://{host}/{page}" for page in range(9)] if good else []
                crawl.ack(each, links=[task(link) for link in links], scores={"odds": 0.5 if good else 9.0}, **TEXT)
            crawl.release(lease, last=crawl.now)
    crawl.add("http://b.org/")
    [lease] = [lease for lease in crawl.pages() if lease.host == "b.org"]
    assert scored(crawl, lease, 9.0, "http://b.org/x/links.html", "http://b.org/x/text.html") == [SCOUT, NORMAL]


def test_the_score_of_a_page_in_another_language_drops_no_links(topic_crawl: Hand) -> None:
    crawl = topic_crawl
    crawl.add("http://a.org/")
    entry = crawl.ack(
        crawl.page().tasks[0],
        Reason.LANGUAGE,
        links=[task("http://a.org/1")],
        status=200,
        scores={"odds": 99.0},
        **NONE,
    )
    assert [each.priority // BAND for each in entry.admitted] == [NORMAL]


def test_links_above_the_cutoff_are_counted_by_their_rule(topic_crawl: Hand) -> None:
    crawl = topic_crawl
    crawl.add("http://a.org/")
    entry = crawl.ack(crawl.page().tasks[0], links=[task("http://a.org/1")], scores={"odds": 99.0}, **TEXT)
    assert (entry.admitted, entry.refused) == ((), {"cutoff": 1})


def test_a_higher_bucket_goes_first_even_while_its_host_waits(topic_crawl: Hand) -> None:
    crawl = topic_crawl
    crawl.delays["http://a.org"] = 20.0
    crawl.add("http://a.org/", "http://b.org/")
    for lease in crawl.pages():
        odds = 0.5 if lease.host == "a.org" else 3.0
        scored(crawl, lease, odds, f"http://{lease.host}/1", f"http://{lease.host}/2")
    assert crawl.lease() == []
    crawl.now += 21
    assert [lease.host for lease in crawl.lease()] == ["a.org"]


def test_a_host_that_falls_into_a_lower_bucket_does_not_hold_up_those_that_are_ready(topic_crawl: Hand) -> None:
    crawl = topic_crawl
    crawl.add("http://a.org/", "http://c.org/", "http://d.org/")
    leases = {lease.host: lease for lease in crawl.pages()}
    scored(crawl, leases["d.org"], 9.0, "http://c.org/x")  # a scout: its host has not answered yet
    scored(crawl, leases["a.org"], 2.0, "http://a.org/1")
    scored(crawl, leases["c.org"], 9.0)  # now it has
    crawl.now += 1
    assert [lease.host for lease in crawl.lease()] == ["a.org"]


def test_boundaries_that_change_move_links_that_wait(topic_crawl: Hand) -> None:
    crawl = topic_crawl
    crawl.add("http://a.org/", "http://b.org/")
    for lease in crawl.pages():
        scored(crawl, lease, 0.5 if lease.host == "a.org" else 3.0, f"http://{lease.host}/1", f"http://{lease.host}/2")
    changed = dataclasses.replace(topical(), focus=dataclasses.replace(topical().focus, high=3.5))
    do(crawl.store.configure(changed))
    crawl.now += 1
    ranks = [each.priority // BAND for lease in crawl.pages() for each in lease.tasks]
    assert ranks == [0] * len(ranks) != []


def ranks(crawl: Hand, *folders: str) -> list[int]:
    """Return the ranks of new links to these folders of a host."""
    return [crawl.store._values.rank(task(f"http://a.org/{name}/new.html")) for name in folders]  # type: ignore[attr-defined]


def test_a_dead_link_counts_less_than_an_unwanted_page() -> None:
    crawl = opened("memory", Path(), options(**VALUED))
    crawl.add(*[f"http://a.org/{part}/{page}.html" for page in range(40) for part in ("dead", "other")])
    for _ in range(100):
        crawl.now += 1.0
        for lease in crawl.pages(1):
            for each in lease.tasks:
                if "/dead/" in each.url.text:
                    crawl.ack(each, Reason.NOT_FOUND, status=404, downloaded=300)
                else:
                    crawl.ack(each, Reason.LANGUAGE, status=200, **NONE)
            crawl.release(lease, last=crawl.now)
    assert do(crawl.store.counts()).finished == {Reason.NOT_FOUND: 40, Reason.LANGUAGE: 40}
    dead, other = ranks(crawl, "dead", "other")
    assert dead < other


def test_pages_that_name_new_hosts_come_first_while_few_hosts_wait_for_a_look() -> None:
    crawl = opened("memory", Path(), options(**VALUED))
    crawl.add(*[f"http://a.org/{part}/{page}.html" for page in range(40) for part in ("links", "plain")])
    for _ in range(30):
        crawl.now += 1.0
        for lease in crawl.pages():
            for each in lease.tasks:
                named = f"http://host{each.url.key}.net/" if "/links/" in each.url.text else "http://a.org/links/0.html"
                crawl.ack(each, Reason.LANGUAGE, status=200, links=[task(named)], **NONE)
            crawl.release(lease, last=crawl.now)
    links, plain = ranks(crawl, "links", "plain")
    assert links < plain
    crawl.store._values.sums.untried = 10_000  # type: ignore[attr-defined]
    crawl.store._values._count_hosts()  # type: ignore[attr-defined]
    later, same = ranks(crawl, "links", "plain")
    assert plain - links > same - later


def serve(crawl: Hand, rounds: int, entries: list[Entry]) -> None:
    """Serve pages, each better than those before; only those below /de/ have text that is kept."""
    for _ in range(rounds):
        crawl.now += 1.0
        for lease in crawl.pages():
            for each in lease.tasks:
                host, odds = each.url.host, (0.1 + each.url.key % 10 / 10) * 0.99 ** len(entries)
                links = [task(f"http://{host}/{part}/{each.url.key % 99}{n}") for part in ("de", "en") for n in (1, 2)]
                kept = TEXT if "/de/" in each.url.text else NONE
                entries.append(crawl.ack(each, links=links, scores={"odds": odds}, **kept))
            crawl.release(lease, last=crawl.now)


@pytest.mark.parametrize("config", [options(**VALUED), topical()], ids=["language", "topic"])
def test_a_replay_of_the_log_gives_the_models_of_a_crawl_that_was_restarted(config: Config, tmp_path: Path) -> None:
    crawl = opened("lmdb", tmp_path / "one", config)
    crawl.add(*SEEDS)
    entries: list[Entry] = []
    serve(crawl, 10, entries)
    for _ in range(20):
        do(crawl.store.checkpoint(crawl.now))
        do(crawl.store.close())
        crawl = opened("lmdb", tmp_path / "one", config)  # at any number of pages: between two fits of the buckets too
        serve(crawl, 7, entries)
    assert len(entries) > 260
    seeds = tuple(msgspec.structs.replace(task(text), priority=128) for text in SEEDS)
    frame = Frame(number=1, time=1.0, entries=tuple(entries), lengths={}, seeds=seeds)
    again = opened("lmdb", tmp_path / "two", config)
    do(again.store.replay(frame, ("log", 1)))
    live, replayed = crawl.store, again.store
    assert live._values.state() == replayed._values.state()  # type: ignore[attr-defined]
    assert live.meta.values == replayed.meta.values  # type: ignore[attr-defined]
    assert bool(live.meta.values.fitted) is bool(config.focus.model)  # type: ignore[attr-defined]


def test_on_a_full_disk_links_keep_their_ranks(hand: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = hand(**VALUED)
    crawl.add(*[f"http://a.org/{part}/{page}.html" for page in range(80) for part in ("de", "en")])
    for _ in range(3):
        ends(crawl, crawl.pages(1))
    enough = [True]  # for the lease itself, not for what moves

    def reserve(store: object, writes: int) -> None:
        if not enough.pop() if enough else writes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(MemoryStore, "reserve", reserve)
    monkeypatch.setattr(LmdbStore, "reserve", reserve)
    monkeypatch.setattr(MemoryStore, "requeue", None)
    monkeypatch.setattr(LmdbStore, "requeue", None)
    assert sum(len(lease.tasks) for lease in crawl.lease(1))
