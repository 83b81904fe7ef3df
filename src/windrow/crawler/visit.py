"""The visits of a crawl. One visit is a lease at one host, from its first task to its release.

A visit runs its tasks one after another, with the delay of the host between two requests. Each task has a life of its
own (`crawler/lives.py`): a coroutine that keeps the host busy until it returns. It says then whether the next task may
begin, or returns a second coroutine, the rest of its life, which needs the host no more: a worker reads the page while
the next task is requested. So a host has one life at a time, and no life can forget to free it, or free it twice.
"""

import asyncio
import enum
import math
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from windrow import origin, urls
from windrow.crawler.machine.network import Endpoint, suspect
from windrow.crawler.machine.outage import Way
from windrow.crawler.stations import Stations
from windrow.frontier.policy import budget
from windrow.plugins import WrongResult
from windrow.records import Capture, Closing, Failure, Kind, Lease, Origin, Reason, Request, Task

_LAST_CALL = 20.0  # seconds that requests in flight get to finish when the crawl is stopped


class Then(enum.Enum):
    """The next step of a visit, when a life leaves the host."""

    NEXT = "next"  # the next task
    PAUSE = "pause"  # the end of the visit: the outcome says that the host should be left alone for a while
    BACK = "back"  # the same, and the task was not run: it goes back to its queue


Send = Callable[[Request], Awaitable[Capture | Failure]]
Rest = Coroutine[Any, Any, None]  # of a life; the next task follows
Life = Callable[[Task, "Visit"], Coroutine[Any, Any, Then | Rest]]


class Visit:
    """Holds one lease."""

    def __init__(self, lease: Lease, stations: Stations) -> None:
        self.lease = lease
        self.stations = stations
        self.session = stations.session
        self.origins = {record.name: record for record in lease.origins}
        self.last = 0.0  # epoch seconds when the last request ended; 0: none yet
        self.closing: Closing | None = None  # the frontier's newest word on this host
        self._answered = False  # the network knows that this host answers

    def origin(self, task: Task) -> Origin:
        """Return the record of the origin at which the task lies."""
        return self.origins[urls.origin(task.url.text)]

    def closed(self, task: Task) -> Reason | None:
        """Return why the frontier closed a page's host, domain or part of the host since it gave the lease."""
        return budget.closes(self.closing, task.url.text) if self.closing is not None else None

    async def wait_until_due(self) -> None:
        """Wait until the delay of the host has passed since the last request."""
        if not self.last or not self.lease.delay:
            return
        due = self.last + self.lease.delay
        while (wait := due - self.session.clock.now()) > 0:  # a timer of the loop may fire up to a millisecond early
            await asyncio.sleep(wait)

    async def may_request(self, page: bool, begun: bool = False) -> bool:
        """Wait for room in flight; return False if the request must not be sent: its task goes back to the queue.

        That is when the crawl ends or pauses, or when an order has blocked the host since the lease was granted.
        """
        in_flight = self.session.in_flight
        if not await in_flight.enter(page, begun):
            return False
        if self.closing is not None and self.closing.reason is Reason.BLOCKED:
            in_flight.give_back(page)
            return False
        return True

    async def request(self, task: Task, text: str = "", send: Send | None = None) -> Capture | Failure | None:
        """Send a request. `text` is the URL to send if it is not the task's canonical one; `send` that of a guest.

        Return None if our own network failed, or if another shard has the address: the request does not count, and the
        task goes back to its queue.
        """
        network, session = self.stations.network, self.session
        if network.offline or (session.others is not None and not session.others.may_use(self.lease.address)):
            return None
        limit = origin.FILES[task.file].limit(session.options.fetch) if task.kind is Kind.FILE else 0
        request = Request(task, self.lease.address, text=text, limit=limit)
        start = session.clock.now()
        answer = await (send or self.stations.client.get)(request)
        self.last = session.clock.now()
        if not isinstance(answer, Capture | Failure):
            problem = f"the client returned {type(answer).__name__}, not a Capture or a Failure"
            raise WrongResult(problem, session.options.fetch.client, self.stations.client)
        if suspect(answer):
            return answer if await network.counts(Way.HOSTS, self._target(task), start) else None
        if network.alert or not self._answered:
            self._answered = True
            network.answered(Way.HOSTS, self._target(task), start)
        return answer

    def _target(self, task: Task) -> Endpoint:
        return Endpoint(self.lease.host, self.lease.address, urls.port(task.url.text))

    async def release(self, done: int) -> None:
        """Give the lease back, with the tasks behind the first `done`."""
        while True:
            try:
                return await self.session.frontier.release(self.lease, self.lease.tasks[done:], self.last)
            except OSError as error:
                self.session.disk.hold(error)
                await asyncio.sleep(1.0)


