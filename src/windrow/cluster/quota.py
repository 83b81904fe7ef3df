"""How many shards each node may run: whole shards, in equal parts, and no more than a node has slots. Pure."""

from collections.abc import Sequence


def of(slots: int, everybody: Sequence[int], shards: int) -> int:
    """Return how many of `shards` a node with so many slots may hold. `everybody`: the slots of all nodes.

    The level is the lowest at which all nodes together can hold all shards: a node with few slots leaves more to the
    others. Nodes that hold fewer than their quota take shards, those that hold more give some back, so all of them
    come to rest: the quotas together are at least the number of shards, if the slots are.
    """
    return min(slots, _level(everybody, shards))


def _level(everybody: Sequence[int], shards: int) -> int:
    left, level = shards, 0
    for number, slots in enumerate(sorted(everybody)):
        nodes = len(everybody) - number  # with at least so many slots
        if left <= (slots - level) * nodes:
            return level - (-left // nodes)
        left -= (slots - level) * nodes
        level = slots
    return level
