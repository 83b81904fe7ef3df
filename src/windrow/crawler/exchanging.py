"""What runs beside the crawl of a shard: the exchange of links, the sharing of addresses, and the end of all shards."""

import asyncio
import contextlib
from collections.abc import Callable

import msgspec

from windrow import origin
from windrow.crawler import file
from windrow.crawler.cadence import Cadence
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.visit import Stations
from windrow.frontier import Sharing
from windrow.records import Made, Task


class Sides(msgspec.Struct, frozen=True):
    """The parts of a crawl that the exchange touches."""

    frontier: Sharing
    stations: Stations
    cadence: Cadence
    admitted: Callable[[list[Task]], None]  # called with new links of other shards, and after news of addresses
    made: Callable[[], Made]  # what this process has made
    heard: Callable[[Made], None]  # called with what others have made, when that has changed
    end: Callable[[], None]


class Exchanging:
    """Talks to the other shards, admits what they send, and ends the crawl when all of them are at their end."""

    def __init__(self, neighbours: Neighbours, sides: Sides) -> None:
        self.idle = False  # the crawl has no work
        self._neighbours = neighbours
        self._sides = sides
        self._soon = asyncio.Event()
        self._over = False
        self._ended = False  # all shards are at their end, and this one has said so
        self._running: asyncio.Task[None] | None = None
        self._heard = Made()
        sides.cadence.committed = self._committed

    def start(self, over: Callable[[BaseException | None], None]) -> None:
        """Talk to the other shards from now on; `over` is called when that ends, with the error that ended it."""
        self._running = asyncio.create_task(self.run())
        self._running.add_done_callback(lambda done: over(None if done.cancelled() else done.exception()))

    async def finish(self) -> None:
        """Say the last word, and end."""
        self._over = True
        self._soon.set()
        if self._running is not None:
            await asyncio.wait((self._running,))

    def _committed(self) -> None:
        """Talk soon if the end of the crawl may wait for this commit. A shard with work talks often enough anyway."""
        if self.idle:
            self._soon.set()

    async def run(self) -> None:
        """Do all of it until `finish`."""
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
        """Run until it is cancelled: if it ended alone, `run` would cut off the last word of `_talk`."""
        while True:
            news = await self._neighbours.addresses()
            await self._sides.frontier.addresses(news.granted, news.lost, news.wanted)
            self._sides.admitted([])

    async def _talk(self) -> None:
        while not self._over:
            self._soon.clear()
            pause = await self._round()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._soon.wait()
        if not self._ended:  # others may need this to see that a limit is reached
            await self._call(idle=False)

    async def _round(self) -> float:
        neighbours, sides = self._neighbours, self._sides
        idle = self.idle and not sides.stations.recorder.commits.pending and not neighbours.territory.asked
        pause = await self._call(idle)
        await self._serve()
        arrival = neighbours.arrived()
        if arrival is not None:
            self.idle = False
            admitted = await sides.stations.recorder.take_in(arrival)
            sides.admitted(admitted)
            if not admitted:  # the end of the crawl may wait for this; new links are committed with their first pages
                sides.cadence.now()
        elif idle and await neighbours.ended():
            self._ended = True
            sides.end()
        return pause

    async def _serve(self) -> None:
        """Begin what other shards need, and learn from their answers to what this one needs."""
        stations = self._sides.stations
        errands, answers = self._neighbours.errands(), self._neighbours.answers()
        for task in errands:
            await self._sides.frontier.run_errand(task)
        for answer in answers:
            known = await self._sides.frontier.origin(origin.needed_by(answer.task))
            await file.learn_elsewhere(answer, known, stations)
        if errands or answers:
            self._sides.admitted([])

    async def _call(self, idle: bool) -> float:
        pause = await self._neighbours.call(idle, await self._sides.stations.frontier.counts(), self._sides.made())
        if self._neighbours.elsewhere != self._heard:
            self._heard = self._neighbours.elsewhere
            self._sides.heard(self._heard)
        return pause
