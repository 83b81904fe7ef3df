"""The frontier of one machine: the verbs of the interface, over a store."""

import contextlib
import errno
from collections.abc import Iterable, Mapping, Sequence

from windrow import config, fingerprints, sharding
from windrow.frontier.local import origins
from windrow.frontier.local.acks import Acks, Views
from windrow.frontier.local.admission import Admission
from windrow.frontier.local.backlog import Backlog
from windrow.frontier.local.blocks import Blocks
from windrow.frontier.local.control import MOST_URLS, Control
from windrow.frontier.local.dispatch import Dispatcher
from windrow.frontier.local.gate import Gate
from windrow.frontier.local.leases import Leases
from windrow.frontier.local.ledgers import Ledgers
from windrow.frontier.local.origins import Origins
from windrow.frontier.local.rows import RowCache
from windrow.frontier.local.territory import Territory
from windrow.frontier.local.values import Values
from windrow.frontier.policy import rank, revisit
from windrow.frontier.policy.rank import TermContext
from windrow.frontier.store.protocol import Store
from windrow.frontier.store.rows import Meta, Position, fate
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
    Reason,
    Receipt,
    Report,
    Task,
    Url,
)

_CHUNK = 100  # tasks admitted at a time
_MARGIN = 256  # writes to the store that stay possible, for what an operation does besides its tasks
_PER_TASK = 4  # writes per new task: its key, its queue entry, its host's and its domain's position in the backlog
_PER_REPORT = 12  # writes per report: rows of its URL, its fingerprints, its host in the backlog or at rest
VALUES = "values"  # the models of the values of links
_FULL = (errno.ENOSPC, errno.EDQUOT)


