"""The driver: starts visits, commits, and ends the crawl.

One asyncio process. A visit (`crawler/visit.py`) is a coroutine at one host, and runs the lives of its pages
(`crawler/page.py`) one after another; the rest of a life may outlast it. Everything that depends on the order of pages
runs in the recorder, one page after another. Only syncing files runs beside the loop, in a thread.
"""

import asyncio
import math
from collections.abc import Callable

import msgspec

from windrow.crawler import ending, lives, stations
from windrow.crawler.ending import Ending, RunState, Sums
from windrow.crawler.exchanging import Exchanging
from windrow.crawler.guest import Guest
from windrow.crawler.machine import clock, network, state
from windrow.crawler.orders.take import Orders
from windrow.crawler.page import OwnPages
from windrow.crawler.recover import Opened, Resumed
from windrow.crawler.session import Session
from windrow.crawler.setup import seedlist
from windrow.crawler.visit import Visits
from windrow.log import Tally
from windrow.records import Kind, Reason, Receipt, Report, Task


def _nobody(*said: object) -> None:
    """Called where nobody wants to know."""


class Observer(msgspec.Struct, frozen=True):
    """Whoever started a crawl, and what is called meanwhile."""

    begun: Callable[["Crawl", Resumed], None] = _nobody  # when it is set up
    note: Callable[[str], None] = _nobody  # with what the operator must know
    outcome: Callable[[Report], None] | None = None  # with every outcome


class Crawl:
    """A running crawl. `start.run` makes it; one run per process and directory."""

    def __init__(self, opened: Opened, observer: Observer, guest: Guest | None = None) -> None:
        self.error: BaseException | None = None
        self.stopping = ""
        self.tally = Tally()  # of this run
        self._observer = observer
        self.note = observer.note
        self._wake = asyncio.Event()
        self._started = opened.clock.now()
        self._fresh = not opened.resumed.seq  # no earlier run got an answer
        self._guest = guest
        self._session = session = Session(opened, self)
        self._stations = stations.build(session, self)
        self._visits = Visits(self._stations, lives.of(guest or OwnPages()), self.ended)
        self.orders = Orders(opened, session, self)
        self._sums = Sums(self.tally)
        others = opened.neighbours
        self._exchanging = Exchanging(others, session, self._sums, self) if others is not None else None

    async def run(self, tasks: list[Task]) -> Ending:
        """Crawl from these seeds and from the URLs that wait already, until the end."""
        session = self._session
        try:
            await session.start()
            self._sums.before = await session.frontier.counts()
            await self._add_seeds(tasks)
            await self.orders.begin()
            if self._exchanging is not None:
                self._exchanging.start()
            await self._work()
            self._stations.network.stop()
            await self._visits.finish(lambda: self.error is None)
        except Exception as error:  # after a failed commit other things fail too: the first error says why
            self.broken(error)
        finally:
            if self._exchanging is not None:
                await self._exchanging.finish()
            try:
                await session.end()
            finally:
                self._stations.client.close()
        if self.error is not None:
            raise self.error
        counts = await session.frontier.counts()
        return Ending(self.stopping, session.clock.now() - self._started, self.tally, counts)

    async def _add_seeds(self, tasks: list[Task]) -> None:
        session = self._session
        chosen = seedlist.choose(tasks, session.scope, session.options, self.tally.refused, self.note)
        if session.others is not None:
            chosen = list(session.others.territory.divide(chosen)[0])
        await self.add(chosen)

    async def add(self, tasks: list[Task]) -> list[Task]:
        """Admit URLs from outside while the crawl runs; return those that were new."""
        admitted = await self._session.recorder.add(tasks)
        self.tally.seen += len(admitted)
        self.wake()
        return admitted

    async def _work(self) -> None:
        """Visit hosts until nothing is left or a limit is reached."""
        session, sums = self._session, self._sums
        while not self.stopping:
            self._wake.clear()
            now, limits = session.clock.now(), session.options.crawl
            if limit := sums.reached(limits, now - self._started):
                self.stop(limit)
            elif session.in_flight.enough() and not self._visits:
                self.finish("pages")
            again = math.inf if self.stopping else await self._visits.lease(now)
            self._visits.settle(again)
            self._note_idle(again is None and self._visits.over and not self.orders.pending())
            if not self.stopping:
                pause = 1.0 if again is None else again - session.clock.now()
                await clock.nap(self._wake, min(pause, ending.left(limits, session.clock.now() - self._started)))

    def _note_idle(self, idle: bool) -> None:
        """Take note of whether there is work. Without any, the crawl is done, unless others may still bring some."""
        asked = self._exchanging or self._guest
        if asked is not None:
            if idle and not asked.idle:
                self._session.cadence.ask()
            asked.idle = idle
        elif idle:
            self.finish("done")

    async def progress(self) -> RunState:
        """Return what the display shows besides the tally."""
        session = self._session
        counts = await session.frontier.counts()
        full = "the disk is nearly full: waiting for space" if session.disk.paused else ""
        paused = self.orders.pause() or full or network.describe(self._stations.network.offline)
        return RunState(counts, paused, ending.goal(session.options.crawl, counts), state.look(self._stations))

    # What ends the crawl

    def stop(self, why: str = "stopped") -> None:
        """Ask for a clean end; asked twice, give up the requests in flight."""
        session = self._session
        if self.stopping:
            self._visits.cancel()
        session.disk.patient = session.disk.patient and why not in ("stopped", "broken")
        if session.others is not None:
            session.others.leave()
        session.in_flight.stop()
        self.finish(why)

    def finish(self, why: str) -> None:
        """End the crawl, in which nothing is under way; of several causes, the first counts."""
        self.stopping = self.stopping or why
        self.wake()

    def broken(self, error: BaseException | None) -> None:
        """End the crawl after an unforeseen error; of several, the first says why."""
        self.error = self.error or error
        self.stop("broken")

    # What its parts say, see `observer.Running`

    def wake(self) -> None:
        self._wake.set()

    def ended(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broken(error)
        self.wake()

    def recorded(self, receipt: Receipt) -> None:
        for entry in receipt.entries:
            report = entry.report
            if report.task.kind is not Kind.RESOLVE or report.reason is not Reason.OK:
                self.tally.add(entry)
                if self._observer.outcome is not None:
                    self._observer.outcome(report)
        self._visits.note(receipt.closings)
        self._session.cadence.noted()
        self.wake()

    async def committed(self) -> None:
        """Obey what has changed beside the crawl, between two commits."""
        if self._exchanging is not None:
            self._exchanging.committed()
        self._stations.takedown.follow()
        await self.orders.take()
        if self._session.look_at_disk() or self._session.pool.faults.held:
            self.wake()

    def offline(self, since: float, resigned: bool) -> None:
        self._session.recorder.commits.note_offline(since)
        self.note(network.describe(since) or "the wait for the network is over")
        others = self._session.others
        reached = others is not None and others.reached  # then the hosts of this shard are gone
        if resigned and self._fresh and not self.tally.captures and not reached:  # rather than close every host
            self.stop("offline")
        self.wake()
