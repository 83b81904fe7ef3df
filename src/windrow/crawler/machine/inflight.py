"""Back-pressure: limits on URLs requested and not yet committed, and on bytes of bodies that wait for a worker.

Visits that wait for room are woken in the order in which they came, and only as many as there is room for. Waking all
of them, most of which went back to sleep, took an eighth of a crawl's CPU when the workers were slower than the web.
"""

import asyncio
import collections
from collections.abc import Callable

from windrow.config import CrawlOptions
from windrow.crawler.machine.disk import Disk


class InFlight:
    def __init__(self, limits: CrawlOptions, disk: Disk, ask_for_commit: Callable[[], None]) -> None:
        """`ask_for_commit` is called when a visit has to wait: committed URLs are no longer in flight."""
        self.limits = limits
        self._disk = disk
        self._ask_for_commit = ask_for_commit
        self._queue: collections.deque[asyncio.Future[None]] = collections.deque()
        self._stopped = self._paused = False
        self.urls = 0  # requested and not yet committed
        self.held = 0  # bytes of bodies that wait for a worker
        self.pages = 0  # pages of this run, archived or in flight
        self.elsewhere = 0  # pages of this run that other shards have archived

    def room(self) -> int:
        """Return how many more requests may be sent now."""
        if self._disk.paused or self.held >= self.limits.in_flight_bytes:
            return 0
        return max(0, self.limits.in_flight - self.urls)

    def enough(self) -> bool:
        """Return whether as many pages as `crawl.max_pages` wants are archived or in flight."""
        return 0 < self.limits.max_pages <= self.pages + self.elsewhere

    @property
    def paused(self) -> bool:
        return self._paused

    @property
    def waiting(self) -> bool:
        return bool(self._queue)

    async def enter(self, page: bool, begun: bool = False) -> bool:
        """Wait until there is room for one more request; return False if it must not be sent.

        That is when the crawl ends, or pauses, unless the request belongs to an exchange that has `begun`.
        """
        while not self._stopped and not (self._paused and not begun) and not self.room():
            self._ask_for_commit()
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._queue.append(waiting)
            await waiting
        if self._stopped or (self._paused and not begun) or (page and self.enough()):
            return False
        self.urls += 1
        self.pages += page
        return True

    def give_back(self, page: bool) -> None:
        """Take a request off the counts that was not sent after all, or does not count: its task goes back."""
        self.pages -= page
        self.leave(1)

    def leave(self, committed: int) -> None:
        """Take committed URLs off the count and wake visits that wait for room."""
        self.urls -= committed
        self.wake()

    def wake(self) -> None:
        """Wake as many visits as there is room for."""
        if not self._queue:
            return
        places = self.room()
        while places and self._queue:
            places -= _rouse(self._queue.popleft())

    def pause(self, paused: bool) -> None:
        """Let no request start, or let them start again. Visits that wait give their tasks back."""
        self._paused = paused
        if paused:
            self._dismiss()

    def stop(self) -> None:
        """Let no further request start."""
        self._stopped = True
        self._dismiss()

    def _dismiss(self) -> None:
        while self._queue:
            _rouse(self._queue.popleft())

    def hold(self, size: int) -> None:
        self.held += size

    def let_go(self, size: int) -> None:
        self.held -= size
        self.wake()


def _rouse(waiting: asyncio.Future[None]) -> bool:
    """Wake a visit; return False if it was cancelled meanwhile."""
    if waiting.done():
        return False
    waiting.set_result(None)
    return True
