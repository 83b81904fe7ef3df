"""A cluster of 10 to 1,000 nodes, simulated: how even its work is, and what Redis needs for it.

    python benchmarks/nodes.py [--nodes 10,30,100,300,1000] [--measure 16,64,256,1024] [--rounds 10,100,1000] [--json]

Balance: 30,000 domains per node with Pareto sizes and a budget of 10,000 pages each, on four shards per node (at most
4,096), and whole shards on nodes in equal numbers. `busiest` is the load of the busiest node divided by the mean;
`moved` the share of all shards that another node gets when one node joins.

Shards: so many of them, as --measure says, exchange links over a real server (`crowd.py`), in virtual time. A shard
fetches --pages pages per second with 1.1 links per page to other shards, as a crawl of the `medium` web has, and a
shard gets links in proportion to its load. `cores` is the CPU time of the server per simulated second. 1,024 shards
take two minutes, 4,096 twenty.

Nodes: so many of them, as --rounds says, with --per-node shards each, look at each other and at the job, take its
shards and renew their leases over a real server (`rounds.py`), in virtual time. 1,000 nodes take some minutes.
"""

import argparse
import asyncio
import json
import statistics
import sys
from pathlib import Path

import msgspec
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import crowd  # noqa: E402
import rounds  # noqa: E402

from tests.redisserver import serve  # noqa: E402
from windrow.nodes.redis import registers  # noqa: E402

DOMAINS, BUDGET = 30_000, 10_000  # domains per node, pages per domain
PER_NODE, MOST = 4, 4096  # shards
LINKS = 1.1  # per page to other shards, after the filter of links that were sent already
COLUMNS = registers.HELLO.size + registers.ACK.size  # bytes per pair of shards


class Balance(msgspec.Struct):
    """How the domains fall on nodes."""

    nodes: int
    shards: int
    busiest: float
    moved: float


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


def load_of(shards: int, chance: np.random.Generator) -> list[float]:
    """Return the share of each shard in all domains, by their sizes."""
    nodes = max(1, shards // PER_NODE)
    sizes = np.minimum(1 + chance.pareto(1.1, DOMAINS * nodes), BUDGET)
    load = np.bincount(chance.integers(0, shards, sizes.size), weights=sizes, minlength=shards)
    return [float(share) for share in load / load.sum()]


def exchange(count: int, given: argparse.Namespace, chance: np.random.Generator) -> crowd.Measured:
    with serve() as server:
        run = asyncio.run(crowd.measure(server, load_of(count, chance), given.seconds, given.pages * LINKS))
    pages = count * given.pages * run.seconds
    print(
        f"{count:5} shards: {run.links / run.seconds:9,.0f} links/s  server {run.server / run.seconds:6.3f} cores, "
        f"{1e3 * run.server / pages:.4f} ms a page, {1e6 * run.server / run.links:5.1f} us a link  "
        f"wire {run.wire / run.seconds / 1e6:.1f} MB/s  memory {run.memory / 1e6:.0f} MB, peak {run.peak / 1e6:.0f}, "
        f"of columns {COLUMNS * count**2 / 1e6:.0f}  client {1e3 * run.client:.1f} ms a call  "
        f"until all know each other {run.begin:.1f} s",
        flush=True,
    )
    return run


def control(nodes: int, given: argparse.Namespace) -> rounds.Rounds:
    with serve("--maxclients", "20000") as server:
        run = asyncio.run(rounds.measure(server, nodes, nodes * given.per_node))
    print(
        f"{run.nodes:5} nodes {run.shards:5} shards: server {run.steady:.4f} cores, "
        f"of them leases {run.renewing:.4f}  node {1e3 * run.round:.2f} ms a round  "
        f"wire {run.wire / 1e6:.2f} MB/s  memory {run.memory / 1e6:.1f} MB  "
        f"start {run.starting} s, {run.start:.2f} s CPU  "
        f"a node leaves {run.leaving} s, {run.leave:.3f} s CPU  joins {run.joining} s, {run.join:.3f} s CPU",
        flush=True,
    )
    return run


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",") if word]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="10,30,100,300,1000", help="numbers of nodes, with commas")
    parser.add_argument("--measure", default="16,64,256", help="numbers of shards over a real server")
    parser.add_argument("--pages", type=float, default=25.0, help="pages per second of a shard (default 25)")
    parser.add_argument("--seconds", type=float, default=20.0, help="simulated seconds of each (default 20)")
    parser.add_argument("--rounds", default="10,100", help="numbers of nodes over a real server")
    parser.add_argument("--per-node", type=int, default=4, help="shards of each of these nodes (default 4)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    chance = np.random.default_rng(1)
    found: list[msgspec.Struct] = [balance(nodes, chance) for nodes in numbers(given.nodes)]
    for one in found:
        print(f"{one.nodes:5} nodes {one.shards:5} shards  busiest {one.busiest:.2f}  moved {one.moved:.1%}")
    found += [exchange(count, given, chance) for count in numbers(given.measure)]
    found += [control(nodes, given) for nodes in numbers(given.rounds)]
    if given.json:
        print(json.dumps([msgspec.to_builtins(one) for one in found]))


if __name__ == "__main__":
    main()
