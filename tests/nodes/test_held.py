"""The shards that a node holds, where their directories cannot be used."""

import asyncio
from pathlib import Path
from typing import Any

from tests.redisserver import needs_redis, serve
from windrow import orders
from windrow.nodes import copies, forward
from windrow.nodes.held import HeldShard, Holdings
from windrow.nodes.redis import job
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.order import ClusterOrder
from windrow.nodes.redis.registry import JobSpec, Registry
from windrow.nodes.redis.state import JobState
from windrow.shards import fence

pytestmark = needs_redis
RECORD = job.make("news", 2, "digest", 1.0)
SPEC = JobSpec("", "http://a.example/\n")


def test_directories_that_cannot_be_read_or_written_are_named_and_end_no_node(tmp_path: Path) -> None:
    home = copies.home(tmp_path)
    local = copies.write(tmp_path, RECORD, SPEC, JobState("run", 1))
    local.orders = [ClusterOrder(1, "set", "fetch.delay=3")]
    (local.place(0) / fence.FILE).mkdir(parents=True)  # as a disk that gives errors
    (local.place(1) / f"{forward.FILE}.new").mkdir(parents=True)
    noted: list[tuple[int, str]] = []

    async def main(url: str) -> None:
        registry = Registry(RedisClient(url))
        holdings = Holdings(
            registry, url, "one", lambda kind, text, job="", shard=-1: noted.append((shard, text.partition(":")[0]))
        )
        process: Any = None
        try:
            await registry.create(RECORD, SPEC)
            await holdings.take(local, [0], home, 1)
            assert not holdings.shards and not holdings.may_start(("news", 0)) and holdings.is_refused
            holdings.shards["news", 1] = HeldShard(local, 1, fence=5, process=process, started=0.0)
            for _ in range(3):
                await holdings.forward(lambda key: 0)
        finally:
            await registry.client.close()

    with serve() as server:
        asyncio.run(main(server.url))
    assert noted == [(0, "it cannot be started"), (1, "orders cannot be passed on to it")]


def test_no_shard_begins_where_the_disk_of_the_node_is_not_mounted_any_more(tmp_path: Path) -> None:
    home = copies.home(tmp_path / "disk")
    local = copies.write(tmp_path / "disk", RECORD, SPEC, JobState("run", 1))
    (tmp_path / "disk").rename(tmp_path / "unmounted")
    (tmp_path / "disk").mkdir()
    noted: list[str] = []

    async def main(url: str) -> None:
        registry = Registry(RedisClient(url))
        holdings = Holdings(registry, url, "one", lambda kind, text, job="", shard=-1: noted.append(text))
        try:
            await registry.create(RECORD, SPEC)
            assert not holdings.is_refused
            await holdings.take(local, [0, 1], home, 1)
            assert not holdings.shards and holdings.is_refused
        finally:
            await registry.client.close()

    with serve() as server:
        asyncio.run(main(server.url))
    problem = f"{tmp_path / 'disk'} is not the directory that the node began with; is its disk mounted?"
    assert noted == [f"it cannot be started: {problem}"] * 2
    assert not list((tmp_path / "disk").iterdir())


def test_orders_are_named_when_they_are_carried_out_and_not_before(tmp_path: Path) -> None:
    copies.home(tmp_path)
    local = copies.write(tmp_path, RECORD, SPEC, JobState("run", 1))
    local.orders = [ClusterOrder(7, "set", "fetch.delay=3\n"), ClusterOrder(9, "add", "http://a.example/\n")]
    local.place(0).mkdir(parents=True)
    noted: list[str] = []

    async def main(url: str) -> None:
        registry = Registry(RedisClient(url))
        holdings = Holdings(registry, url, "one", lambda kind, text, job="", shard=-1: noted.append(text))
        process: Any = None
        holdings.shards["news", 0] = HeldShard(local, 0, fence=5, process=process, started=0.0)
        done: dict[int, int] = {}
        try:
            for left in (2, 1, 0):  # orders that the crawl has not taken yet
                for path in sorted((local.place(0) / orders.DIRECTORY).glob("*.json"))[: -left or None]:
                    path.unlink()
                await holdings.forward(lambda key: done.get(0, 0))
                done.update(await registry.done("news"))
        finally:
            await registry.client.close()

    with serve() as server:
        asyncio.run(main(server.url))
    assert noted == ["it has carried out set fetch.delay=3", "it has carried out add 1 URL"]
