"""What an operator does with a job from outside: orders, with a look at which shards took them, and its removal."""

import asyncio
import math
import time
from collections.abc import Sequence

import msgspec

from windrow import orders
from windrow.config import ConfigError
from windrow.nodes import limits
from windrow.nodes.controller import creation, overview
from windrow.nodes.controller.overview import ShardState
from windrow.nodes.redis.order import ClusterOrder
from windrow.nodes.redis.registry import Registry
from windrow.nodes.redis.state import FORGET, RUN, JobState
from windrow.records import LimitCounts, Order

POLL = 0.5  # seconds


class OrderGiven(msgspec.Struct, frozen=True):
    """An order, and which shards have taken it so far."""

    order: ClusterOrder | None = None  # None: only limits were changed
    taken: int = 0  # shards
    running: list[int] = []  # shards that run and have not taken it yet
    absent: list[int] = []  # shards that do not run: they take it when they run again
    state: JobState | None = None  # of the job, if its limits were changed


class Forgotten(msgspec.Struct, frozen=True):
    """A job that was removed from Redis."""

    name: str
    keys: int
    nodes: list[str]  # that still ran it


async def give(registry: Registry, name: str, wanted: Order, patience: float) -> OrderGiven:
    """Give an order to all shards; wait up to so many seconds for those that run."""
    order = await registry.order(name, wanted.verb, "".join(f"{value}\n" for value in wanted.values), wanted.hosts)
    end = time.monotonic() + patience
    while True:
        shards = (await overview.job(registry, name)).each
        given = _given(order, shards)
        if not given.running or time.monotonic() >= end:
            return given
        await asyncio.sleep(POLL)


async def set_options(registry: Registry, name: str, settings: Sequence[str], patience: float) -> OrderGiven:
    """Change options of a job: its limits, which are a part of its state, and others by an order to all shards."""
    own = [setting for setting in settings if setting.partition("=")[0] in limits.OPTIONS]
    others = [setting for setting in settings if setting not in own]
    state = None
    if own:
        _, spec, _ = await registry.job(name)
        state = await registry.limit(name, limits.changed(own, creation.options_of(spec)))
    given = await give(registry, name, orders.make("set", others), patience) if others else OrderGiven()
    return msgspec.structs.replace(given, state=state)


async def resume(registry: Registry, name: str) -> JobState:
    """Let a job run again; ConfigError if it has reached a limit, because nodes would stop it at once."""
    state = (await registry.jobs()).get(name)
    if state is not None and state.limit:
        goal = state.limits.get(state.limit, 0)
        job = await overview.job(registry, name)
        made = LimitCounts(job.pages, documents=job.documents, tokens=job.tokens)
        more = 2 * max(goal, math.ceil(limits.figure(state.limit, made, job.seconds)))  # a job may have far more
        raise ConfigError(
            f"the job {name!r} has reached its limit of {limits.describe(state.limit, goal)}; raise it, and the job "
            f"continues: windrow cluster set {name} crawl.max_{state.limit}={more}"
        )
    return await registry.change(name, RUN)


def _given(order: ClusterOrder, shards: Sequence[ShardState]) -> OrderGiven:
    late = [shard for shard in shards if shard.order < order.number]
    return OrderGiven(
        order,
        len(shards) - len(late),
        running=[shard.shard for shard in late if shard.running],
        absent=[shard.shard for shard in late if not shard.running],
    )


async def forget(registry: Registry, name: str, force: bool, patience: float) -> Forgotten:
    """Remove all keys of a job. ConfigError while nodes run it; with `force` they end it first, if they can."""
    nodes = await _runners(registry, name)
    if nodes and not force:
        raise ConfigError(
            f"the job {name!r} is run by {', '.join(nodes)}; stop it first with: windrow cluster stop {name}, "
            "or add --force"
        )
    if nodes and name in await registry.jobs():
        await registry.change(name, FORGET)
        end = time.monotonic() + patience
        while nodes and time.monotonic() < end:
            await asyncio.sleep(POLL)
            nodes = await _runners(registry, name)
    return Forgotten(name, await registry.forget(name), nodes)


async def still_running(registry: Registry, name: str, patience: float) -> list[int]:
    """Wait up to so many seconds until no shard of a job runs; return those that still do."""
    end = time.monotonic() + patience
    while True:
        running = [shard.shard for shard in (await overview.job(registry, name)).each if shard.running]
        if not running or time.monotonic() >= end:
            return running
        await asyncio.sleep(POLL)


async def _runners(registry: Registry, name: str) -> list[str]:
    return (await overview.job(registry, name)).nodes
