"""Orders to a crawl, running or not: each is carried out once, is in the log, and the counts add up."""

import asyncio
import gzip
import json
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import truth, web
from windrow import config, orders
from windrow.config import ConfigError
from windrow.crawler import recover
from windrow.crawler.ending import Ending
from windrow.crawler.loop import Crawl
from windrow.crawler.orders import give
from windrow.crawler.setup import start
from windrow.inspect import status
from windrow.inspect import story as stories
from windrow.records import Reason

Scenario = Callable[[Crawl], Awaitable[None]]
PAGES = 12  # per host
OPTIONS = (
    "fetch.delay=0.02",
    "fetch.ip_delay=0",
    "fetch.backoff=0.01",
    "fetch.allow_private=true",
    "fetch.hosts_file=hosts",
    "crawl.commit_seconds=0.05",
    "extract.extractor=none",
    "scope.homepages=false",
)


class Site:
    """Two hosts whose pages link each other, and the directory of a crawl of them."""

    def __init__(self, site: web.Site, directory: Path) -> None:
        self.web = site
        self.directory = directory
        self.notes: list[str] = []
        directory.mkdir(exist_ok=True)
        hosts = ("a.test", "www.b.test")
        links = "".join(f"<a href=http://{host}/{page}>x</a>" for host in hosts for page in range(PAGES))
        for host in hosts:
            site.robots(host, "")
            for page in range(PAGES):
                site.page(host, f"/{page}", links.encode())
        site.hosts_file(directory / "hosts")
        (directory / "seeds.txt").write_text("http://a.test/0\n")
        (directory / "crawl.toml").write_text(config.dump(config.make(OPTIONS, directory), changed=True))

    def crawl(self, scenario: Scenario | None = None, *settings: str) -> Ending:
        """Run the crawl to its end; the scenario runs at the same time and may not outlast it by an exception."""
        options = config.load(self.directory / "crawl.toml", settings)
        tasks: list[asyncio.Task[None]] = []

        def begun(running: Crawl, resumed: recover.Resumed) -> None:
            if scenario is not None:
                tasks.append(asyncio.get_running_loop().create_task(follow(running, scenario)))

        async def main() -> Ending:
            observer = start.Observer(begun, self.notes.append)
            given = {setting.partition("=")[0] for setting in settings}
            ending = await asyncio.wait_for(start.run(self.directory, options, observer, given), 60)
            for task in tasks:
                await task
            return ending

        return start.execute(main())

    def pages(self, host: str | None = None) -> list[str]:
        """Return the pages requested so far, in order."""
        return [f"{row.host}{row.path}" for row in self.web.requests(host) if row.path != "/robots.txt"]

    def status(self) -> status.Status:
        found = status.status(self.directory)
        assert found.seen == found.waiting + found.in_flight + sum(found.finished.values())
        return found

    def orders(self) -> list[dict[str, Any]]:
        """Return the orders in the log, read with the standard library."""
        return [order for head, *_ in truth.frames(self.directory) for order in head.get("orders", ())]

    def left(self) -> list[str]:
        """Return the files in orders/ that were not taken."""
        return sorted(path.name for path in (self.directory / "orders").glob("*.json"))

    async def until(self, count: int, host: str | None = None) -> None:
        while len(self.pages(host)) < count:
            await asyncio.sleep(0.005)


async def follow(running: Crawl, scenario: Scenario) -> None:
    try:
        await scenario(running)
    except BaseException:
        running.stop()
        raise


def counts(site: Site, *settings: str) -> tuple[object, ...]:
    """Return what the store knows, without a request."""
    found = site.crawl(None, "crawl.max_seconds=0.000001", *settings).counts
    return found.seen, found.waiting + found.in_flight, dict(found.finished)


async def ordered(function: Callable[..., give.Given], *arguments: object) -> give.Given:
    """Give an order beside the crawl, as another process would."""
    given = await asyncio.to_thread(function, *arguments)
    assert given.state == "taken", given
    return given


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with web.serve() as served:
        yield Site(served, tmp_path / "crawl")


# Pause, resume, stop


