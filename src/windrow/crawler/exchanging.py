"""What runs beside the crawl of a shard: the exchange of links, the sharing of addresses, and the end of all shards."""

import asyncio
import contextlib

from windrow.crawler import file
from windrow.crawler.ending import Sums
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.observer import Running
from windrow.crawler.session import Session


class Exchanging:
    """Talks to the other shards, admits what they send, and ends the crawl when all of them are at their end."""

    def __init__(self, neighbours: Neighbours, session: Session, sums: Sums, crawl: Running) -> None:
        self.idle = False  # the crawl has no work
        self._neighbours = neighbours
        self._session = session
        self._sums = sums
        self._crawl = crawl
        self._soon = asyncio.Event()
        self._over = False
        self._ended = False  # all shards are at their end, and this one has said so
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Talk to the other shards from now on."""
        self._running = asyncio.create_task(self.run())
        self._running.add_done_callback(self._crawl.ended)

    async def finish(self) -> None:
        """Say the last word, and end."""
        self._over = True
        self._soon.set()
        if self._running is not None:
            await asyncio.wait((self._running,))

    def committed(self) -> None:
        """Talk soon if the end of the crawl may wait for this commit. A shard with work talks often enough anyway."""
        if self.idle:
            self._soon.set()

    async def run(self) -> None:
        """Do all of it until `finish`."""
        parts = [asyncio.create_task(part) for part in (self._talk(), self._share(), self._keep())]
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
            await self._session.frontier.addresses(news.granted, news.lost, news.wanted)
            self._crawl.wake()

    async def _keep(self) -> None:
        """Let the crawl continue when it may send requests again; end it when another process has this shard."""
        while True:
            await self._neighbours.regained()
            self._crawl.wake()

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
        neighbours, recorder = self._neighbours, self._session.recorder
        idle = self.idle and not recorder.commits.pending and not neighbours.territory.asked
        pause = await self._call(idle)
        await self._serve()
        arrival = neighbours.arrived()
        if arrival is not None:
            self.idle = False
            admitted = await recorder.take_in(arrival)
            self._sums.tally.seen += len(admitted)
            self._crawl.wake()
            if not admitted:  # the end of the crawl may wait for this; new links are committed with their first pages
                self._session.cadence.now()
        elif idle and await neighbours.ended():
            self._ended = True
            self._crawl.finish("done")
        return pause

    async def _serve(self) -> None:
        """Begin what other shards need, and learn from their answers to what this one needs."""
        errands, answers = self._neighbours.errands(), self._neighbours.answers()
        for task in errands:
            await self._session.frontier.run_errand(task)
        for answer in answers:
            await file.learn_elsewhere(answer, self._session)
        if errands or answers:
            self._crawl.wake()

    async def _call(self, idle: bool) -> float:
        sums = self._sums
        pause = await self._neighbours.call(idle, await self._session.frontier.counts(), sums.own())
        if self._neighbours.elsewhere != sums.elsewhere:
            sums.elsewhere = self._neighbours.elsewhere
            self._session.in_flight.elsewhere = sums.elsewhere.pages
            self._crawl.wake()
        return pause
