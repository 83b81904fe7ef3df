"""A crawl without network and without clock: a random web, and a driver that leases, "fetches", acknowledges and
releases in passed time.

The driver does what the real one does: the requests of a lease one after another, failures acknowledged before the
lease is released, pages a little later, a log frame every second, a checkpoint when one is due. It notes every lease
and request, so that tests can check what happened when. `crash` ends the process in the middle: whatever is in no frame
never happened. With `suspend` the frontier suspends at every call; the driver leases, releases and counts meanwhile.
"""

import asyncio
import contextlib
import dataclasses
import heapq
import itertools
import random
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from tests.frontier.suspending import Suspending
from tests.frontier.world import SimulatedHost, World
from windrow import frontier, orders, urls
from windrow.config import Config
from windrow.frontier import DurableFrontier
from windrow.frontier.local.frontier import LocalFrontier
from windrow.frontier.policy import budget, retry
from windrow.frontier.policy.revisit import Policy, never
from windrow.records import (
    Access,
    Closing,
    Counts,
    Entry,
    Fate,
    Frame,
    History,
    Kind,
    Lease,
    Order,
    Origin,
    Reason,
    Report,
    Task,
)

START = 1_700_000_000.0


def task(text: str, **fields: object) -> Task:
    url = urls.parse(text)
    assert url is not None, text
    return msgspec.structs.replace(Task(url), **fields)


def options(**fields: object) -> Config:
    """Make a configuration from fields of its sections frontier, fetch, scope and extract, whose names do not clash.

    `plugins`: the sections of plug-ins.
    """
    config = dataclasses.replace(Config(), plugins=fields.pop("plugins", {}))  # type: ignore[arg-type]
    sections = {}
    for name in ("frontier", "fetch", "scope", "extract"):
        section = getattr(config, name)
        known = {field.name for field in dataclasses.fields(section)}
        sections[name] = dataclasses.replace(section, **{key: value for key, value in fields.items() if key in known})
        fields = {key: value for key, value in fields.items() if key not in known}
    assert not fields, fields
    return dataclasses.replace(config, **sections)


@dataclasses.dataclass
class Request:
    start: float
    end: float
    task: Task
    address: str
    token: int