def test_a_paused_crawl_sends_no_request_until_it_is_resumed_also_after_a_restart(site: Site) -> None:
    requested: list[int] = []

    async def pause_and_stop(running: Crawl) -> None:
        await site.until(3)
        await ordered(give.pause, site.directory)
        await asyncio.sleep(0.1)  # requests that were sent before have reached the server
        requested.append(len(site.pages()))
        await asyncio.sleep(0.4)
        assert len(site.pages()) == requested[0]
        assert site.status().controls.paused > 0
        assert (await running.progress()).paused.startswith("paused since ")
        await ordered(give.stop, site.directory)

    assert site.crawl(pause_and_stop).why == "stopped"
    assert 3 <= requested[0] < 2 * PAGES

    async def resume(running: Crawl) -> None:
        await asyncio.sleep(0.3)
        assert len(site.pages()) == requested[0], "a pause holds over a restart"
        await ordered(give.resume, site.directory)

    assert site.crawl(resume).why == "done"
    assert any(note.startswith("paused since ") and "windrow resume" in note for note in site.notes)
    assert sorted(site.pages()) == sorted(
        f"{host}/{page}" for host in ("a.test", "www.b.test") for page in range(PAGES)
    )
    assert site.status().controls.paused == 0
    assert [order["verb"] for order in site.orders()] == ["pause", "stop", "resume"]


def test_stopping_a_crawl_that_does_not_run_leaves_no_order_behind(site: Site) -> None:
    assert give.stop(site.directory).state == "not-running"
    assert not (site.directory / "orders").exists()


def test_an_order_to_stop_that_missed_its_run_does_not_stop_the_next_one(site: Site) -> None:
    give.give(site.directory, orders.make("stop"), 0.0)
    assert site.crawl().why == "done"
    assert site.left() == []
    assert "dropped" in site.notes[0]


# Block, unblock


def test_blocked_names_are_not_requested_and_wait_again_when_they_are_unblocked(site: Site) -> None:
    async def block(running: Crawl) -> None:
        await site.until(2, "www.b.test")
        await ordered(give.block, site.directory, ["B.test"])
        await asyncio.sleep(0.05)
        requested.extend(site.pages("www.b.test"))

    requested: list[str] = []
    assert site.crawl(block).why == "done"
    assert site.pages("www.b.test") == requested, "nothing is requested after the block"
    found = site.status()
    blocked = found.finished["blocked"]
    assert found.finished == {"ok": PAGES + len(requested), "blocked": blocked}
    assert found.controls.blocked == ("b.test",)
    url = next(f"http://www.b.test/{page}" for page in range(PAGES) if f"www.b.test/{page}" not in requested)
    story = stories.why(site.directory, url, config.load(site.directory / "crawl.toml"))
    assert (story.state, story.reason) == ("finished", "blocked")
    assert any(event.what.startswith("an order: block b.test") for event in story.events)
    site.crawl()
    assert site.pages("www.b.test") == requested, "a block holds over a restart"

    given = give.unblock(site.directory, ["b.test"])
    assert given.state == "next-start"
    assert site.crawl().why == "done"
    assert site.status().finished == {"ok": 2 * PAGES}
    assert len(site.pages("www.b.test")) == len(set(site.pages("www.b.test"))) == PAGES
    story = stories.why(site.directory, url, config.load(site.directory / "crawl.toml"))
    assert (story.state, story.reason) == ("finished", "ok")
    assert any(event.what.startswith("waits again after blocked") for event in story.events)


def test_links_to_a_blocked_name_are_refused_by_a_named_rule(site: Site) -> None:
    give.block(site.directory, ["www.b.test"])
    site.crawl()
    found = site.status()
    assert found.refused == {"blocked": PAGES * PAGES}
    assert site.web.requests("www.b.test") == []
    story = stories.why(site.directory, "http://www.b.test/1", config.load(site.directory / "crawl.toml"))
    assert story.state == "not admitted" and story.reason.startswith("an order blocks www.b.test")


def test_unblocking_a_name_that_is_not_blocked_is_refused_with_the_names_that_are(site: Site) -> None:
    give.block(site.directory, ["b.test"])

    async def unblock(running: Crawl) -> None:
        with pytest.raises(ConfigError, match=r"www.b.test is not blocked; blocked: b.test"):
            await asyncio.to_thread(give.unblock, site.directory, ["www.b.test"])
        await ordered(give.unblock, site.directory, ["b.test"])

    assert site.crawl(unblock, "fetch.delay=0.1").why == "done"
    assert site.status().finished == {"ok": 2 * PAGES}


