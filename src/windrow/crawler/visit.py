"""One visit: a lease at one host, from its first task to its release.

A visit runs its tasks one after another, with the delay of the host between two requests. Each task has a life of its
own (`crawler/lives.py`). When a life says that the host is free, the next life starts, while a worker reads the page of
the last one. The visit has no task of its own: it costs nothing while it waits.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import msgspec

from windrow import origin, urls
from windrow.config import Config
from windrow.crawler.machine.clock import Clock
from windrow.crawler.machine.disk import Disk
from windrow.crawler.machine.inflight import InFlight
from windrow.crawler.machine.network import Endpoint, Network, suspect
from windrow.crawler.machine.outage import Way
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.record import Recorder
from windrow.crawler.workers.pool import Pool
from windrow.fetch.resolve import Resolver
from windrow.frontier import Frontier
from windrow.frontier.policy import budget
from windrow.frontier.policy.scope import Scope
from windrow.origin.soft404 import Probes
from windrow.records import Capture, Closing, Failure, Kind, Lease, Origin, Reason, Task


class Downloads(Protocol):
    """What sends requests: the client, or another program in its place."""

    async def get(self, task: Task, address: str, text: str = "", limit: int = 0) -> Capture | Failure: ...
    def close(self) -> None: ...


class Stations(msgspec.Struct, frozen=True):
    """The stations that a page passes, in their order. One set per crawl."""

    options: Config
    clock: Clock
    frontier: Frontier
    scope: Scope
    probes: Probes
    in_flight: InFlight
    network: Network
    resolver: Resolver
    client: Downloads
    pool: Pool
    recorder: Recorder
    disk: Disk
    others: Neighbours | None  # the other shards of the crawl, if there are any


Life = Callable[[Task, "Visit"], Coroutine[Any, Any, None]]


class Driver(Protocol):
    """What a visit needs of the crawl that it belongs to."""

    def start(self, coroutine: Coroutine[Any, Any, None], visit: "Visit") -> "asyncio.Task[None]": ...  # as a task
    def leave(self, visit: "Visit") -> None: ...  # the lease is released


class Visit:
    """Holds one lease."""

    def __init__(self, lease: Lease, stations: Stations, life: Life, driver: Driver) -> None:
        self.lease = lease
        self.stations = stations
        self.origins = {known.name: known for known in lease.origins}
        self.last = 0.0  # epoch seconds when the last request ended; 0: none yet
        self.closing: Closing | None = None  # the frontier's newest word on this host
        self._life = life
        self._driver = driver
        self._begun = 0  # tasks whose life has started
        self._busy: asyncio.Task[None] | None = None  # the life that keeps the host busy
        self._answered = False  # the network knows that this host answers

    def begin(self) -> None:
        """Start the life of the next task; without one, release the lease."""
        if self._begun == len(self.lease.tasks):
            self._driver.start(self._release(self._begun), self)
            return
        task = self.lease.tasks[self._begun]
        self._begun += 1
        self._busy = self._driver.start(self._life(task, self), self)

    def ended(self, life: "asyncio.Task[None]") -> None:
        """Release the lease if a life ended without its request, because the crawl ends: its task goes back too."""
        if life is self._busy:
            self._busy = None
            self._driver.start(self._release(self._begun - 1), self)

    # What a life says to its visit

    def host_is_free(self, pause: bool = False) -> None:
        """Let the visit continue. `pause`: the outcome says that the host should be left alone for a while."""
        self._busy = None
        if pause:
            self._driver.start(self._release(self._begun), self)
        else:
            self.begin()

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
        if not self.last or not self.lease.delay:
            return
        due = self.last + self.lease.delay
        while (wait := due - self.stations.clock.now()) > 0:  # a timer of the loop may fire up to a millisecond early
            await asyncio.sleep(wait)

    async def may_request(self, page: bool, begun: bool = False) -> bool:
        """Wait for room in flight; return False if the request must not be sent: its task goes back to the queue.

        That is when the crawl ends or pauses, or when an order has blocked the host since the lease was granted.
        """
        in_flight = self.stations.in_flight
        if not await in_flight.enter(page, begun):
            return False
        if self.closing is not None and self.closing.reason is Reason.BLOCKED:
            in_flight.give_back(page)
            return False
        return True

    async def request(self, task: Task, text: str = "") -> Capture | Failure | None:
        """Send a request. `text` is the URL to send if it is not the task's canonical one.

        Return None if our own network failed, or if another shard has the address: the request does not count, and the
        task goes back to its queue.
        """
        network, clock = self.stations.network, self.stations.clock
        others = self.stations.others
        if network.offline or (others is not None and not others.may_use(self.lease.address)):
            return None
        limit = origin.FILES[task.file].limit(self.stations.options.fetch) if task.kind is Kind.FILE else 0
        start = clock.now()
        answer = await self.stations.client.get(task, self.lease.address, text, limit)
        self.last = clock.now()
        if suspect(answer):
            return answer if await network.counts(Way.HOSTS, self._target(task), start) else None
        if network.alert or not self._answered:
            self._answered = True
            network.answered(Way.HOSTS, self._target(task), start)
        return answer

    def _target(self, task: Task) -> Endpoint:
        return Endpoint(self.lease.host, self.lease.address, urls.port(task.url.text))

    async def _release(self, done: int) -> None:
        """Give the lease back, with the tasks behind the first `done`."""
        while True:
            try:
                await self.stations.frontier.release(self.lease, self.lease.tasks[done:], self.last)
                return self._driver.leave(self)
            except OSError as error:
                self.stations.disk.hold(error)
                await asyncio.sleep(1.0)
