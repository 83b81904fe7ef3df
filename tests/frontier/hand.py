"""Drives a frontier by hand, in passed time: each step is a line of a test."""

from collections.abc import Coroutine, Iterable, Sequence
from typing import TypeVar

import msgspec

from tests.frontier.simulation import START, needed_by, task
from windrow.frontier import DurableFrontier
from windrow.frontier.policy import budget, retry
from windrow.records import Access, Closing, Entry, Frame, Kind, Lease, Origin, Reason, Report, Task

T = TypeVar("T")


def do(coroutine: Coroutine[object, object, T]) -> T:
    """Return the result of a coroutine that waits for nothing but `asyncio.sleep(0)`."""
    while True:
        try:
            waits_for = coroutine.send(None)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        assert waits_for is None, "a frontier waits for nothing"


class Hand:
    """A frontier and a clock. It remembers the closings that the frontier announced."""

    def __init__(self, store: DurableFrontier, now: float = START) -> None:
        self.store = store
        self.now = now
        self.again: float | None = 0.0
        self.addresses: dict[str, str] = {}  # by host; any other host gets one of its own
        self.delays: dict[str, float] = {}  # Crawl-delay by origin
        self.closings: dict[str, Closing] = {}
        self.frame = 0

    def add(self, *texts: str, **fields: object) -> list[str]:
        """Return the URLs that were new."""
        return [new.url.text for new in do(self.store.add([task(text, **fields) for text in texts]))]

    def lease(self, hosts: int = 100) -> list[Lease]:
        grant = do(self.store.lease(hosts, self.now))
        self.again = grant.again
        self._note(grant.closings)
        return list(grant.leases)

    def only(self) -> Lease:
        [lease] = self.lease()
        return lease

    def lease_next(self) -> Lease:
        """Return the only lease that is available now, or when the frontier says."""
        leases = self.lease()
        if not leases:
            self.wait()
            leases = self.lease()
        [lease] = leases
        return lease

    def pages(self, hosts: int = 100) -> list[Lease]:
        """Return the leases of pages and of closed hosts available now. Lookups and robots.txt cost no time."""
        found: list[Lease] = []
        while leases := self.lease(hosts - len(found)):
            for lease in leases:
                if lease.closed is None and lease.tasks[0].kind is Kind.RESOLVE:
                    self.resolve(lease)
                elif lease.closed is None and lease.tasks[0].file == "robots":
                    self.allow(lease)
                else:
                    found.append(lease)
            if len(found) == hosts:
                break
        return found

    def page(self) -> Lease:
        """Return the only lease of pages that is available now, or when the frontier says."""
        leases = self.pages()
        if not leases:
            self.wait()
            leases = self.pages()
        [lease] = leases
        return lease

    def wait(self) -> float:
        """Wait until the frontier says that something is due; return the seconds that took."""
        before = self.now
        self.lease(0)
        assert self.again != float("inf"), "nothing will become due"
        self.now = max(self.now, self.again or 0.0)
        return self.now - before

    def finish(self) -> None:
        """Let every robots.txt allow everything, and serve every page."""
        while self.again is not None:
            for lease in self.pages():
                self.serve(lease)
            if self.again is not None:
                self.wait()

    def resolve(self, lease: Lease, reason: Reason = Reason.OK, ttl: float = 3600.0, final: bool = True) -> None:
        assert lease.tasks[0].kind is Kind.RESOLVE
        address = self.addresses.get(lease.host, f"address of {lease.host}") if reason is Reason.OK else ""
        self.ack(lease.tasks[0], reason, until=self.now + ttl if address else 0.0, address=address, final=final)
        self.release(lease)

    def origin(self, name: str, life: float = 86400.0, **fields: object) -> Origin:
        """Return the record of an origin whose robots.txt was fetched now."""
        made = Origin(name, self.now, self.now, self.now + life, delay=self.delays.get(name, 0.0))
        return msgspec.structs.replace(made, **fields)

    def allow(self, lease: Lease, life: float = 86400.0, **fields: object) -> None:
        """Let robots.txt allow everything."""
        [each] = lease.tasks
        self.ack(each, Reason.OK, origin=self.origin(needed_by(each), life, **fields))
        self.release(lease)

    def unreachable(self, lease: Lease, reason: Reason = Reason.SERVER_ERROR, life: float = 3600.0) -> None:
        """Let robots.txt be unavailable: a copy from before stays in force, as a visit decides."""
        known = {origin.name: origin for origin in lease.origins if origin.access is not Access.CLOSED}
        for each in lease.tasks:
            name = needed_by(each)
            if name in known:
                changes = {"stamp": self.now, "expires": self.now + life, "access": Access.STALE}
                origin = msgspec.structs.replace(known[name], **changes)
            else:
                origin = self.origin(name, life, access=Access.CLOSED)
            self.ack(each, reason, origin=origin)
        self.release(lease)

    def move(self, lease: Lease, target: str) -> None:
        """Let a file redirect to another place."""
        [each] = lease.tasks
        self.ack(each, Reason.REDIRECT, moved=task(target).url)
        self.release(lease)

    def ack(self, each: Task, reason: Reason = Reason.OK, links: Iterable[Task] = (), **fields: object) -> Entry:
        final = each.kind is not Kind.PAGE or not retry.again(reason, each.attempt)
        status = 200 if reason is Reason.OK and each.kind is Kind.PAGE else 0
        report = make_report(each, reason, self.now, final=final, status=status, links=tuple(links))
        receipt = do(self.store.ack([msgspec.structs.replace(report, **fields)]))
        self._note(receipt.closings)
        [entry] = receipt.entries
        return entry

    def release(self, lease: Lease, unused: Sequence[Task] = (), last: float = 0.0) -> None:
        do(self.store.release(lease, unused, last))

    def serve(
        self, lease: Lease, reason: Reason = Reason.OK, links: Iterable[str] = (), **fields: object
    ) -> list[Entry]:
        """End every page of a lease like this, at this moment."""
        entries = []
        for each in lease.tasks:
            found = [task(link, depth=each.depth + 1, via=each.url.text) for link in links]
            entries.append(self.ack(each, lease.closed or reason, found, **fields))
        self.release(lease, last=0.0 if lease.closed else self.now)
        return entries

    def crawl(self, links: dict[str, list[str]] | None = None) -> list[str]:
        """Serve everything until all is done; return the pages in the order of their requests."""
        requested = []
        while True:
            for lease in self.pages(1):
                requested += texts(lease)
                for each in lease.tasks:
                    found = (links or {}).get(each.url.text, ())
                    self.ack(each, links=[task(link, via=each.url.text) for link in found])
                self.release(lease, last=self.now)
            if self.again is None:
                return requested
            self.wait()

    def closed(self, text: str) -> Reason | None:
        """Return why a URL of a leased host must not be requested any more, as a driver asks before each request."""
        closing = self.closings.get(task(text).url.host)
        return budget.closes(closing, text) if closing is not None else None

    def checkpoint(self, *entries: Entry) -> None:
        self.frame += 1
        do(self.store.committed(Frame(self.frame, self.now, entries, {}), ("log", self.frame)))
        do(self.store.checkpoint(self.now))

    def _note(self, closings: Iterable[Closing]) -> None:
        self.closings |= {closing.host: closing for closing in closings}


def make_report(each: Task, reason: Reason, time: float, **fields: object) -> Report:
    return Report(seq=0, task=each, reason=reason, detail="", time=time, **fields)  # type: ignore[arg-type]


def texts(lease: Lease) -> list[str]:
    return [each.url.text for each in lease.tasks]