@dataclasses.dataclass
class Simulation:
    """Runs a crawl of a world. `directory` None: in memory."""

    world: World
    config: Config
    directory: Path | None = None
    seed: int = 0
    connections: int = 6
    now: float = START
    suspend: bool = False
    orders: int = 0  # how many orders are given, at random moments
    policy: Policy = never  # when a URL is visited again

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.requests: list[Request] = []
        self.leases: list[tuple[float, Lease]] = []
        self.finished: dict[str, list[Reason]] = {}
        self.due: dict[str, int] = {}  # of the finished URLs, when they are visited again; 0: never
        self.frames: list[Frame] = []  # the log
        self.restarts: list[float] = []
        self.tries: dict[str, int] = {}
        self.ordering = random.Random(f"orders {self.seed}")
        self.blocks: list[tuple[float, frozenset[str]]] = []  # the names that are blocked from a time on
        self.start()

    def start(self) -> None:
        store = "memory" if self.directory is None else "lmdb"
        config = dataclasses.replace(self.config, frontier=dataclasses.replace(self.config.frontier, store=store))
        self.frontier: DurableFrontier = frontier.open(
            self.directory or Path("nowhere"), config, self.now, policy=self.policy
        )
        if self.suspend:
            self.frontier = Suspending(self.frontier, self.seed)
        self.events: list[tuple[float, int, AsyncIterator[float]]] = []
        self.numbers = itertools.count()
        self.holding: dict[int, Lease] = {}
        self.releasing: set[asyncio.Task[None]] = set()
        self.closings: dict[str, Closing] = {}
        self.pending: list[Entry] = []
        self.seeds: list[Task] = []
        self.obeyed: list[Order] = []  # carried out and in no frame yet
        self.reopened: dict[str, list[Reason]] = {}  # by these: how the URLs had ended
        self.committed = self.now
        self.done = False

    @property
    def frame(self) -> int:
        return len(self.frames) + 1

    async def run(self, steps: int = 20_000) -> bool:
        """Continue for so many steps; return whether the crawl is done."""
        if not self.leases and not self.frames:
            await self.add_seeds()
        for _ in range(steps):
            if await self.step():
                await self.commit()
                await self.released()
                return True
        return False

    async def add_seeds(self) -> None:
        """Add the seeds, as at each start."""
        self.seeds += await self.frontier.add([task(seed) for seed in self.world.seeds])

    async def step(self) -> bool:
        if self.now - self.committed >= 1.0:
            await self.commit()
        if self.orders and self.ordering.random() < 0.03:
            self.orders -= 1
            await self.obey(self.drawn_order())
        while self.events and self.events[0][0] <= self.now:
            await self.resume(heapq.heappop(self.events)[2])
        again = await self.lease()
        if again is None and self.orders:
            self.orders -= 1
            await self.obey(self.drawn_order())
            return False
        if again is None:
            assert not self.holding and not self.events, "the frontier says that all is done while leases are out"
            return True
        free = len(self.holding) < self.connections
        soonest = min(again if free else float("inf"), self.events[0][0] if self.events else float("inf"))
        if soonest == float("inf") and self.releasing:
            await self.released()
            return False
        assert soonest < float("inf"), "nothing is under way and nothing will become due: the crawl would hang"
        self.now = max(self.now, soonest)
        return False

    async def lease(self) -> float | None:
        grant = await self.frontier.lease(self.connections - len(self.holding), self.now)
        self.note(grant.closings)
        for lease in grant.leases:
            self.grant(lease)
        return grant.again

    def grant(self, lease: Lease) -> None:
        for other in self.holding.values():
            assert other.host != lease.host, f"two leases of {lease.host} at once"
            assert not (lease.address and other.address == lease.address), f"two leases of {lease.address} at once"
        self.leases.append((self.now, lease))
        self.closings.pop(lease.host, None)  # a lease takes earlier closings into account
        self.holding[lease.token] = lease
        self.push(self.now, self.hold(lease))

    def push(self, time: float, process: AsyncIterator[float]) -> None:
        heapq.heappush(self.events, (time, next(self.numbers), process))

    async def resume(self, process: AsyncIterator[float]) -> None:
        with contextlib.suppress(StopAsyncIteration):
            self.push(await anext(process), process)

    async def hold(self, lease: Lease) -> AsyncIterator[float]:
        """Work on a lease: its tasks one after another. Yields the time at which it continues."""
        last, used = 0.0, 0
        origins = {origin.name: origin for origin in lease.origins}
        for each in lease.tasks:
            used += 1
            if lease.closed is not None:
                if each.kind is Kind.PAGE and each.url.host in self.closings and self.closed(each) is None:
                    used -= 1
                    break  # an order has opened the host again
                closed = self.unavailable(each, origins) if each.kind is Kind.FILE else None
                await self.ack(Report(0, each, lease.closed, "", self.now, origin=closed))
                continue
            if each.kind is Kind.RESOLVE:
                yield self.now + 0.01
                await self.ack(self.resolve(each))
                continue
            if each.kind is Kind.PAGE and origins[urls.origin(each.url.text)].access is Access.CLOSED:
                await self.ack(Report(0, each, Reason.ROBOTS_UNREACHABLE, "", self.now))
                continue
            if last:
                yield last + lease.delay
            if each.kind is Kind.PAGE and (why := self.closed(each)) is not None:
                await self.ack(Report(0, each, why, "", self.now))
                continue
            if last and self.rng.random() < 0.1:
                used -= 1
                break  # the driver wants to stop: the other tasks go back
            if self.is_blocked(each):
                used -= 1
                break
            request = Request(self.now, 0.0, each, lease.address, lease.token)
            self.requests.append(request)
            yield self.now + self.rng.choice([0.05, 0.2, 1.0])
            last = request.end = self.now
            report = self.answer(each, origins)
            if report.reason is Reason.OK and each.kind is Kind.PAGE:
                self.push(self.now + self.rng.choice([0.0, 0.3, 2.0]), self.read(report))
            else:
                await self.ack(report)
        del self.holding[lease.token]
        await self.release(lease, lease.tasks[used:], last)

    async def read(self, report: Report) -> AsyncIterator[float]:
        """Acknowledge a page that comes back from its worker."""
        await self.ack(report)
        return
        yield 0.0

    def closed(self, each: Task) -> Reason | None:
        closing = self.closings.get(each.url.host)
        return budget.closes(closing, each.url.text) if closing is not None else None

    def is_blocked(self, each: Task) -> bool:
        closing = self.closings.get(each.url.host)
        return closing is not None and closing.reason is Reason.BLOCKED

    def note(self, closings: tuple[Closing, ...]) -> None:
        self.closings |= {closing.host: closing for closing in closings}

    def resolve(self, each: Task) -> Report:
        host = self.world.hosts.get(each.url.host)
        if host is None or host.life == "unknown":
            return Report(0, each, Reason.NO_SUCH_HOST, "", self.now)
        return Report(0, each, Reason.OK, "", self.now, until=self.now + 300.0, address=host.address)

    def answer(self, each: Task, origins: dict[str, Origin]) -> Report:
        host = self.world.hosts[each.url.host]
        count = self.tries[each.url.text] = self.tries.get(each.url.text, 0) + 1
        if host.life == "dead":
            return self.failure(each, Reason.CONNECT, origins)
        if each.kind is Kind.FILE:
            return self.answer_robots(each, host, count, origins)
        if host.life == "shaky" and each.attempt < 2:
            return self.failure(each, Reason.SERVER_ERROR if each.attempt else Reason.TIMEOUT, origins)
        if host.life == "throttled" and count == 1:
            return msgspec.structs.replace(self.failure(each, Reason.THROTTLED, origins), until=self.now + 30.0)
        links = self.world.links.get(each.url.text, ())
        found = tuple([task(link, depth=each.depth + 1, via=each.url.text) for link in links])
        kept = 0 if "/poor/" in each.url.text else host.kept
        sizes = {"downloaded": 1000, "clean": 2 * kept, "primary": kept, "kept": kept}
        return Report(0, each, Reason.OK, "", self.now, status=200, links=found, **sizes)

    def failure(self, each: Task, reason: Reason, origins: dict[str, Origin]) -> Report:
        closed = self.unavailable(each, origins) if each.kind is Kind.FILE else None
        final = each.kind is not Kind.PAGE or not retry.again(reason, each.attempt)
        return Report(0, each, reason, "", self.now, final=final, origin=closed)

    def unavailable(self, each: Task, origins: dict[str, Origin]) -> Origin:
        """Return the record of an origin whose robots.txt is unavailable: the copy from before, if there is one."""
        known = origins.get(needed_by(each))
        if known is not None and known.access is not Access.CLOSED:
            return msgspec.structs.replace(known, stamp=self.now, expires=self.now + 3600, access=Access.STALE)
        return Origin(needed_by(each), self.now, self.now, self.now + 3600, access=Access.CLOSED)

    def answer_robots(self, each: Task, host: SimulatedHost, count: int, origins: dict[str, Origin]) -> Report:
        if host.robots == "broken" or (host.robots == "shaky" and count <= 2):
            return self.failure(each, Reason.SERVER_ERROR, origins)
        target = urls.parse(host.robots)
        if target is not None and each.redirects < 5:
            return Report(0, each, Reason.REDIRECT, "", self.now, status=301, moved=target)
        needing = self.world.hosts[needed_by(each).partition("//")[2]]
        origin = Origin(needed_by(each), self.now, self.now, self.now + 86400, delay=needing.delay)
        reason = Reason.NOT_FOUND if host.robots == "absent" else Reason.OK
        return Report(0, each, reason, "", self.now, status=200, origin=origin)

    async def ack(self, report: Report) -> None:
        async with self.meanwhile():
            receipt = await self.frontier.ack([report])
        self.note(receipt.closings)
        self.pending += receipt.entries
        if report.task.kind is Kind.PAGE and report.final:
            self.finished.setdefault(report.task.url.text, []).append(report.reason)
            self.due[report.task.url.text] = receipt.entries[0].due

    async def release(self, lease: Lease, unused: tuple[Task, ...], last: float) -> None:
        """Release a lease; if the frontier suspends, continue meanwhile."""
        coroutine = self.frontier.release(lease, unused, last)
        if self.suspend:
            self.releasing.add(asyncio.create_task(coroutine))
        else:
            await coroutine

    async def released(self) -> None:
        tasks, self.releasing = self.releasing, set()
        await asyncio.gather(*tasks)

    @contextlib.asynccontextmanager
    async def meanwhile(self) -> AsyncIterator[None]:
        """If the frontier suspends, lease and count while the body runs."""
        other = asyncio.create_task(self.disturb()) if self.suspend else None
        yield
        if other is not None:
            await other

    async def disturb(self) -> None:
        counts = await self.frontier.counts()
        assert counts.seen == counts.waiting + counts.in_flight + sum(counts.finished.values())
        if self.rng.random() < 0.5:
            await self.lease()

    def drawn_order(self) -> Order:
        """Draw an order: to block or unblock a name, or to retry some reasons on some hosts."""
        rng = self.ordering
        verb = rng.choice(["block", "unblock", "retry", "retry"])
        names = rng.sample(sorted(self.world.hosts), 1) + rng.sample(["d0.org", "d1.org"], rng.randint(0, 1))
        reasons = [Reason.HOST_DEAD, Reason.NO_SUCH_HOST, Reason.ROBOTS_UNREACHABLE, Reason.LOW_YIELD, Reason.CONNECT]
        if verb != "retry":
            blocked = self.frontier.controls().blocked
            return orders.make(verb, blocked if verb == "unblock" and blocked else names)
        return orders.make(verb, [each.value for each in rng.sample(reasons, 3)], names if rng.random() < 0.3 else ())

    async def obey(self, order: Order) -> None:
        """Let the frontier carry out an order between two frames, part by part, as the driver does."""
        start = None
        while True:
            await self.commit()
            part = msgspec.structs.replace(order, id=f"{len(self.frames)}" if start is None else order.id, start=start)
            order = msgspec.structs.replace(order, id=part.id)
            carried = await self.frontier.carry_out(part, self.now)
            self.note(carried.closings)
            self.obeyed.append(carried.order)
            self.blocks.append((self.now, frozenset(self.frontier.controls().blocked)))
            self.reopen(carried.order)
            start = carried.order.end
            if start is None:
                return

    def reopen(self, order: Order) -> None:
        """Note which URLs wait again, and check that the order says how many."""
        reasons, _ = orders.reopens(order)
        counts: dict[str, int] = {}
        for text, ends in list(self.finished.items()):
            url = task(text).url
            if ends[-1].value in reasons and not self.due[text] and orders.covers(order, url.host, url.key):
                self.reopened[text] = self.finished.pop(text)
                counts[ends[-1].value] = counts.get(ends[-1].value, 0) + 1
        assert order.reopened == counts

    async def commit(self) -> None:
        """Write a log frame, and make a checkpoint if one is due. The log does not keep where a file was moved to."""
        entries, self.pending = tuple(map(logged, self.pending)), []
        seeds, self.seeds = tuple(self.seeds), []
        obeyed, self.obeyed, self.reopened = tuple(self.obeyed), [], {}
        frame = Frame(self.frame, self.now, entries, {"warc": self.frame}, seeds=seeds, orders=obeyed)
        self.frames.append(frame)
        self.committed = self.now
        async with self.meanwhile():
            await self.frontier.committed(frame, ("log", frame.number))
            if self.frontier.checkpoint_due(self.now):
                await self.frontier.checkpoint(self.now)

    async def crash(self, later: float = 0.0, again: int = 1) -> None:
        """Let the process die; another one starts `later` and takes in the log, each frame so many times."""
        await self.released()
        await self.frontier.close()
        for entry in reversed(self.pending):
            if entry.report.task.kind is Kind.PAGE and entry.report.final:
                self.finished[entry.report.task.url.text].pop()
        self.due = {
            entry.report.task.url.text: entry.due
            for frame in self.frames
            for entry in frame.entries
            if entry.report.task.kind is Kind.PAGE and entry.report.final
        }
        self.finished = {text: ends for text, ends in self.finished.items() if ends} | self.reopened
        if self.obeyed:
            self.blocks.append((self.now, frozenset()))
        self.now += later
        self.restarts.append(self.now)
        self.start()
        await self.replay(self.frontier, again)
        self.blocks.append((self.now, frozenset(self.frontier.controls().blocked)))
        await self.add_seeds()

    async def replay(self, store: DurableFrontier, again: int = 1) -> None:
        start = store.position().frame
        for _ in range(again):
            for frame in self.frames[start:]:
                await store.replay(frame, ("log", frame.number))

    async def fates(self) -> dict[str, Fate | None]:
        pages = {page for host in self.world.hosts.values() for page in host.pages}
        return {page: await self.frontier.find(task(page).url) for page in sorted(pages)}


