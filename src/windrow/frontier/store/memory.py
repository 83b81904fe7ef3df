"""A shelf of dictionaries: the reference for the contract tests, and a frontier that nothing survives."""

import bisect
from collections.abc import Container

from windrow.data import Robots, Task
from windrow.frontier.store.base import Domain, Host, Meta


class _Tickets:
    """Names by ticket. New tickets are greater than all before."""

    def __init__(self) -> None:
        self._tickets: list[int] = []
        self._names: dict[int, str] = {}

    def add(self, ticket: int, name: str) -> None:
        self._tickets.append(ticket)
        self._names[ticket] = name

    def remove(self, ticket: int) -> None:
        del self._names[ticket]
        del self._tickets[bisect.bisect_left(self._tickets, ticket)]

    def next(self, after: int) -> tuple[int, str] | None:
        place = bisect.bisect_right(self._tickets, after)
        if place == len(self._tickets):
            return None
        return self._tickets[place], self._names[self._tickets[place]]


class MemoryShelf:
    def __init__(self) -> None:
        self.fresh = True
        self._hosts: dict[str, Host] = {}
        self._domains: dict[str, Domain] = {}
        self._rows: dict[tuple[int, int], tuple[int, int, int]] = {}  # (host, key) -> ref, code, frame
        self._tasks: list[Task | None] = [None]  # by reference
        self._queues: dict[int, list[tuple[int, int]]] = {}  # host -> sorted (rank, ref)
        self._hosts_line: dict[int, _Tickets] = {}  # by domain
        self._domains_line = _Tickets()
        self._robots: dict[str, Robots] = {}
        self._claims: dict[int, int] = {}

    def meta(self) -> Meta:
        return Meta()

    def load_host(self, name: str) -> Host | None:
        return self._hosts.get(name)

    def save_host(self, host: Host) -> None:
        self._hosts[host.name] = host

    def load_domain(self, name: str) -> Domain | None:
        return self._domains.get(name)

    def save_domain(self, domain: Domain) -> None:
        self._domains[domain.name] = domain

    def add(self, host: int, task: Task, via: int) -> int:
        if (host, task.url.key) in self._rows:
            return 0
        return self._enter(host, task)

    def _enter(self, host: int, task: Task) -> int:
        ref = len(self._tasks)
        self._tasks.append(task)
        self._rows[host, task.url.key] = (ref, 0, 0)
        bisect.insort(self._queues.setdefault(host, []), (task.priority, ref))
        return ref

    def requeue(self, host: int, task: Task, ref: int) -> int:
        self._leave(host, ref)
        return self._enter(host, task)

    def finish(self, host: int, task: Task, ref: int, code: int, frame: int) -> None:
        self._leave(host, ref)
        self._rows[host, task.url.key] = (ref, code, frame)

    def _leave(self, host: int, ref: int) -> None:
        queue = self._queues[host]
        del queue[bisect.bisect_left(queue, (self.task(ref).priority, ref))]

    def look(self, host: int, key: int) -> tuple[int, int, int] | None:
        return self._rows.get((host, key))

    def read(self, ref: int, host: Host) -> Task:
        return self.task(ref)

    def task(self, ref: int) -> Task:
        task = self._tasks[ref]
        assert task is not None, "reference 0 means none"
        return task

    def head(self, host: int, skip: Container[int], most: int) -> list[tuple[int, int]]:
        spots = []
        for spot in self._queues.get(host, ()):
            if spot[1] not in skip:
                spots.append(spot)
                if len(spots) == most:
                    break
        return spots

    def list_host(self, domain: int, ticket: int, name: str) -> None:
        self._hosts_line.setdefault(domain, _Tickets()).add(ticket, name)

    def unlist_host(self, domain: int, ticket: int) -> None:
        self._hosts_line[domain].remove(ticket)

    def next_host(self, domain: int, after: int) -> tuple[int, str] | None:
        return self._hosts_line.setdefault(domain, _Tickets()).next(after)

    def list_domain(self, ticket: int, name: str) -> None:
        self._domains_line.add(ticket, name)

    def unlist_domain(self, ticket: int) -> None:
        self._domains_line.remove(ticket)

    def next_domain(self, after: int) -> tuple[int, str] | None:
        return self._domains_line.next(after)

    def robots(self, origin: str) -> Robots | None:
        return self._robots.get(origin)

    def save_robots(self, robots: Robots) -> None:
        self._robots[robots.origin] = robots

    def claim(self, digest: int, key: int) -> int:
        return self._claims.setdefault(digest, key)

    def reserve(self, writes: int) -> None:
        pass

    def crowded(self) -> bool:
        return False

    def checkpoint(self, meta: Meta) -> None:
        pass

    def close(self) -> None:
        pass
