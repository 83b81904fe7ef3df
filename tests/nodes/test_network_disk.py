"""Nodes on several machines that share a network disk (GlusterFS): each has a mount with caches of its own."""

import contextlib
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import networkdisk, truth
from tests.networkdisk import NetworkDisk
from tests.nodes.nodes import JOB, Nodes, job_of
from tests.redisserver import Server, needs_redis
from tests.world import World

pytestmark = [needs_redis, networkdisk.needs_network_disk, pytest.mark.long]
DELAY, IP_DELAY = 0.03, 0.01
SLOW = "fetch.delay=1.5"  # until a test has done what it does; then an order lets the job finish
OPTIONS = (f"fetch.delay={DELAY}", f"fetch.ip_delay={IP_DELAY}", *truth.TEXT)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[NetworkDisk]:
    with networkdisk.serve(tmp_path / "disk") as made:
        yield made


class Machines:
    """Nodes by the names of their machines."""

    def __init__(self, nodes: Nodes, disk: NetworkDisk, *names: str) -> None:
        self.nodes, self.disk = nodes, disk
        self.data = {name: disk.mount(name) / "data" for name in names}

    def start(self, name: str, *arguments: str) -> None:
        self.nodes.start(name, *arguments, data=self.data[name], machine=self.disk.machine(name))

    def assert_whole(self, name: str, world: World) -> None:
        """Check what one of the machines sees on the disk."""
        self.nodes.assert_whole(self.data[name])
        truth.assert_polite(world, DELAY, IP_DELAY)
        for place in self.nodes.directories(self.data[name]):
            truth.assert_corpus(place)


@contextlib.contextmanager
def two_at_work(seed: int, tmp_path: Path, server: Server, disk: NetworkDisk) -> Iterator[Machines]:
    """Begin a block when machine one and machine two run a shard each; at its end machine two has finished the job."""
    with (
        World(seed=seed, pages=60, hosts=8, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path / "job", server, world, 2, *OPTIONS, SLOW) as nodes,
    ):
        machines = Machines(nodes, disk, "one", "two")
        machines.start("one")
        machines.start("two", "--until-done")
        nodes.until(lambda: len(nodes.shard_processes("one")) == len(nodes.shard_processes("two")) == 1)
        nodes.until(lambda: nodes.finished(machines.data["two"]) > 1)
        yield machines
        nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        assert nodes.wait("two")["why"] == "done"
        machines.assert_whole("two", world)


def test_a_machine_dies_and_another_continues_its_shards(tmp_path: Path, server: Server, disk: NetworkDisk) -> None:
    with two_at_work(90, tmp_path, server, disk) as machines:
        machines.nodes.kill("one")
    assert "begins again" not in machines.nodes.told()


def test_a_machine_that_loses_the_disk_stops_and_another_continues(
    tmp_path: Path, server: Server, disk: NetworkDisk
) -> None:
    with two_at_work(91, tmp_path, server, disk) as machines:
        disk.lose("one")
        machines.nodes.until(lambda: len(machines.nodes.shard_processes("two")) == 2)
    assert "Traceback" not in machines.nodes.told()
    disk.unmount("one")


@pytest.mark.parametrize("seed", range(900, 904))
def test_machines_shards_redis_and_the_disk_fail_in_turn(
    seed: int, tmp_path: Path, server: Server, disk: NetworkDisk
) -> None:
    draw = random.Random(seed)
    with (
        World(seed=seed, pages=400, hosts=14, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path / "job", server, world, 4, *OPTIONS) as nodes,
    ):
        names = ["one", "two", "three"]
        machines = Machines(nodes, disk, *names, "last")
        for name in names:
            machines.start(name)
        nodes.until(lambda: nodes.finished(machines.data["last"]) > 5)
        for _ in range(10):
            time.sleep(draw.uniform(1.0, 5.0))
            name = draw.choice(names)
            fault = draw.choice(("machine", "machine", "shard", "stop", "stop", "flush", "hang"))
            pids = list(nodes.shard_processes(name).values()) if nodes.processes[name].poll() is None else []
            if fault == "machine":
                nodes.kill(name)
                machines.start(name)
            elif fault == "flush":
                server.command("FLUSHALL")
            elif fault == "hang":
                disk.hang(draw.uniform(1.0, 14.0))
            elif pids:
                pid = draw.choice(pids)
                os.kill(pid, signal.SIGKILL if fault == "shard" else signal.SIGSTOP)
                if fault == "stop":
                    time.sleep(draw.uniform(8.0, 14.0))
                    if Path(f"/proc/{pid}").exists():
                        os.kill(pid, signal.SIGCONT)
        machines.start("last", "--until-done")
        assert nodes.wait("last", 400)["why"] == "done"
        machines.assert_whole("last", world)
