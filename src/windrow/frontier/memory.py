"""A shelf of dictionaries: the reference for the contract tests, and a frontier that nothing survives."""

import bisect
from collections.abc import Container

from windrow.data import Robots, Task
from windrow.frontier.shelf import Domain, Host, Meta


class MemoryShelf:
    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}
        self._domains: dict[str, Domain] = {}
        self._rows: dict[tuple[int, int], tuple[int, int, int]] = {}  # (host, key) -> ref, code, frame
        self._tasks: list[Task | None] = [None]  # by reference
        self._queues: dict[int, list[tuple[int, int]]] = {}  # host -> sorted (rank, ref)
        self._lines: dict[int, dict[int, str]] = {}  # domain -> ticket -> host, in ticket order
        self._line: dict[int, str] = {}  # ticket -> domain
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
        task = self._tasks[ref]
        assert task is not None
        self._queues[host].remove((task.priority, ref))

    def look(self, host: int, key: int) -> tuple[int, int, int] | None:
        return self._rows.get((host, key))

    def read(self, ref: int, host: Host) -> Task:
        task = self._tasks[ref]
        assert task is not None
        return task

    def head(self, host: int, skip: Container[int], most: int) -> list[tuple[int, int]]:
        spots = []
        for rank, ref in self._queues.get(host, ()):
            if ref not in skip:
                spots.append((rank, ref))
                if len(spots) == most:
                    break
        return spots

    def list_host(self, domain: int, ticket: int, name: str) -> None:
        self._lines.setdefault(domain, {})[ticket] = name

    def unlist_host(self, domain: int, ticket: int) -> None:
        del self._lines[domain][ticket]

    def next_host(self, domain: int, after: int) -> tuple[int, str] | None:
        return next(((ticket, name) for ticket, name in self._lines.get(domain, {}).items() if ticket > after), None)

    def list_domain(self, ticket: int, name: str) -> None:
        self._line[ticket] = name

    def unlist_domain(self, ticket: int) -> None:
        del self._line[ticket]

    def next_domain(self, after: int) -> tuple[int, str] | None:
        return next(((ticket, name) for ticket, name in self._line.items() if ticket > after), None)

    def robots(self, origin: str) -> Robots | None:
        return self._robots.get(origin)

    def save_robots(self, robots: Robots) -> None:
        self._robots[robots.origin] = robots

    def claim(self, digest: int, key: int) -> int:
        return self._claims.setdefault(digest, key)

    def crowded(self) -> bool:
        return False

    def checkpoint(self, meta: Meta) -> None:
        pass

    def close(self) -> None:
        pass