class Visits:
    """The visits that are under way, and the tasks of the event loop that belong to them."""

    def __init__(self, stations: Stations, life: Life, ended: Callable[["asyncio.Task[None]"], None]) -> None:
        """`ended` is called after each task of the event loop."""
        self._stations = stations
        self._session = stations.session
        self._life = life
        self._ended = ended
        self._visits: dict[str, Visit] = {}  # by host
        self._tasks: set[asyncio.Task[None]] = set()  # visits, rests of lives, releases

    def __len__(self) -> int:
        return len(self._visits)

    @property
    def over(self) -> bool:
        """Whether nothing runs any more, but lives whose answers are held back. A life may outlast its visit."""
        return len(self._tasks) <= self._session.pool.faults.held

    async def lease(self, now: float) -> float | None:
        """Lease hosts and visit them; return when to ask again, as `Grant.again` says it."""
        session, others = self._session, self._session.others
        waits = session.disk.paused or session.in_flight.paused or self._stations.network.offline
        if waits or session.in_flight.enough() or (others is not None and not others.may_work):
            return math.inf
        free = session.options.fetch.connections - len(self)
        if free <= 0:
            return math.inf
        try:
            grant = await session.frontier.lease(free, now)
        except OSError as error:
            session.disk.hold(error)
            return math.inf
        self.note(grant.closings)
        for lease in grant.leases:
            visit = self._visits[lease.host] = Visit(lease, self._stations)
            self._start(self.visit(visit))
        return grant.again

    def settle(self, again: float | None) -> None:
        """Decide on the pages whose answers are held back, if no other will be read. `again`: see `lease`."""
        faults, in_flight = self._session.pool.faults, self._session.in_flight
        alone = self.over and again in (None, math.inf)
        full = in_flight.waiting and in_flight.urls <= faults.held
        if faults.held and (alone or full):
            faults.settle(in_flight.elsewhere)

    def note(self, closings: tuple[Closing, ...]) -> None:
        """Let the visits of hosts know what was closed of them."""
        for closing in closings:
            visit = self._visits.get(closing.host)
            if visit is not None:
                visit.closing = closing

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def finish(self, patient: Callable[[], bool]) -> None:
        """Give requests in flight some time to finish, while `patient`; what is not done by then goes back."""
        self._session.pool.faults.give_back()
        end = self._session.clock.now() + _LAST_CALL
        while self._tasks and patient() and (left := end - self._session.clock.now()) > 0:
            # A visit may leave a life behind, so wait again after each.
            await asyncio.wait(self._tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        self.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks, timeout=5.0)

    async def visit(self, visit: Visit) -> None:
        """Run the tasks of a visit one after another; then release its lease."""
        done = 0
        try:
            for task in visit.lease.tasks:
                then = await self._life(task, visit)
                if then is Then.BACK:
                    break
                done += 1
                if then is Then.PAUSE:
                    break
                if not isinstance(then, Then):
                    self._start(then)
        except BaseException:  # this task may be cancelled, so another one releases the lease
            self._start(self._release(visit, done))
            raise
        await self._release(visit, done)

    async def _release(self, visit: Visit, done: int) -> None:
        await visit.release(done)
        if self._visits.get(visit.lease.host) is visit:  # it may have a new visit already
            del self._visits[visit.lease.host]

    def _start(self, coroutine: Rest) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        self._ended(task)
