"""How often the shards of a job talk, and how often nodes look.

Every shard has something to say to every other one, so the work of Redis per round grows with the square of the number
of shards. Above FEW of them the rounds are further apart, and the work per second grows with their number only.
Nodes look once per second, and many of them together LOOKS times per second, until each is at SLOWEST: a node must give
a sign of life several times while it counts as alive.
"""

FEW = 32
LOOKS = 250  # per second, of all nodes
SLOWEST = 4.0  # seconds between two looks of a node


def factor(shards: int) -> float:
    """Return by how much all times between two calls, and all patience for answers, are longer."""
    return max(1.0, shards / FEW)


def between_looks(nodes: int) -> float:
    """Return the seconds between two looks of each of so many nodes."""
    return min(max(1.0, nodes / LOOKS), SLOWEST)
