"""Which URL is requested next.

Tasks come in (seeds and links), leases go out, reports come back. A `Lease` is the right to send requests to one host
at its address. Only its holder may do so, which makes politeness a loop with a sleep. Hosts with work wait in the
backlog. A limited number of registered domains is open at a time, and only their hosts are in memory. Within a host the
queue is ordered by rank and then by discovery: breadth first. A domain that had its share of pages goes to the end of
the backlog.

Requests go where the text is. With order `value`, models learn from every answered page what a link is worth
(`local.values`, `policy.value`, `policy.features`). They decide the ranks of links, the order of hosts, and when the
rest is given up. With order `yield`, each response is entered into the ledgers of its domain, its host and its part of
the host. A domain, host or part that gives too little text for its bytes is retired (`budget`). Of the hosts that are
due, those with the highest expected yield are leased first, while the others are tried a few at a time (`steer`).

A host is leased when the host and its address are both due and not leased. A host without an address gets a RESOLVE
task first. An origin gets FILE tasks before its first page: robots.txt, then the files that `open` was given. A file
that was moved to another host is fetched there, as an errand, while the origin that needs it waits. A lease of a closed
host says so: its tasks end with that reason in the log like any others.

The driver learns of closings by the replies that it gets anyway: `Receipt.closings` and `Grant.closings` say what was
closed, or opened again, of the open hosts. Each `Closing` holds the whole state of its host and replaces earlier ones;
a lease that is granted later takes it into account already. Before each request the driver asks `budget.closes`.

A finished URL may be visited again, where the policy that `open` was given names a time (`policy.revisit`; the default
is never). It stays finished, with the reason of its last visit, and stands in a queue of its host that is ordered by
time. A host without other work rests until the first of these times. The task of a further visit has the history of the
URL: what all visits have shown, and the validators of the last answer. The log has the time of each next visit, so a
replay asks no policy.

An order (`carry_out`) blocks names, or lets URLs that ended wait again, in parts of bounded work: each part follows the
commit of everything acknowledged before it, so that a replay finds the same URLs. Blocked names close their hosts, and
refuse links, without a change of any row. `controls` returns everything that orders have changed, also what only the
driver acts on: a pause, and options, which it hands in by `configure`.

Every task of a lease comes back: by `ack`, or by `release` as unused. `add`, `first_seen`, `ack`, `release`,
`carry_out` and `checkpoint` raise OSError if the disk is full; they have changed nothing then and may be repeated as
they are. `lease` grants nothing while the disk is full. The driver calls `first_seen`, `ack`, `carry_out`, `committed`
and `checkpoint` from one task; `lease`, `release` and `counts` may come from others at any time, also while one of
those is suspended.

`local` implements the verbs. It is made of `admission` (which tasks are new and fit the caps), `backlog` (which hosts
are open), `schedule` (which of them is due), `dispatch` (which of these gets a lease), `leases` (what a lease holds),
`acks` (what a report changes), `visiting` (what it changes of its URL), `control` (what an order changes), `blocks`,
`origins`, `ledgers`, `rows` and, in a crawl on many machines, `territory` (whose links are whose), over a `store` that
remembers: `memory` or `lmdb`. What a failure means for its URL is in `policy.retry`, what it means for its host in
`policy.health`, which links are admitted in `policy.scope`, how links are ranked in `policy.rank`; these are pure. The
store is a view of the log: `replay` takes frames in again, and `position` says how far the store has come.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from windrow.config import Config, ConfigError
from windrow.frontier.local.gate import Gate as Gate
from windrow.frontier.local.territory import Territory as Territory
from windrow.frontier.policy.revisit import Policy, never
from windrow.frontier.store.rows import Position as Position
from windrow.records import (
    Controls,
    Counts,
    Fate,
    Frame,
    Grant,
    Lease,
    Order,
    OrderReply,
    Origin,
    Receipt,
    Report,
    Task,
    Url,
)


class Frontier(Protocol):
    """What a crawl needs: the verbs by which tasks come in, leases go out and reports come back."""

    async def add(self, tasks: Iterable[Task]) -> list[Task]: ...  # those that were new
    async def lease(self, hosts: int, now: float) -> Grant: ...
    async def release(self, lease: Lease, unused: Sequence[Task], last: float) -> None: ...
    async def ack(self, reports: Sequence[Report]) -> Receipt: ...  # visible to lease at once
    async def counts(self) -> Counts: ...
    async def close(self) -> None: ...


class Durable(Protocol):
    """What recovery and commit need of a frontier with one store beside one log."""

    def position(self) -> Position: ...  # how far the store has come
    async def replay(self, frame: Frame, log: tuple[str, int]) -> None: ...
    async def committed(self, frame: Frame, log: tuple[str, int]) -> None: ...
    def checkpoint_due(self, now: float) -> bool: ...
    async def checkpoint(self, now: float) -> None: ...


class Controlled(Protocol):
    """What orders need."""

    def controls(self) -> Controls: ...  # what orders have changed
    async def carry_out(self, order: Order, now: float) -> OrderReply: ...  # an order, or its next part
    async def configure(self, options: Config) -> None: ...  # those that can change while a crawl runs


class Lookups(Protocol):
    """What the decision on duplicates asks before a page is reported, and a guest of a crawl before a request."""

    async def first_seen(self, fingerprints: Sequence[tuple[int, int]]) -> list[int]: ...
    async def find(self, url: Url) -> Fate | None: ...


class Sharing(Protocol):
    """What the code of shards needs: addresses and well-known files that several shards have to do with."""

    async def addresses(self, granted: Mapping[str, float], lost: Iterable[str], wanted: Iterable[str]) -> None: ...
    async def run_errand(self, task: Task) -> None: ...  # a file of a host here, for an origin of another shard
    async def origin(self, name: str) -> Origin | None: ...  # its record, expired or not


class DurableFrontier(Frontier, Durable, Controlled, Lookups, Sharing, Protocol):
    """All of it: what `open` returns. Each part of a crawl is typed on the protocol that it needs."""


def open(
    directory: Path,
    options: Config,
    now: float,
    *,
    files: Mapping[str, str] | None = None,
    languages: Sequence[str] = (),
    territory: Territory | None = None,
    gate: Gate | None = None,
    policy: Policy = never,
) -> DurableFrontier:
    """Open the frontier that the configuration names, as its last checkpoint left it.

    `files`: the well-known files, path by name, to request from each origin after robots.txt and before its first page.
    `languages`: codes of the wanted languages, as they occur in URLs, for the ranks of links.
    `territory`: the domains of a shard, where the crawl has several; links to others are in `Entry.sent`.
    `gate`: by which shards share addresses.
    `policy`: when a finished URL is visited again.
    """
    # Workers import this package for `policy` alone.
    from windrow.frontier.local.frontier import LocalFrontier
    from windrow.frontier.store.lmdb import LmdbStore
    from windrow.frontier.store.memory import MemoryStore

    match options.frontier.store:
        case "memory":
            return LocalFrontier(MemoryStore(), options, now, files, languages, territory, gate, policy)
        case "lmdb":
            return LocalFrontier(LmdbStore(directory), options, now, files, languages, territory, gate, policy)
        case other:
            raise ConfigError(f"unknown store {other!r} in frontier.store; use 'lmdb' or 'memory'")
