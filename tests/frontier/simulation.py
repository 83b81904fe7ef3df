"""A crawl without network and without clock: a random web, and a driver that leases, "fetches", settles and releases in passed time.

The driver does what the real one does: one request after the other in a turn, failures settled before the turn is released, pages a
little later, a log frame every second, a checkpoint when one is due. It notes every turn and request, so that tests can ask what was
done when. `crash` ends the process in the middle: what was not in a frame never happened.
"""

import contextlib
import dataclasses
import heapq
import itertools
import random
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from windrow import frontier, urls
from windrow.config import Config
from windrow.data import Counts, Fate, Frame, Kind, Reason, Report, Robots, Task, Turn
from windrow.frontier.local.frontier import LocalFrontier
from windrow.frontier.policy import retry

START = 1_700_000_000.0


def task(text: str, **fields: object) -> Task:
    url = urls.parse(text)
    assert url is not None, text
    return msgspec.structs.replace(Task(url), **fields)


def options(**fields: object) -> Config:
    """A configuration from fields of its sections frontier, fetch, scope and extract, whose names do not clash."""
    config = Config()
    sections = {}
    for name in ("frontier", "fetch", "scope", "extract"):
        section = getattr(config, name)
        known = {field.name for field in dataclasses.fields(section)}
        sections[name] = dataclasses.replace(section, **{key: value for key, value in fields.items() if key in known})
        fields = {key: value for key, value in fields.items() if key not in known}
    assert not fields, fields
    return dataclasses.replace(config, **sections)


@dataclasses.dataclass
class Host:
    name: str
    address: str
    pages: list[str]
    delay: float = 0.0  # Crawl-delay
    robots: str = "ok"  # "ok", "absent", "broken" (5xx), "shaky" (5xx twice), or the URL it was moved to
    life: str = "ok"  # "ok", "dead" (refuses), "unknown" (no such name), "shaky" (each page fails once), "throttled"
    kept: int = 0  # bytes of text in each page


@dataclasses.dataclass
class World:
    hosts: dict[str, Host]
    links: dict[str, list[str]]
    seeds: list[str]

    def reachable(self) -> set[str]:
        """What the seeds lead to, where every page is read."""
        found = set(self.seeds)
        todo = list(self.seeds)
        while todo:
            for link in self.links.get(todo.pop(), []):
                if link not in found:
                    found.add(link)
                    todo.append(link)
        return found


