"""The cost of a crawl on many machines: what a link to another shard costs, and a grant of a shared address.

    python benchmarks/cluster.py exchange          links in batches of 30 and 300, against a queue and a set in Redis
    python benchmarks/cluster.py slots             grants of addresses that two processes share
    python benchmarks/cluster.py exchange --json
    python benchmarks/cluster.py shards|scaling|nodes [OPTIONS]      as the program of that name beside this one

A redis-server is started for each measurement, on a socket, without persistence. All figures are CPU time per link or
per grant, in µs: of the parts of Windrow in this process, and of the server as it counts it. The peer does for each
link what scrapy-redis does, with redis-py: SADD of a fingerprint, ZADD of the request as JSON, and ZRANGE with
ZREMRANGEBYRANK to get it back.
"""

import argparse
import asyncio
import hashlib
import importlib
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import redis

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.redisserver import Server, serve  # noqa: E402
from windrow import urls  # noqa: E402
from windrow.nodes.redis.client import RedisClient  # noqa: E402
from windrow.nodes.redis.slots import Slots  # noqa: E402
from windrow.nodes.redis.wire import RedisTransport  # noqa: E402
from windrow.records import Task, Url  # noqa: E402
from windrow.shards import messages  # noqa: E402
from windrow.shards.messages import Batch, Standing  # noqa: E402
from windrow.shards.transport import Outgoing  # noqa: E402

WHOLE = ("shards", "scaling", "nodes")  # programs of their own: whole crawls, and many nodes
RECEIVERS = 3  # of each call, as with four shards
Figures = dict[str, float]


def links(count: int, sites: int = 0) -> list[Task]:
    """Return links as pages of many sites have them: three per page, few sites with many links, many with few; with
    `sites`, to so many in equal parts."""
    chance = random.Random(1)
    found = []
    for number in range(count):
        site = number % sites if sites else int(chance.paretovariate(0.6)) % 50_000
        name = f"www.{hashlib.md5(str(site).encode()).hexdigest()[: chance.randrange(5, 14)]}.org"
        text = f"https://{name}/{chance.choice(['news', 'blog', 'de/artikel', 'p'])}/{chance.randrange(10**6)}.html"
        via = f"https://www.site{number // 3}.org/page/{number // 3}.html"
        found.append(Task(Url(text, name, name[4:], urls.key(text)), depth=3, distance=1, via=via))
    return found


def server_cpu(server: Server) -> float:
    """Return the CPU seconds of the server so far."""
    found = server.command("INFO", "cpu").decode()
    fields = dict(line.split(":") for line in found.split() if ":" in line)
    return float(fields["used_cpu_user"]) + float(fields["used_cpu_sys"])


def said(shard: int, number: int, **fields: object) -> Outgoing:
    given: dict[str, object] = {"batches": (), "hellos": {}, "acks": {}, "after": "", "most": 256, "done": "", **fields}
    return Outgoing(shard=shard, incarnation=7, number=number, standing=Standing(7), **given)  # type: ignore[arg-type]


async def exchange(server: Server, tasks: list[Task], size: int) -> Figures:
    """Send links from shard 0 to three others in batches of this size, and take them in there."""
    client = RedisClient(server.url)
    wire = RedisTransport(client, "bench", RECEIVERS + 1)
    spent = dict.fromkeys(("pack", "clients", "unpack"), 0.0)
    wire_bytes = 0
    done = dict.fromkeys(range(RECEIVERS + 1), "")
    await wire.call(said(0, 0))
    start = server_cpu(server)
    for number, at in enumerate(range(0, len(tasks), size * RECEIVERS), 1):
        began = time.process_time()
        groups = [tasks[at + size * index : at + size * (index + 1)] for index in range(RECEIVERS)]
        batches = [messages.encode(Batch(0, 7, number - 1, number, messages.pack(group))) for group in groups]
        packed = time.process_time()
        await wire.call(said(0, number, batches=tuple(enumerate(batches, 1))))
        replies = [
            await wire.call(said(shard, number, after=done[shard], done=done[shard]))
            for shard in range(1, RECEIVERS + 1)
        ]
        done.update({shard: reply.messages[-1][0] for shard, reply in enumerate(replies, 1)})
        carried = time.process_time()
        count = sum(len(messages.unpack(messages.batch(data).links)) for reply in replies for _, data in reply.messages)
        taken = time.process_time()
        assert count == sum(map(len, groups))
        wire_bytes += sum(map(len, batches))
        spent["pack"] += packed - began
        spent["clients"] += carried - packed
        spent["unpack"] += taken - carried
    await client.close()
    spent["server"] = server_cpu(server) - start
    figures = {name: 1e6 * seconds / len(tasks) for name, seconds in spent.items()}
    return {**figures, "total": sum(figures.values()), "bytes": wire_bytes / len(tasks)}


