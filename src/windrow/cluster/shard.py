"""One shard of a crawl: its directory, Redis, and the crawl itself."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator
from pathlib import Path

from windrow.cluster import directories
from windrow.cluster.neighbours import ShardNeighbours
from windrow.cluster.redis import job
from windrow.cluster.redis.client import RedisClient
from windrow.cluster.redis.slots import Slots
from windrow.cluster.redis.wire import RedisTransport
from windrow.cluster.transport import Unavailable
from windrow.config import Config, ConfigError


@contextlib.asynccontextmanager
async def neighbours(
    directory: Path, options: Config, url: str, patience: float = 0.0, run: str = ""
) -> AsyncIterator[ShardNeighbours]:
    """Yield the other shards of the job that a directory belongs to; ConfigError if it does not fit what Redis has.

    patience: seconds to wait for a Redis server that does not answer yet.
    run: a name that all shards of this run have in common; pages are counted in a run.
    """
    own = directories.read(directory)
    if own is None or own.shard < 0:
        raise ConfigError(
            f"{directory} is not the directory of a shard; windrow crawl DIR --shards N makes them in DIR/shards"
        )
    name, count = own.job.name, own.job.shards
    talks, shares = RedisClient(url), RedisClient(url)  # a long answer to one does not delay the other
    try:
        await _wait_for(talks, patience)
        await talks.check()
        job.check(await job.put_back(talks, own.job), own.job, talks.place)
        process = f"{own.shard}:{secrets.token_hex(6)}"
        delay = options.fetch.ip_delay
        slots = Slots(shares, name, process, delay, time.monotonic) if delay else None  # nothing to keep to
        yield ShardNeighbours(own.shard, count, RedisTransport(talks, name, count), directory, slots, run)
    finally:
        await talks.close()
        await shares.close()


async def _wait_for(client: RedisClient, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            await client.run(("PING",))
            return
        except Unavailable:
            await asyncio.sleep(0.1)
