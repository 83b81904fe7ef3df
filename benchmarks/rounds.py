"""Many nodes on one Redis server, in virtual time: each second every node makes the round of a real one.

The nodes are those of `windrow node`, each with a connection of its own and a data directory that they share, but
their shards are no processes: they only renew their leases. The shards have announced themselves, as those of a running
job.
"""

import asyncio
import logging
import random
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import msgspec
from cluster import server_cpu
from crowd import STANDING, info, wire_bytes

from tests.redisserver import Server
from windrow.nodes import held, node
from windrow.nodes.copies import LocalJob
from windrow.nodes.held import HeldShard, Holdings
from windrow.nodes.node import ClusterNode, NodeOptions
from windrow.nodes.quota import Capacity
from windrow.nodes.redis import client, leases, registry
from windrow.nodes.redis import job as jobs
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.keys import Keys
from windrow.nodes.redis.registry import JobSpec, Registry
from windrow.nodes.roster import Key
from windrow.shards import messages

JOB = "bench"
AT_ONCE = 20  # rounds
STEADY = 8  # seconds of each phase, virtual
LONG = 100_000.0  # seconds: Redis's own clock runs on while virtual time stands still, and nothing may expire


class Rounds(msgspec.Struct):
    """What so many nodes cost a real server, per virtual second."""

    nodes: int
    shards: int
    arriving: float  # cores of the server in the first seconds, before there is a job
    starting: int  # seconds from the job to the last of its shards, of which the first 4 are the greeting
    start: float  # seconds of CPU of the server meanwhile
    steady: float  # cores of the server while all shards run
    renewing: float  # of these, for the leases that processes of shards renew
    round: float  # seconds of CPU of a node per round, then
    wire: float  # bytes per second, then
    memory: int  # bytes, then
    joining: int  # seconds from a new node to its last shard
    join: float  # seconds of CPU of the server meanwhile, without the steady load
    leaving: int
    leave: float


class Played(Holdings):
    """Shards without processes."""

    async def _start(self, local: LocalJob, shard: int, number: int, beside: int) -> None:
        process = SimpleNamespace(stop=lambda: None, kill=lambda: None)
        self.shards[local.record.name, shard] = HeldShard(local, shard, number, process, held.time.monotonic())

    async def forward(self, known: Callable[[Key], int]) -> None:
        pass

    async def guard(self, now: float) -> None:
        await super().guard(now)
        for key in [key for key, one in self.shards.items() if one.asked]:  # those that have ended
            await self._give(*key)
            del self.shards[key]


class Fleet:
    """Some nodes and a clock."""

    def __init__(self, server: Server, place: Path) -> None:
        self.server = server
        self.place = place
        self.now = 1000.0
        self.nodes: list[ClusterNode] = []
        self.added = self.rounds = 0
        self._second = 0
        self._due: dict[ClusterNode, int] = {}  # the second of its next round
        self._chance = random.Random(1)

    def add(self) -> ClusterNode:
        self.added += 1
        name = f"n{self.added:04}"
        options = NodeOptions(self.server.url, self.place, name, Capacity(16, 16), lost_after=600.0)
        made = ClusterNode(options, lambda event: None)
        made._holdings = Played(made._registry, self.server.url, name, made._note)
        made._began = self.now
        self.nodes.append(made)
        self._due[made] = self._second + self.added % 4  # so that not all look in the same second
        return made

    async def second(self) -> None:
        """Let the nodes make their rounds, some of them at the same time."""
        self._chance.shuffle(self.nodes)
        due = [one for one in self.nodes if self._due.get(one, 0) <= self._second]
        for first in range(0, len(due), AT_ONCE):
            some = due[first : first + AT_ONCE]
            await asyncio.gather(*[one._round() for one in some])
            self.rounds += len(some)
            self.now += len(some) / len(due)
            self._due.update({one: self._second + round(one._pause) for one in some})
        self.now += 0.0 if due else 1.0
        self._second += 1

    async def renew(self) -> None:
        """Renew all leases, as the process of each shard does."""
        for one in self.nodes:
            for name, own in one._holdings._leases.items():
                for shard in [key[1] for key in one._holdings.shards if key[0] == name]:
                    await own.renew([shard])

    def running(self) -> int:
        return sum(len(one._holdings.working) for one in self.nodes)

    async def until(self, true: Callable[[], bool], most: int) -> int:
        for seconds in range(1, most + 1):
            await self.second()
            if true():
                return seconds
        return -1

    async def cost(self, work: Callable[[], Awaitable[int]]) -> tuple[int, float]:
        start = server_cpu(self.server)
        seconds = await work()
        return seconds, server_cpu(self.server) - start


