"""What runs beside the crawl of a shard: the exchange of links, the sharing of addresses, and the end of all shards."""

import asyncio
import contextlib
from collections.abc import Callable

import msgspec

from windrow.crawl.cadence import Cadence
from windrow.crawl.neighbours import Neighbours
from windrow.crawl.record import Recorder
from windrow.data import Task
from windrow.frontier import Frontier


class Sides(msgspec.Struct, frozen=True):
    """The parts of a crawl that the exchange touches."""

    frontier: Frontier
    recorder: Recorder
    cadence: Cadence
    admitted: Callable[[list[Task]], None]  # called with new links of other shards, and after news of addresses
    end: Callable[[], None]


class Exchanging:
    """Talks to the other shards, admits what they send, and ends the crawl when all of them are at their end."""

    def __init__(self, neighbours: Neighbours, sides: Sides) -> None:
        self.idle = False  # the crawl has no work
        self._neighbours = neighbours
        self._sides = sides
        self._soon = asyncio.Event()
        self._over = False
        sides.cadence.committed = self._soon.set

    def stop(self) -> None:
        self._over = True
        self._soon.set()

    async def run(self) -> None:
        """Do all of it until `stop`."""
        parts = [asyncio.create_task(self._talk()), asyncio.create_task(self._share())]
        try:
            done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
            for part in done:
                part.result()
        finally:
            await self._end(parts)

    async def _end(self, parts: list[asyncio.Task[None]]) -> None:
        """Cancel until all are over: a cancellation that meets a timeout in a library may be taken for that."""
        self._over = True
        while left := [part for part in parts if not part.done()]:
            for part in left:
                part.cancel()
            await asyncio.wait(left, timeout=1.0)

    async def _share(self) -> None:
        while not self._over:
            news = await self._neighbours.addresses()
            await self._sides.frontier.addresses(news.granted, news.lost)
            self._sides.admitted([])

    async def _talk(self) -> None:
        while not self._over:
            self._soon.clear()
            pause = await self._round()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._soon.wait()

    async def _round(self) -> float:
        neighbours, sides = self._neighbours, self._sides
        idle = self.idle and not sides.recorder.commits.pending
        pause = await neighbours.call(idle, await sides.frontier.counts())
        arrival = neighbours.arrived()
        if arrival is not None:
            self.idle = False
            sides.admitted(await sides.recorder.take_in(arrival))
            sides.cadence.now()
        elif idle and await neighbours.ended():
            sides.end()
        return pause
