"""When a crawl commits: once per `crawl.commit_seconds`, as soon as there is enough, or when visits wait for room."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from windrow.config import CrawlOptions
from windrow.crawler.machine.inflight import InFlight
from windrow.crawler.recording.commit import GroupCommit

HURRY = 0.2  # seconds between two commits for which somebody waits


class Cadence:
    """Commits again and again. `now` is the crawl's clock; `after` runs after each commit of `run`."""

    def __init__(
        self, commits: GroupCommit, in_flight: InFlight, now: Callable[[], float], after: Callable[[], Awaitable[None]]
    ) -> None:
        self._commits = commits
        self._in_flight = in_flight
        self._now = now
        self._after = after
        limits = in_flight.limits
        self._group = min(limits.commit_pages, max(1, limits.in_flight // 2))  # entries in a commit
        self._full = asyncio.Event()  # enough for a commit
        self._hurry: asyncio.TimerHandle | None = None  # to a commit for which somebody waits
        self._last = float("-inf")  # the last commit, in the time of the loop
        self._over = False  # no more commits but the last

    @property
    def _limits(self) -> CrawlOptions:
        return self._in_flight.limits  # they can change

    async def run(self) -> None:
        """Commit until `stop`."""
        while not self._over:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._limits.commit_seconds):
                    await self._full.wait()
            self._full.clear()
            if self._over:
                return
            await self.commit()
            await self._after()

    def stop(self) -> None:
        self._over = True
        self._full.set()

    def noted(self) -> None:
        """Something was noted for the next frame: commit if that is enough."""
        if len(self._commits) >= self._group:
            self._full.set()

    def now(self) -> None:
        """Commit at once, whatever there is."""
        self._full.set()

    def ask(self) -> None:
        """Commit soon, at once if the last commit is not recent: visits wait for room in flight, or other shards for
        links, or for the end of this one."""
        self._hurry = self._hurry or asyncio.get_running_loop().call_at(self._last + HURRY, self._full.set)

    async def commit(self, checkpoint: bool = False) -> None:
        if self._hurry is not None:
            self._hurry.cancel()
            self._hurry = None
        committed = await self._commits.commit(self._now, lambda: self._in_flight.urls, checkpoint)
        self._last = asyncio.get_running_loop().time()
        self._in_flight.leave(committed)
        if self._in_flight.waiting:
            self.ask()

    async def between(self, act: Callable[[], Awaitable[None]]) -> None:
        """Run an operation between two frames, and commit both."""
        self._in_flight.leave(await self._commits.between(self._now, lambda: self._in_flight.urls, act))
        await self.commit()
