"""Whether a crawl on many machines is at its end: exactly, never too early, and always in the end.

All shards are idle, and each has durably taken everything that the others had sent when they said so. The statements
need not be of one moment. A shard at rest wakes only by a batch. Take the first shard that woke after its statement:
the batch that woke it is of a frame after the sender's statement, so the sender had woken before, or of a frame before
that statement, and then the watermarks differ. This is vector counting (Mattern 1987); it needs watermarks that
never move back within an incarnation, and statements that are written as a whole.
"""

from collections.abc import Mapping

from windrow.records import Watermark
from windrow.shards.messages import Standing
from windrow.shards.transport import Survey


def all_idle(standings: Mapping[int, Standing], shards: int) -> bool:
    """Return whether it is worth looking closer."""
    return len(standings) == shards and all(standing.idle for standing in standings.values())


def reached(survey: Survey, shards: int) -> bool:
    """Return whether the crawl is at its end."""
    if not all_idle(survey.standings, shards):
        return False
    return all(
        _level(survey, sender, receiver) for sender in range(shards) for receiver in range(shards) if sender != receiver
    )


def incarnations(survey: Survey, shards: int) -> tuple[int, ...]:
    """Return the incarnations of all shards, by their number."""
    return tuple(survey.standings[shard].incarnation for shard in range(shards))


def seen(standings: Mapping[int, Standing], shards: int) -> bool:
    """Return whether a shard has seen the end, and no shard has started again since."""
    ended = [standing.ended for standing in standings.values() if standing.ended]
    if not ended:  # nodes ask this of thousands of shards every second
        return False
    return tuple(standings[shard].incarnation if shard in standings else 0 for shard in range(shards)) in ended


def _level(survey: Survey, sender: int, receiver: int) -> bool:
    hello, ack = survey.hellos.get((sender, receiver)), survey.acks.get((sender, receiver))
    if hello is None or ack is None:
        return False
    current = (
        hello.incarnation == survey.standings[sender].incarnation
        and ack.incarnation == survey.standings[receiver].incarnation
    )
    return current and ack.mark == Watermark(hello.incarnation, hello.tail)
