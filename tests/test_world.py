"""Check the generated web with an independent, sequential crawl over HTTP."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import reader
from tests.reader import Answer, Reader
from tests.world import KINDS, QUICK, Graph, Plan, World, host_of


class Walk:
    """A plain crawl that sends one request after the other."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._client = Reader(world.port)
        self.answers: dict[str, Answer] = {}

    def run(self) -> "Walk":
        queue = list(self._world.seeds)
        while queue:
            url = queue.pop()
            if url in self.answers or not self._world.graph.allowed(url) or self._world.graph.trapped(url):
                continue
            answer = self._client.get(url)
            while answer.status in (429, 503):
                answer = self._client.get(url)
            self.answers[url] = answer
            queue += (
                [urljoin(url, answer.headers["Location"])]
                if 300 <= answer.status < 400
                else reader.links(url, answer.body)
            )
        self._client.close()
        return self

    def found(self, *statuses: int) -> set[str]:
        """Return the URLs with these statuses on hosts that exist."""
        return {
            url
            for url, answer in self.answers.items()
            if answer.status in statuses and host_of(url) in self._world.hosts
        }


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(seed=3, pages=40, hosts=3, slow=0.001) as served:
        yield served


def test_a_walk_finds_what_is_expected_and_nothing_else(world: World) -> None:
    world.reset()
    walk = Walk(world).run()
    assert walk.found(200) == world.expected.must_have
    assert walk.found(301, 302, 307, 308) == world.expected.redirects
    assert walk.found(404) == world.expected.missing
    assert walk.answers.keys() - walk.found(200, 301, 302, 307, 308, 404) == world.expected.unresolved
    assert not world.requested().keys() & world.expected.must_not_request


def test_pages_that_must_not_be_requested_exist(world: World) -> None:
    client = Reader(world.port)
    hosts = {host_of(url) for url in world.expected.must_not_request}
    assert {client.get(url).status for url in world.expected.must_not_request} <= {200, 301, 302, 307, 308}
    assert {world.graph.kinds.get(host, "plain") for host in hosts} >= {"plain", "broken", "silent", "moved"}
    client.close()


def test_the_expected_sets_do_not_overlap(world: World) -> None:
    sets = [
        getattr(world.expected, name)
        for name in ("must_have", "redirects", "missing", "unresolved", "must_not_request")
    ]
    assert all(sets)
    assert len(frozenset().union(*sets)) == sum(map(len, sets))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 80), st.integers(1, 6), st.sets(st.sampled_from(KINDS)))
def test_every_ordinary_page_is_reachable_for_any_seed(seed: int, pages: int, hosts: int, kinds: set[str]) -> None:
    graph = Graph(Plan(seed, pages, hosts, tuple(sorted(kinds))))
    expected = graph.expected()
    assert sum(host_of(url) in graph.plain for url in expected.must_have) >= max(pages, hosts)
    assert {host_of(url) for url in expected.must_have} == set(graph.hosts) - {
        h for h, kind in graph.kinds.items() if kind in ("broken", "silent")
    }
    assert all(graph.allowed(url) for url in expected.must_have | expected.redirects)


def test_the_same_plan_makes_the_same_world_in_another_process() -> None:
    code = (
        "import hashlib; from tests.world import *; graph = Graph(Plan(5)); "
        "print(hashlib.sha256(repr(graph.places).encode()).hexdigest())"
    )
    root = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])}
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**environment, "PYTHONHASHSEED": seed},
            cwd=root,
            capture_output=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert Graph(Plan(5)).places != Graph(Plan(6)).places


def test_each_kind_of_host_answers_robots_txt_in_its_way(world: World) -> None:
    client = Reader(world.port)
    hosts = {kind: host for host, kind in world.graph.kinds.items()}
    answers = {kind: client.get(f"http://{hosts[kind]}/robots.txt") for kind in ("absent", "broken", "moved", "flaky")}
    assert {kind: answer.status for kind, answer in answers.items()} == {
        "absent": 404,
        "broken": 500,
        "moved": 301,
        "flaky": 200,
    }
    assert b"Disallow: /private/" in client.get(answers["moved"].headers["Location"]).body
    client.close()


