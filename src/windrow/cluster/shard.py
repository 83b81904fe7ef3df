"""One shard of a crawl: its directory, Redis, and the crawl itself."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from windrow.cluster import directories
from windrow.cluster.directories import ShardRecord
from windrow.cluster.neighbours import ShardNeighbours
from windrow.cluster.redis import job
from windrow.cluster.redis.client import RedisClient
from windrow.cluster.redis.leases import ShardLeases
from windrow.cluster.redis.slots import Slots
from windrow.cluster.redis.wire import RedisTransport
from windrow.cluster.tenure import Tenure
from windrow.cluster.transport import Unavailable
from windrow.config import Config, ConfigError


class ShardAccess(msgspec.Struct, frozen=True):
    """How the process of a shard reaches the others."""

    url: str  # of Redis
    patience: float = 0.0  # seconds to wait for a Redis server that does not answer yet
    run: str = ""  # a name that all shards of this run have in common: pages are counted in a run
    holder: str = ""  # the node that has taken a lease for this process; empty: there are no nodes
    fence: int = 0  # the number of that lease


@contextlib.asynccontextmanager
async def neighbours(directory: Path, options: Config, access: ShardAccess) -> AsyncIterator[ShardNeighbours]:
    """Yield the other shards of the job that a directory belongs to; ConfigError if it does not fit what Redis has."""
    own = directories.read(directory)
    if own is None or own.shard < 0:
        raise ConfigError(
            f"{directory} is not the directory of a shard; windrow crawl DIR --shards N makes them in DIR/shards"
        )
    name, count = own.job.name, own.job.shards
    talks, shares = RedisClient(access.url), RedisClient(access.url)  # a long answer to one does not delay the other
    try:
        await _wait_for(talks, access.patience)
        await talks.check()
        job.check(await job.put_back(talks, own.job), own.job, talks.place)
        process = f"{own.shard}:{secrets.token_hex(6)}"
        delay = options.fetch.ip_delay
        slots = Slots(shares, name, process, delay, time.monotonic) if delay else None  # nothing to keep to
        transport = RedisTransport(talks, name, count)
        async with _tenure(directory, own, access) as tenure:
            yield ShardNeighbours(own.shard, count, transport, directory, slots, run=access.run, tenure=tenure)
    finally:
        await talks.close()
        await shares.close()


@contextlib.asynccontextmanager
async def _tenure(directory: Path, own: ShardRecord, access: ShardAccess) -> AsyncIterator[Tenure | None]:
    """Keep the lease that a node has taken, on a connection of its own, until all files are closed."""
    if not access.holder:
        yield None
        return
    client = RedisClient(access.url)
    leases = ShardLeases(client, own.job.name, access.holder)
    leases.adopt(own.shard, access.fence)
    tenure = Tenure(leases, own.shard, directory, access.holder)
    clean = False
    try:
        await tenure.begin()
        keeping = asyncio.create_task(tenure.keep())
        try:
            yield tenure
            clean = True
        finally:
            keeping.cancel()
            await asyncio.wait((keeping,))
            await tenure.end(clean)
    finally:
        await client.close()


async def _wait_for(client: RedisClient, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            await client.run(("PING",))
            return
        except Unavailable:
            await asyncio.sleep(0.1)
