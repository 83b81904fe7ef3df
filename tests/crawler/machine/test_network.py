"""A crawl whose network is unplugged: no host is closed, no page is lost, and the crawl continues by itself."""

import asyncio
import fcntl
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests import crashing, plug, truth
from tests.archive import captures
from tests.logs import task
from tests.plug import Plug
from tests.world import World
from windrow.config import Config, FetchOptions, IdentityOptions
from windrow.crawler.machine import network
from windrow.crawler.machine.clock import Clock
from windrow.crawler.machine.network import Endpoint, Network, Watch
from windrow.crawler.machine.outage import Way
from windrow.fetch.resolve import Resolver
from windrow.inspect import status as states
from windrow.records import Failure, Reason

PLACE = Endpoint("a.test", "198.51.100.1", 80)
OUTAGES = {"everything": ("hosts", "names"), "connections": ("hosts",), "DNS": ("names",), "DNS lies": ("lies",)}
QUICK = ("everything", "DNS lies")
KINDS = ("absent", "broken", "moved")


def offline(directory: Path) -> bool:
    """Return whether a running crawl says that it has no network."""
    return any(frames[0].get("offline") for frames in truth.frames(directory)[-1:])


def finished(directory: Path) -> int:
    return sum(truth.committed(directory).values())


def end(process: "subprocess.Popen[str]") -> str:
    try:
        out, err = process.communicate(timeout=100)
    finally:
        crashing.kill(process)
    assert process.returncode == 0, err
    return out


def unplugged(process: "subprocess.Popen[str]", directory: Path, outlet: Plug, words: tuple[str, ...]) -> None:
    """Let a crawl finish some pages, then pull the plug and wait until the crawl says so."""
    plug.wait_for(process, lambda: finished(directory) >= 12)
    outlet.pull(*words)
    plug.wait_for(process, lambda: offline(directory))


@pytest.mark.parametrize(
    "words",
    [pytest.param(words, id=name, marks=[] if name in QUICK else pytest.mark.long) for name, words in OUTAGES.items()],
)
def test_an_outage_in_the_middle_of_a_crawl_changes_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    with World(seed=31, pages=40, hosts=5, kinds=KINDS) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *plug.DNS, "fetch.host_failures=2", "fetch.delay=0.05")
        outlet = Plug(tmp_path / "plug")
        process = outlet.launch("crawl", str(directory), "--json")
        unplugged(process, directory, outlet, words)
        before = finished(directory)
        status = states.status(directory)
        assert status.running and status.offline > 0
        assert "waiting for the network" in crashing.run(["status", str(directory)]).out
        time.sleep(1.0)  # more than a host with two failures would survive
        assert finished(directory) <= before + 3, "at most what was answered when the plug was pulled"
        outlet.join()
        assert json.loads(end(process))["why"] == "done"
        truth.assert_whole(directory, world)
        found = states.status(directory)
        assert found.offline == 0
        assert "host-dead" not in found.finished and not found.retried.keys() & {"dns", "connect"}
        truth.assert_polite(world, 0.05, 0.005)


