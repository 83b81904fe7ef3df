"""The process of a shard sends and commits nothing without its lease, and loses nothing while Redis is away."""

import asyncio
from pathlib import Path

import pytest

from tests.redisserver import Server, needs_redis
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.leases import MARGIN, SECONDS, ShardLeases
from windrow.shards import fence
from windrow.shards.fence import ShardTaken
from windrow.shards.tenure import Tenure
from windrow.shards.transport import Unavailable

pytestmark = needs_redis


class Process:
    """A shard's process with a clock of its own."""

    def __init__(self, server: Server, directory: Path) -> None:
        self.now = 0.0
        self.said: list[str] = []
        self.client = RedisClient(server.url)
        self.node = ShardLeases(self.client, "test", "one", lambda: self.now)
        self.leases = ShardLeases(self.client, "test", "one", lambda: self.now)
        self.directory = directory

    async def begin(self) -> Tenure:
        await self.node.take([99])
        await self.client.run(("DEL", "windrow:{test}:lease-hush"))
        await self.node.take([0])
        self.leases.adopt(0, self.node.held[0].fence)
        tenure = Tenure(self.leases, 0, self.directory, "one", self.said.append)
        assert not tenure.valid
        await tenure.begin()
        tenure.claim()
        return tenure

    async def oust(self) -> None:
        """Let another node take the shard."""
        await self.client.run(("DEL", "windrow:{test}:lease:0"))
        assert await ShardLeases(self.client, "test", "two").take([0]) == [0]


async def until(reached: "asyncio.Task[None] | None", *texts: list[str]) -> None:
    """Wait for the end of a task, or until something was said."""
    async with asyncio.timeout(30):
        if reached is not None:
            await reached
        while texts and not all(texts):
            await asyncio.sleep(0.02)


def test_while_redis_is_away_a_process_waits_and_then_continues(tmp_path: Path, server: Server) -> None:
    async def main() -> None:
        process = Process(server, tmp_path)
        tenure = await process.begin()
        assert tenure.valid and tenure.may_commit()
        server.kill()
        keeping = asyncio.create_task(tenure.keep())
        await asyncio.sleep(0.1)
        assert tenure.valid, "until shortly before the end of the lease"
        process.now += SECONDS - MARGIN
        assert not tenure.valid and not tenure.may_commit()
        waiting = asyncio.create_task(tenure.hold())
        await until(None, process.said)
        assert "no request is sent" in process.said[0] and not waiting.done()
        server.start()
        await until(waiting)
        assert tenure.valid and tenure.may_commit()
        await until(asyncio.create_task(tenure.regained()))
        keeping.cancel()
        await tenure.end(clean=True)
        found = fence.read(tmp_path)
        assert found is not None and found.ended
        await process.client.close()

    asyncio.run(main())


def test_a_process_that_was_replaced_learns_it_and_never_commits_again(tmp_path: Path, server: Server) -> None:
    async def main() -> None:
        process = Process(server, tmp_path)
        tenure = await process.begin()
        await process.oust()
        await until(asyncio.create_task(tenure.keep()))
        with pytest.raises(ShardTaken, match="another node has the lease of shard 0"):
            await tenure.regained()
        assert not tenure.valid and not tenure.may_commit()
        with pytest.raises(ShardTaken):
            await tenure.hold()
        await tenure.end(clean=False)
        assert await ShardLeases(process.client, "test", "three").take([0]) == [], "the lease of the other one stays"
        await process.client.close()

    asyncio.run(main())


def test_a_directory_that_another_process_has_claimed_is_not_written_to(tmp_path: Path, server: Server) -> None:
    async def main() -> None:
        process = Process(server, tmp_path)
        tenure = await process.begin()
        found = fence.read(tmp_path)
        assert found is not None
        fence.claim(tmp_path, found.number + 1, "two")
        with pytest.raises(ShardTaken, match="taken by two"):
            tenure.may_commit()
        await process.client.close()

    asyncio.run(main())


def test_a_process_that_shall_end_does_not_wait_for_redis(tmp_path: Path, server: Server) -> None:
    async def main() -> None:
        process = Process(server, tmp_path)
        tenure = await process.begin()
        server.kill()
        with pytest.raises(Unavailable):
            await process.leases.renew()
        process.now += SECONDS
        waiting = asyncio.create_task(tenure.hold())
        await asyncio.sleep(0.05)
        tenure.leave()
        with pytest.raises(ShardTaken, match="what was not committed is crawled again"):
            await waiting
        await process.client.close()

    asyncio.run(main())
