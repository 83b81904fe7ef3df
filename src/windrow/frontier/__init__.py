"""Which URL next.

Tasks come in (seeds, links found), turns go out, reports come back. A `Turn` is the right to talk to one host at the address it
has; who holds it is the only one that may, so politeness is a loop with a sleep. Hosts with work stand in a line; a limited
number of registered domains is open at a time, and only their hosts are in memory (`schedule`). Within a host the queue runs
by rank and then in the order of discovery: breadth first. A domain that had its share goes to the end of the line.

Downloads go where the text is. Each answer is entered in the ledgers of its domain, its host and its part of the host (`ledgers`); what
gives too little text for its bytes is closed (`budget`), and of the hosts that are due those are asked first that are expected to
give the most, while the others are tried a few at a time (`steer`).

A host is leased when it and its address are both due and unheld. A host without an address gets a resolve task first, an
origin without rules its robots.txt; a robots.txt that moved to another host is fetched there, as an errand, while the asking
origin waits. A closed host's tasks are handed out with the reason, so that each ends in the log like any other.

`local` leases and settles. It is made of `admit` (what is new and fits the caps), `line` (which hosts are open), `schedule` (which of
them is due), `turns` (what is to be done there), `ledgers` and `rows` (their accounts), over a shelf that remembers: `memory` or `lmdb`.
What a failure means is in `retry`, what it does to its host in `health`, which links are admitted in `scope`, what a yield means in
`budget` and `steer`; these are pure. The store is a view of the log: `replay` takes frames in again, `checkpoint` says how far it got.

Every task of a turn comes back: by `settle`, or by `release` as unused. On a full disk `settle` and `checkpoint` raise OSError having
changed nothing, and may be repeated; `lease` gives no turns; `add` may have taken in a part.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from windrow.config import Config, ConfigError
from windrow.data import Counts, Fate, Frame, Ledger, Reason, Report, Task, Turn, Url
from windrow.frontier.local.frontier import LocalFrontier
from windrow.frontier.store.lmdb import LmdbShelf
from windrow.frontier.store.memory import MemoryShelf


class Frontier(Protocol):
    async def add(self, tasks: Iterable[Task]) -> list[Task]: ...  # those that were new
    async def lease(
        self, hosts: int, now: float
    ) -> tuple[list[Turn], float | None]: ...  # best first; when to ask again, None: all done
    async def release(self, turn: Turn, unused: Sequence[Task], last: float) -> None: ...
    def reserve(self, report: Report) -> None: ...  # raises OSError where a full disk would make the next settle fail
    async def settle(self, reports: Sequence[Report], frame: int) -> list[Report]: ...  # visible to lease at once
    async def replay(self, frame: Frame, log: tuple[str, int]) -> None: ...
    async def commit(self, frame: Frame, log: tuple[str, int]) -> None: ...
    def checkpoint_due(self, now: float) -> bool: ...
    async def checkpoint(self, now: float) -> None: ...
    async def claim(
        self, pairs: Sequence[tuple[int, int]]
    ) -> list[int]: ...  # (digest, url key) -> key of the first owner
    def closed(
        self, url: Url
    ) -> Reason | None: ...  # to be asked before each request: whether its host or domain was closed meanwhile
    async def find(self, url: Url) -> Fate | None: ...
    async def ledger(self, domain: str) -> Ledger | None: ...
    async def counts(self) -> Counts: ...
    async def close(self) -> None: ...


def open(directory: Path, options: Config, now: float) -> LocalFrontier:
    """The frontier that the configuration names, as its last checkpoint left it."""
    match options.frontier.store:
        case "memory":
            return LocalFrontier(MemoryShelf(), options, now)
        case "lmdb":
            return LocalFrontier(LmdbShelf(directory), options, now)
        case other:
            raise ConfigError(f"unknown store {other!r} in frontier.store; use 'lmdb' or 'memory'")
