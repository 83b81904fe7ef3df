"""kill -9 of the process group at random moments: nothing is lost or stored twice, no host is asked too soon."""

import dataclasses
import gzip
import itertools
import json
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests import crashing, truth
from tests.shared import shared
from tests.world import QUICK, World
from windrow import config

IN_FLIGHT = 16
DELAY, IP_DELAY = 0.02, 0.01  # seconds


def kill_at_random(directory: Path, moments: list[int], progress: Callable[[], int]) -> list[set[str]]:
    """Start a crawl again and again and kill it after so much progress. Returns what was committed at each kill."""
    done: list[set[str]] = []
    chance = random.Random(len(moments))
    while len(done) < len(moments):
        process = crashing.launch("crawl", str(directory))
        wanted = progress() + moments[len(done)]
        pause = chance.random() * 0.3
        while progress() < wanted and process.poll() is None:
            time.sleep(0.005)
        time.sleep(pause)
        assert process.poll() is None, (len(done), process.communicate())
        crashing.kill(process)
        status = crashing.run(["status", str(directory), "--json"])
        assert status.code == 0, status.err
        truth.assert_reconciled(status.json, done=False)
        assert status.json["running"] is False
        done.append(set(truth.committed(directory)))
    assert all(before <= after for before, after in itertools.pairwise(done))
    return done


def test_a_crawl_that_is_killed_again_and_again_is_complete_in_the_end(tmp_path: Path) -> None:
    with World(seed=21, pages=60, hosts=4, kinds=(*QUICK, "flaky")) as world:
        options = (
            f"fetch.delay={DELAY}",
            f"fetch.ip_delay={IP_DELAY}",
            f"crawl.in_flight={IN_FLIGHT}",
            "frontier.checkpoint=0.5",
        )
        directory = truth.prepare(tmp_path / "crawl", world, *options)
        done = kill_at_random(directory, [1, 17, 4, 11, 20, 8], lambda: len(world.requests()))
        before = len(world.requests())
        last = crashing.run(["crawl", str(directory)])
        assert last.code == 0, last.err
        truth.assert_whole(directory, world)
        truth.assert_reconciled(crashing.run(["status", str(directory), "--json"]).json)
        assert not {row.url for row in world.requests()[before:]} & done[-1]
        assert truth.repeats(world.requests()) <= len(done) * IN_FLIGHT
        truth.assert_polite(world, DELAY, IP_DELAY)


@dataclasses.dataclass(frozen=True, slots=True)
class Small:
    """The small shared web, served by nginx, whose log has the time at which a response was sent."""

    directory: Path
    hosts: dict[str, dict[str, object]]

    def requests(self) -> list[tuple[float, str, str, int, str]]:
        """Return time, host, address, status and path of each request, in order."""
        lines = (self.directory / "access.log").read_text(errors="replace").splitlines()
        found = re.compile(r'(\S+) (\S+) (\S+) (\d+) \d+ "([^"]*)"')
        rows = [match.groups() for line in lines if (match := found.match(line))]
        return sorted((float(row[0]), row[1], row[2], int(row[3]), row[4]) for row in rows)

    def wanted(self, denied: set[str]) -> set[str]:
        """Return the pages that are reachable and allowed, on hosts that let us in."""
        rows = [
            line.split("\t")
            for line in gzip.decompress((self.directory / "pages.tsv.gz").read_bytes()).decode().splitlines()
        ]
        names = rows[0]
        pages = [dict(zip(names, row, strict=False)) for row in rows[1:]]
        closed = denied | {host for host, facts in self.hosts.items() if facts.get("behaviour") == "robots500"}
        return {
            f"http://{page['host']}{page['path']}"
            for page in pages
            if page["reachable"] == page["allowed"] == "1" and page["host"] not in closed
        }


@pytest.fixture
def small() -> Iterator[Small]:
    serve = shared("web/serve")
    shared("web/small.tar.xz")
    if shutil.which("nginx") is None:
        pytest.skip("needs nginx")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)  # nginx serves it as another user
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        subprocess.run([serve, "start", "small", directory, str(port)], check=True, capture_output=True)
        yield Small(directory, json.loads((directory / "expected.json").read_text())["hosts"])
        subprocess.run([serve, "stop", directory], check=True)


