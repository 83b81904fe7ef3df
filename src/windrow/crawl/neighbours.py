"""The other shards of a crawl on many machines, as the crawl of one shard sees them.

`windrow.cluster` implements `Neighbours`; a crawl on one machine has none. Links to the domains of other shards are in
the frames of this shard's log, so nothing that is said here has to arrive: it is said again.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from windrow.data import Arrival, Counts, Exchanged, Frame
from windrow.frontier import Territory


class Neighbours(Protocol):
    """What the crawl of a shard needs of the others."""

    @property
    def territory(self) -> Territory: ...
    @property
    def begins(self) -> int: ...  # the incarnation that the next frame must name; 0: the log has it
    def begin(self, exchanged: Exchanged) -> None: ...  # before all others: what the log says
    def committed(self, frame: Frame) -> None: ...  # a frame is durable
    def arrived(self) -> Arrival | None: ...  # everything that has arrived since the last time
    async def call(self, idle: bool, counts: Counts) -> float: ...  # talk; seconds until the next call
    async def ended(self) -> bool: ...  # whether all shards are at their end; only for a shard that is idle
    async def close(self) -> None: ...


class Rounds(msgspec.Struct, frozen=True):
    """What the exchange needs of the crawl that it runs beside."""

    idle: Callable[[], bool]  # it has no work, and nothing that is not committed
    counts: Callable[[], Awaitable[Counts]]
    admit: Callable[[Arrival], Awaitable[None]]
    end: Callable[[], None]


class Exchanging:
    """Talks to the other shards, admits what they send, and ends the crawl when all of them are at their end."""

    def __init__(self, neighbours: Neighbours, rounds: Rounds) -> None:
        self._neighbours = neighbours
        self._rounds = rounds
        self._soon = asyncio.Event()
        self._over = False

    def hurry(self) -> None:
        """Talk soon: something was committed, or the crawl came to rest."""
        self._soon.set()

    def stop(self) -> None:
        self._over = True
        self._soon.set()

    async def run(self) -> None:
        neighbours, rounds = self._neighbours, self._rounds
        while not self._over:
            self._soon.clear()
            idle = rounds.idle()
            pause = await neighbours.call(idle, await rounds.counts())
            arrival = neighbours.arrived()
            if arrival is not None:
                await rounds.admit(arrival)
            elif idle and await neighbours.ended():
                rounds.end()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._soon.wait(), pause)
