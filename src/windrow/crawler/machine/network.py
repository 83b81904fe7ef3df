"""The network as the crawl sees it: holds failures until their cause is known, and says when we are offline.

Each failed look-up and each failed request asks `counts`. The answer takes as long as it takes until another host
answers or a round of checks is over, see `crawler/machine/outage.py`. A failure that does not count leaves no trace:
nothing is logged, no attempt is used, and the task goes back to its queue. So a crash during an outage needs no repair.

A check needs no third party. It is a look-up of a host that has answered before, and a connection to it, without a
request. Before anything has answered, the hosts that failed are checked. Loopback needs no network: a failure there
always counts.
"""

import asyncio
import functools
import itertools
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from windrow.config import Config
from windrow.crawler.machine.clock import Clock
from windrow.crawler.machine.outage import PATIENCE, Detector, Way
from windrow.fetch import address, reach
from windrow.fetch.resolve import Resolved, Resolver
from windrow.records import Capture, Failure, Reason
from windrow.units import moment

SUSPECT = frozenset({Reason.CONNECT, Reason.TIMEOUT, Reason.DISCONNECT, Reason.DNS})  # our network may be the cause
REMEMBERED = 64  # hosts that answered, and hosts that failed
CHECKED = 3  # hosts in a round
ENOUGH = 3  # addresses that have answered and no longer do: from so many on an outage is certain
MANY = 8  # names that are looked up for the first time, none of which can be resolved: the same


class Watch(NamedTuple):
    """The crawl, which wants to know of changes."""

    # Called when the crawl is offline, with since when, or no longer (0), and whether it only gave up waiting.
    changed: Callable[[float, bool], None]
    broken: Callable[[BaseException | None], None]  # called if checking itself fails


class Endpoint(NamedTuple):
    """A host to check."""

    host: str
    place: str  # its address, with the port if the hosts file names one; "" if it is not known
    port: int
    untried: bool = False  # it has not failed before


@functools.lru_cache(maxsize=1 << 12)
def local(place: str) -> bool:
    """Return whether an address is reached without a network."""
    pair = address.split(place)
    return pair is not None and address.allowed(pair[0], private=True, loopback_only=True)


def describe(since: float) -> str:
    """Return the sentence about an outage that began at this time; "" if there is none (0)."""
    wait = "waiting for the network; nothing counts as failed meanwhile"
    return f"no host has answered since {moment(since)}: {wait}" if since else ""


def suspect(answer: Capture | Failure) -> bool:
    """Return whether the loss of our network explains an answer: no response, or one that broke off."""
    if isinstance(answer, Capture):
        return answer.truncated in ("time", "disconnect")
    return answer.reason in SUSPECT and not answer.downloaded


def _remember(table: dict[str, Endpoint], target: Endpoint) -> None:
    table[target.host] = target
    if len(table) > REMEMBERED:
        del table[next(iter(table))]