class LocalFrontier:
    """Implements `DurableFrontier`, see the package. `now` is the crawl's steady clock, in epoch seconds.

    No verb suspends. Each one first reserves the room that it may need on disk: if that fails nothing was changed.
    """

    def __init__(
        self,
        store: Store,
        options: config.Config,
        now: float,
        files: Mapping[str, str] | None = None,
        languages: Sequence[str] = (),
        territory: Territory | None = None,
        gate: Gate | None = None,
        policy: revisit.Policy = revisit.never,
    ) -> None:
        self._store = store
        self._options = options.frontier
        self._opened = self._checked = now
        self.meta: Meta = store.meta()
        self.rows = rows = RowCache(store, self.meta)
        blocks = Blocks(self.meta.controls.blocked)
        self._values = values = _values(store, self.meta, options, languages)
        self.ledgers = ledgers = Ledgers(rows, self.meta, options, blocks, values)
        self._backlog = backlog = Backlog(store, rows, self.meta, options, blocks)
        known = Origins(store, options.fetch, files or {})
        backlog.revisiting = policy is not revisit.never
        leases = Leases(store, known, options.fetch, values, backlog.revisiting)
        self._dispatcher = Dispatcher(backlog, ledgers, leases, options, now, gate)
        self._dispatcher.asked = territory.asked if territory is not None else ()
        views = Views(
            store=store,
            rows=rows,
            backlog=backlog,
            dispatcher=self._dispatcher,
            ledgers=ledgers,
            admission=Admission(store, rows, backlog, ledgers, blocks),
            origins=known,
        )
        names = [name for name in options.frontier.terms if values is None or name not in rank.TERMS]
        terms = rank.terms(names, TermContext(tuple(languages), options.plugins))
        self._acks = Acks(views, options, terms, territory, policy)
        self._control = Control(views, blocks, options.fetch, self._acks.note_change)
        self._refused: dict[str, int] = {}  # of tasks from `add`, which come again at each start: not in the store
        if not store.fresh:
            self._dispatcher.wait_once(now)

    def _reserve(self, writes: int) -> None:
        """Begin an operation: drop rows, and raise OSError if the disk has no room for so many writes."""
        self.rows.trim(self._backlog.hosts, self._backlog.domains)
        self._store.reserve(writes)

    # The work of a crawl

    async def add(self, tasks: Iterable[Task]) -> list[Task]:
        """Admit tasks from outside; return those that were new."""
        every = tuple(tasks)
        self._reserve(_MARGIN + _PER_TASK * len(every))
        new: list[Task] = []
        ranks = self._values.seed if self._values is not None else None
        for start in range(0, len(every), _CHUNK):
            new += self._acks.admit(every[start : start + _CHUNK], 0, self._refused, ranks)
            with contextlib.suppress(OSError):  # on a full disk the rows stay in memory
                self.rows.trim(self._backlog.hosts, self._backlog.domains)
        return new

    async def lease(self, hosts: int, now: float) -> Grant:
        """Return the best leases of up to so many hosts, and when to ask again."""
        try:
            self._reserve(4 * _MARGIN)  # more than the reports on these leases need
        except OSError as error:
            if error.errno not in _FULL:
                raise
            return Grant((), now + 1.0, self._acks.closings())  # while the disk is full nothing new is begun
        leases = self._dispatcher.lease(hosts, now)
        return Grant(tuple(leases), self._dispatcher.next(now), self._acks.closings())

    async def release(self, lease: Lease, unused: Sequence[Task], last: float) -> None:
        """End a lease; `last` is the end of its last request, 0 if there was none. Releasing it again does nothing."""
        if self._dispatcher.is_out(lease):
            host = self._backlog.hosts[lease.host]
            self._reserve(_PER_TASK * (1 + len(host.domain.hosts)))
            self._dispatcher.release(lease, unused, last)

    async def addresses(self, granted: Mapping[str, float], lost: Iterable[str], wanted: Iterable[str]) -> None:
        """Hear which addresses may be used, each from which time on, which may not any more, and for which others wait;
        see `Gate`."""
        schedule = self._dispatcher.schedule
        for address, start in granted.items():
            schedule.grant(address, start)
        for address in lost:
            schedule.lose(address)
        for address in wanted:
            schedule.pass_on(address)

    async def run_errand(self, task: Task) -> None:
        """Request a file of a host here before anything else of it, for an origin of another shard."""
        self._reserve(_MARGIN)
        self._acks.start_errand(task)

    async def origin(self, name: str) -> Origin | None:
        """Return the record of an origin, expired or not."""
        return self._store.origin(name)

    async def first_seen(self, fingerprints: Sequence[tuple[int, int]]) -> list[int]:
        """Return, per fingerprint and URL key, the key of the URL that had the fingerprint first."""
        self._reserve(len(fingerprints))
        return [self._store.first_seen(fingerprint, key) for fingerprint, key in fingerprints]

    async def ack(self, reports: Sequence[Report]) -> Receipt:
        """Take in what became of tasks."""
        self._reserve(_MARGIN + sum(map(_writes, reports)))
        entries = tuple([self._acks.ack(report) for report in reports])
        return Receipt(entries, self._acks.closings())

    async def carry_out(self, order: Order, now: float) -> OrderReply:
        """Carry out an order, or its next part: `OrderReply.order.end` says whether there is more to do."""
        self._reserve(_MARGIN + _PER_REPORT * MOST_URLS)
        return OrderReply(self._control.carry_out(order, now, live=True), self._acks.closings())

    async def configure(self, options: config.Config) -> None:
        """Use these options from now on, as far as they can change while a crawl runs."""
        self._acks.configure(options)
        self._control.configure(options.fetch)

    async def close(self) -> None:
        """Close without a checkpoint."""
        self._store.close()

    # Durability

    def position(self) -> Position:
        """Return how far the store has come."""
        meta = self.meta
        return Position(frame=meta.frame, seq=meta.seq, log=meta.log, files=dict(meta.files), exchanged=meta.exchanged)

    def controls(self) -> Controls:
        """Return what orders have changed."""
        return self.meta.controls

    async def replay(self, frame: Frame, log: tuple[str, int]) -> None:
        """Take in a frame of the log, unless the store has it already. The log continues at `log`."""
        if frame.number <= self.meta.frame:
            return
        self._dispatcher.wait_once(self._opened)
        for order in frame.orders:
            self._reserve(_MARGIN + _PER_REPORT * MOST_URLS)
            self._control.carry_out(order, self._opened, live=False)
        for start in range(0, len(frame.seeds), _CHUNK):
            self._reserve(_PER_TASK * _CHUNK)
            self._acks.admit(frame.seeds[start : start + _CHUNK], 0, None)
        for entry in frame.entries:
            report = entry.report
            self._reserve(_MARGIN + _PER_TASK * len(entry.admitted) + _writes(report))
            for fingerprint in fingerprints.of_report(report):
                self._store.first_seen(fingerprint, report.task.url.key)
            self._acks.replay(entry)
        await self.committed(frame, log)

    async def committed(self, frame: Frame, log: tuple[str, int]) -> None:
        """Note that the log holds this frame and continues at `log`."""
        meta = self.meta
        meta.frame = frame.number
        meta.log = log
        meta.files.update(frame.lengths)
        meta.exchanged = sharding.apply(meta.exchanged, frame)
        meta.seq = max([meta.seq, *(entry.report.seq for entry in frame.entries)])

    def checkpoint_due(self, now: float) -> bool:
        """Return whether it is time for a checkpoint."""
        return now - self._checked >= self._options.checkpoint or self._store.crowded()

    async def checkpoint(self, now: float) -> None:
        """Make durable what was acknowledged. All of it must be in committed frames."""
        self.rows.save()
        if self._values is not None:
            self._store.save_blob(VALUES, self._values.state())
        self._store.checkpoint(self.meta)
        self._checked = now

    # Questions

    async def find(self, url: Url) -> Fate | None:
        """Return what is known of a URL; None if it was never admitted."""
        self._reserve(0)
        row = self.rows.host(url.host)
        entry = self._store.find(row.id, url.key) if row is not None else None
        if row is None or entry is None:
            return None
        ref, code = entry
        ended = fate(self._store.read(ref, row), code, self.ledgers.closed(url))
        host = self._backlog.hosts.get(row.name)
        in_flight = host is not None and not code and url.key in host.in_flight
        return Fate("in flight", ended.task, ended.reason) if in_flight else ended

    async def counts(self) -> Counts:
        """Return how many URLs and hosts there are, by state."""
        meta = self.meta
        in_flight, ready = self._dispatcher.in_flight(), self._dispatcher.ready()
        finished = {Reason(name): count for name, count in meta.finished.items()}
        refused = dict(meta.refused)
        for rule, count in self._refused.items():
            refused[rule] = refused.get(rule, 0) + count
        return Counts(
            seen=meta.waiting + sum(finished.values()),
            waiting=meta.waiting - in_flight,
            in_flight=in_flight,
            finished=finished,
            earlier={Reason(name): count for name, count in meta.earlier.items()},
            due=meta.due,
            refused=refused,
            hosts=meta.hosts,
            domains=meta.domains,
            hosts_ready=ready,
            hosts_waiting=self._dispatcher.scheduled() - ready,
            hosts_backlog=max(0, meta.hosts_waiting - len(self._backlog.hosts)),
            pages=meta.pages,
            documents=meta.documents,
            tokens=meta.tokens,
        )


def _values(store: Store, meta: Meta, options: config.Config, languages: Sequence[str]) -> Values | None:
    """Return the values of links, if the crawl is ordered by them. Without text all of them would be 0."""
    if options.frontier.order != "value" or options.extract.extractor == "none":
        return None
    return Values(meta, store.blob(VALUES), options, tuple(languages))


def _writes(report: Report) -> int:
    """Return how many writes to the store a report may need."""
    return _PER_REPORT + _PER_TASK * len(report.links) + (origins.length(report.origin) >> 6)
