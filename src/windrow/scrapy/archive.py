"""A crawl directory that something else fills: responses in; WARC files, a corpus and a log out.

The stages, the files and the group commit are those of a crawl; only the driver is another. So `windrow status`,
`report`, `export`, `index` and `rebuild` work on the directory. Its frontier only remembers the URLs.
"""

import asyncio
import contextlib
import logging
from pathlib import Path

import msgspec

from windrow import takedown, urls
from windrow.config import Config
from windrow.crawler import checks, page, recover
from windrow.crawler import outcome as outcomes
from windrow.crawler.cadence import Cadence
from windrow.crawler.machine.clock import Clock
from windrow.crawler.machine.disk import Disk
from windrow.crawler.machine.inflight import InFlight
from windrow.crawler.outcome import Outcome, Reading
from windrow.crawler.record import Recorder
from windrow.crawler.workers.pool import Pool
from windrow.crawler.workers.wire import Lost
from windrow.frontier.policy.scope import Scope
from windrow.records import Capture, Origin, Reason, Receipt, Task, Url

log = logging.getLogger(__name__)


class Archive:
    """Records captures one after another, and commits them in groups."""

    def __init__(self, directory: Path, options: Config) -> None:
        self._directory, self._options = directory, options
        self._scope = Scope(options.scope)
        self._open = contextlib.ExitStack()
        self._readings: set[asyncio.Task[None]] = set()
        self._recent: list[int] = []  # recorded since the last commit
        self._before: list[int] = []  # recorded before it, perhaps while it was under way
        self.unsettled: set[int] = set()  # keys of URLs that are not durable yet
        self.error: BaseException | None = None  # nothing more can be recorded

    async def open(self) -> None:
        """Bring the directory to its last commit, and start."""
        options = self._options
        checks.check_judges(options)
        with contextlib.ExitStack() as opened:
            opened.enter_context(recover.lock(self._directory))
            takedown.check_purged(self._directory)
            checks.check_space(options, self._directory)
            clock = Clock(recover.last_commit(self._directory))
            resumed = await recover.resume(self._directory, options, clock.now(), None)
            self._frontier = resumed.frontier
            self._disk = Disk(self._directory, options.crawl.min_free_bytes)
            self._recorder = Recorder(self._directory, options, resumed, self._disk)
            self._open = opened.pop_all()
        self._in_flight = InFlight(options.crawl, self._disk, lambda: self._cadence.ask())
        self._cadence = Cadence(self._recorder.commits, self._in_flight, clock.now, self._committed)
        self._cadence.committed = self._settle
        self._recorder.failed, self._recorder.watch = self._break, self._note
        self._pool = Pool(options)
        self._recorder.start()
        await self._pool.start()
        self._commits = asyncio.create_task(self._commit_often())

    async def knows(self, url: Url) -> bool:
        """Return whether a URL was recorded before, or is being recorded."""
        fate = await self._frontier.find(url)
        return url.key in self.unsettled or (fate is not None and fate.state == "finished")

    async def take(self, task: Task, capture: Capture) -> bool:
        """Take a capture of a new URL; wait for room. The task's URL may have a fragment, the capture's has none.

        Return False if it is not archived: the frontier refuses its URL, or nothing can be written any more.
        """
        self.unsettled.add(task.url.key)
        if self.error is not None or not await self._in_flight.enter(page=True):
            self.unsettled.discard(task.url.key)
            return False
        if not await self._recorder.add([task]) and await self._frontier.find(task.url) is None:
            self.unsettled.discard(task.url.key)
            self._in_flight.give_back(page=True)
            return False
        understood = outcomes.answered(capture, self._scope, self._options.fetch.max_redirects)
        outcome = msgspec.structs.replace(understood, task=task, final=True, until=0.0, links=(), refused={})
        if outcome.reason is not Reason.OK:
            await self._recorder.record(outcome, self._recorder.compress(capture))
            return True
        self._in_flight.hold(len(capture.stored))
        reading = asyncio.create_task(self._read(outcome, capture))
        self._readings.add(reading)
        reading.add_done_callback(self._read_ended)
        return True

    async def close(self) -> None:
        """Commit everything and let the directory go."""
        try:
            while self._readings:
                await asyncio.wait(list(self._readings))
            self._cadence.stop()
            await self._commits
            if self.error is None:
                await self._cadence.commit(checkpoint=True)
                self._recorder.save()
            await self._recorder.stop()
        finally:
            await self._pool.close()
            self._recorder.close()
            await self._frontier.close()
            self._open.close()

    async def _read(self, outcome: Outcome, capture: Capture) -> None:
        members = self._recorder.compress(capture)
        refined = await self._pool.refine(capture, "")
        self._in_flight.let_go(len(capture.stored))
        if isinstance(refined, Lost):
            lost = msgspec.structs.replace(outcome, reason=refined.reason, detail=refined.detail)
            return self._recorder.record_page(lost, members, None)
        origin = Origin(urls.origin(capture.url), stamp=0.0, fetched=0.0, expires=0.0)  # nobody asked it
        judged = page.candidate(outcome.task, capture, members, refined, origin)
        reading = Reading((), dict(refined.refused), refined.shape, judged, refined.charset)
        self._recorder.record_page(outcome, members, reading)

    def _read_ended(self, reading: "asyncio.Task[None]") -> None:
        self._readings.discard(reading)
        if not reading.cancelled() and (error := reading.exception()) is not None:
            self._break(error)

    # Commits

    def _note(self, receipt: Receipt) -> None:
        self._recent += [entry.report.task.url.key for entry in receipt.entries]
        self._cadence.noted()

    def _settle(self) -> None:
        """A commit is over: everything that was recorded before the commit before it is durable."""
        self.unsettled.difference_update(self._before)
        self._before, self._recent = self._recent, []

    async def _commit_often(self) -> None:
        try:
            await self._cadence.run()
        except Exception as error:
            self._break(error)

    async def _committed(self) -> None:
        if self._disk.look():
            self._in_flight.wake()

    def _break(self, error: BaseException) -> None:
        if self.error is None:
            log.error("nothing more is archived in %s: %s", self._directory, error)
        self.error = self.error or error
        self._in_flight.stop()
