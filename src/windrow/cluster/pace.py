"""How often the shards of a job talk.

Every shard has something to say to every other one, so the work of Redis per round grows with the square of the number
of shards. Above FEW of them the rounds are further apart, and the work per second grows with their number only.
"""

FEW = 32


def factor(shards: int) -> float:
    """Return by how much all times between two calls, and all patience for answers, are longer."""
    return max(1.0, shards / FEW)
