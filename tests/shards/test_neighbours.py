"""Real crawls as shards of one crawl: the same pages as a single crawl, each once, and all end by themselves."""

import asyncio
import time
from collections import Counter
from pathlib import Path

import pytest

from tests import truth
from tests.redisserver import Server, needs_redis, serve
from tests.shards.bus import Bus
from tests.world import World
from windrow import config, urls
from windrow import sharding as shards
from windrow.crawler.ending import Ending
from windrow.crawler.loop import Crawl
from windrow.crawler.setup import start
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.slots import Slots
from windrow.nodes.redis.wire import RedisTransport
from windrow.records import Counts, Exchanged, Frame, Kind, LimitCounts
from windrow.shards.exchange import REFRESH
from windrow.shards.neighbours import ShardNeighbours

COUNT = 3
DELAY, IP_DELAY = 0.03, 0.02


class Shards:
    """The directories of the shards of one crawl, and the bus between them."""

    def __init__(self, place: Path, world: World, *options: str, url: str = "") -> None:
        self.bus = Bus()
        self.url = url  # of a Redis server; empty: the bus
        self.directories = [truth.prepare(place / str(number), world, *options) for number in range(COUNT)]

    async def run(self, number: int, running: list[Crawl] | None = None) -> Ending:
        directory = self.directories[number]
        options = config.load(directory / "crawl.toml")
        client = RedisClient(self.url) if self.url else None
        neighbours = ShardNeighbours(number, COUNT, self.bus, directory)
        if client is not None:
            process = f"{number}:{time.monotonic_ns()}"
            slots = Slots(client, "test", process, options.fetch.ip_delay, time.monotonic)
            neighbours = ShardNeighbours(number, COUNT, RedisTransport(client, "test", COUNT), directory, slots)
        try:
            watch = running.append if running is not None else lambda crawl: None
            observer = start.Observer(lambda crawl, resumed: watch(crawl))
            return await start.run(directory, options, observer, neighbours=neighbours)
        finally:
            if client is not None:
                await client.close()

    async def run_all(self, running: list[Crawl] | None = None) -> list[Ending]:
        return await asyncio.gather(*(self.run(number, running) for number in range(COUNT)))

    def assert_whole(self, world: World) -> None:
        found = Counter(
            record.url for one in self.directories for record in truth.archive(one) if record.type == "response"
        )
        assert max(found.values()) == 1
        assert {url for url in found if not world.graph.trapped(url)} == world.expected.must_have
        ends = sum((truth.committed(one) for one in self.directories), Counter())
        assert set(ends.values()) == {1}, "every URL ends once"
        assert ends.keys() >= world.expected.must_have | world.expected.redirects | world.expected.missing
        for number, one in enumerate(self.directories):
            for url in truth.committed(one):
                parsed = urls.parse(url)
                assert parsed is not None and shards.shard_of(parsed.domain, COUNT) == number


def test_shards_find_what_one_crawl_finds_and_end_together(tmp_path: Path) -> None:
    with World(seed=41, pages=60, hosts=8, domains=True, kinds=("absent", "moved")) as world:
        crawl = Shards(tmp_path, world)
        ends = start.execute(crawl.run_all())
        assert [end.why for end in ends] == ["done"] * COUNT
        crawl.assert_whole(world)
        truth.assert_polite(world, 0.01, 0.0)


def test_a_shard_that_stops_and_starts_again_gets_what_was_sent_meanwhile(tmp_path: Path) -> None:
    async def main() -> None:
        running: list[Crawl] = []
        others = [asyncio.create_task(crawl.run(number)) for number in (1, 2)]
        first = asyncio.create_task(crawl.run(0, running))
        while not running or running[0].tally.pages < 3:
            await asyncio.sleep(0.01)
        running[0].stop()
        assert (await first).why == "stopped"
        crawl.bus.flush()
        await asyncio.sleep(0.3)
        assert not any(task.done() for task in others), "they wait for the one that is away"
        ends = await asyncio.gather(crawl.run(0), *others)
        assert [end.why for end in ends] == ["done"] * COUNT

    with World(seed=42, pages=60, hosts=8, domains=True, kinds=()) as world:
        crawl = Shards(tmp_path, world)
        start.execute(main())
        crawl.assert_whole(world)


