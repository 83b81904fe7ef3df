"""Leases of whole shards: which node runs which shard.

A lease expires if it is not renewed, so that another node takes over from one that died. Its fencing number rises with
each process of a shard. The node takes a lease; the process of the shard renews it (`windrow.shards.tenure`) and sends
nothing without it. A lease alone does not keep two processes apart on a disk that they share: the lock of the crawl
directory, its fence (`windrow.shards.fence`) and the incarnations do.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.keys import Keys

SECONDS = 10.0  # of a lease
MARGIN = 2.0  # seconds before the end of a lease from which on its holder does not rely on it


class ShardLease(msgspec.Struct, frozen=True):
    """A shard that this node may run."""

    fence: int
    until: float  # steady seconds


def clock() -> float:
    """Return steady seconds that also pass while the machine sleeps, where the system has such a clock."""
    return time.clock_gettime(_STEADY)


_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


async def begin(client: RedisClient, job: str) -> None:
    """Say of a new job that nobody has a lease: otherwise nodes would wait, as after a loss."""
    if not client.server:
        await client.run(("PING",))
    era = f"{client.server}:{secrets.token_hex(8)}"
    client.checked((await client.run(("SET", Keys(job)["lease-era"], era, "NX")))[0])


class ShardLeases:
    """The leases of one node, or of one shard's process. `holder` is the name of the node: a node that starts again
    under its name gets its leases at once."""

    def __init__(
        self,
        client: RedisClient,
        job: str,
        holder: str,
        clock: Callable[[], float] = clock,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._keys = Keys(job)
        self._holder = holder
        self._clock, self._wall = clock, wall
        self.held: dict[int, ShardLease] = {}

    def adopt(self, shard: int, fence: int) -> None:
        """Hold a lease that the node has taken. It is relied on after the first renewal."""
        self.held[shard] = ShardLease(fence, float("-inf"))

    async def take(self, shards: Iterable[int], fences: Mapping[int, int] | None = None) -> list[int]:
        """Take the shards that nobody holds; return them. After Redis was emptied, nobody gets any for a while.

        known: by shard a fencing number that the new one must exceed. A clock that is behind, and a Redis that has
        lost the last numbers, would give a lower one.
        """
        wanted = [shard for shard in shards if shard not in self.held]
        sent = self._clock()
        answers = await self._call([("take", shard, (fences or {}).get(shard, 0)) for shard in wanted])
        taken = {shard: fence for shard, fence in zip(wanted, answers, strict=True) if fence > 0}
        self.held.update({shard: ShardLease(fence, sent + SECONDS - MARGIN) for shard, fence in taken.items()})
        return list(taken)

    async def renew(self, only: Iterable[int] | None = None) -> list[int]:
        """Renew leases, all or some; return the shards that were lost. Where Redis was emptied, they are put back."""
        shards = [shard for shard in (self.held if only is None else only) if shard in self.held]
        sent = self._clock()
        answers = await self._call([("renew", shard, self.held[shard].fence) for shard in shards])
        lost = [shard for shard, answer in zip(shards, answers, strict=True) if not answer]
        for shard in lost:
            self.held.pop(shard, None)  # it may have been given back meanwhile
        for shard in shards:
            if shard in self.held:
                self.held[shard] = ShardLease(self.held[shard].fence, sent + SECONDS - MARGIN)
        return lost

    async def give(self, shards: Sequence[int]) -> None:
        """Give leases back, so that others need not wait until they expire."""
        given = {shard: self.held.pop(shard) for shard in shards if shard in self.held}
        await self._call([("give", shard, lease.fence) for shard, lease in given.items()])

    async def latest(self, shards: Sequence[int]) -> dict[int, int]:
        """Return by shard the fencing number of its last lease, 0 if nobody ever had one."""
        if not shards:
            return {}
        (values,) = await self._client.run(("HMGET", self._keys["fences"], *shards))
        numbers = zip(shards, self._client.checked(values), strict=True)
        return {shard: int(number) if number is not None and number.isdigit() else 0 for shard, number in numbers}

    def fence(self, shard: int) -> int:
        return self.held[shard].fence

    def holds(self, shard: int) -> bool:
        """Return whether this process may rely on its lease. Ask before every request to a host."""
        lease = self.held.get(shard)
        return lease is not None and self._clock() < lease.until

    async def _call(self, steps: Sequence[tuple[str, int, int]]) -> list[int]:
        if not steps:
            return []
        keys = [self._keys[name] for name in ("fences", "lease-era", "lease-hush")]
        keys += [self._keys.of("lease", shard) for _, shard, _ in steps]
        if not self._client.server:
            await self._client.run(("PING",))
        server = self._client.server
        words: list[str | int] = [self._holder, int(1000 * SECONDS), int(1000 * self._wall()), server]
        words += [secrets.token_hex(8), *[word for step in steps for word in step]]
        answers: list[int] = await self._client.call("leases", keys, words, server)
        return answers