def world(seed: int, hosts: int = 8, pages: int = 12, kinds: bool = True) -> World:
    """A random web. Without `kinds` every host is well."""
    rng = random.Random(seed)
    domains = [f"d{number}.org" for number in range(max(1, hosts // 2))]
    addresses = [f"10.0.0.{number}" for number in range(max(1, hosts // 3))]
    made: dict[str, Host] = {}
    for number in range(hosts):
        name = f"h{number}.{rng.choice(domains)}"
        scheme = rng.choice(["http", "https"])
        part = random.Random(f"{seed} {name}")
        texts = [
            f"{rng.choice([scheme, scheme, 'http'])}://{name}/{part.choice(['', '', 'poor/', 'rich/'])}{page}"
            for page in range(rng.randint(1, pages))
        ]
        made[name] = Host(name, rng.choice(addresses), texts)
        if kinds:
            made[name].delay = rng.choice([0.0, 0.0, 3.0])
            made[name].robots = rng.choice(["ok"] * 5 + ["absent", "broken", "shaky", "moved", "moved"])
            made[name].life = rng.choice(["ok"] * 6 + ["dead", "unknown", "shaky", "throttled"])
            made[name].kept = random.Random(f"{seed} {name}").choice([0, 5, 50, 500])
    everything = [page for host in made.values() for page in host.pages]
    for host in made.values():
        if host.robots == "moved":
            target = rng.choice(everything)
            host.robots = (
                urls.origin(target) + "/robots.txt" if rng.random() < 0.8 else "http://nowhere.example/robots.txt"
            )
    links = {}
    for host in made.values():
        for page in host.pages:
            links[page] = rng.sample(host.pages, rng.randint(0, min(4, len(host.pages)))) + rng.choices(
                everything, k=rng.randint(0, 2)
            )
    return World(made, links, rng.sample(everything, min(4, len(everything))))


@dataclasses.dataclass
class Request:
    start: float
    end: float
    task: Task
    address: str
    lease: int


@dataclasses.dataclass
class Simulation:
    """Runs a crawl of a world. `directory` None: in memory."""

    world: World
    config: Config
    directory: Path | None = None
    seed: int = 0
    connections: int = 6
    now: float = START

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.requests: list[Request] = []
        self.turns: list[tuple[float, Turn]] = []
        self.finished: dict[str, list[Reason]] = {}
        self.frames: list[Frame] = []  # the log
        self.restarts: list[float] = []
        self.tries: dict[str, int] = {}
        self.starts()

    def starts(self) -> None:
        store = "memory" if self.directory is None else "lmdb"
        config = dataclasses.replace(self.config, frontier=dataclasses.replace(self.config.frontier, store=store))
        self.frontier: LocalFrontier = frontier.open(self.directory or Path("nowhere"), config, self.now)
        self.events: list[tuple[float, int, AsyncIterator[float]]] = []
        self.numbers = itertools.count()
        self.holding: dict[int, Turn] = {}
        self.pending: list[Report] = []
        self.seeds: list[Task] = []
        self.committed = self.now
        self.done = False

    @property
    def frame(self) -> int:
        return len(self.frames) + 1

    async def run(self, steps: int = 20_000) -> bool:
        """Goes on for so many steps; True when the crawl is done."""
        if not self.turns and not self.frames:
            await self.seed_again()
        for _ in range(steps):
            if await self.step():
                await self.commit()
                return True
        return False

    async def seed_again(self) -> None:
        """Seeds are read at each start."""
        self.seeds += await self.frontier.add([task(seed) for seed in self.world.seeds])

    async def step(self) -> bool:
        if self.now - self.committed >= 1.0:
            await self.commit()
        while self.events and self.events[0][0] <= self.now:
            await self.resume(heapq.heappop(self.events)[2])
        turns, again = await self.frontier.lease(self.connections - len(self.holding), self.now)
        for turn in turns:
            self.grant(turn)
        if again is None:
            assert not self.holding and not self.events, "the frontier says that all is done while turns are out"
            return True
        free = len(self.holding) < self.connections
        soonest = min(again if free else float("inf"), self.events[0][0] if self.events else float("inf"))
        assert soonest < float("inf"), "nothing is under way and nothing will become due: the crawl would hang"
        self.now = max(self.now, soonest)
        return False

    def grant(self, turn: Turn) -> None:
        for other in self.holding.values():
            assert other.host != turn.host, f"two turns on {turn.host} at once"
            assert not (turn.address and other.address == turn.address), f"two turns on {turn.address} at once"
        self.turns.append((self.now, turn))
        self.holding[turn.lease] = turn
        self.push(self.now, self.hold(turn))

    def push(self, time: float, process: AsyncIterator[float]) -> None:
        heapq.heappush(self.events, (time, next(self.numbers), process))

    async def resume(self, process: AsyncIterator[float]) -> None:
        with contextlib.suppress(StopAsyncIteration):
            self.push(await anext(process), process)

    async def hold(self, turn: Turn) -> AsyncIterator[float]:
        """A turn: its tasks one after the other. Yields when it goes on."""
        last, used = 0.0, 0
        rules = {robots.origin: robots for robots in turn.robots}
        for each in turn.tasks:
            used += 1
            if turn.closed is not None:
                closed = (
                    Robots(origin(each), "", self.now, self.now + 3600, closed=True)
                    if each.kind is Kind.ROBOTS
                    else None
                )
                await self.settle(Report(0, each, turn.closed, "", self.now, robots=closed))
                continue
            if each.kind is Kind.RESOLVE:
                yield self.now + 0.01
                await self.settle(self.resolve(each))
                continue
            if each.kind is Kind.PAGE and rules[urls.origin(each.url.text)].closed:
                await self.settle(Report(0, each, Reason.ROBOTS_UNREACHABLE, "", self.now))
                continue
            if last:
                yield last + turn.delay
            if each.kind is Kind.PAGE and (why := self.frontier.closed(each.url)) is not None:
                await self.settle(Report(0, each, why, "", self.now))
                continue
            if last and self.rng.random() < 0.1:
                used -= 1
                break  # the driver wants to stop: the rest goes back
            request = Request(self.now, 0.0, each, turn.address, turn.lease)
            self.requests.append(request)
            yield self.now + self.rng.choice([0.05, 0.2, 1.0])
            last = request.end = self.now
            report = self.answer(each)
            if report.reason is Reason.OK and each.kind is Kind.PAGE:
                self.push(self.now + self.rng.choice([0.0, 0.3, 2.0]), self.read(report))
            else:
                await self.settle(report)
        del self.holding[turn.lease]
        await self.frontier.release(turn, turn.tasks[used:], last)

    async def read(self, report: Report) -> AsyncIterator[float]:
        """A page comes back from its worker."""
        await self.settle(report)
        return
        yield 0.0

    def resolve(self, each: Task) -> Report:
        host = self.world.hosts.get(each.url.host)
        if host is None or host.life == "unknown":
            return Report(0, each, Reason.NO_SUCH_HOST, "", self.now)
        return Report(0, each, Reason.OK, "", self.now, until=self.now + 300.0, address=host.address)

    def answer(self, each: Task) -> Report:
        host = self.world.hosts[each.url.host]
        count = self.tries[each.url.text] = self.tries.get(each.url.text, 0) + 1
        if host.life == "dead":
            return self.failure(each, Reason.CONNECT)
        if each.kind is Kind.ROBOTS:
            return self.answer_robots(each, host, count)
        if host.life == "shaky" and each.attempt < 2:
            return self.failure(each, Reason.SERVER_ERROR if each.attempt else Reason.TIMEOUT)
        if host.life == "throttled" and count == 1:
            return msgspec.structs.replace(self.failure(each, Reason.THROTTLED), until=self.now + 30.0)
        found = tuple(
            [task(link, depth=each.depth + 1, via=each.url.text) for link in self.world.links.get(each.url.text, ())]
        )
        kept = 0 if "/poor/" in each.url.text else host.kept
        texts = {"clean": 2 * kept, "primary": kept, "kept": kept}
        return Report(0, each, Reason.OK, "", self.now, status=200, downloaded=1000, found=found, **texts)

    def failure(self, each: Task, reason: Reason) -> Report:
        closed = Robots(origin(each), "", self.now, self.now + 3600, closed=True) if each.kind is Kind.ROBOTS else None
        final = each.kind is not Kind.PAGE or not retry.again(reason, each.attempt)
        return Report(0, each, reason, "", self.now, final=final, robots=closed)

    def answer_robots(self, each: Task, host: Host, count: int) -> Report:
        if host.robots == "broken" or (host.robots == "shaky" and count <= 2):
            return self.failure(each, Reason.SERVER_ERROR)
        target = urls.parse(host.robots)
        if target is not None and each.redirects < 5:
            moved = Task(target, Kind.ROBOTS, 0, redirects=each.redirects + 1, via=origin(each))
            return Report(0, each, Reason.REDIRECT, "", self.now, status=301, found=(moved,))
        asking = self.world.hosts[origin(each).partition("//")[2]]
        robots = Robots(origin(each), "", self.now, self.now + 86400, delay=asking.delay)
        return Report(
            0, each, Reason.NOT_FOUND if host.robots == "absent" else Reason.OK, "", self.now, status=200, robots=robots
        )

    async def settle(self, report: Report) -> None:
        [settled] = await self.frontier.settle([report], self.frame)
        self.pending.append(settled)
        if report.task.kind is Kind.PAGE and report.final:
            self.finished.setdefault(report.task.url.text, []).append(report.reason)

    async def commit(self) -> None:
        """A log frame, and a checkpoint where one is due. Links to robots.txt files are not in the log."""
        reports = [msgspec.structs.replace(r, found=()) if r.task.kind is Kind.ROBOTS else r for r in self.pending]
        frame = Frame(self.frame, self.now, tuple(reports), {"warc": self.frame}, tuple(self.seeds))
        self.frames.append(frame)
        self.pending, self.seeds = [], []
        self.committed = self.now
        await self.frontier.commit(frame, ("log", frame.number))
        if self.frontier.checkpoint_due(self.now):
            await self.frontier.checkpoint(self.now)

    async def crash(self, later: float = 0.0, again: int = 1) -> None:
        """The process dies; another starts `later`, and takes in the log, the frames each so many times."""
        await self.frontier.close()
        for report in self.pending:
            if report.task.kind is Kind.PAGE and report.final:
                self.finished[report.task.url.text].remove(report.reason)
        self.finished = {text: ends for text, ends in self.finished.items() if ends}
        self.now += later
        self.restarts.append(self.now)
        self.starts()
        await self.replay(self.frontier, again)
        await self.seed_again()

    async def replay(self, store: LocalFrontier, again: int = 1) -> None:
        start = store.meta.frame
        for _ in range(again):
            for frame in self.frames[start:]:
                await store.replay(frame, ("log", frame.number))

    async def fates(self) -> dict[str, Fate | None]:
        pages = {page for host in self.world.hosts.values() for page in host.pages}
        return {page: await self.frontier.find(task(page).url) for page in sorted(pages)}


def origin(each: Task) -> str:
    """The origin whose rules a robots task is to find."""
    return each.via or urls.origin(each.url.text)


def settled(counts: Counts) -> Counts:
    """The counts that outlive a process: what was in hand waits again."""
    return Counts(
        seen=counts.seen,
        waiting=counts.waiting + counts.in_hand,
        finished=counts.finished,
        refused=counts.refused,
        hosts=counts.hosts,
        domains=counts.domains,
    )


def check_politeness(sim: Simulation) -> None:
    """No two requests to a host closer than its delay, none to an address closer than ip_delay, across restarts too."""
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


def check_gaps(requests: list[Request], delay: float, restarts: list[float]) -> None:
    for before, after in itertools.pairwise(requests):
        ended = before.end or min(restart for restart in restarts if restart >= before.start)  # a crash ended it
        assert after.start - ended >= delay - 1e-6, (before, after, delay)