def logged(entry: Entry) -> Entry:
    """Return an entry as the log gives it back: links that were not admitted are gone, and of the history of its URL it
    has the number of visits and the reason of the last one."""
    task, before = entry.report.task, entry.report.task.history
    said = History(visits=before.visits, reason=before.reason) if before is not None and before.visits else None
    task = msgspec.structs.replace(task, history=said) if before is not None else task
    return msgspec.structs.replace(entry, report=msgspec.structs.replace(entry.report, links=(), task=task))


def by_key(history: History, report: Report) -> float:
    """A policy: some URLs are visited again, soon or later, once or often; by their key."""
    key = report.task.url.key
    return report.time + (3, 40, 900)[key % 3] if history.visits < 1 + key % 4 else 0.0


def needed_by(each: Task) -> str:
    """Return the origin that needs a file."""
    return each.via or urls.origin(each.url.text)


def local(store: DurableFrontier) -> LocalFrontier:
    """Return the frontier itself, unwrapped."""
    inner = store.inner if isinstance(store, Suspending) else store
    assert isinstance(inner, LocalFrontier)
    return inner


def durable(counts: Counts) -> Counts:
    """Return the counts that outlive a process: pages that were in flight wait again."""
    return Counts(
        seen=counts.seen,
        waiting=counts.waiting + counts.in_flight,
        finished=counts.finished,
        earlier=counts.earlier,
        due=counts.due,
        refused=counts.refused,
        hosts=counts.hosts,
        domains=counts.domains,
    )


