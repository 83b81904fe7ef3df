"""The driver: leases hosts from the frontier, starts visits, commits, and ends the crawl.

One asyncio process. A visit (`crawl/visit.py`) is a coroutine at one host; the life of a page (`crawl/page.py`) starts
within a visit and may outlast it. Everything that depends on the order of pages runs in the recorder, one page after
another. Only syncing files runs beside the loop, in a thread.
"""

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Collection, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import uvloop

from windrow import log, origin, seeds, takedown
from windrow.config import Config
from windrow.crawl import control, ending, lives, network, recover, seedlist
from windrow.crawl.checks import check_contact as check_contact
from windrow.crawl.checks import check_judges as check_judges
from windrow.crawl.checks import check_space
from windrow.crawl.clock import Clock
from windrow.crawl.control import Orders, Parts
from windrow.crawl.disk import Disk
from windrow.crawl.ending import Ending as Ending
from windrow.crawl.ending import RunState
from windrow.crawl.inflight import InFlight
from windrow.crawl.network import Network, Watch
from windrow.crawl.record import Recorder
from windrow.crawl.takedown import TakedownFile
from windrow.crawl.visit import Stations, Visit
from windrow.crawl.workers.pool import Pool
from windrow.data import Counts, Grant, Kind, Lease, Reason, Receipt, Report, Task
from windrow.fetch.client import Client
from windrow.fetch.resolve import Resolver
from windrow.frontier import Frontier
from windrow.frontier.policy.scope import Scope
from windrow.origin.soft404 import Probes

_T = TypeVar("_T")

_LAST_CALL = 20.0  # seconds that requests in flight get to finish when the crawl is stopped
_HURRY = 0.2  # seconds after which a commit makes room for visits that wait


