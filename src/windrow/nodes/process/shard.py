"""One shard of a crawl: its directory, Redis, and the crawl itself."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec

from windrow.config import Config, ConfigError
from windrow.nodes import directories
from windrow.nodes.directories import ShardRecord
from windrow.nodes.redis import job
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.job import ClusterJob
from windrow.nodes.redis.leases import ShardLeases
from windrow.nodes.redis.slots import Slots
from windrow.nodes.redis.wire import RedisTransport
from windrow.shards.neighbours import ShardNeighbours
from windrow.shards.tenure import Tenure
from windrow.shards.transport import Unavailable


class ShardAccess(msgspec.Struct, frozen=True):
    """How the process of a shard reaches the others."""

    url: str  # of Redis
    patience: float = 0.0  # seconds to wait for a Redis server that does not answer yet
    run: str = ""  # a name that all shards of this run have in common: pages are counted in a run
    holder: str = ""  # the node that has taken a lease for this process; empty: there are no nodes
    fence: int = 0  # the number of that lease


@contextlib.asynccontextmanager
async def neighbours(
    directory: Path, options: Config, access: ShardAccess, note: Callable[[str], None]
) -> AsyncIterator[ShardNeighbours]:
    """Yield the other shards of the job that a directory belongs to; ConfigError if it does not fit what Redis has.

    `note` is called with what the operator must know.
    """
    own = directories.read(directory)
    if own is None or own.shard < 0:
        raise ConfigError(
            f"{directory} is not the directory of a shard; windrow crawl DIR --shards N makes them in DIR/shards"
        )
    name, count = own.job.name, own.job.shards
    talks = RedisClient(access.url)
    try:
        await _join(talks, own.job, access.patience)
        transport = RedisTransport(talks, name, count)
        async with _tenure(directory, own, access, note) as tenure, _slots(own, options, access) as slots:
            run = access.run
            yield ShardNeighbours(own.shard, count, transport, directory, slots, run=run, tenure=tenure, note=note)
    finally:
        await talks.close()


@contextlib.asynccontextmanager
async def _slots(own: ShardRecord, options: Config, access: ShardAccess) -> AsyncIterator[Slots | None]:
    """Share addresses, on connections of their own: one waits in Redis, and the other for no long answer."""
    if not options.fetch.ip_delay:  # nothing to keep to
        yield None
        return
    calls, listens = RedisClient(access.url), RedisClient(access.url)
    process = f"{own.shard}:{secrets.token_hex(6)}"
    slots = Slots(calls, own.job.name, process, options.fetch.ip_delay, time.monotonic)
    try:
        async with _beside(slots.listen(listens)):
            yield slots
        await slots.end()
    finally:
        await calls.close()
        await listens.close()


@contextlib.asynccontextmanager
async def _tenure(
    directory: Path, own: ShardRecord, access: ShardAccess, note: Callable[[str], None]
) -> AsyncIterator[Tenure | None]:
    """Keep the lease that a node has taken, on a connection of its own, until all files are closed."""
    if not access.holder:
        yield None
        return
    client = RedisClient(access.url)
    leases = ShardLeases(client, own.job.name, access.holder)
    leases.adopt(own.shard, access.fence)
    tenure = Tenure(leases, own.shard, directory, access.holder, note)
    clean = False
    try:
        await tenure.begin()
        try:
            async with _beside(tenure.keep()):
                try:
                    yield tenure
                except ConfigError:  # a file that the next process has made, or moved, cannot be written here
                    tenure.check_fence()
                    raise
                clean = True
        finally:
            await tenure.end(clean)
    finally:
        await client.close()


@contextlib.asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run something meanwhile that ends only when it is cancelled."""
    running = asyncio.create_task(work)
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait((running,))


async def _join(client: RedisClient, record: ClusterJob, patience: float) -> None:
    """Check Redis and the job in it. Unavailable if that takes longer: another start may succeed."""
    end = time.monotonic() + patience
    while True:
        try:
            await (client.examine() if patience else client.check())
            return job.check(await job.put_back(client, record), record, client.place)
        except Unavailable:
            if time.monotonic() >= end:
                raise
        await asyncio.sleep(0.1)
