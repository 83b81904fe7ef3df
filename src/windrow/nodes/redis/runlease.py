"""Which `windrow crawl` runs a job: one at a time.

Nodes have a lease for each shard. `windrow crawl` has none: the locks of its directories keep a second one away. But a
copy of the directory has locks of its own, and belongs to the same job: with the same Redis both would request every
host, and neither would see the end, because each speaks for the same shards.
"""

import os
import platform
import secrets
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.inspect import status
from windrow.nodes.redis.client import Command, RedisClient
from windrow.nodes.redis.keys import Keys
from windrow.nodes.redis.leases import SECONDS


class RunHolder(msgspec.Struct, frozen=True):
    """A process that runs a job."""

    id: str
    host: str
    pid: int
    directory: str

    @property
    def is_here(self) -> bool:
        """Whether it can be seen from here whether the process runs."""
        return self.host == platform.node()

    @property
    def is_gone(self) -> bool:
        """Whether it was killed, as far as that can be seen from here."""
        return self.is_here and not status.process_exists(self.pid)


class RunLease:
    """The lease of one process. It expires; every method may raise Unavailable: call it again later."""

    def __init__(self, client: RedisClient, job: str, directory: Path) -> None:
        self._client = client
        self._key = Keys(job)["run"]
        self._own = RunHolder(secrets.token_hex(8), platform.node(), os.getpid(), str(directory.resolve()))

    async def take(self) -> RunHolder | None:
        """Take the job, or renew that; return the process that has it instead."""
        data = msgspec.json.encode(self._own)
        _, owner = await self._run(("SET", self._key, data, "NX", "PX", _life()), ("GET", self._key))
        holder = _holder(owner)
        if holder == self._own:
            await self._run(("PEXPIRE", self._key, _life()))
        elif holder is None or holder.is_gone:
            await self._run(("SET", self._key, data, "PX", _life()))
        else:
            return holder
        return None

    async def give(self) -> None:
        (owner,) = await self._run(("GET", self._key))
        if _holder(owner) == self._own:
            await self._run(("DEL", self._key))

    def refusal(self, holder: RunHolder) -> ConfigError:
        return ConfigError(
            f"{self._own.directory} has the same job as {holder.directory} on {holder.host}, which is being crawled "
            f"(process {holder.pid}, Redis at {self._client.place}); crawl only one of the copies, or give this one "
            "another --redis"
        )

    async def _run(self, *commands: Command) -> list[bytes | None]:
        return [self._client.checked(answer) for answer in await self._client.run(*commands)]


def _life() -> int:
    return int(1000 * SECONDS)


def _holder(data: bytes | None) -> RunHolder | None:
    """Return what is there; None if it is of another program."""
    try:
        return msgspec.json.decode(data, type=RunHolder) if data is not None else None
    except ValueError:
        return None