def shared_queue(server: Server, tasks: list[Task]) -> Figures:
    """Do what scrapy-redis does: a command per link to see whether it is new, one to queue it, two to get it back."""
    client = redis.Redis(unix_socket_path=str(server.socket))
    start, began = server_cpu(server), time.process_time()
    for task in tasks:
        text = task.url.text
        if client.sadd("dupefilter", hashlib.sha1(text.encode()).hexdigest()):
            client.zadd("requests", {json.dumps({"url": text, "meta": {"depth": 3}, "priority": 0}): 0})
    while client.zcard("requests"):
        pipeline = client.pipeline()
        pipeline.zrange("requests", 0, 0).zremrangebyrank("requests", 0, 0)
        json.loads(pipeline.execute()[0][0])
    spent = {"clients": time.process_time() - began, "server": server_cpu(server) - start}
    client.close()
    figures = {name: 1e6 * seconds / len(tasks) for name, seconds in spent.items()}
    return {**figures, "total": sum(figures.values())}


async def turns(server: Server, addresses: int, rounds: int) -> Figures:
    """Let two processes alternate at the same addresses: one gives all and waits for them, the other gets them."""
    now = 0.0
    clients = [RedisClient(server.url) for _ in range(2)]
    processes = [Slots(client, f"bench{addresses}", str(n), 0.02, lambda: now) for n, client in enumerate(clients)]
    names = [f"192.0.2.{number}" for number in range(addresses)]
    for process in processes:
        await process.round()
    now += 10.0
    for process in (*processes, processes[0]):  # the first gets all, the second waits, and the first hears of it
        for name in names:
            process.want(name)
        await process.round()
    count = 0
    start, began = server_cpu(server), time.process_time()
    for turn in range(rounds):
        holder, other = processes[turn % 2], processes[1 - turn % 2]
        now += 0.03
        for name in names:
            holder.give(name, now)
            holder.want(name)
        await holder.round()
        count += len((await other.round()).granted)
    spent = {"clients": time.process_time() - began, "server": server_cpu(server) - start}
    for client in clients:
        await client.close()
    return {name: 1e6 * seconds / count for name, seconds in spent.items()}


def measure(what: str, given: argparse.Namespace) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    tasks = links(given.links) if what == "exchange" else []
    for size in (30, 300) if what == "exchange" else ():
        with serve() as server:
            found[f"batches of {size}"] = asyncio.run(exchange(server, tasks, size))
    if what == "exchange":
        with serve() as server:
            found["shared queue"] = shared_queue(server, tasks[: given.links // 10])
    for addresses in (8, 32) if what == "slots" else ():
        with serve() as server:
            found[f"{addresses} addresses"] = asyncio.run(turns(server, addresses, given.rounds))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words and words[0] in WHOLE:
        sys.argv = [f"{sys.argv[0]} {words[0]}", *words[1:]]
        importlib.import_module(words[0]).main()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("exchange", "slots"))
    parser.add_argument("--links", type=int, default=180_000, help="number of links (default 180,000)")
    parser.add_argument("--rounds", type=int, default=300, help="rounds of each process (default 300)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args(words)
    found = measure(given.what, given)
    if given.json:
        print(json.dumps(found))
        return
    for name, figures in found.items():
        print(f"{name:16}", "  ".join(f"{part} {value:6.2f}" for part, value in figures.items()))
    if given.what == "exchange":
        ratio = found["shared queue"]["total"] / found["batches of 300"]["total"]
        print(f"CPU per link of a shared queue, as a multiple of batches of 300: {ratio:.0f}")


if __name__ == "__main__":
    main()