def test_a_throttled_host_sends_retry_after_and_then_serves(world: World) -> None:
    world.reset()
    client = Reader(world.port)
    host = next(host for host, kind in world.graph.kinds.items() if kind == "throttled")
    answers = [client.get(f"http://{host}/") for _ in range(3)]
    assert [(answer.status, answer.headers["Retry-After"]) for answer in answers] == [
        (429, "1"),
        (429, "1"),
        (200, None),
    ]
    client.close()


def test_a_copy_and_a_mirror_have_the_same_bytes(world: World) -> None:
    places = world.graph.places
    first, mirror = world.graph.plain[0], next(host for host, kind in world.graph.kinds.items() if kind == "mirror")
    client = Reader(world.port)
    pages = [url for url, place in places.items() if host_of(url) == first and place.status == 200]
    for url in pages:
        assert client.get(url).body == client.get(url.replace(first, mirror)).body
    bodies = [places[url].body() for url in pages]
    assert len(set(bodies)) == len(bodies) - 1
    client.close()


def test_hosts_share_addresses_and_answer_there(world: World) -> None:
    addresses = [address.partition(":")[0] for address in world.hosts.values()]
    assert set(addresses) == {"127.0.0.1", "127.0.0.2"}
    client = Reader(world.port, "127.0.0.2")
    assert client.get(world.seeds[0]).status == 200
    assert world.requests()[-1].address == "127.0.0.2"
    client.close()


def test_traps_are_endless_and_counted(world: World) -> None:
    world.reset()
    client = Reader(world.port)
    url = f"http://{next(host for host, kind in world.graph.kinds.items() if kind == 'trap')}/2026/1"
    for _ in range(20):
        (url,) = reader.links(url, client.get(url).body)
    assert world.traps() == len(world.requested()) == 20
    client.close()


def test_session_ids_lead_to_one_page(world: World) -> None:
    world.reset()
    client = Reader(world.port)
    url = world.seeds[0]
    bodies = {client.get(url + suffix).body for suffix in ("", ";jsessionid=00ff", "?PHPSESSID=00ff")}
    assert len(bodies) == 1
    assert world.requested() == {url: 3}
    client.close()


def test_the_server_survives_a_killed_client_and_keeps_its_log(world: World, tmp_path: Path) -> None:
    world.reset()
    host = next(host for host, kind in world.graph.kinds.items() if kind == "silent")
    code = f"import sys; from tests.reader import Reader; Reader({world.port}).get('http://{host}/robots.txt')"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).resolve().parents[1], start_new_session=True
    ) as client:
        while not world.requests():
            assert client.poll() is None
        os.killpg(client.pid, signal.SIGKILL)
    assert Reader(world.port).get(world.seeds[0]).status == 200
    assert [(row.host, row.status) for row in world.requests()] == [(host, 0), (host_of(world.seeds[0]), 200)]


def test_gaps_are_measured_by_host_and_by_address(world: World) -> None:
    world.reset()
    client = Reader(world.port)
    for url in (world.seeds[0], f"http://{world.graph.plain[1]}/", world.seeds[0]):
        client.get(url)
    times = [row.monotonic for row in world.requests()]
    assert world.gaps() == {host_of(world.seeds[0]): times[2] - times[0]}
    assert world.gaps("address") == {"127.0.0.1": min(times[1] - times[0], times[2] - times[1])}
    client.close()


def test_seed_and_hosts_files_are_written(world: World, tmp_path: Path) -> None:
    seeds, hosts = world.write(tmp_path)
    assert seeds.read_text().split() == world.seeds
    assert dict(line.split("\t") for line in hosts.read_text().splitlines()) == world.hosts


def test_a_small_world_of_quick_kinds_needs_no_waiting() -> None:
    with World(pages=6, hosts=2, kinds=QUICK) as world:
        walk = Walk(world).run()
        assert walk.found(200) == world.expected.must_have
