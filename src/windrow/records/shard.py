"""What the shards of one crawl say to each other and write into their logs."""

import msgspec

from windrow.records.task import Task


class LimitCounts(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What shards have made, as far as the limits of a crawl count it."""

    pages: int = 0  # of this run; a job of nodes is one run
    documents: int = 0  # over all runs
    tokens: int = 0  # words of these


class Watermark(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """How far a shard has come in the log of another shard: it has all links up to and with this frame."""

    incarnation: int = 0  # of the shard whose log it is; 0: that shard has never been heard of
    frame: int = 0


class Arrival(msgspec.Struct, frozen=True):
    """Links from other shards. The frame that admits them must say `got`."""

    tasks: tuple[Task, ...]
    got: dict[int, Watermark]  # by sender


class Exchanged(msgspec.Struct, frozen=True):
    """What the log of a shard says about the exchange with other shards: a fold over its frames, see `shards.apply`."""

    incarnations: tuple[Watermark, ...] = ()  # the latest, each with its first frame, in order
    got: dict[int, Watermark] = {}  # by sender
    tails: dict[int, int] = {}  # by receiver: the last frame with links to it