class Crawl:
    """A running crawl. `run` makes it; one run per process and directory."""

    def __init__(self, directory: Path, start: control.StartOptions, resumed: recover.Resumed, clock: Clock) -> None:
        self._options = options = control.effective(start, resumed.frontier.controls(), directory)
        self._clock = clock
        self._started = clock.now()
        self._frontier: Frontier = resumed.frontier
        self._disk = Disk(directory, options.crawl.min_free_bytes)
        self._recorder = Recorder(directory, options, resumed, self._disk)
        self._recorder.watch = self._recorded
        self._recorder.failed = self._break
        self._takedown = TakedownFile(directory)
        self._in_flight = InFlight(options.crawl, self._disk, self._ask_for_commit)
        resolver = Resolver(options.fetch, options.identity)
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
            client=Client(options.fetch, options.identity),
            pool=Pool(options),
            recorder=self._recorder,
            disk=self._disk,
        )
        self.orders = Orders(directory, start, Parts(resumed.frontier, self._recorder, self._stations, self))
        self._visits: dict[str, Visit] = {}  # by host
        self._tasks: dict[asyncio.Task[None], Visit] = {}  # lives and releases
        self._wake = asyncio.Event()
        self._group = min(options.crawl.commit_pages, max(1, options.crawl.in_flight // 4))  # entries in a commit
        self._full = asyncio.Event()  # enough for a commit
        self._hurry: asyncio.TimerHandle | None = None  # to a commit that makes room
        self._stopping = ""
        self._over = False  # no more group commits but the last
        self._broken: BaseException | None = None
        self._before = Counts()  # what earlier runs have made
        self.tally = log.Tally()  # of this run
        self.note: Callable[[str], None] = lambda text: None  # called with what the operator must know
        self.watch: Callable[[Report], None] | None = None  # called with every outcome

    async def run(self, tasks: list[Task]) -> Ending:
        """Crawl from these seeds and from the URLs that wait already, until the end."""
        self._recorder.start()
        committer = asyncio.create_task(self._commit_often())
        try:
            await self._stations.pool.start()
            await self._frontier.configure(self._options)  # it was opened before the orders in the log were known
            self._before = await self._frontier.counts()
            await self._add_seeds(tasks)
            await self.orders.begin()
            await self._work()
            await self._finish_visits()
        except Exception as error:  # after a failed commit other things fail too: the first error says why
            self._break(error)
        finally:
            self._over = True
            self._full.set()
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
        commits = self._recorder.commits
        self._in_flight.leave(await commits.between(self._clock.now, lambda: self._in_flight.urls, act))
        await self._commit()
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
            for task in self._tasks:
                task.cancel()
        self._disk.patient = self._disk.patient and why not in ("stopped", "broken")
        self._stopping = self._stopping or why
        self._wake.set()
        self._in_flight.stop()

    # Leasing

    async def _add_seeds(self, tasks: list[Task]) -> None:
        kept = seedlist.choose(tasks, self._stations.scope, self._options, self.tally.refused, self.note)
        self.tally.seen += len(await self._recorder.add(kept))

    async def _work(self) -> None:
        """Lease hosts and start visits until nothing is left or a limit is reached."""
        while not self._stopping:
            self._wake.clear()
            now = self._clock.now()
            self._check_limits(now)
            grant = await self._lease(now)
            for lease in grant.leases:
                self._visit(lease)
            if grant.again is None and not self._tasks and not self.orders.pending():
                self._stopping = "done"
            elif not self._stopping:
                await self._nap(1.0 if grant.again is None else grant.again - self._clock.now())

    async def _lease(self, now: float) -> Grant:
        pause = self._disk.paused or self.orders.controls.paused or self._network.offline or self._stopping
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

    def _visit(self, lease: Lease) -> None:
        visit = self._visits[lease.host] = Visit(lease, self._stations, lives.life, self)
        visit.begin()

    def start(self, coroutine: Coroutine[Any, Any, None], visit: Visit) -> asyncio.Task[None]:
        """Run a coroutine of a visit as a task of this crawl."""
        task = asyncio.create_task(coroutine)
        self._tasks[task] = visit
        task.add_done_callback(self._ended)
        return task

    def leave(self, visit: Visit) -> None:
        """Forget a visit whose lease is released. Its host may have a new visit already."""
        if self._visits.get(visit.lease.host) is visit:
            del self._visits[visit.lease.host]

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task).ended(task)
        if not task.cancelled() and task.exception() is not None:
            self._break(task.exception())
        self._wake.set()

    def _check_limits(self, now: float) -> None:
        limit = ending.reached(self._options.crawl, now - self._started, self._before, self.tally)
        if limit:
            self.stop(limit)
        elif self._in_flight.enough() and not self._visits:
            self._stopping = "pages"

    async def _nap(self, seconds: float) -> None:
        """Wait until something happens, at most this long and never past the time limit."""
        if self._options.crawl.max_seconds:
            seconds = min(seconds, self._started + self._options.crawl.max_seconds - self._clock.now())
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        timer = asyncio.get_running_loop().call_later(min(seconds, 3600.0), self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()

    def _network_changed(self, since: float, resigned: bool) -> None:
        self._recorder.commits.note_offline(since)
        self.note(network.describe(since) or "the wait for the network is over")
        if resigned and self._fresh and not self.tally.captures:  # rather than close every host
            return self.stop("offline")
        self._wake.set()

    def _break(self, error: BaseException | None) -> None:
        """End the crawl after an unforeseen error; of several, the first says why."""
        self._broken = self._broken or error
        self.stop("broken")

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
        if len(self._recorder.commits) >= self._group:
            self._full.set()
        self._wake.set()

    def _note_closings(self, reply: Grant | Receipt) -> None:
        for closing in reply.closings:
            visit = self._visits.get(closing.host)
            if visit is not None:
                visit.closing = closing

    async def _commit_often(self) -> None:
        """Commit once per `crawl.commit_seconds`, or as soon as there is enough for a commit."""
        while not self._over:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._full.wait(), self._options.crawl.commit_seconds)
            self._full.clear()
            if self._over:
                return
            try:
                await self._commit()
                self._stations.scope.obey(self._takedown.follow(self._stations.scope.takedown))
                await self.orders.take()
                if self._disk.look():
                    self._in_flight.wake()
                    self._wake.set()
            except Exception as error:
                return self._break(error)

    async def _commit(self, checkpoint: bool = False) -> None:
        if self._hurry is not None:
            self._hurry.cancel()
            self._hurry = None
        committed = await self._recorder.commits.commit(self._clock.now, lambda: self._in_flight.urls, checkpoint)
        self._in_flight.leave(committed)
        if self._in_flight.waiting:
            self._ask_for_commit()

    def _ask_for_commit(self) -> None:
        """Commit soon, if no other commit comes sooner: committed URLs are no longer in flight."""
        self._hurry = self._hurry or asyncio.get_running_loop().call_later(_HURRY, self._full.set)

    # The end

    async def _finish_visits(self) -> None:
        """Give requests in flight some time to finish; what is not done by then goes back to its queue."""
        self._network.stop()
        end = self._clock.now() + _LAST_CALL
        while self._tasks and self._broken is None and (left := end - self._clock.now()) > 0:
            # A visit may leave a life behind, so wait again after each.
            await asyncio.wait(list(self._tasks), timeout=left, return_when=asyncio.FIRST_COMPLETED)
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            await asyncio.wait(list(self._tasks), timeout=5.0)

    async def _end(self) -> Ending:
        try:
            if self._broken is None:
                await self._commit(checkpoint=True)
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
        return RunState(counts, paused, ending.goal(self._options.crawl, counts))


async def run(
    directory: Path, options: Config, watch: Callable[[Crawl, recover.Resumed], None], given: Collection[str] = ()
) -> Ending:
    """Run or resume the crawl of a directory until it ends; `watch` gets it once it is set up.

    `given`: the names of options that the command line sets. They hold instead of those that orders have set.
    """
    tasks = seeds.tasks(seeds.read(directory / options.crawl.seeds))
    check_contact(options, tasks)
    check_judges(options)
    with recover.lock(directory):
        takedown.check_purged(directory)
        check_space(options, directory)
        clock = Clock(recover.last_commit(directory))
        resumed = await recover.resume(directory, options, clock.now())
        try:
            crawl = Crawl(directory, control.StartOptions(options, given), resumed, clock)
        except BaseException:
            await resumed.frontier.close()
            raise
        watch(crawl, resumed)
        return await crawl.run(tasks)


def execute(main: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on the fastest event loop available."""
    return uvloop.run(main)
