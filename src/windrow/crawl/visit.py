"""One visit: a lease at one host, from its first task to its release.

A visit runs its tasks one after another, with the delay of the host between two requests. Each task has a life of its
own (`crawl/lives.py`). The visit continues when the host is free again, while a worker reads the page.
"""

import asyncio
from collections.abc import Callable

import msgspec

from windrow import origin, urls
from windrow.config import Config
from windrow.crawl.clock import Clock
from windrow.crawl.disk import Disk
from windrow.crawl.inflight import InFlight
from windrow.crawl.record import Recorder
from windrow.crawl.workers.pool import Pool
from windrow.data import Capture, Closing, Failure, Kind, Lease, Origin, Reason, Task
from windrow.fetch.client import Client
from windrow.fetch.resolve import Resolver
from windrow.frontier import Frontier
from windrow.frontier.policy import budget
from windrow.frontier.policy.scope import Scope
from windrow.origin.soft404 import Probes


class Stations(msgspec.Struct, frozen=True):
    """The stations that a page passes, in their order. One set per crawl."""

    options: Config
    clock: Clock
    frontier: Frontier
    scope: Scope
    probes: Probes
    in_flight: InFlight
    resolver: Resolver
    client: Client
    pool: Pool
    recorder: Recorder
    disk: Disk


Start = Callable[[Task, "Visit"], "asyncio.Task[None]"]  # starts the life of a task, which may outlast its visit


class Visit:
    """Holds one lease."""

    def __init__(self, lease: Lease, stations: Stations, start: Start) -> None:
        self.lease = lease
        self.stations = stations
        self.origins = {known.name: known for known in lease.origins}
        self.last = 0.0  # epoch seconds when the last request ended; 0: none yet
        self.closing: Closing | None = None  # the frontier's newest word on this host
        self._start = start
        self._free: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Run the tasks, then release the lease with those that were not run."""
        done = 0
        try:
            for task in self.lease.tasks:
                goes_on = await self._run(task)
                if goes_on is None:
                    break
                done += 1
                if not goes_on:
                    break
        finally:
            await self._release(self.lease.tasks[done:])

    async def _run(self, task: Task) -> bool | None:
        """Run a task until the host is free; return False if the host needs a pause, None if the task was not run."""
        free: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()
        self._free = free
        life = self._start(task, self)
        life.add_done_callback(lambda _: None if free.done() else free.set_result(None))
        return await free

    # What a life says to its visit

    def host_is_free(self, pause: bool = False) -> None:
        """Let the visit continue. `pause`: the outcome says that the host should be left alone for a while."""
        if not self._free.done():  # done: the visit was cancelled
            self._free.set_result(not pause)

    # What a life asks its visit

    def origin(self, task: Task) -> Origin:
        """Return the record of the origin at which the task lies."""
        return self.origins[urls.origin(task.url.text)]

    def closed(self, task: Task) -> Reason | None:
        """Return why the frontier closed a page's host, domain or part of the host since it gave the lease."""
        return budget.closes(self.closing, task.url.text) if self.closing is not None else None

    def sketch(self, known: Origin) -> str:
        """Return the sketch of the page that an origin sends instead of "not found"; "" if none is known."""
        probed = known.files.get(origin.SOFT_404)
        return probed.text if probed is not None else ""

    async def wait_until_due(self) -> None:
        """Wait until the delay of the host has passed since the last request."""
        due = self.last + self.lease.delay if self.last else 0.0
        while (wait := due - self.stations.clock.now()) > 0:  # a timer of the loop may fire up to a millisecond early
            await asyncio.sleep(wait)

    async def request(self, task: Task, text: str = "") -> Capture | Failure:
        """Send a request. `text` is the URL to send if it is not the task's canonical one."""
        limit = origin.FILES[task.file].limit(self.stations.options.fetch) if task.kind is Kind.FILE else 0
        answer = await self.stations.client.get(task, self.lease.address, text, limit)
        self.last = self.stations.clock.now()
        return answer

    async def _release(self, unused: tuple[Task, ...]) -> None:
        while True:
            try:
                return await self.stations.frontier.release(self.lease, unused, self.last)
            except OSError as error:
                self.stations.disk.hold(error)
                await asyncio.sleep(1.0)
