"""Takes in reports: what became of tasks, live or from the log.

The effect of a report on the store is a function of the report and of the reports before it, so a replay of the log
gives the same store. Caps and ranks depend on the present options: they apply to live reports only, and the log keeps
their result.
"""

import collections

import msgspec

from windrow import config, urls
from windrow.frontier.local import admission
from windrow.frontier.local.admission import Admission
from windrow.frontier.local.backlog import Backlog
from windrow.frontier.local.dispatch import Dispatcher
from windrow.frontier.local.hosts import OpenHost
from windrow.frontier.local.ledgers import Ledgers
from windrow.frontier.local.origins import Origins, needed_by
from windrow.frontier.local.rows import RowCache
from windrow.frontier.local.territory import Territory
from windrow.frontier.local.values import Values
from windrow.frontier.local.visiting import Visiting
from windrow.frontier.policy import health, rank, revisit
from windrow.frontier.policy.health import ROBOTS
from windrow.frontier.policy.rank import Term
from windrow.frontier.store.protocol import Store
from windrow.frontier.store.rows import HostRow
from windrow.records import Closing, Entry, Kind, Reason, Report, Task, Url


class Views(msgspec.Struct, frozen=True):
    """The parts of a frontier that a report changes."""

    store: Store
    rows: RowCache
    backlog: Backlog
    dispatcher: Dispatcher
    ledgers: Ledgers
    admission: Admission
    origins: Origins


