"""Drives a frontier by hand, in passed time: each step is a line of a test."""

from collections.abc import Coroutine, Iterable, Sequence
from typing import TypeVar

import msgspec

from tests.frontier.simulation import START, task
from windrow import urls
from windrow.data import Frame, Kind, Reason, Report, Robots, Task, Turn
from windrow.frontier.local.frontier import LocalFrontier
from windrow.frontier.policy import retry

T = TypeVar("T")


def do(coroutine: Coroutine[object, object, T]) -> T:
    """The result of a coroutine that never waits, as those of a local frontier."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    raise AssertionError("a local frontier waits for nothing")


class Hand:
    def __init__(self, store: LocalFrontier, now: float = START) -> None:
        self.store = store
        self.now = now
        self.again: float | None = 0.0
        self.addresses: dict[str, str] = {}  # by host; any other gets one of its own
        self.delays: dict[str, float] = {}  # Crawl-delay by origin
        self.frame = 0

    def add(self, *texts: str, **fields: object) -> list[str]:
        """The URLs that were new."""
        return [new.url.text for new in do(self.store.add([task(text, **fields) for text in texts]))]

    def lease(self, hosts: int = 100) -> list[Turn]:
        turns, self.again = do(self.store.lease(hosts, self.now))
        return turns

    def only(self) -> Turn:
        [turn] = self.lease()
        return turn

    def lease_next(self) -> Turn:
        """The one turn that is to be had, now or when the frontier says."""
        turns = self.lease()
        if not turns:
            self.wait()
            turns = self.lease()
        [turn] = turns
        return turn

    def pages(self, hosts: int = 100) -> list[Turn]:
        """The page turns (and those of closed hosts) to be had now. Addresses and robots.txt are found at no cost of time."""
        found: list[Turn] = []
        while turns := self.lease(hosts - len(found)):
            for turn in turns:
                if turn.closed is None and turn.tasks[0].kind is Kind.RESOLVE:
                    self.resolve(turn)
                elif turn.closed is None and turn.tasks[0].kind is Kind.ROBOTS:
                    self.allow(turn)
                else:
                    found.append(turn)
            if len(found) == hosts:
                break
        return found

    def page(self) -> Turn:
        """The one page turn that is to be had, now or when the frontier says."""
        turns = self.pages()
        if not turns:
            self.wait()
            turns = self.pages()
        [turn] = turns
        return turn

    def wait(self) -> float:
        """Until the frontier says that something is due; the seconds that took."""
        before = self.now
        self.lease(0)
        assert self.again != float("inf"), "nothing will become due"
        self.now = max(self.now, self.again or 0.0)
        return self.now - before

    def resolve(self, turn: Turn, reason: Reason = Reason.OK, ttl: float = 3600.0) -> None:
        assert turn.tasks[0].kind is Kind.RESOLVE
        address = self.addresses.get(turn.host, f"address of {turn.host}") if reason is Reason.OK else ""
        self.settle(turn.tasks[0], reason, until=self.now + ttl if address else 0.0, address=address)
        self.release(turn)

    def allow(self, turn: Turn, life: float = 86400.0) -> None:
        """robots.txt allows everything."""
        [each] = turn.tasks
        asking = each.via or urls.origin(each.url.text)
        robots = Robots(asking, "", self.now, self.now + life, delay=self.delays.get(asking, 0.0))
        self.settle(each, Reason.OK, robots=robots)
        self.release(turn)

    def unreachable(self, turn: Turn, reason: Reason = Reason.SERVER_ERROR, life: float = 3600.0) -> None:
        """robots.txt cannot be had."""
        for each in turn.tasks:
            asking = each.via or urls.origin(each.url.text)
            self.settle(each, reason, robots=Robots(asking, "", self.now, self.now + life, closed=True))
        self.release(turn)

    def moved(self, turn: Turn, target: str) -> None:
        """robots.txt is elsewhere."""
        [each] = turn.tasks
        asking = each.via or urls.origin(each.url.text)
        self.settle(
            each,
            Reason.REDIRECT,
            found=[task(target, kind=Kind.ROBOTS, priority=0, redirects=each.redirects + 1, via=asking)],
        )
        self.release(turn)

    def settle(self, each: Task, reason: Reason = Reason.OK, found: Iterable[Task] = (), **fields: object) -> Report:
        final = each.kind is not Kind.PAGE or not retry.again(reason, each.attempt)
        status = 200 if reason is Reason.OK and each.kind is Kind.PAGE else 0
        report = Report(0, each, reason, "", self.now, final=final, status=status, found=tuple(found))
        [settled] = do(self.store.settle([msgspec.structs.replace(report, **fields)], self.frame + 1))
        return settled

    def release(self, turn: Turn, unused: Sequence[Task] = (), last: float = 0.0) -> None:
        do(self.store.release(turn, unused, last))

    def serve(
        self, turn: Turn, reason: Reason = Reason.OK, links: Iterable[str] = (), **fields: object
    ) -> list[Report]:
        """Every page of a turn ends so, at this moment."""
        reports = []
        for each in turn.tasks:
            found = [task(link, depth=each.depth + 1, via=each.url.text) for link in links]
            reports.append(self.settle(each, turn.closed or reason, found, **fields))
        self.release(turn, last=0.0 if turn.closed else self.now)
        return reports

    def crawl(self, links: dict[str, list[str]] | None = None) -> list[str]:
        """Serves everything until all is done; the pages in the order they were asked for."""
        asked = []
        while True:
            for turn in self.pages(1):
                asked += texts(turn)
                for each in turn.tasks:
                    self.settle(
                        each, found=[task(link, via=each.url.text) for link in (links or {}).get(each.url.text, ())]
                    )
                self.release(turn, last=self.now)
            if self.again is None:
                return asked
            self.wait()

    def checkpoint(self, *reports: Report) -> None:
        self.frame += 1
        do(self.store.commit(Frame(self.frame, self.now, reports, {}), ("log", self.frame)))
        do(self.store.checkpoint(self.now))


def texts(turn: Turn) -> list[str]:
    return [each.url.text for each in turn.tasks]
