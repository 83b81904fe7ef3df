"""What is under way: URLs requested and not yet committed, bytes of bodies that wait for a worker, and the turns that wait for room.

Turns are woken in the order in which they came, and as many as there is room for. Waking all of them, of which most went back to sleep,
took an eighth of a crawl's CPU where the workers were slower than the web.
"""

import asyncio
import collections

from windrow.config import Crawl
from windrow.crawl.disk import Disk


class Flight:
    def __init__(self, limits: Crawl, disk: Disk) -> None:
        self._limits = limits
        self._disk = disk
        self._queue: collections.deque[asyncio.Future[None]] = collections.deque()
        self.urls = 0  # requested and not yet committed
        self.held = 0  # bytes of bodies that wait for a worker

    def room(self) -> int:
        """How many more may be requested now."""
        if self._disk.paused or self.held >= self._limits.in_flight_bytes:
            return 0
        return max(0, self._limits.in_flight - self.urls)

    @property
    def waiting(self) -> bool:
        return bool(self._queue)

    async def wait(self) -> None:
        """Until it may be worth another look."""
        waiting = asyncio.get_running_loop().create_future()
        self._queue.append(waiting)
        await waiting

    def wake(self) -> None:
        """To be called when there may be room: the next in the queue look again, one for each place."""
        if not self._queue:
            return
        places = self.room()
        while places and self._queue:
            places -= self._rouse(self._queue.popleft())

    def wake_all(self) -> None:
        while self._queue:
            self._rouse(self._queue.popleft())

    def hold(self, size: int) -> None:
        self.held += size

    def let_go(self, size: int) -> None:
        self.held -= size
        self.wake()

    @staticmethod
    def _rouse(waiting: asyncio.Future[None]) -> bool:
        """Whether somebody was still waiting: a turn that was cancelled is not."""
        if waiting.done():
            return False
        waiting.set_result(None)
        return True