class Acks:
    """Takes in reports one by one."""

    def __init__(
        self,
        views: Views,
        options: config.Config,
        terms: tuple[Term, ...],
        territory: Territory | None = None,
        policy: revisit.Policy = revisit.never,
    ) -> None:
        self._territory = territory
        self._visiting = Visiting(views.store, views.rows.meta, policy)
        self._store = views.store
        self._rows = views.rows
        self._backlog = views.backlog
        self._dispatcher = views.dispatcher
        self._ledgers = views.ledgers
        self._admission = views.admission
        self._origins = views.origins
        self._meta = views.rows.meta
        self._same_pages = options.scope.same_pages
        self._terms = terms
        self._values = views.ledgers.values
        self.configure(options)
        self._changed: dict[str, OpenHost] = {}  # open hosts of which something was closed or opened again

    def configure(self, options: config.Config) -> None:
        """Use these options from now on."""
        self._fetch = options.fetch
        self._admission.limit(options.frontier)
        self._origins.configure(options.fetch)
        if self._values is not None:
            self._values.configure(options.focus)
        self._dispatcher.configure(options.fetch)

    def ack(self, report: Report) -> Entry:
        """Take in a report; return it with the links that were admitted."""
        return self._take(report, None)

    def replay(self, entry: Entry) -> None:
        """Take in an entry of the log: the links it admitted are admitted, whatever the caps say now."""
        self._take(entry.report, entry)

    def note_change(self, host: OpenHost) -> None:
        """Announce with the next reply what is closed of an open host."""
        self._changed[host.row.name] = host

    def closings(self) -> tuple[Closing, ...]:
        """Return what was closed, or opened again, since the last call."""
        if not self._changed:
            return ()
        changed, self._changed = self._changed, {}
        return tuple(self._ledgers.closing(host) for host in changed.values())

    def admit(
        self, tasks: tuple[Task, ...], via: int, refused: dict[str, int] | None, ranks: admission.Ranked | None = None
    ) -> list[Task]:
        """Admit tasks and put the open hosts that got work where they belong."""
        new, hosts = self._admission.admit(tasks, via, refused, ranks)
        for host in hosts:
            self._dispatcher.put_back(host)
            self._dispatcher.lift(host)
        return new

    def _take(self, report: Report, logged: Entry | None) -> Entry:
        task = report.task
        row = self._rows.make_host(task.url)
        self._rows.changed_hosts.add(row.name)
        before = row.closed, row.closed_parts
        health.judge(row, report, self._fetch)
        host = self._backlog.hosts.get(row.name)
        entry = logged or Entry(report, (), report.refused)
        if report.kept:
            self._meta.documents += 1
            self._meta.tokens += report.tokens
        if task.kind is Kind.PAGE:
            entry = self._take_page(row, host, entry, logged is None)
        elif task.kind is Kind.FILE:
            self._take_file(host, report, logged is None)
        elif host is not None and report.address:
            host.address = report.address
            host.address_until = report.until
        if host is not None and (row.closed, row.closed_parts) != before:
            self.note_change(host)
        return entry

    # Pages

    def _take_page(self, row: HostRow, host: OpenHost | None, entry: Entry, live: bool) -> Entry:
        report = entry.report
        task = report.task
        begun = self._visiting.begun(row, host, task)
        if begun is None:
            return entry  # its links are not admitted
        entry = self._visiting.end(row, entry, begun, live)
        # Requisites are no text, and a page that is visited again says nothing new about the yield of its host.
        counts = not (task.embed or task.again)
        if report.status and counts:
            self._book(row, report)
        entry = self._take_links(row, entry, begun[0], live)
        if self._values is not None and counts:
            self._learn_value(row, entry)
        if not row.waiting and (row.position or row.due or entry.due):
            self._backlog.settle(row, report.time)
        if host is not None:
            if entry.due:
                host.due = min(host.due, entry.due)
            elif begun[1] is not None and not report.final:
                host.due = min(host.due, begun[1].at)
            self._dispatcher.put_back(host)
            if report.kept:
                self._dispatcher.lift(host)
        return entry

    def _take_links(self, row: HostRow, entry: Entry, ref: int, live: bool) -> Entry:
        report = entry.report
        counted = report.shape and self._same_pages and not report.task.again
        same = admission.count_shape(row.shapes, report.shape) if counted else 0
        if not live:
            self.admit(entry.admitted, ref, None)
        elif report.links:
            entry = self._admit_links(entry, ref, same > self._same_pages)
        for rule, count in entry.refused.items():
            self._meta.refused[rule] = self._meta.refused.get(rule, 0) + count
        return entry

    def _admit_links(self, entry: Entry, ref: int, repeated: bool) -> Entry:
        """Admit the links of a page, unless too many pages of its host look the same."""
        report = entry.report
        refused = dict(report.refused)
        if repeated:
            refused["same-pages"] = refused.get("same-pages", 0) + len(report.links)
            return Entry(report, (), refused, due=entry.due)
        ranks = self._ranks(report) if self._ledgers.steers else None
        own, sent = (report.links, ()) if self._territory is None else self._divide(report.links, refused, ranks)
        return Entry(report, tuple(self.admit(own, ref, refused, ranks)), refused, sent, entry.due)

    def _divide(
        self, links: tuple[Task, ...], refused: dict[str, int], ranked: admission.Ranked | None
    ) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
        """Return our own links of a page, and those to send to other shards, with their ranks."""
        assert self._territory is not None
        own, others = self._territory.divide(links)
        if ranked is None:
            return own, self._territory.fresh(others)
        described = [found for task in others if (found := ranked(task)) is not None]
        if dropped := len(others) - len(described):
            refused[admission.CUTOFF] = refused.get(admission.CUTOFF, 0) + dropped
        return own, self._territory.fresh(described)

    def _ranks(self, report: Report) -> admission.Ranked | None:
        """Return the function that ranks the links of a page."""
        values, terms = self._values, self._terms
        if values is None:
            return rank.ranker(terms, report)
        return None if report.reason is Reason.REDIRECT else _valued(values, terms, report, self._rows)

    def _learn_value(self, row: HostRow, entry: Entry) -> None:
        """Let the models learn from a page. They know what the log says, and nothing else."""
        report, values = entry.report, self._values
        assert values is not None
        if report.reason is Reason.LOW_VALUE:
            return values.give_up(report.task)
        if not report.final or not report.status or report.reason is Reason.REDIRECT:
            return None
        new = [task for task in entry.admitted if not task.embed]
        counts = collections.Counter(task.url.host for task in new)
        fresh = sum(self._rows.make_host(task.url).urls == counts.pop(task.url.host, 0) for task in new)
        return values.learn(report, row, new, fresh)

    def _book(self, row: HostRow, report: Report) -> None:
        """Enter a response into the ledgers. The URLs of whatever it closes end with the reason."""
        before = row.closed
        closed = self._ledgers.enter(row, report)
        host = self._backlog.hosts.get(row.name)
        if closed is not None and (domain := self._backlog.domains.get(closed.name)) is not None:
            for other in list(domain.hosts.values()):
                self._retire(other)
        elif host is not None and (host.retired or row.closed != before):
            self._retire(host)

    def _retire(self, host: OpenHost) -> None:
        before = host.retired
        self._dispatcher.retire(host)
        if host.retired != before:
            self.note_change(host)

    # Well-known files

    def _take_file(self, host: OpenHost | None, report: Report, live: bool) -> None:
        """Take in a file of an origin, or the place where the file was moved."""
        task = report.task
        if host is not None and task in host.errands:
            host.errands.remove(task)
        if self._territory is not None:
            self._territory.asked.pop(task, None)
            if self._territory.foreign(task):
                return  # the shard that needs it learns from the answer
        if report.moved is not None:
            if live:  # after a restart the origin requests the file again
                self.start_errand(_moved(task, report.moved))
        elif report.origin is not None or (live and task.file == ROBOTS):
            self._learn(report)

    def start_errand(self, task: Task) -> None:
        """Fetch a file that was moved, before anything else of the host that has it; the origin that needs it waits.

        A host of another shard is asked by that shard. As long as it has not answered, the errand is in `asked`.
        """
        needing = urls.parse(task.via + "/")
        waiting = self._backlog.hosts.get(needing.host) if needing is not None else None
        if waiting is not None:
            waiting.awaited[task.via] = task.file
        if self._territory is not None and not self._territory.owns(task.url.domain):
            self._territory.asked[task] = None
            return
        host = self._backlog.open_for_errand(self._rows.make_host(task.url))
        if task not in host.errands:
            host.errands.append(task)
        self._dispatcher.hurry(host)

    def _learn(self, report: Report) -> None:
        name = report.origin.name if report.origin is not None else needed_by(report.task)
        url = urls.parse(name + "/")
        if url is None:
            return
        row = self._rows.make_host(url)
        self._rows.changed_hosts.add(row.name)
        host = self._backlog.hosts.get(row.name)
        self._origins.learn(report, row, host)
        if host is not None and name in host.awaited:
            del host.awaited[name]
            self._dispatcher.put_back(host)


def _moved(task: Task, there: Url) -> Task:
    """Return the task for a well-known file at the place to which a redirect moved it."""
    hops = task.redirects + 1
    return Task(there, kind=Kind.FILE, priority=0, redirects=hops, via=needed_by(task), file=task.file)


def _valued(values: Values, terms: tuple[Term, ...], report: Report, rows: RowCache) -> admission.Ranked:
    """Return the function that ranks the links of a page by their value, and by the terms of the user."""
    above = values.above(report)
    dropped = values.dropped(above, report.reason)

    def ranked(task: Task) -> Task | None:
        if task.embed:
            return task
        if dropped:
            return None
        row = rows.host(task.url.host) if values.banded else None
        found = values.described(task, above, new=row is None or not row.pages)
        return rank.moved(found, terms, report) if terms else found

    return ranked
