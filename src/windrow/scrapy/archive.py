"""A crawl directory that something else fills: responses in; WARC files, a corpus and a log out.

The stages, the files and the group commit are those of a crawl; only the driver is another. So `windrow status`,
`report`, `export`, `index` and `rebuild` work on the directory. Its frontier only remembers the URLs.
"""

import asyncio
import contextlib
import logging
from pathlib import Path

import msgspec

from windrow import urls
from windrow.config import Config
from windrow.crawler import outcome as outcomes
from windrow.crawler import page, session
from windrow.records import Capture, Origin, Reason, Receipt, Task, Url
from windrow.refine import Refined
from windrow.scrapy.found import FoundRequests

log = logging.getLogger(__name__)


class Archive:
    """Records captures one after another, and commits them in groups. Implements `crawler.observer.Driver`."""

    def __init__(self, directory: Path, options: Config) -> None:
        self._directory, self._options = directory, options
        self._open = contextlib.AsyncExitStack()
        self._readings: set[asyncio.Task[None]] = set()
        self._recent: list[int] = []  # recorded since the last commit
        self._before: list[int] = []  # recorded before it, perhaps while it was under way
        self.unsettled: set[int] = set()  # keys of URLs that are not durable yet
        self.error: BaseException | None = None  # nothing more can be recorded

    async def open(self) -> None:
        """Bring the directory to its last commit, and start."""
        async with contextlib.AsyncExitStack() as stack:
            opened = await stack.enter_async_context(session.opened(self._directory, self._options))
            self._session = session.Session(opened, self)
            stack.push_async_callback(self._session.end)
            await self._session.start()
            self._open = stack.pop_all()

    async def knows(self, url: Url) -> bool:
        """Return whether a URL was recorded before, or is being recorded."""
        fate = await self._session.frontier.find(url)
        return url.key in self.unsettled or (fate is not None and fate.state == "finished")

    async def take(self, task: Task, capture: Capture) -> bool:
        """Take a capture of a new URL; wait for room. The task's URL may have a fragment, the capture's has none.

        Return False if it is not archived: the frontier refuses its URL, or nothing can be written any more.
        """
        recorder, in_flight, scope = self._session.recorder, self._session.in_flight, self._session.scope
        self.unsettled.add(task.url.key)
        if self.error is not None or not await in_flight.enter(page=True):
            self.unsettled.discard(task.url.key)
            return False
        if not await recorder.add([task]) and await self._session.frontier.find(task.url) is None:
            self.unsettled.discard(task.url.key)
            in_flight.give_back(page=True)
            return False
        outcome = outcomes.answered(capture, scope, self._options.fetch.max_redirects)
        outcome = msgspec.structs.replace(outcome, task=task, final=True, until=0.0, links=(), refused={})
        if outcome.reason is not Reason.OK:
            await recorder.record(outcome, capture)
            return True
        origin = Origin(urls.origin(capture.url), stamp=0.0, fetched=0.0, expires=0.0)  # nobody asked it
        reading = asyncio.create_task(page.finish(outcome, capture, origin, self._session, _links))
        self._readings.add(reading)
        reading.add_done_callback(self._read)
        return True

    async def close(self) -> None:
        """Commit everything and let the directory go."""
        while self._readings:
            self._session.pool.faults.settle(0)  # answers that are held back: no other page follows
            await asyncio.wait(self._readings, timeout=1.0)
        await self._open.aclose()

    def _read(self, reading: "asyncio.Task[None]") -> None:
        self._readings.discard(reading)
        if not reading.cancelled() and (error := reading.exception()) is not None:
            self.broken(error)

    # What the session says

    def recorded(self, receipt: Receipt) -> None:
        self._recent += [entry.report.task.url.key for entry in receipt.entries]
        self._session.cadence.noted()

    async def committed(self) -> None:
        """Note that everything recorded before the commit before this one is durable."""
        self.unsettled.difference_update(self._before)
        self._before, self._recent = self._recent, []
        self._session.look_at_disk()

    def broken(self, error: BaseException | None) -> None:
        if self.error is None:
            log.error("nothing more is archived in %s: %s", self._directory, error)
        self.error = self.error or error
        self._session.in_flight.stop()


async def _links(outcome: object, refined: object, scope: object) -> FoundRequests:
    """Return the links that count: none, for the spider follows its own."""
    return FoundRequests((), dict(refined.refused) if isinstance(refined, Refined) else {})
