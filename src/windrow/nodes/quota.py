"""How many shards each node may run: whole shards, in equal parts, and no more than a node has room for. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

CORE_SHARDS = 4  # slots per core
SHARD_BYTES = 512 << 20  # a shard with its worker had 250 MB at work, with text


class Capacity(NamedTuple):
    """What a node can run at once."""

    slots: int  # shards, as long as all nodes together have slots for all of them
    most: int  # shards when they have not


def capacity(cores: int, memory: int) -> Capacity:
    """Return what a machine can run. More shards than it has cores for are slow, and better than a job that waits."""
    slots = CORE_SHARDS * cores
    return Capacity(slots, max(slots, memory // SHARD_BYTES))


def of(own: Capacity, everybody: Sequence[Capacity], shards: int) -> int:
    """Return how many of `shards` a node may hold. `everybody`: all nodes.

    The level is the lowest at which all nodes together can hold all shards: a node with few slots leaves more to the
    others. Nodes that hold fewer than their quota take shards, those that hold more give some back, so all of them
    come to rest: the quotas together are at least the number of shards, if the nodes have room for them.
    """
    enough = shards <= sum(node.slots for node in everybody)
    limits = [node.slots if enough else node.most for node in everybody]
    return min(own.slots if enough else own.most, _level(limits, shards))


def _level(limits: Sequence[int], shards: int) -> int:
    left, level = shards, 0
    for number, limit in enumerate(sorted(limits)):
        nodes = len(limits) - number  # with at least this limit
        if left <= (limit - level) * nodes:
            return level - (-left // nodes)
        left -= (limit - level) * nodes
        level = limit
    return level