# Add


def test_seeds_can_be_added_to_a_crawl_and_their_story_says_so(site: Site) -> None:
    site.web.page("c.test", "/", b"alone")
    site.web.robots("c.test", "")
    site.web.hosts_file(site.directory / "hosts")

    async def add(running: Crawl) -> None:
        await site.until(1)
        options = config.load(site.directory / "crawl.toml")
        found = give.read_seeds(["http://c.test/", "http://a.test/0", "http://c.test/x.png"], options)
        assert found.refused == {"http://c.test/x.png": "suffix"}
        given = await ordered(give.add, site.directory, found.tasks)
        assert (given.admitted, given.refused) == (1, {})

    site.crawl(add)
    assert site.status().finished == {"ok": 2 * PAGES + 1}
    story = stories.why(site.directory, "http://c.test/", config.load(site.directory / "crawl.toml"))
    assert story.events[0].what.startswith("added by an order and admitted")
    seed = stories.why(site.directory, "http://a.test/0", config.load(site.directory / "crawl.toml"))
    assert seed.events[0].what.startswith("given as a seed")


def test_many_seeds_are_added_in_parts_and_those_over_a_cap_are_counted_by_rule(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windrow.crawler.orders.take._SEEDS", 5)
    (site.directory / "more.txt").write_text("".join(f"http://a.test/more{page}\n" for page in range(12)))
    options = config.load(site.directory / "crawl.toml")
    tasks = give.read_seeds([str(site.directory / "more.txt")], options).tasks
    give.add(site.directory, tasks)
    site.crawl(None, "frontier.max_host_urls=8", "crawl.max_seconds=0.5")
    parts = [order for order in site.orders() if order["verb"] == "add"]
    assert len(parts) == 3 and len({part["id"] for part in parts}) == 1
    assert sum(part.get("admitted", 0) for part in parts) == 7
    assert [part.get("refused", {}) for part in parts] == [{}, {"host-urls": 3}, {"host-urls": 2}]


# Set


def test_options_set_by_an_order_hold_at_once_and_over_restarts_until_they_are_given_back(site: Site) -> None:
    async def change(running: Crawl) -> None:
        await site.until(2)
        await ordered(give.change, site.directory, ["fetch.delay=30"])
        await asyncio.sleep(0.5)  # a lease that was granted before lasts a quarter of a second at most
        before = len(site.pages())
        await asyncio.sleep(0.5)
        assert len(site.pages()) == before
        await ordered(give.change, site.directory, ["fetch.delay=0", "crawl.max_pages=15"])

    assert site.crawl(change, "fetch.delay=0.1").why == "pages"
    assert site.status().controls.options == {"fetch.delay": "0", "crawl.max_pages": "15"}
    assert len(site.pages()) == 15
    give.change(site.directory, ["crawl.max_pages=2"])
    assert site.crawl().why == "pages"
    assert any(note.startswith("crawl.max_pages = 15, set by an order") for note in site.notes)
    assert site.crawl(None, "crawl.max_pages=3").why == "pages", "the command line is the newer word"
    assert site.status().controls.options == {"fetch.delay": "0"}
    give.change(site.directory, ["fetch.delay="])
    assert site.crawl().why == "done"
    assert site.status().controls.options == {}
    assert site.status().finished == {"ok": 2 * PAGES}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("fetch.dely=3", ("unknown option 'fetch.dely'", "did you mean 'fetch.delay'?")),
        ("scope.tlds=['cz']", ("cannot change while a crawl runs", "change crawl.toml", "fetch.delay")),
        ("fetch.delay=fast", ("option 'fetch.delay'", "a number")),
        ("fetch.connections=0", ("from 1 to 10000",)),
        ("fetch.delay", ("has no value",)),
    ],
)
def test_an_option_that_cannot_be_set_is_refused_with_the_reason(
    setting: str, words: tuple[str, ...], site: Site
) -> None:
    with pytest.raises(ConfigError) as error:
        give.change(site.directory, [setting])
    assert all(word in str(error.value) for word in words), error.value
    assert not (site.directory / "orders").exists()


