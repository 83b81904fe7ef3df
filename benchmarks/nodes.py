"""A cluster of 10 to 1,000 nodes, simulated: how even its work is, and what Redis needs for it.

    python benchmarks/nodes.py [--nodes 10,30,100,300,1000] [--pages 100] [--measure 16,64,256] [--json]

Balance: 30,000 domains per node with Pareto sizes and a budget of 10,000 pages each, on four shards per node (at most
4,096), and whole shards on nodes in equal numbers. `busiest` is the load of the busiest node divided by the mean;
`moved` the share of all shards that another node gets when one node joins.

Redis: so many shards, as --measure says, exchange links over a real server, each with the protocol of a crawl and a
clock that is passed: the time between two calls is that of a crawl. A node has four shards and fetches --pages pages
per second with 1.1 links per page to other shards, as a crawl of the `medium` web has. `cores` is the CPU time of the
server per simulated second.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from pathlib import Path

import msgspec
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from cluster import links, server_cpu  # noqa: E402

from tests.redisserver import Server, serve  # noqa: E402
from windrow import shards  # noqa: E402
from windrow.cluster import neighbours, pace  # noqa: E402
from windrow.cluster.exchange import ShardExchange  # noqa: E402
from windrow.cluster.messages import Standing  # noqa: E402
from windrow.cluster.redis.client import RedisClient  # noqa: E402
from windrow.cluster.redis.wire import RedisTransport  # noqa: E402
from windrow.data import Entry, Exchanged, Frame, Reason, Report, Task, Url  # noqa: E402

DOMAINS, BUDGET = 30_000, 10_000  # domains per node, pages per domain
PER_NODE, MOST = 4, 4096  # shards
LINKS = 1.1  # per page to other shards, after the filter of links that were sent already
PAGE = Report(seq=1, task=Task(Url("https://a.org/", "a.org", "a.org", b""), 0), reason=Reason.OK, detail="", time=1.0)
COMMIT = 2.0  # seconds between two commits of a shard, about


class Balance(msgspec.Struct):
    """How the domains fall on nodes."""

    nodes: int
    shards: int
    busiest: float
    moved: float


class Measured(msgspec.Struct):
    """What so many shards cost a real server."""

    shards: int
    links: int
    calls: int
    server: float  # seconds of CPU of the server
    client: float  # of all clients
    memory: int  # bytes, at most


def balance(nodes: int, chance: np.random.Generator) -> Balance:
    """Divide Pareto domains over shards, and shards over nodes; the mean of five draws."""
    count = min(MOST, PER_NODE * nodes)
    ratios = []
    for _ in range(5):
        sizes = np.minimum(1 + chance.pareto(1.1, DOMAINS * nodes), BUDGET)
        load = np.bincount(chance.integers(0, count, sizes.size), weights=sizes, minlength=count)
        by_node = np.bincount(np.arange(count) % nodes, weights=load, minlength=nodes)
        ratios.append(by_node.max() / by_node.mean())
    quota = count // (nodes + 1)
    return Balance(nodes, count, statistics.mean(ratios), quota / count)


class Simulated:
    """The exchange of one shard, with pages that link anywhere."""

    def __init__(self, shard: int, count: int, wire: RedisTransport) -> None:
        self.wire = wire
        self.exchange = ShardExchange(shard, count, Exchanged(), 1000)
        self.frame = 0
        self.got: list[Task] = []

    def commit(self, tasks: list[Task]) -> None:
        """Make a frame durable that found these links, and admits what has arrived."""
        arrival = self.exchange.arrived()
        self.frame += 1
        receivers = tuple(sorted(shards.split(tasks, self.exchange.count)))
        entries = (Entry(PAGE, sent=tuple(tasks)),) if tasks else ()
        frame = Frame(
            self.frame,
            0.0,
            entries=entries,
            lengths={},
            incarnation=self.exchange.begins,
            receivers=receivers,
            got=dict(arrival.got) if arrival else {},
        )
        self.got += arrival.tasks if arrival else ()
        self.exchange.committed(frame)

    async def call(self, now: float) -> None:
        said = self.exchange.outgoing(now, Standing(0))
        self.exchange.incoming(said, await self.wire.call(said), now)


async def exchange(server: Server, count: int, seconds: float, pages: float) -> Measured:
    """Let so many shards exchange links for some simulated seconds."""
    client = RedisClient(server.url)
    wire = RedisTransport(client, "bench", count)
    all_shards = [Simulated(shard, count, wire) for shard in range(count)]
    chance = random.Random(count)
    tasks = links(20_000)
    own = [shards.shard_of(task.url.domain, count) for task in tasks]
    sent = calls = 0
    memory = 0
    step = neighbours.BUSY * pace.factor(count)
    for now in np.arange(0.0, 8 * step, step):  # all hear of each other
        for one in all_shards:
            one.commit([])
            await one.call(float(now))
    start, began = server_cpu(server), time.process_time()
    start_at = committed = 8 * step
    for now in np.arange(start_at, start_at + seconds, step):
        due = now - committed >= COMMIT  # with many shards, what several commits found goes with one call
        for number, one in enumerate(all_shards):
            if due:
                drawn = chance.choices(range(len(tasks)), k=round((now - committed) * pages * LINKS / PER_NODE))
                found = [tasks[at] for at in drawn if own[at] != number]
                sent += len(found)
                one.commit(found)
            await one.call(float(now))
            calls += 1
        committed = float(now) if due else committed
        memory = max(memory, used_memory(server))
    client_cpu = time.process_time() - began
    await client.close()
    return Measured(
        shards=count, links=sent, calls=calls, server=server_cpu(server) - start, client=client_cpu, memory=memory
    )


def used_memory(server: Server) -> int:
    found = server.command("INFO", "memory").decode()
    return int(next(line for line in found.split() if line.startswith("used_memory:")).split(":")[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="10,30,100,300,1000", help="numbers of nodes, with commas")
    parser.add_argument("--pages", type=float, default=100.0, help="pages per second of a node (default 100)")
    parser.add_argument("--measure", default="16,64,256", help="numbers of shards over a real server")
    parser.add_argument("--seconds", type=float, default=20.0, help="simulated seconds of each (default 20)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    chance = np.random.default_rng(1)
    balances = [balance(int(nodes), chance) for nodes in given.nodes.split(",")]
    for one in balances:
        print(f"{one.nodes:5} nodes {one.shards:5} shards  busiest {one.busiest:.2f}  moved {one.moved:.1%}")
    measured = []
    for count in map(int, given.measure.split(",")):
        with serve() as server:
            run = asyncio.run(exchange(server, count, given.seconds, given.pages))
        measured.append(run)
        print(
            f"{count:5} shards: {run.links / given.seconds:9,.0f} links/s  "
            f"server {run.server / given.seconds:6.3f} cores, "
            f"{1e6 * run.server / run.calls:8.1f} us a call, {1e6 * run.server / max(1, run.links):6.2f} us a link  "
            f"clients {1e6 * run.client / run.calls:8.1f} us a call  memory {run.memory / 1e6:.1f} MB",
            flush=True,
        )
    if given.json:
        print(json.dumps([msgspec.to_builtins(one) for one in (*balances, *measured)]))


if __name__ == "__main__":
    main()
