"""What nodes look at each second of each job, for every shard; see `changes`."""

import re

from windrow.nodes.redis.changes import ChangingHash
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.keys import Keys

HOMES, DONE = "homes", "orders-done"
_HOME = re.compile(rb"\d+ ([!-~]+)")  # the number of a lease, and the id of a data directory


def homes(client: RedisClient, job: str) -> ChangingHash[int, str]:
    """Return by shard the id of the data directory that has it."""
    return ChangingHash(client, Keys(job)[HOMES], _home)


def done(client: RedisClient, job: str) -> ChangingHash[int, int]:
    """Return by shard the number of the last order that it has carried out."""
    return ChangingHash(client, Keys(job)[DONE], _done)


def _home(shard: bytes, data: bytes) -> tuple[int, str] | None:
    match = _HOME.fullmatch(data)
    return (int(shard), match[1].decode()) if shard.isdigit() and match is not None else None


def _done(shard: bytes, number: bytes) -> tuple[int, int] | None:
    return (int(shard), int(number)) if shard.isdigit() and number.isdigit() else None
