"""The contents of a lease: an address to look up, a file or pages to request, or pages that end without a request."""

import itertools
import math
from collections.abc import Iterable, Sequence

import msgspec

from windrow import config, urls
from windrow.frontier.local.hosts import OpenHost
from windrow.frontier.local.origins import Origins
from windrow.frontier.local.values import Values
from windrow.frontier.policy import budget, health, steer
from windrow.frontier.policy.health import ROBOTS
from windrow.frontier.store.protocol import Store
from windrow.frontier.store.rows import REASONS, HostRow
from windrow.records import Access, History, Kind, Lease, Origin, Reason, Task, Url

MOST = 16  # tasks per lease, if no delay separates them
RERANKED = 1000  # links of a host whose ranks are computed again
GROWN = 1.5  # times the pages at the last time, when that is done
NEXT = 8  # the same, of those that come next
OFTEN = 16  # the part of a host's pages after which they are
ROUNDS = 3  # links that move back make room for others, whose ranks are then computed too
NOTICED = 4  # ranks by which a link moves at least
MOVED = 3  # writes for each that moves
MOST_CLOSED = 256  # tasks per lease, if they end without a request
LONG = 0.25  # seconds that a lease may hold an address for the sake of several tasks


class Leases:
    """Makes leases."""

    def __init__(
        self,
        store: Store,
        origins: Origins,
        fetch: config.FetchOptions,
        values: Values | None = None,
        revisiting: bool = False,
    ) -> None:
        """`revisiting`: URLs are visited again, so each task has its history."""
        self._store = store
        self._revisiting = revisiting
        self._values = values
        self._origins = origins
        self._fetch = fetch
        self._tokens = itertools.count(1)

    def configure(self, fetch: config.FetchOptions) -> None:
        self._fetch = fetch

    def make(self, host: OpenHost, now: float, most: int = MOST) -> Lease | None:
        """Return a lease of at most so many pages for a host that is not leased; None if the host has nothing to do."""
        if host.ending:
            return self._end_pages(host, REASONS[host.ending - 1])
        if not host.errands and host.work > now:
            return None
        due = health.due(host.row, host.last, now, self._fetch)
        if due > now or (host.domain.leaving and not host.errands):
            return self._pages(host, now, 0) if host.ends_pages else None
        if not host.address or host.address_until <= now:
            host.address = ""
            return self._grant(host, [_resolve_task(host.row)])
        if host.slot is None:
            return None  # the host became ready for something that needs no address
        if host.errands:
            return self._errand(host, now)
        return self._pages(host, now, most)

    def rerank(self, host: OpenHost) -> None:
        """Compute the ranks of a host's next links again, because the crawl has learned since it found them.

        This is done after a sixteenth more pages of the host. After half as many again, or if the boundaries have
        changed, the ranks of many of its links are computed.
        """
        row, values = host.row, self._values
        if values is None or not values.reranks or host.ending or not host.has_more:
            return
        most = NEXT
        if row.pages >= GROWN * row.ranked + 2 or row.bounds != values.bounds:
            row.ranked, row.bounds = row.pages, values.bounds
            most = RERANKED
        elif 0 <= row.pages - host.looked <= row.pages // OFTEN:
            return
        host.looked = row.pages
        for _ in range(ROUNDS):
            if not self._moved(host, values, most):
                break
            most = NEXT

    def _moved(self, host: OpenHost, values: Values, most: int) -> bool:
        """Compute the ranks of the first links of a queue again; return whether any of them has moved."""
        row, busy = host.row, set(host.in_flight.values())
        moves: list[tuple[Task, int]] = []
        for rank, ref in self._store.head(row.id, busy, most):
            task = self._store.read(ref, row)
            new = rank if task.embed else values.rank(task, not row.pages)
            if abs(new - rank) >= NOTICED:
                moves.append((msgspec.structs.replace(task, priority=new), ref))
        try:
            self._store.reserve(MOVED * len(moves))
        except OSError:
            return False  # the disk is full: the links keep their ranks
        for task, ref in moves:
            self._store.requeue(row.id, task, ref)
        for rank, _ in self._store.head(row.id, busy, 1) if moves else ():
            host.rank = rank
        return bool(moves)

    def left(self, host: OpenHost, values: Values, most: int) -> float:
        """Return how many wanted pages are expected of the links of a host that wait. Only so many are looked at; the
        others are expected to be like the last quarter of these."""
        queue = self._store.head(host.row.id, set(host.in_flight.values()), most)
        found = [values.left(self._store.read(ref, host.row)) for _, ref in queue]
        last = found[-max(1, len(found) // 4) :]
        others = host.row.waiting - (len(host.in_flight) - host.revisits) - len(found)
        return sum(found) + max(0, others) * sum(last) / max(1, len(last))

    def give_up(self, host: OpenHost) -> Lease | None:
        """Return links of a host that end as low-value."""
        return self._end_pages(host, Reason.LOW_VALUE)

    def _errand(self, host: OpenHost, now: float) -> Lease | None:
        """Fetch a file for another origin. robots.txt may always be requested; other files obey the rules here."""
        task = next_errand(host)
        if task is None:
            return None
        needing = self._origins.needing([task])
        if task.file == ROBOTS:
            return self._grant(host, [task], needing)
        name = urls.origin(task.url.text)
        origin = self._origins.current(host, name, now)
        if origin is None:
            return self._file(host, ROBOTS, name)
        return self._grant(host, [task], [*needing, origin])

    def _end_pages(self, host: OpenHost, reason: Reason) -> Lease | None:
        """Return the tasks of a closed host, which end with the reason."""
        if host.errands and reason is not Reason.LOW_YIELD:
            return self._grant(host, host.errands, self._origins.needing(host.errands), reason)
        queue = self._store.head(host.row.id, set(host.in_flight.values()), MOST_CLOSED)
        if not queue:
            return None
        tasks = [self._store.read(ref, host.row) for _, ref in queue]
        self._take(host, tasks, queue)
        return self._grant(host, tasks, closed=reason)

    def _pages(self, host: OpenHost, now: float, most: int) -> Lease | None:
        """Return the first pages of the queue, or the file that they need first. Pages that are due again come before
        the queue. 0 pages: no request is allowed now, so only pages of a closed origin count.
        """
        row = host.row
        room = min(self._room(row), most or MOST)
        tasks, queue = self._due(host, now, room) if most and host.due <= now else ([], [])
        if not tasks:
            tasks, queue = self._waiting(host, room)
        if not tasks:
            host.ends_pages = False
            return None
        if row.closed_parts and any(budget.in_closed_part(row.parts, task.url.text) for task in tasks):
            return self._end_parts(host, tasks, queue)
        origins = self._complete(host, tasks, now)
        if not most:
            origins = list(itertools.takewhile(lambda origin: origin.access is Access.CLOSED, origins))
        host.ends_pages = bool(origins) and origins[0].access is Access.CLOSED
        if origins:
            tasks = tasks[: len(origins)]
            self._take(host, tasks, queue)
            host.learnt.clear()
            return self._grant(host, tasks, origins)
        name = urls.origin(tasks[0].url.text)
        if not most or name in host.awaited:
            return None
        origin = self._origins.current(host, name, now)
        return self._file(host, ROBOTS if origin is None else self._origins.missing(origin), name)

    def _waiting(self, host: OpenHost, room: int) -> tuple[list[Task], list[tuple[int, int]]]:
        """Return the first pages of the queue, with their entries and that of the next. The pages of a lease have
        similar ranks: when they are done, other hosts may be worth more."""
        queue = self._store.head(host.row.id, set(host.in_flight.values()), room + 1)
        width = self._values.similar if self._values is not None else steer.DOUBLE
        tasks = [self._store.read(ref, host.row) for rank, ref in queue[:room] if rank < queue[0][0] + width]
        if self._revisiting:
            tasks = [msgspec.structs.replace(task, history=History()) for task in tasks]
        return tasks, queue

    def _due(self, host: OpenHost, now: float, room: int) -> tuple[list[Task], list[tuple[int, int]]]:
        """Return the pages that are due again, with their ranks and references, in the order of their times."""
        due = self._store.due(host.row.id, set(host.in_flight.values()), room)
        host.due = due[0].at if due else math.inf
        tasks = [
            msgspec.structs.replace(
                self._store.read(url.ref, host.row), attempt=url.history.attempt, history=url.history
            )
            for url in due
            if url.at <= now
        ]
        return tasks, [(task.priority, url.ref) for task, url in zip(tasks, due, strict=False)]

    def _take(self, host: OpenHost, tasks: Sequence[Task], queue: Sequence[tuple[int, int]]) -> None:
        """Put pages in flight. The rank of the host becomes that of the first page that stays."""
        for task, (_, ref) in zip(tasks, queue, strict=False):
            host.in_flight[task.url.key] = ref
        if tasks[0].again:
            host.revisits += len(tasks)
            due = self._store.due(host.row.id, set(host.in_flight.values()), 1)
            host.due = due[0].at if due else math.inf
            return
        host.taken = min(host.taken, queue[0][0]) if len(host.in_flight) > len(tasks) else queue[0][0]
        host.rank = queue[len(tasks)][0] if len(tasks) < len(queue) else 255

    def _file(self, host: OpenHost, file: str, name: str) -> Lease:
        """Request a file of an origin of this host. The lease holds the origin's record, even an expired one."""
        task = self._origins.task(file, name, host.row)
        return self._grant(host, [task], self._origins.needing([task]))

    def _end_parts(self, host: OpenHost, tasks: Sequence[Task], queue: Sequence[tuple[int, int]]) -> Lease:
        """Return those of these pages that belong to closed parts of the host; they end with the reason."""
        parts = host.row.parts
        ended = [index for index, task in enumerate(tasks) if budget.in_closed_part(parts, task.url.text)]
        self._take(host, [tasks[index] for index in ended], [queue[index] for index in ended])
        if not tasks[0].again:
            host.rank = next((entry[0] for index, entry in enumerate(queue) if index not in ended), queue[-1][0])
        return self._grant(host, [tasks[index] for index in ended], closed=Reason.LOW_YIELD)

    def _room(self, host: HostRow) -> int:
        """Return how many tasks a lease may hold: several only if they do not hold the address for long."""
        delay = max(health.delay(host, self._fetch), self._fetch.ip_delay)
        return MOST if delay <= 0 else max(1, min(MOST, int(LONG / delay)))

    def _complete(self, host: OpenHost, tasks: Sequence[Task], now: float) -> list[Origin]:
        """Return the origin of each task, up to the first origin with a missing file."""
        found = []
        for task in tasks:
            origin = self._origins.current(host, urls.origin(task.url.text), now)
            if origin is None or self._origins.missing(origin):
                break
            found.append(origin)
        return found

    def _grant(
        self, host: OpenHost, tasks: Iterable[Task], origins: Iterable[Origin] = (), closed: Reason | None = None
    ) -> Lease:
        host.token = next(self._tokens)
        return Lease(
            host=host.row.name,
            address="" if closed else host.address,
            tasks=tuple(tasks),
            delay=max(health.delay(host.row, self._fetch), self._fetch.ip_delay),
            origins=tuple({origin.name: origin for origin in origins}.values()),
            token=host.token,
            closed=closed,
        )


def next_errand(host: OpenHost) -> Task | None:
    """Return the first errand that can be run.

    A file other than robots.txt waits while the robots.txt of the place where it lies was moved and is awaited.
    """
    for task in host.errands:
        if task.file == ROBOTS or host.awaited.get(urls.origin(task.url.text)) != ROBOTS:
            return task
    return None


def _resolve_task(host: HostRow) -> Task:
    return Task(Url(f"http://{host.name}/", host.name, host.domain, 0), kind=Kind.RESOLVE, attempt=host.failures)