def test_a_crawl_that_is_killed_during_an_outage_continues_after_it(tmp_path: Path) -> None:
    with World(seed=32, pages=40, hosts=5, kinds=KINDS) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *plug.DNS, "fetch.host_failures=2", "fetch.delay=0.05")
        outlet = Plug(tmp_path / "plug")
        process = outlet.launch("crawl", str(directory))
        unplugged(process, directory, outlet, ("hosts", "names"))
        crashing.kill(process)
        assert not states.status(directory).offline, "what does not run does not wait"
        with (directory / "lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            found = states.status(directory)
            assert found.running and not found.offline, "a new process that has not yet written its number"
            written, times = (directory / "lock").read_bytes(), os.stat(directory / "lock")
            os.truncate(directory / "lock", 0)
            os.utime(directory / "lock", ns=(times.st_atime_ns, times.st_mtime_ns))
            assert not states.status(directory).offline, "one that is just writing it"
            (directory / "lock").write_bytes(written)
        before, frame = truth.committed(directory), truth.frames(directory)[-1][0]["frame"]
        process = outlet.launch("crawl", str(directory))  # still without network
        plug.wait_for(process, lambda: states.status(directory).offline)
        assert truth.frames(directory)[-1][0]["frame"] > frame, "the new process says so itself"
        assert truth.committed(directory) == before
        crashing.kill(process)
        outlet.join()
        end(outlet.launch("crawl", str(directory)))
        truth.assert_whole(directory, world)
        assert truth.repeats(world.requests()) <= 8, "crawl.in_flight"


@pytest.mark.parametrize("words", [("hosts", "names"), ("lies",)], ids=["silent", "lying"])
def test_a_crawl_that_starts_without_network_waits_for_it(words: tuple[str, ...], tmp_path: Path) -> None:
    with World(seed=33, pages=20, hosts=3, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *plug.DNS, "fetch.host_failures=2")
        outlet = Plug(tmp_path / "plug")
        outlet.pull(*words)
        process = outlet.launch("crawl", str(directory))
        plug.wait_for(process, lambda: offline(directory))
        assert not truth.committed(directory)
        outlet.join()
        end(process)
        truth.assert_whole(directory, world)


def test_a_signal_or_a_time_limit_ends_a_crawl_that_waits_for_the_network(tmp_path: Path) -> None:
    with World(seed=34, pages=20, hosts=3, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *plug.DNS)
        outlet = Plug(tmp_path / "plug")
        outlet.pull("hosts", "names")
        process = outlet.launch("crawl", str(directory), "--json")
        plug.wait_for(process, lambda: offline(directory))
        process.send_signal(signal.SIGINT)
        assert json.loads(end(process))["why"] == "stopped"
        assert (
            json.loads(end(outlet.launch("crawl", str(directory), "--max-seconds", "1", "--json")))["why"] == "seconds"
        )
        assert not truth.committed(directory)
        outlet.join()
        end(outlet.launch("crawl", str(directory)))
        truth.assert_whole(directory, world)


def test_a_new_crawl_that_nothing_answers_ends_and_leaves_its_directory_as_fresh_as_before(tmp_path: Path) -> None:
    with World(seed=35, pages=20, hosts=3, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *plug.DNS, "crawl.offline_few_seconds=0.5")
        outlet = Plug(tmp_path / "plug")
        outlet.pull("lies")
        process = outlet.launch("crawl", str(directory), "--json")
        out, err = process.communicate(timeout=60)
        assert (process.returncode, json.loads(out)["why"]) == (1, "offline"), err
        assert not truth.committed(directory)
        outlet.join()
        end(outlet.launch("crawl", str(directory)))
        truth.assert_whole(directory, world)


@pytest.mark.parametrize("option", ["crawl.offline_few_seconds=0.5", "crawl.offline_seconds=0.5"])
def test_hosts_that_stay_away_are_closed_in_the_end(option: str, tmp_path: Path) -> None:
    few = "few" in option
    with World(seed=36, pages=30, hosts=1 if few else 4, addresses=1 if few else 4, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *plug.DNS, option, "fetch.delay=0.05")
        outlet = Plug(tmp_path / "plug")
        process = outlet.launch("crawl", str(directory), "--json")
        plug.wait_for(process, lambda: finished(directory) >= (5 if few else 20))
        outlet.pull("hosts")
        result: dict[str, Any] = json.loads(end(process))
        assert result["why"] == "done"
        assert result["tally"]["finished"]["host-dead"] > 0
        truth.assert_reconciled(json.loads(crashing.run(["status", str(directory), "--json"]).out))


def test_many_dead_seeds_are_no_outage(tmp_path: Path) -> None:
    with World(seed=37, pages=10, hosts=2, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *plug.DNS)
        dead = [f"http://dead{number}.test/" for number in range(40)]
        (directory / "seeds.txt").write_text("\n".join([*dead, *world.seeds]))
        outlet = Plug(tmp_path / "plug")
        end(outlet.launch("crawl", str(directory)))
        truth.assert_whole(directory, world)
        heads = [frame[0] for frame in truth.frames(directory)]
        assert not any(head.get("offline") for head in heads)
        assert states.status(directory).finished["no-such-host"] >= len(dead)


def failure(reason: Reason, downloaded: int = 0) -> Failure:
    return Failure(task("a"), reason, detail="", time=1.0, downloaded=downloaded)


def test_a_failure_is_suspect_if_nothing_arrived() -> None:
    wanted = {Reason.CONNECT, Reason.TIMEOUT, Reason.DISCONNECT, Reason.DNS}
    assert {reason for reason in Reason if network.suspect(failure(reason))} == wanted
    assert not network.suspect(failure(Reason.TIMEOUT, downloaded=20))


@pytest.mark.parametrize(
    ("truncated", "suspect"), [("", False), ("length", False), ("time", True), ("disconnect", True)]
)
def test_a_response_is_suspect_if_it_broke_off(truncated: str, suspect: bool) -> None:
    whole = captures.capture()
    assert network.suspect(msgspec.structs.replace(whole, truncated=truncated)) is suspect


def test_a_failure_on_loopback_counts_at_once() -> None:
    async def run() -> bool:
        made = Network(Config(), Clock(), resolver(), Watch(lambda since, resigned: None, lambda error: None))
        return await made.counts(Way.HOSTS, PLACE._replace(place="127.0.0.1:8080"), 1.0)

    assert asyncio.run(run())


def test_a_look_up_that_does_not_count_is_not_remembered() -> None:
    asked: list[str] = []

    async def run() -> None:
        names = resolver(asked)
        made = Network(Config(), Clock(), names, Watch(lambda since, resigned: None, lambda error: None))
        made.stop()  # nothing can be decided any more
        for _ in range(2):
            found = await names.find("a.test", 1.0)
            assert found.reason is Reason.DNS
            assert not await made.resolved(PLACE, found, 1.0)

    asyncio.run(run())
    assert asked == ["a.test"] * 2


def resolver(asked: list[str] | None = None) -> Resolver:
    """Return a resolver whose DNS does not answer."""

    def lookup(name: str) -> list[str]:
        (asked if asked is not None else []).append(name)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    return Resolver(FetchOptions(), IdentityOptions(), lookup)
