"""A group commit of the log."""

import msgspec

from windrow.records.order import Order
from windrow.records.report import Entry
from windrow.records.shard import Watermark
from windrow.records.task import Task


class Frame(msgspec.Struct, frozen=True):
    """A group commit: one gzip member of the log."""

    number: int
    time: float
    entries: tuple[Entry, ...]
    lengths: dict[
        str, int
    ]  # committed length of every other file that changed, by path relative to the crawl directory
    seeds: tuple[Task, ...] = ()  # tasks admitted from seed files, or from other shards
    in_flight: int = 0  # URLs leased and not yet acknowledged, for a reader of a running crawl's log
    orders: tuple[Order, ...] = ()  # carried out with this commit, before its seeds and entries
    offline: float = 0.0  # epoch seconds since which no host has answered and the crawl waits; 0: it does not
    # Only of a shard of a crawl on many machines, see `windrow.nodes`:
    incarnation: int = 0  # of the process that writes from this frame on; 0: the same as before
    receivers: tuple[int, ...] = ()  # the shards that links of these entries (`sent`) belong to
    got: dict[int, Watermark] = {}  # by sender: its links up to there were admitted with this frame or an earlier one
    follows: tuple[str, int] = ("", 0)  # of the first in a file: where the file before ends, whatever is written there