def test_a_finished_crawl_ends_again_at_once(tmp_path: Path) -> None:
    with World(seed=43, pages=20, hosts=6, domains=True, kinds=()) as world:
        crawl = Shards(tmp_path, world)
        start.execute(crawl.run_all())
        count = len(world.requests())
        crawl.bus.flush()
        assert [end.why for end in start.execute(crawl.run_all())] == ["done"] * COUNT
        assert len(world.requests()) == count


@pytest.mark.parametrize("stops", [False, True], ids=["quiet", "stopped"])
def test_a_moved_robots_file_is_requested_by_the_shard_that_has_its_new_place(stops: bool, tmp_path: Path) -> None:
    def asked(shard: int) -> bool:
        return any(hello.errands for (_, receiver), hello in crawl.bus.hellos.items() if receiver == shard)

    async def main() -> None:
        running: list[Crawl] = []
        owner = shard_of(f"http://{world.graph.plain[0]}/")
        others = [asyncio.create_task(crawl.run(number)) for number in range(COUNT) if number != owner]
        if stops:
            serving = asyncio.create_task(crawl.run(owner, running))
            while not asked(owner):
                await asyncio.sleep(0.01)
            running[0].stop()
            await serving
            crawl.bus.flush()
            for _ in range(300):  # what the others ask now is in their hellos, unless all was answered before
                if asked(owner):
                    break
                await asyncio.sleep(0.01)
        ends = await asyncio.gather(crawl.run(owner), *others)
        assert [end.why for end in ends] == ["done"] * COUNT

    with World(seed=45, pages=60, hosts=9, domains=True, kinds=("moved",)) as world:
        crawl = Shards(tmp_path, world, "fetch.delay=0.05")
        start.execute(main())
        crawl.assert_whole(world)
        truth.assert_polite(world, 0.05, 0.0)
        moved = 0
        for number, one in enumerate(crawl.directories):
            for line in (line for frame in truth.frames(one) for line in frame[1:] if line.get("kind") == Kind.FILE):
                if line.get("status"):
                    assert shard_of(line["url"]) == number, "only the shard of a host sends requests to it"
                    moved += line.get("via", "") != "" and shard_of(line["via"] + "/") != number
        assert moved, "no file was at another shard"


def shard_of(text: str) -> int:
    parsed = urls.parse(text)
    assert parsed is not None
    return shards.shard_of(parsed.domain, COUNT)


async def disturbed(crawl: Shards, server: Server, faults: list[str]) -> list[Ending]:
    """Run all shards while the server is emptied and killed."""
    shards = asyncio.create_task(crawl.run_all())
    for fault in faults:
        await asyncio.sleep(1.0)
        if shards.done():
            break
        if fault == "flush":
            server.command("FLUSHALL")
        else:
            await asyncio.to_thread(server.restart)
    return await shards


@needs_redis
@pytest.mark.parametrize("faults", [[], ["flush", "kill", "flush"]], ids=["quiet", "disturbed"])
def test_shards_share_addresses_politely_over_redis(faults: list[str], tmp_path: Path) -> None:
    with serve() as server, World(seed=44, pages=90, hosts=9, domains=True, kinds=(), addresses=2) as world:
        options = (f"fetch.delay={DELAY}", f"fetch.ip_delay={IP_DELAY}")
        crawl = Shards(tmp_path, world, *options, url=server.url)
        ends = start.execute(disturbed(crawl, server, faults))
        assert [end.why for end in ends] == ["done"] * COUNT
        crawl.assert_whole(world)
        truth.assert_polite(world, DELAY, IP_DELAY)


def test_a_clock_that_is_set_back_does_not_keep_a_shard_from_saying_everything_again(tmp_path: Path) -> None:
    async def main() -> None:
        bus, steady, wall = Bus(), [100.0], [1_800_000_000.0]
        neighbours = ShardNeighbours(0, 2, bus, tmp_path)
        neighbours._clock, neighbours._now = lambda: steady[0], lambda: wall[0]
        neighbours.begin(Exchanged())
        neighbours.committed(Frame(1, 0.0, (), {}, incarnation=neighbours.begins))
        for _ in range(2):  # the first answer brings the epoch
            await neighbours.call(True, Counts(), LimitCounts())
        assert bus.hellos.pop((0, 1)) and bus.acks.pop((1, 0))  # a replica has not got them
        steady[0], wall[0] = steady[0] + 2 * REFRESH, wall[0] - 3600
        await neighbours.call(True, Counts(), LimitCounts())
        assert (0, 1) in bus.hellos and (1, 0) in bus.acks

    asyncio.run(main())