class Network:
    """One per crawl."""

    def __init__(self, options: Config, clock: Clock, resolver: Resolver, watch: Watch) -> None:
        self._detector = Detector(options.crawl.offline_few_seconds, options.crawl.offline_seconds)
        self._timeout = options.fetch.connect_timeout
        self._clock = clock
        self._resolver = resolver
        self._watch = watch
        self._witnesses: dict[str, Endpoint] = {}  # hosts that have answered, by name
        self._failed: dict[str, Endpoint] = {}  # hosts that failed since the network last worked, by name
        self._waiting: dict[int, asyncio.Future[bool]] = {}  # failures that are held, by token
        self._checking: asyncio.Task[None] | None = None
        self._stopped = False

    @property
    def offline(self) -> float:
        """Epoch seconds since which no host answers; 0: the network works, or nothing says that it does not."""
        return self._detector.since

    @property
    def alert(self) -> bool:
        """Whether an answer decides something now."""
        return self._detector.alert

    def answered(self, way: Way, target: Endpoint, start: float) -> None:
        """Note an answer to a request, or to a look-up, that was sent at `start`."""
        if local(target.place):
            return
        if target.place and target.host not in self._witnesses:
            _remember(self._witnesses, target)
        if self._detector.alert:
            before = self._detector.since
            self._deliver(self._detector.answered(way, start), before)

    async def counts(self, way: Way, target: Endpoint, start: float) -> bool:
        """Return whether the failure of a request sent at `start` counts against its host, as soon as that is known."""
        if local(target.place):
            return True
        verdict = self._detector.verdict(way, start)
        if verdict is None and self._stopped:
            verdict = False
        if not verdict:
            _remember(self._failed, target)
        return await self._hold(way) if verdict is None else verdict

    async def resolved(self, target: Endpoint, answer: Resolved, start: float) -> bool:
        """Take note of the answer to a look-up; return whether it counts."""
        if answer.source == "local" or answer.reason is Reason.BLOCKED_ADDRESS:
            return True
        if answer.reason is not None:
            untried = (
                target.untried and answer.reason is Reason.DNS
            )  # names that do not exist are many: they say little
            counts = await self.counts(Way.NAMES, target._replace(untried=untried), start)
            if not counts:
                self._resolver.forget(target.host)
            return counts
        if answer.source == "dns" and self.alert:
            self.answered(Way.NAMES, target, start)
        return True

    def stop(self) -> None:
        """Decide nothing more: what is held goes back to its queue, and nothing is checked."""
        self._stopped = True
        if self._checking is not None:
            self._checking.cancel()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(False)

    # Holding

    async def _hold(self, way: Way) -> bool:
        token = self._detector.hold(way, self._clock.now())
        decided: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[token] = decided
        self._start()
        try:
            return await decided
        finally:
            del self._waiting[token]
            self._detector.drop(token)

    def _deliver(self, decided: dict[int, bool], before: float) -> None:
        """Tell those who wait; `before` is what `offline` was before the decision."""
        for token, verdict in decided.items():
            waiting = self._waiting.get(token)
            if waiting is not None and not waiting.done():
                waiting.set_result(verdict)
        since = self._detector.since
        if since != before:
            self._watch.changed(since, bool(self._detector.resigned))
        if not self._detector.alert:
            self._failed.clear()

    # Checking

    def _start(self) -> None:
        if self._checking is None and not self._stopped and self._detector.due < math.inf:
            self._checking = asyncio.create_task(self._check())
            self._checking.add_done_callback(self._ended)

    async def _check(self) -> None:
        """Probe when it is due, until nothing is left to decide."""
        while (due := self._detector.due) < math.inf:
            wait = due - self._clock.now()
            if wait > 0:
                await asyncio.sleep(min(wait, PATIENCE))  # it may become due sooner
            else:
                await self._round()

    async def _round(self) -> None:
        start = self._clock.now()
        wanted = self._detector.wanted()
        targets = self._targets()
        working = await asyncio.gather(*[self._reach(target, wanted) for target in targets])
        before = self._detector.since
        proven = frozenset(itertools.chain.from_iterable(working))
        self._deliver(self._detector.checked(proven, start, self._certain(), self._clock.now()), before)

    async def _reach(self, target: Endpoint, wanted: frozenset[Way]) -> Iterable[Way]:
        """Return what works at this host. A look-up alone proves nothing: a cache on this machine may answer it."""
        place, named = target.place, False
        if Way.NAMES in wanted or not place:
            resolved = await self._resolver.ask(target.host)
            named = resolved.reason is None and self._resolver.asks(target.host)
            place = resolved.address or place
        if not place or not await reach.connects(place, target.port, self._timeout):
            return ()
        return (Way.HOSTS, Way.NAMES) if named else (Way.HOSTS,)

    def _targets(self) -> list[Endpoint]:
        """Return the hosts of the next round: those that have answered, each in turn, then those that failed."""
        chosen: list[Endpoint] = []
        for table in (self._witnesses, self._failed):
            for host in list(table)[: CHECKED - len(chosen)]:
                target = table[host] = table.pop(host)  # to the end
                chosen.append(target)
        return chosen

    def _certain(self) -> bool:
        """Return whether hosts that do not answer can only mean an outage of our own."""
        if not reach.routed() or len({target.place for target in self._witnesses.values()}) >= ENOUGH:
            return True
        return sum(target.untried for target in self._failed.values()) >= MANY

    def _ended(self, checking: "asyncio.Task[None]") -> None:
        self._checking = None
        if not checking.cancelled() and checking.exception() is not None:
            return self._watch.broken(checking.exception())
        self._start()  # a failure may have come after the last look