@contextmanager
def virtual(fleet: Fleet) -> Iterator[None]:
    """Let the nodes use the clock of the fleet, and let nothing expire."""
    clock = SimpleNamespace(monotonic=lambda: fleet.now, time=time.time)
    before = node.time, held.time, leases.SECONDS, registry.ALIVE, client.ANSWER
    node.time = held.time = clock
    leases.SECONDS = registry.ALIVE = client.ANSWER = LONG
    try:
        yield
    finally:
        node.time, held.time, leases.SECONDS, registry.ALIVE, client.ANSWER = before


async def _job(fleet: Fleet, shards: int) -> None:
    operator = RedisClient(fleet.server.url)
    await Registry(operator).create(jobs.make(JOB, shards, "digest", time.time()), JobSpec("", ""))
    data = messages.encode(STANDING)
    await operator.run(*[("HSET", Keys(JOB)["board"], shard, data) for shard in range(shards)])
    await operator.close()


async def _measure(fleet: Fleet, nodes: int, shards: int) -> Rounds:
    for _ in range(nodes):
        fleet.add()
    await fleet.second()

    async def seconds() -> int:
        for _ in range(STEADY):
            await fleet.second()
        return STEADY

    _, arriving = await fleet.cost(seconds)
    await _job(fleet, shards)
    starting, start = await fleet.cost(lambda: fleet.until(lambda: fleet.running() == shards, 120))
    fleet.now += held.YOUNG + 1.0
    await seconds()  # until all have read what the others took
    sent, began, fleet.rounds = wire_bytes(fleet.server), time.process_time(), 0
    _, steady = await fleet.cost(seconds)
    made = fleet.rounds
    spent, wire = time.process_time() - began, wire_bytes(fleet.server) - sent
    renewing = server_cpu(fleet.server)
    await fleet.renew()
    renewing = (server_cpu(fleet.server) - renewing) / leases.RENEWAL
    memory = int(info(fleet.server, "memory", "used_memory"))
    first = fleet.nodes[0]
    first._why = "stopped"
    leaving, leave = await fleet.cost(
        lambda: fleet.until(lambda: fleet.running() == shards and not first._holdings.shards, 90)
    )
    await first._registry.leave(first._options.name)
    fleet.nodes.remove(first)
    late = fleet.add()
    joining, join = await fleet.cost(lambda: fleet.until(lambda: len(late._holdings.shards) >= shards // nodes, 90))
    usual = steady / STEADY
    return Rounds(
        nodes=nodes,
        shards=shards,
        arriving=arriving / STEADY,
        starting=starting,
        start=start,
        steady=usual + renewing,
        renewing=renewing,
        round=spent / made,
        wire=wire / STEADY,
        memory=memory,
        joining=joining,
        join=join - max(0, joining) * usual,
        leaving=leaving,
        leave=leave - max(0, leaving) * usual,
    )


async def measure(server: Server, nodes: int, shards: int) -> Rounds:
    """Let so many nodes run a job."""
    logging.disable()
    place = Path(tempfile.mkdtemp(prefix="windrow-nodes-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    fleet = Fleet(server, place)
    try:
        with virtual(fleet):
            return await _measure(fleet, nodes, shards)
    finally:
        for one in fleet.nodes:
            await one._answerer.close()
            await one._registry.client.close()
        shutil.rmtree(place, ignore_errors=True)