def check_politeness(sim: Simulation) -> None:
    """Check that requests to a host keep its delay, and requests to an address ip_delay, across restarts too."""
    fetch = sim.config.fetch
    by_host: dict[str, list[Request]] = {}
    by_address: dict[str, list[Request]] = {}
    for request in sim.requests:
        by_host.setdefault(request.task.url.host, []).append(request)
        by_address.setdefault(request.address, []).append(request)
    for name, requests in by_host.items():
        check_gaps(requests, fetch.delay, sim.restarts)
        pages = [request for request in requests if request.task.kind is Kind.PAGE]
        check_gaps(pages, max(fetch.delay, sim.world.hosts[name].delay), sim.restarts)
    for requests in by_address.values():
        check_gaps(requests, fetch.ip_delay, sim.restarts)


def check_blocks(sim: Simulation) -> None:
    """Check that no host is requested while an order blocks it."""
    for request in sim.requests:
        names = next((names for time, names in reversed(sim.blocks) if time < request.start), frozenset())
        assert not urls.below(request.task.url.host, names), (request, names)


def check_gaps(requests: list[Request], delay: float, restarts: list[float]) -> None:
    for before, after in itertools.pairwise(requests):
        ended = before.end or min(restart for restart in restarts if restart >= before.start)  # a crash ended it
        assert after.start - ended >= delay - 1e-6, (before, after, delay)