@pytest.mark.long
def test_twenty_kills_change_nothing_of_a_crawl_of_a_real_web(small: Small, tmp_path: Path) -> None:
    # These hosts want up to a second between two requests, or have thousands of pages.
    slow = {"sutta.es.test", "sutta.hu.test", "api.gecode.dev.test", "creativecommons.org.test"}
    directory = tmp_path / "crawl"
    directory.mkdir()
    shutil.copy(small.directory / "seeds.txt", directory)
    options = [
        f"fetch.delay={DELAY}",
        f"fetch.ip_delay={IP_DELAY}",
        "fetch.allow_private=true",
        f"fetch.hosts_file={small.directory / 'hosts'}",
    ]
    options += ["frontier.yield_threshold=off"]
    options += [
        f"crawl.in_flight={IN_FLIGHT}",
        'scope.tlds=["test"]',
        f"scope.hosts_denied={sorted(slow)}",
        "frontier.checkpoint=3",
    ]
    (directory / "crawl.toml").write_text(config.dump(config.make(options, directory), changed=True))
    chance = random.Random(1)
    moments = [chance.randint(1, 40_000) for _ in range(20)]
    done = kill_at_random(directory, moments, lambda: sum(path.stat().st_size for path in directory.glob("log/*")))
    time.sleep(1.5)  # nginx writes its log once per second
    before = len(small.requests())
    last = crashing.launch("crawl", str(directory))
    assert last.communicate(timeout=600) and last.returncode == 0
    time.sleep(1.5)
    pages = truth.pages(directory)
    assert set(pages.values()) == {1}
    assert not {url for url in small.wanted(slow) - pages.keys() if url.removesuffix("index.html") not in pages}, (
        "by one name or the other"
    )
    marked = [record.url for record in truth.archive(directory) if b"ROBOTS-VIOLATION-MARKER" in record.block]
    free = tuple(f"http://{host}/" for host, facts in small.hosts.items() if facts.get("behaviour") == "robots404")
    assert not [url for url in marked if not url.startswith(free)]
    rows = small.requests()
    assert not {f"http://{host}{path}" for _, host, _, _, path in rows[before:]} & done[-1]
    asked = Counter((host, path) for _, host, _, status, path in rows if status < 429 and path != "/robots.txt")
    assert sum(asked.values()) - len(asked) <= len(done) * IN_FLIGHT
    assert_polite(small, rows, slow)
    truth.assert_corpus(directory)


def assert_polite(small: Small, rows: list[tuple[float, str, str, int, str]], denied: set[str]) -> None:
    """Check the delays. nginx logs the end of a response by a clock that may be a few milliseconds late.

    Slow hosts are left out: nginx logs a request that a kill interrupted only when it notices the kill.
    """
    gaps: dict[str, float] = {}
    last: dict[str, float] = {}
    for moment, host, *_ in rows:
        gaps[host] = min(gaps.get(host, 1e9), moment - last.get(host, -1e9))
        last[host] = moment
    for host, facts in small.hosts.items():
        robots = facts.get("robots", {})
        assert isinstance(robots, dict)
        if host in gaps and host not in denied and facts.get("behaviour") != "slow":
            assert gaps[host] >= max(DELAY, robots.get("crawl_delay") or 0.0) - 0.004, host


def test_a_worker_that_is_killed_costs_no_page(tmp_path: Path) -> None:
    with World(seed=22, pages=30, hosts=3, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.05")
        process = crashing.launch("crawl", str(directory))
        for wanted in (5, 20, 40):
            while len(world.requests()) < wanted:
                assert process.poll() is None, process.communicate()
                time.sleep(0.01)
            for worker in psutil.Process(process.pid).children():
                worker.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        truth.assert_whole(directory, world)
        assert truth.repeats(world.requests()) == 0


def test_workers_die_with_a_killed_driver(tmp_path: Path) -> None:
    with World(seed=23, pages=20, hosts=2, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.2")
        process = crashing.launch("crawl", str(directory))
        while len(world.requests()) < 4:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        workers = psutil.Process(process.pid).children()
        assert workers
        process.kill()  # only this process
        process.communicate()
        gone, alive = psutil.wait_procs(workers, timeout=30)
        assert len(gone) == len(workers) and not alive
        assert crashing.run(["crawl", str(directory), "--set", "fetch.delay=0.01"]).code == 0
        truth.assert_whole(directory, world)


def test_a_crawl_that_is_suspended_for_a_while_continues_politely(tmp_path: Path) -> None:
    with World(seed=24, pages=20, hosts=2, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, f"fetch.delay={DELAY}", f"fetch.ip_delay={IP_DELAY}")
        process = crashing.launch("crawl", str(directory))
        while len(world.requests()) < 8:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.0)
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        truth.assert_whole(directory, world)
        assert truth.repeats(world.requests()) == 0
        truth.assert_polite(world, DELAY, IP_DELAY)
