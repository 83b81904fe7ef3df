"""What nodes did with a job, as events: a capped log in Redis, lines of JSON on a node's standard output.

Events are for people and for tools that collect logs. Nothing is decided by them, and Redis may lose them.
"""

import contextlib
import time
from typing import Any, Literal

import msgspec

from windrow.nodes.redis.registry import Registry
from windrow.shards.transport import Unavailable
from windrow.units import moment, printable

Kind = Literal[
    "started",  # a shard's process
    "died",
    "restarted",  # a shard's process, after a death
    "ended",  # a shard's process, cleanly
    "lease-taken",
    "lease-lost",
    "lease-given",
    "order",  # was carried out
    "limit",  # of the job was reached
    "shard-lost",  # a shard begins empty, because its data directory has vanished
    "put-back",  # the job, after Redis had lost it
    "joined",  # a node
    "left",  # a node
    "note",  # anything else that the operator must know
]
LONGEST = 2000  # characters of a text


class ClusterEvent(msgspec.Struct, frozen=True):
    """One thing that a node did, or saw."""

    time: float  # epoch seconds, of the node's clock
    node: str
    text: str  # one sentence
    job: str = ""
    shard: int = -1  # -1: it is about the node, or about the whole job
    kind: Kind = "note"


def make(node: str, kind: Kind, text: str, job: str = "", shard: int = -1) -> ClusterEvent:
    """Return an event of now."""
    short = " ".join(text.split())[:LONGEST]
    return ClusterEvent(time=round(time.time(), 3), node=node, text=short, job=job, shard=shard, kind=kind)


def line(event: ClusterEvent) -> str:
    """Return an event as a line of JSON, without its end."""
    return msgspec.json.encode(event).decode()


def describe(event: ClusterEvent) -> str:
    """Return an event as a line for people."""
    shard = "" if event.shard < 0 else f"  shard {event.shard}"
    kind = "" if event.kind == "note" else f"{event.kind}: "
    return printable(f"{moment(event.time)}  {event.node}{shard}  {kind}{event.text}")


async def publish(registry: Registry, event: ClusterEvent) -> None:
    """Append an event to the log of its job. Without Redis it is dropped: the node has written it to its own output."""
    with contextlib.suppress(Unavailable):
        await registry.event(event.job, msgspec.to_builtins(event))


def read(fields: dict[str, Any]) -> ClusterEvent:
    """Return an event of the log; one that another version wrote keeps its text."""
    try:
        return msgspec.convert(fields, ClusterEvent)
    except msgspec.ValidationError:
        return ClusterEvent(0.0, str(fields.get("node", "?")), text=str(fields.get("text") or fields))