def test_boundaries_that_would_not_rise_are_refused(site: Site) -> None:
    async def change(running: Crawl) -> None:
        await ordered(give.change, site.directory, ["focus.high=9", "focus.medium=12"])
        with pytest.raises(ConfigError, match=r"'focus.medium' \(5\) is below 'focus.high' \(9\) with this order"):
            await asyncio.to_thread(give.change, site.directory, ["focus.medium=5"])
        await ordered(give.change, site.directory, ["focus.high=4", "focus.medium=5"])

    assert site.crawl(change, "fetch.delay=0.1").why == "done"


def test_boundaries_that_would_not_rise_are_refused_before_the_next_start_too(site: Site) -> None:
    give.change(site.directory, ["focus.high=9", "focus.medium=12"])
    with pytest.raises(ConfigError, match=r"'focus.medium' \(5\) is below 'focus.high' \(9\) with this order"):
        give.change(site.directory, ["focus.medium=5"])
    assert site.crawl().why == "done"
    with pytest.raises(ConfigError, match=r"'focus.cutoff' \(10\) is below 'focus.medium' \(12\) with this order"):
        give.change(site.directory, ["focus.cutoff=10"])
    assert give.change(site.directory, ["focus.cutoff=10", "focus.medium="]).state == "next-start"
    assert len(list((site.directory / "orders").glob("*.json"))) == 1


# Retry


def dead_and_missing(site: Site) -> None:
    """Crawl with www.b.test unknown to the hosts file: its URLs end as no-such-host."""
    hosts = site.directory / "hosts"
    known = hosts.read_text()
    hosts.write_text("".join(line + "\n" for line in known.splitlines() if "b.test" not in line))
    assert site.crawl().why == "done"
    hosts.write_text(known)
    assert site.status().finished == {"ok": PAGES, "no-such-host": PAGES}


def test_urls_of_a_dead_host_wait_again_and_are_fetched(site: Site) -> None:
    dead_and_missing(site)
    assert site.crawl().why == "done"
    assert site.status().finished == {"ok": PAGES, "no-such-host": PAGES}, "a restart alone changes nothing"
    assert give.count(site.directory, ["no-such-host", "timeout"]) == {"no-such-host": PAGES, "timeout": 0}
    assert give.count(site.directory, ["no-such-host"], ["a.test"]) == {"no-such-host": 0}
    assert give.count(site.directory, ["no-such-host"], ["b.test"]) == {"no-such-host": PAGES}
    give.retry(site.directory, ["no-such-host"], ["b.test"])
    assert site.status().orders_waiting == 1
    before = counts(site, "fetch.connections=1")
    assert before == (2 * PAGES, PAGES, {Reason.OK: PAGES})
    assert site.status().waiting == PAGES
    assert site.crawl().why == "done"
    assert site.status().finished == {"ok": 2 * PAGES}
    assert len(site.pages()) == len(set(site.pages()))
    [order] = site.orders()
    assert (order["verb"], order["values"], order["hosts"]) == ("retry", ["no-such-host"], ["b.test"])
    assert order["reopened"] == {"no-such-host": PAGES}
    story = stories.why(site.directory, "http://www.b.test/3", config.load(site.directory / "crawl.toml"))
    assert (story.state, story.reason) == ("finished", "ok")
    assert any(event.what.startswith("waits again after no-such-host, by an order: retry") for event in story.events)


