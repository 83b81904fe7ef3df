"""The visits of a crawl that are under way, and the tasks of the event loop that belong to them."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from windrow.crawler.visit import Life, Stations, Visit
from windrow.records import Closing, Lease


class Visits:
    """Starts visits and keeps them until they are over. `ended` is called after each task, with what it raised."""

    def __init__(self, stations: Stations, life: Life, ended: Callable[[BaseException | None], None]) -> None:
        self._stations = stations
        self._life = life
        self._ended_task = ended
        self._visits: dict[str, Visit] = {}  # by host
        self._tasks: dict[asyncio.Task[None], Visit] = {}  # lives and releases

    def __len__(self) -> int:
        return len(self._visits)

    @property
    def over(self) -> bool:
        """Whether nothing runs any more, but lives whose answers are held back. A life may outlast its visit."""
        return len(self._tasks) <= self._stations.pool.faults.held

    def begin(self, lease: Lease) -> None:
        """Visit a host."""
        visit = self._visits[lease.host] = Visit(lease, self._stations, self._life, self)
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

    def close(self, closing: Closing) -> None:
        """Let the visit of a host know what was closed of it."""
        visit = self._visits.get(closing.host)
        if visit is not None:
            visit.closing = closing

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task).ended(task)
        self._ended_task(None if task.cancelled() else task.exception())

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def finish(self, left: Callable[[], float]) -> None:
        """Give requests in flight some time to finish; what is not done by then goes back to its queue.

        `left`: the seconds that are left.
        """
        while self._tasks and (seconds := left()) > 0:
            # A visit may leave a life behind, so wait again after each.
            await asyncio.wait(list(self._tasks), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        self.cancel()
        while self._tasks:
            await asyncio.wait(list(self._tasks), timeout=5.0)
