"""The other shards of a crawl on many machines, as the crawl of one shard sees them.

`windrow.nodes` implements `Neighbours`; a crawl on one machine has none. Links to the domains of other shards are in
the frames of this shard's log, so nothing that is said here has to arrive: it is said again.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec

from windrow.crawler.recording.commit import OtherShards, Permit
from windrow.frontier import Gate, Territory
from windrow.records import Arrival, Capture, Counts, Exchanged, Failure, LimitCounts, Task


class Addresses(msgspec.Struct, frozen=True):
    """Addresses that this shard may use, each from which time on, and others that it may not use any more."""

    granted: dict[str, float]
    lost: list[str]
    wanted: list[str]  # that this shard has, and should give if it has no lease there: others wait


class Neighbours(OtherShards, Permit, Protocol):
    """What the crawl of a shard needs of the others."""

    # The frontier
    @property
    def territory(self) -> Territory: ...
    def start(self, now: Callable[[], float]) -> None: ...  # first of all: the crawl's clock
    @property
    def gate(self) -> Gate | None: ...  # None: no address has hosts of two shards

    def begin(self, exchanged: Exchanged) -> None: ...  # before the first frame: what the log says
    @property
    def apart(self) -> bool: ...  # after `start`: an earlier process may still write to the files of this directory

    # The crawl
    def arrived(self) -> Arrival | None: ...  # everything that has arrived since the last time
    async def call(
        self, idle: bool, counts: Counts, made: LimitCounts
    ) -> float: ...  # talk; seconds until the next call
    @property
    def elsewhere(self) -> LimitCounts: ...  # what the other shards have made, as far as they have said so
    @property
    def reached(self) -> bool: ...  # whether another shard has ever got a page
    def errands(self) -> list[Task]: ...  # well-known files that other shards need, each once
    def tell(self, answer: Capture | Failure) -> None: ...  # the answer to one of these
    def answers(self) -> list[Capture | Failure]: ...  # to what `territory.asked` holds
    async def ended(self) -> bool: ...  # whether all shards are at their end; only for a shard that is idle
    @property
    def may_work(self) -> bool: ...  # whether requests may be sent now
    async def regained(self) -> None: ...  # returns when that has come back; an error if another process has the shard
    def may_use(self, address: str) -> bool: ...  # whether a request to it may be sent now
    def leave(self) -> None: ...  # the crawl was asked to end, and does not wait any more
    async def addresses(self) -> Addresses: ...  # returns when there is news
