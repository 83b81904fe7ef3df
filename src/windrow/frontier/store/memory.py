"""A store of dictionaries: the reference for the contract tests, and the store of a crawl that is never resumed."""

import bisect
from collections.abc import Container

import msgspec

from windrow.frontier.store.rows import DomainRow, DueUrl, HostRow, Meta
from windrow.records import Origin, Task


class _Queue:
    """Names by position."""

    def __init__(self) -> None:
        self._positions: list[int] = []
        self._names: dict[int, str] = {}

    def add(self, position: int, name: str) -> None:
        bisect.insort(self._positions, position)
        self._names[position] = name

    def remove(self, position: int) -> None:
        del self._names[position]
        del self._positions[bisect.bisect_left(self._positions, position)]

    def next(self, after: int) -> tuple[int, str] | None:
        index = bisect.bisect_right(self._positions, after)
        if index == len(self._positions):
            return None
        return self._positions[index], self._names[self._positions[index]]


class MemoryStore:
    """Implements `Store`."""

    def __init__(self) -> None:
        self.fresh = True
        self._hosts: dict[str, HostRow] = {}
        self._domains: dict[str, DomainRow] = {}
        self._rows: dict[tuple[int, int], tuple[int, int]] = {}  # (host, key) -> ref, code
        self._tasks: list[Task | None] = [None]  # by reference
        self._queues: dict[int, list[tuple[int, int]]] = {}  # host -> sorted (rank, ref)
        self._due: dict[int, dict[int, DueUrl]] = {}  # by host and key
        self._host_backlogs: dict[int, _Queue] = {}  # by domain
        self._domain_backlog = _Queue()
        self._origins: dict[str, Origin] = {}
        self._fingerprints: dict[int, int] = {}
        self._blobs: dict[str, bytes] = {}

    def meta(self) -> Meta:
        return Meta()

    def load_host(self, name: str) -> HostRow | None:
        return self._hosts.get(name)

    def save_host(self, host: HostRow) -> None:
        self._hosts[host.name] = host

    def load_domain(self, name: str) -> DomainRow | None:
        return self._domains.get(name)

    def save_domain(self, domain: DomainRow) -> None:
        self._domains[domain.name] = domain

    def add(self, host: int, task: Task, via: int) -> int:
        if (host, task.url.key) in self._rows:
            return 0
        return self._enter(host, task)

    def _enter(self, host: int, task: Task) -> int:
        ref = len(self._tasks)
        self._tasks.append(task)
        self._rows[host, task.url.key] = (ref, 0)
        bisect.insort(self._queues.setdefault(host, []), (task.priority, ref))
        return ref

    def requeue(self, host: int, task: Task, ref: int) -> int:
        self._leave(host, ref)
        return self._enter(host, task)

    def finish(self, host: int, task: Task, ref: int, code: int, due: DueUrl | None = None) -> None:
        if task.again:
            del self._due[host][task.url.key]
        else:
            self._leave(host, ref)
        self._rows[host, task.url.key] = (ref, code)
        if due is not None:
            self._due.setdefault(host, {})[task.url.key] = due

    def _leave(self, host: int, ref: int) -> None:
        queue = self._queues[host]
        del queue[bisect.bisect_left(queue, (self.task(ref).priority, ref))]

    def reopen(self, host: HostRow, key: int, ref: int) -> int:
        task = self.task(ref)
        if task.attempt:
            self._enter(host.id, msgspec.structs.replace(task, attempt=0))
        else:
            self._rows[host.id, key] = (ref, 0)
            bisect.insort(self._queues.setdefault(host.id, []), (task.priority, ref))
        return task.priority

    def find(self, host: int, key: int) -> tuple[int, int] | None:
        return self._rows.get((host, key))

    def again(self, host: int, key: int) -> DueUrl | None:
        return self._due.get(host, {}).get(key)

    def due(self, host: int, skip: Container[int], most: int) -> list[DueUrl]:
        urls = [url for url in self._due.get(host, {}).values() if url.ref not in skip]
        return sorted(urls, key=lambda url: (url.at, url.ref))[:most]

    def read(self, ref: int, host: HostRow) -> Task:
        return self.task(ref)

    def task(self, ref: int) -> Task:
        task = self._tasks[ref]
        assert task is not None, "reference 0 means none"
        return task

    def head(self, host: int, skip: Container[int], most: int) -> list[tuple[int, int]]:
        found = []
        for entry in self._queues.get(host, ()):
            if entry[1] not in skip:
                found.append(entry)
                if len(found) == most:
                    break
        return found

    def hosts(self, start: str, most: int) -> list[str]:
        return sorted(name for name in self._hosts if name >= start)[:most]

    def ends(self, host: int, start: int, most: int) -> list[tuple[int, int, int]]:
        again = self._due.get(host, {})
        rows = [(key, row) for (owner, key), row in self._rows.items() if owner == host and key >= start]
        return [(key, ref, 0 if key in again else code) for key, (ref, code) in sorted(rows)[:most]]

    def enter_host(self, domain: int, position: int, name: str) -> None:
        self._host_backlogs.setdefault(domain, _Queue()).add(position, name)

    def leave_host(self, domain: int, position: int) -> None:
        self._host_backlogs[domain].remove(position)

    def next_host(self, domain: int, after: int) -> tuple[int, str] | None:
        return self._host_backlogs.setdefault(domain, _Queue()).next(after)

    def enter_domain(self, position: int, name: str) -> None:
        self._domain_backlog.add(position, name)

    def leave_domain(self, position: int) -> None:
        self._domain_backlog.remove(position)

    def next_domain(self, after: int) -> tuple[int, str] | None:
        return self._domain_backlog.next(after)

    def origin(self, name: str) -> Origin | None:
        return self._origins.get(name)

    def save_origin(self, origin: Origin) -> None:
        self._origins[origin.name] = origin

    def first_seen(self, fingerprint: int, key: int) -> int:
        return self._fingerprints.setdefault(fingerprint, key)

    def blob(self, name: str) -> bytes:
        return self._blobs.get(name, b"")

    def save_blob(self, name: str, data: bytes) -> None:
        self._blobs[name] = data

    def reserve(self, writes: int) -> None:
        pass

    def crowded(self) -> bool:
        return False

    def checkpoint(self, meta: Meta) -> None:
        pass

    def close(self) -> None:
        pass