@pytest.mark.parametrize("store", ["lmdb", "memory"])
def test_a_retry_in_parts_is_replayed_to_the_same_state(
    store: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead_and_missing(site)
    monkeypatch.setattr("windrow.frontier.local.control.MOST_URLS", 5)
    monkeypatch.setattr("windrow.frontier.local.control._ROWS", 2)
    give.retry(site.directory, ["no-such-host"])
    before = counts(site)
    parts = [order for order in site.orders() if order["verb"] == "retry"]
    assert len(parts) == 3 and len({part["id"] for part in parts}) == 1
    assert sum(part.get("reopened", {}).get("no-such-host", 0) for part in parts) == PAGES
    shutil.rmtree(site.directory / "state")
    assert counts(site, f"frontier.store={store}") == before
    assert site.crawl(None, f"frontier.store={store}").why == "done"
    assert site.status().finished == {"ok": 2 * PAGES}


def test_a_retry_that_a_stop_interrupts_continues_at_the_next_start(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead_and_missing(site)
    monkeypatch.setattr("windrow.frontier.local.control.MOST_URLS", 2)
    monkeypatch.setattr("windrow.frontier.local.control._ROWS", 2)
    give.retry(site.directory, ["no-such-host"])

    async def stop_in_the_middle(running: Crawl) -> None:
        while not site.status().controls.unfinished:
            await asyncio.sleep(0.001)
        running.stop()

    async def take_twice(running: Crawl) -> None:
        """Look for orders at the same time as the start does."""
        while running.orders.controls.unfinished:
            await asyncio.gather(running.orders.take(), running.orders.take())

    site.crawl(stop_in_the_middle)
    found = site.status()
    assert found.controls.unfinished is not None and len(site.left()) == 1
    assert site.crawl(take_twice).why == "done"
    assert sum("end" not in order for order in site.orders()) == 1, "the order ends once"
    assert site.status().finished == {"ok": 2 * PAGES}
    assert site.status().controls.unfinished is None and site.left() == []


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("host-ded", "did you mean 'host-dead'?"),
        ("ok", "was fetched and is not requested again"),
        ("near-duplicate", "windrow rebuild --corpus"),
        ("blocked", "windrow unblock"),
        ("", "names no reason"),
    ],
)
def test_a_reason_that_cannot_be_retried_is_refused(reason: str, words: str, site: Site) -> None:
    with pytest.raises(ConfigError) as error:
        give.retry(site.directory, [reason])
    assert words in str(error.value)


# Files of orders


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x00\xff not JSON", "it is not an order"),
        (b"{}", "it is not an order"),
        (b'{"id": "1", "time": 0, "verb": "blok", "values": ["a.test"]}', "did you mean 'block'?"),
        (b'{"id": "1", "time": 0, "verb": "set", "values": ["crawl.node=x"]}', "cannot change while a crawl runs"),
        (b'{"id": "1", "time": 0, "verb": "block", "values": ["http://a.test/"]}', "is not a name"),
        (b'{"id": "1", "time": 0, "verb": "add", "values": ["ftp://a.test/"]}', "not an http or https URL"),
    ],
)
def test_a_bad_order_is_named_and_moved_aside_and_the_crawl_continues(content: bytes, why: str, site: Site) -> None:
    home = site.directory / "orders"
    home.mkdir()
    (home / "bad.json").write_bytes(content)
    (home / "half.json.new").write_bytes(b"{")
    assert site.crawl().why == "done"
    assert (home / "refused" / "bad.json").read_bytes() == content
    assert why in (home / "refused" / "bad.json.txt").read_text()
    assert any("bad.json" in note and why in note for note in site.notes)
    assert site.left() == [] and site.orders() == []


def test_an_order_whose_file_could_not_be_removed_is_not_carried_out_again(site: Site) -> None:
    given = give.block(site.directory, ["b.test"])
    file = site.directory / "orders" / orders.file_name(given.order)
    content = file.read_bytes()
    site.crawl()
    give.unblock(site.directory, ["b.test"])
    site.crawl()
    file.write_bytes(content)  # as after a crash between the commit and the removal
    site.crawl()
    assert site.left() == []
    assert site.status().controls.blocked == ()
    assert [order["verb"] for order in site.orders()] == ["block", "unblock"]


def test_an_order_of_another_command_in_the_log_changes_nothing(site: Site) -> None:
    site.crawl(None, "crawl.max_pages=3")
    before = counts(site)
    [last] = sorted((site.directory / "log").iterdir())[-1:]
    number = truth.frames(site.directory)[-1][0]["frame"]
    order = {"id": "x", "time": 1.0, "verb": "purge", "values": ["b.test"]}
    head = {"frame": number + 1, "time": 1.0, "lengths": {}, "orders": [order]}
    with last.open("ab") as file:
        file.write(gzip.compress(json.dumps(head).encode() + b"\n"))
    assert counts(site) == before
    assert site.status().controls.blocked == ()
    assert site.crawl().why == "done"


def test_orders_are_taken_in_the_order_in_which_they_were_given(site: Site) -> None:
    for number in range(5):
        give.block(site.directory, [f"n{number}.test"])
        give.unblock(site.directory, [f"n{number}.test"])
    site.crawl()
    assert [order["verb"] for order in site.orders()] == ["block", "unblock"] * 5


def test_a_directory_without_a_crawl_gets_no_order(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no crawl"):
        give.pause(tmp_path)
    assert list(tmp_path.iterdir()) == []
