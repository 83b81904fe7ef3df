"""The driver: leases hosts from the frontier, starts visits, commits, and ends the crawl.

One asyncio process. A visit (`crawler/visit.py`) is a coroutine at one host; the life of a page (`crawler/page.py`)
starts within a visit and may outlast it. Everything that depends on the order of pages runs in the recorder, one page
after another. Only syncing files runs beside the loop, in a thread.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from windrow import log, origin
from windrow.config import Config
from windrow.crawler import ending, lives, recover, seedlist
from windrow.crawler.cadence import Cadence
from windrow.crawler.checks import check_contact as check_contact
from windrow.crawler.checks import check_judges as check_judges
from windrow.crawler.ending import Ending as Ending
from windrow.crawler.ending import RunState, Sums
from windrow.crawler.exchanging import Exchanging, Sides
from windrow.crawler.guest import Guest
from windrow.crawler.machine import network, state
from windrow.crawler.machine.clock import Clock, nap
from windrow.crawler.machine.disk import Disk
from windrow.crawler.machine.inflight import InFlight
from windrow.crawler.machine.network import Network, Watch
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.orders import take
from windrow.crawler.orders.take import Orders, Parts
from windrow.crawler.orders.takedown import TakedownFile
from windrow.crawler.record import Recorder
from windrow.crawler.visit import Stations
from windrow.crawler.visits import Visits
from windrow.crawler.workers.pool import Pool
from windrow.fetch.client import Client
from windrow.fetch.resolve import Resolver
from windrow.frontier.policy.scope import Scope
from windrow.origin.soft404 import Probes
from windrow.records import Grant, Kind, Made, Reason, Receipt, Report, Task

_T = TypeVar("_T")

_LAST_CALL = 20.0  # seconds that requests in flight get to finish when the crawl is stopped


class Crawl:
    """A running crawl. `run` makes it; one run per process and directory."""

    def __init__(
        self,
        directory: Path,
        start: take.StartOptions,
        resumed: recover.Resumed,
        clock: Clock,
        neighbours: Neighbours | None = None,
        guest: Guest | None = None,
    ) -> None:
        self._options = options = take.effective(start, resumed.frontier.controls(), directory)
        self._clock = clock
        self._started = clock.now()
        self._frontier = resumed.frontier
        self._disk = Disk(directory, options.crawl.min_free_bytes)
        self._recorder = Recorder(directory, options, resumed, self._disk, neighbours)
        self._recorder.watch = self._recorded
        self._recorder.failed = self._break
        self._takedown = TakedownFile(directory)
        self._in_flight = InFlight(options.crawl, self._disk, lambda: self._cadence.ask())
        self._cadence = Cadence(self._recorder.commits, self._in_flight, clock.now, self._committed)
        resolver, client = Resolver(options.fetch, options.identity), Client(options.fetch, options.identity)
        self._network = Network(options, clock, resolver, Watch(self._network_changed, self._break))
        self._fresh = not resumed.seq  # no earlier run got an answer
        self._stations = Stations(
            options=options,
            clock=clock,
            frontier=self._frontier,
            scope=Scope(options.scope, self._takedown.read()),
            probes=Probes(options, origin.SOFT_404),
            in_flight=self._in_flight,
            network=self._network,
            resolver=resolver,
            client=client if guest is None else guest.client(client),
            pool=Pool(options),
            recorder=self._recorder,
            disk=self._disk,
            others=neighbours,
        )
        self.orders = Orders(directory, start, Parts(resumed.frontier, self._recorder, self._stations, self))
        self._visits = Visits(self._stations, lives.life if guest is None else guest.life, self._ended)
        self._guest, self._neighbours = guest, neighbours
        self.tally = log.Tally()  # of this run
        self._sums = Sums(self.tally)
        self._wake = asyncio.Event()
        self._exchanging: Exchanging | None = None
        if neighbours is not None:
            neighbours.lost, neighbours.regained = self._break, self._wake.set
            self._exchanging = Exchanging(neighbours, self._sides())
        self._stopping = ""
        self._broken: BaseException | None = None
        self.note: Callable[[str], None] = lambda text: None  # called with what the operator must know
        self.watch: Callable[[Report], None] | None = None  # called with every outcome

    async def run(self, tasks: list[Task]) -> Ending:
        """Crawl from these seeds and from the URLs that wait already, until the end."""
        self._recorder.start()
        committer = asyncio.create_task(self._commit_often())
        try:
            await self._stations.pool.start()
            await self._frontier.configure(self._options)  # it was opened before the orders in the log were known
            self._sums.before = await self._frontier.counts()
            await self._add_seeds(tasks)
            await self.orders.begin()
            if self._exchanging is not None:
                self._exchanging.start(self._ended)
            await self._work()
            await self._finish_visits()
        except Exception as error:  # after a failed commit other things fail too: the first error says why
            self._break(error)
        finally:
            if self._exchanging is not None:
                await self._exchanging.finish()
            self._cadence.stop()
            await committer  # not cancelled: a frame that was cut has to be written
            end = await self._end()
        if self._broken is not None:
            raise self._broken
        return end

    @property
    def stopping(self) -> bool:
        return bool(self._stopping)

    async def carry_out(self, act: Callable[[], Awaitable[None]]) -> None:
        """Carry out an order, or a part of it, between two frames, and commit it."""
        await self._cadence.between(act)
        self._wake.set()

    async def configure(self, options: Config) -> None:
        """Use these options from now on, as far as they can change while a crawl runs."""
        self._options = options
        self._in_flight.limits = options.crawl
        self._disk.least = options.crawl.min_free_bytes
        await self._frontier.configure(options)
        self._in_flight.wake()
        self._wake.set()

    def stop(self, why: str = "stopped") -> None:
        """Ask for a clean end; asked twice, give up the requests in flight."""
        if self._stopping:
            self._visits.cancel()
        self._disk.patient = self._disk.patient and why not in ("stopped", "broken")
        self._stopping = self._stopping or why
        if self._neighbours is not None:
            self._neighbours.leave()
        self._wake.set()
        self._in_flight.stop()

    # Leasing

    async def _add_seeds(self, tasks: list[Task]) -> None:
        kept = seedlist.choose(tasks, self._stations.scope, self._options, self.tally.refused, self.note)
        if self._neighbours is not None:
            kept = list(self._neighbours.territory.divide(kept)[0])
        await self.add(kept)

    async def _work(self) -> None:
        """Lease hosts and start visits until nothing is left or a limit is reached."""
        while not self._stopping:
            self._wake.clear()
            now = self._clock.now()
            self._check_limits(now)
            grant = await self._lease(now)
            for lease in grant.leases:
                self._visits.begin(lease)
            self._settle(grant.again)
            idle = grant.again is None and self._visits.over and not self.orders.pending()
            if (asked := self._exchanging or self._guest) is not None:  # whether it is the end
                if idle and not asked.idle:
                    self._cadence.ask()
                asked.idle = idle
            elif idle:
                self._stopping = "done"
            if not self._stopping:
                await self._nap(1.0 if grant.again is None else grant.again - self._clock.now())

    def _settle(self, again: float | None) -> None:
        """Decide on the pages whose answers are held back, if no other page will be read meanwhile."""
        faults, in_flight = self._stations.pool.faults, self._in_flight
        alone = self._visits.over and again in (None, math.inf)
        full = in_flight.waiting and in_flight.urls <= faults.held
        if faults.held and (alone or full):
            faults.settle(self._sums.elsewhere.pages)

    async def _lease(self, now: float) -> Grant:
        pause = self._disk.paused or self.orders.controls.paused or self._network.offline or self._stopping
        pause = pause or (self._neighbours is not None and not self._neighbours.may_work)
        free = 0 if pause or self._in_flight.enough() else self._options.fetch.connections - len(self._visits)
        if free <= 0:
            return Grant((), math.inf)
        try:
            grant = await self._frontier.lease(free, now)
        except OSError as error:
            self._disk.hold(error)
            return Grant((), math.inf)
        self._note_closings(grant)
        return grant

    def _ended(self, error: BaseException | None) -> None:
        """A task of a visit is over."""
        if error is not None:
            self._break(error)
        self._wake.set()

    def _check_limits(self, now: float) -> None:
        limit = self._sums.reached(self._options.crawl, now - self._started)
        if limit:
            self.stop(limit)
        elif self._in_flight.enough() and not self._visits:
            self._stopping = "pages"

    async def _nap(self, seconds: float) -> None:
        """Wait until something happens, at most this long and never past the time limit."""
        if self._options.crawl.max_seconds:
            seconds = min(seconds, self._started + self._options.crawl.max_seconds - self._clock.now())
        await nap(self._wake, seconds)

    def _network_changed(self, since: float, resigned: bool) -> None:
        self._recorder.commits.note_offline(since)
        self.note(network.describe(since) or "the wait for the network is over")
        reached = self._neighbours is not None and self._neighbours.reached  # then the hosts of this shard are gone
        if resigned and self._fresh and not self.tally.captures and not reached:  # rather than close every host
            return self.stop("offline")
        self._wake.set()

    def _break(self, error: BaseException | None) -> None:
        """End the crawl after an unforeseen error; of several, the first says why."""
        self._broken = self._broken or error
        self.stop("broken")

    # Other shards

    def _sides(self) -> Sides:
        return Sides(
            frontier=self._frontier,
            stations=self._stations,
            cadence=self._cadence,
            admitted=self._admitted,
            made=self._sums.own,
            heard=self._hear,
            end=self._end_of_all,
        )

    def _hear(self, elsewhere: Made) -> None:
        self._sums.elsewhere, self._in_flight.elsewhere = elsewhere, elsewhere.pages
        self._wake.set()

    async def add(self, tasks: list[Task]) -> list[Task]:
        """Admit URLs from outside while the crawl runs; return those that were new."""
        admitted = await self._recorder.add(tasks)
        self._admitted(admitted)
        return admitted

    def _admitted(self, tasks: list[Task]) -> None:
        self.tally.seen += len(tasks)
        self._wake.set()

    def _end_of_all(self) -> None:
        self._stopping = self._stopping or "done"
        self._wake.set()

    # Recording

    def _recorded(self, receipt: Receipt) -> None:
        """Take note of what the recorder got back from the frontier."""
        for entry in receipt.entries:
            report = entry.report
            if report.task.kind is not Kind.RESOLVE or report.reason is not Reason.OK:
                self.tally.add(entry)
                if self.watch is not None:
                    self.watch(report)
        self._note_closings(receipt)
        self._cadence.noted()
        self._wake.set()

    def _note_closings(self, reply: Grant | Receipt) -> None:
        for closing in reply.closings:
            self._visits.close(closing)

    async def _commit_often(self) -> None:
        try:
            await self._cadence.run()
        except Exception as error:
            self._break(error)

    async def _committed(self) -> None:
        """Obey what has changed beside the crawl, between two commits."""
        self._stations.scope.obey(self._takedown.follow(self._stations.scope.takedown))
        await self.orders.take()
        if self._stations.pool.faults.held:
            self._wake.set()
        if self._disk.look():
            self._in_flight.wake()
            self._wake.set()

    # The end

    async def _finish_visits(self) -> None:
        self._network.stop()
        self._stations.pool.faults.give_back()
        end = self._clock.now() + _LAST_CALL
        await self._visits.finish(lambda: end - self._clock.now() if self._broken is None else 0.0)

    async def _end(self) -> Ending:
        try:
            if self._broken is None:
                await self._cadence.commit(checkpoint=True)
                if self._neighbours is None or self._neighbours.may_commit():
                    self._recorder.save()
            await self._recorder.stop()
            counts = await self._frontier.counts()
        finally:
            await self._stations.pool.close()
            self._stations.client.close()
            self._recorder.close()
            await self._frontier.close()
        return Ending(self._stopping, self._clock.now() - self._started, self.tally, counts)

    async def progress(self) -> RunState:
        """Return what the display shows besides the tally."""
        counts = await self._frontier.counts()
        full = "the disk is nearly full: waiting for space" if self._disk.paused else ""
        paused = self.orders.pause() or full or network.describe(self._network.offline)
        return RunState(counts, paused, ending.goal(self._options.crawl, counts), state.look(self._stations))
