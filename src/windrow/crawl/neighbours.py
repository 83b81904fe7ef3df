"""The other shards of a crawl on many machines, as the crawl of one shard sees them.

`windrow.cluster` implements `Neighbours`; a crawl on one machine has none. Links to the domains of other shards are in
the frames of this shard's log, so nothing that is said here has to arrive: it is said again.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec

from windrow.crawl.commit import OtherShards
from windrow.data import Arrival, Counts, Exchanged, Made
from windrow.frontier import Gate, Territory


class Addresses(msgspec.Struct, frozen=True):
    """Addresses that this shard may use, each from which time on, and others that it may not use any more."""

    granted: dict[str, float]
    lost: list[str]


class Neighbours(OtherShards, Protocol):
    """What the crawl of a shard needs of the others."""

    note: Callable[[str], None]  # called with what the operator must know

    # The frontier
    @property
    def territory(self) -> Territory: ...
    def start(self, now: Callable[[], float]) -> None: ...  # first of all: the crawl's clock
    @property
    def gate(self) -> Gate | None: ...  # None: no address has hosts of two shards

    def begin(self, exchanged: Exchanged) -> None: ...  # before the first frame: what the log says

    # The crawl
    def arrived(self) -> Arrival | None: ...  # everything that has arrived since the last time
    async def call(self, idle: bool, counts: Counts, made: Made) -> float: ...  # talk; seconds until the next call
    @property
    def elsewhere(self) -> Made: ...  # what the other shards have made, as far as they have said so
    async def ended(self) -> bool: ...  # whether all shards are at their end; only for a shard that is idle
    def may_use(self, address: str) -> bool: ...  # whether a request to it may be sent now
    async def addresses(self) -> Addresses: ...  # returns when there is news
