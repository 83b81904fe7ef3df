"""The record of a job: what all its shards must agree on. Several jobs share a server under keys of their own."""

import importlib.metadata
import re
import secrets
from collections.abc import Sequence

import msgspec

import windrow
from windrow.config import ConfigError
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.keys import JOBS, Keys
from windrow.shards import messages

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class ClusterJob(msgspec.Struct, frozen=True):
    """A crawl on many machines. Every shard directory keeps a copy: Redis may lose it."""

    name: str
    id: str  # random: two crawls of one name are not mistaken for each other
    shards: int
    options: str  # digest of the options that decide what is crawled
    created: float  # epoch seconds
    format: int = messages.FORMAT
    windrow: str = windrow.__version__
    suffixes: str = ""  # version of the public suffix list: it decides which domain a host belongs to


def make(name: str, shards: int, options: str, now: float) -> ClusterJob:
    """Return the record of a new job."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is no name of a job; use up to 64 letters, digits, dots, hyphens and underscores")
    if not 1 <= shards <= 4096:
        raise ConfigError(f"{shards} shards cannot be used; a job has 1 to 4096 of them")
    return ClusterJob(
        name,
        secrets.token_hex(8),
        shards=shards,
        options=options,
        created=now,
        suffixes=importlib.metadata.version("publicsuffixlist"),
    )


async def put_back(client: RedisClient, record: ClusterJob) -> ClusterJob:
    """Write a record where Redis has none; return the one that is there now."""
    key = Keys(record.name)["job"]
    answers = await client.run(
        ("SET", key, msgspec.json.encode(record), "NX"), ("SADD", JOBS, record.name), ("GET", key)
    )
    return decoded(client.place, record.name, [client.checked(answer) for answer in answers][-1])


async def read(client: RedisClient, name: str) -> ClusterJob:
    """Return the record of a job; ConfigError if there is none."""
    answers = await client.run(("GET", Keys(name)["job"]), ("SMEMBERS", JOBS))
    data, others = [client.checked(answer) for answer in answers]
    if data is None:
        names = ", ".join(sorted(other.decode("utf-8", "replace") for other in others))
        none = "none; make one with: windrow cluster create JOB --config crawl.toml"
        raise ConfigError(f"there is no job {name!r} at {client.place}; the jobs there are: {names or none}")
    return decoded(client.place, name, data)


def decoded(address: str, name: str, data: bytes) -> ClusterJob:
    """Return the record behind these bytes; ConfigError if they are not one."""
    try:
        return msgspec.json.decode(data, type=ClusterJob)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ConfigError(
            f"the record of the job {name!r} at {address} cannot be read ({error}); "
            "another program or a newer Windrow wrote it"
        ) from None


def check(there: ClusterJob, own: ClusterJob, address: str) -> None:
    """Refuse to work on a job with a directory or a Windrow that does not fit it. `there`: the job as Redis has it."""
    job = f"the job {there.name!r} at {address}"
    if there.id != own.id:
        raise ConfigError(
            f"{job} is another crawl than that of this directory; use its own directory, or another Redis or name"
        )
    if there.shards != own.shards:
        raise ConfigError(f"{job} has {there.shards} shards, this directory is of one with {own.shards}")
    if there.options != own.options:
        raise ConfigError(f"{job} has other options than this directory; use the crawl.toml of the job")
    if there.format != messages.FORMAT:
        raise ConfigError(
            f"{job} speaks format {there.format}, this Windrow {messages.FORMAT}; use Windrow {there.windrow}"
        )
    suffixes = importlib.metadata.version("publicsuffixlist")
    if there.suffixes != suffixes:
        raise ConfigError(
            f"{job} divides domains by the public suffix list {there.suffixes}, and this machine has {suffixes}; "
            f"install publicsuffixlist=={there.suffixes}"
        )


async def names(client: RedisClient) -> list[str]:
    """Return the names of all jobs."""
    (names,) = await client.run(("SMEMBERS", JOBS))
    return sorted(name.decode("utf-8", "replace") for name in client.checked(names))


async def forget(client: RedisClient, name: str) -> int:
    """Remove everything that Redis has of a job; return how many keys. Its directories stay as they are."""
    removed, cursor = 0, b"0"
    while True:
        (answer,) = await client.run(("SCAN", cursor, "MATCH", Keys(name).pattern, "COUNT", 1000))
        cursor, keys = client.checked(answer)
        removed += await _unlink(client, keys)
        if cursor == b"0":
            break
    await client.run(("SREM", JOBS, name))
    return removed


async def _unlink(client: RedisClient, keys: Sequence[bytes]) -> int:
    if not keys:
        return 0
    (count,) = await client.run(("UNLINK", *keys))
    return int(client.checked(count))
