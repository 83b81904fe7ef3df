"""One run at a crawl directory: here it is opened, run and ended, for every driver.

`opened` holds the directory and brings it to its last commit. A `Session` has what every run works with. Two drive it:
`loop.Crawl`, which requests pages, and `scrapy.archive`, which is given what another program has downloaded.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from windrow import orders, takedown
from windrow.config import Config
from windrow.crawler import recover
from windrow.crawler.machine.clock import Clock
from windrow.crawler.machine.disk import Disk
from windrow.crawler.machine.inflight import InFlight
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.observer import Driver
from windrow.crawler.recording.cadence import Cadence
from windrow.crawler.recording.record import Recorder
from windrow.crawler.recover import Opened
from windrow.crawler.setup.checks import check_judges, check_space
from windrow.crawler.workers.pool import Pool
from windrow.frontier.policy.scope import Scope


@contextlib.asynccontextmanager
async def opened(
    directory: Path, options: Config, given: Collection[str] = (), neighbours: Neighbours | None = None
) -> AsyncIterator[Opened]:
    """Hold a crawl directory, brought to its last commit; ConfigError if it cannot be crawled.

    `given`: the names of options that hold instead of those that orders have set. `neighbours`: the other shards, if
    the directory is one shard of a crawl.
    """
    check_judges(options)
    with recover.lock(directory):
        takedown.check_purged(directory)
        check_space(options, directory)
        clock = Clock(recover.last_commit(directory))
        if neighbours is not None:
            neighbours.start(clock.now)
        resumed = await recover.resume(directory, options, clock.now(), neighbours)
        try:
            yield Opened(
                directory=directory,
                start=options,
                given=given,
                options=orders.effective(options, resumed.frontier.controls(), directory, given),
                clock=clock,
                resumed=resumed,
                neighbours=neighbours,
            )
        finally:
            await resumed.frontier.close()


class Session:
    """What a run works with: the frontier, the files, the workers, and the limits on what is under way."""

    def __init__(self, opened: Opened, driver: Driver) -> None:
        self.directory = opened.directory
        self.options = opened.options
        self.scope = Scope(self.options.scope)
        self.clock = opened.clock
        self.frontier = opened.resumed.frontier
        self.others = opened.neighbours  # the other shards of the crawl, if there are any
        self.disk = Disk(self.directory, self.options.crawl.min_free_bytes)
        self.recorder = Recorder(opened, self.disk, driver)
        self.in_flight = InFlight(self.options.crawl, self.disk, lambda: self.cadence.ask())
        self.cadence = Cadence(self.recorder.commits, self.in_flight, self.clock.now, driver.committed)
        self.pool = Pool(self.options)
        self._driver = driver
        self._commits: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Record and commit from now on. Every session that was started needs its `end`, also after an error here."""
        self.recorder.start()
        self._commits = asyncio.create_task(self._commit())
        await self.pool.start()
        await self.frontier.configure(self.options)  # it was opened before the orders in the log were known

    async def configure(self, options: Config) -> None:
        """Use these options from now on, as far as they can change while a crawl runs."""
        self.options = options
        self.in_flight.limits = options.crawl
        self.disk.least = options.crawl.min_free_bytes
        await self.frontier.configure(options)
        self.in_flight.wake()

    def look_at_disk(self) -> bool:
        """Pause the run if the disk is nearly full; return whether there is room again after a pause."""
        if not self.disk.look():
            return False
        self.in_flight.wake()
        return True

    async def end(self) -> None:
        """Commit everything, unless the run is broken, and close the files."""
        self.cadence.stop()
        try:
            if self._commits is not None:
                await self._commits  # not cancelled: a frame that was cut has to be written
            if self._driver.error is None:
                await self.cadence.commit(checkpoint=True)
                if self.others is None or self.others.may_commit():
                    self.recorder.save()
            await self.recorder.stop()
        finally:
            await self.pool.close()
            self.recorder.close()

    async def _commit(self) -> None:
        try:
            await self.cadence.run()
        except Exception as error:
            self._driver.broken(error)
