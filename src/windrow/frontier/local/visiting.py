"""What the report on a page changes of its URL: it waits again, or its visit has ended, and it may be due once more.

Only live reports ask the policy when a URL is due. The log keeps the time, and the history of a URL is a function of
the reports on it, so a replay gives the same rows.
"""

import msgspec

from windrow.frontier.local.hosts import OpenHost
from windrow.frontier.policy import revisit
from windrow.frontier.store.protocol import Store
from windrow.frontier.store.rows import CODES, DueUrl, HostRow, Meta
from windrow.records import Entry, History, Task

Begun = tuple[int, DueUrl | None]  # reference of a page that is visited, and its entry among those that were due again


class Visiting:
    """Ends the visits of URLs."""

    def __init__(self, store: Store, meta: Meta, policy: revisit.Policy) -> None:
        self._store = store
        self._meta = meta
        self._policy = policy

    def begun(self, row: HostRow, host: OpenHost | None, task: Task) -> Begun | None:
        """Take a page out of flight. Return None if the report on it does not count: its URL is unknown, or this visit
        has ended before."""
        ref = host.land(task) if host is not None else 0
        if task.history is not None and task.history.visits:
            due = self._store.again(row.id, task.url.key)
            return (due.ref, due) if due is not None and due.history.visits == task.history.visits else None
        if ref:
            return ref, None
        ref, code = self._store.find(row.id, task.url.key) or (0, 0)
        return (ref, None) if ref and not code else None

    def end(self, row: HostRow, entry: Entry, begun: Begun, live: bool) -> Entry:
        """End the visit of a page; return the entry with the time of the next one."""
        report, (ref, before) = entry.report, begun
        if not report.final:
            self._repeat(row, report.task, begun)
            return entry
        due = None
        if before is not None or entry.due or self._policy is not revisit.never:
            history = revisit.after(before.history if before is not None else History(), report)
            at = entry.due if not live else int(self._policy(history, report))
            due = DueUrl(at, ref, history) if at else None
            entry = msgspec.structs.replace(entry, due=at)
        self._store.finish(row.id, report.task, ref, CODES[report.reason], due)
        self._count(row, entry, before)
        return entry

    def _count(self, row: HostRow, entry: Entry, before: DueUrl | None) -> None:
        meta, report = self._meta, entry.report
        if before is None:
            row.waiting -= 1
            meta.waiting -= 1
        else:
            earlier = before.history.reason.value
            meta.earlier[earlier] = meta.earlier.get(earlier, 0) + 1
            meta.finished[earlier] -= 1
            if not meta.finished[earlier]:
                del meta.finished[earlier]
        meta.due += (entry.due > 0) - (before is not None)
        meta.pages += 200 <= report.status < 300
        name = report.reason.value
        meta.finished[name] = meta.finished.get(name, 0) + 1

    def _repeat(self, row: HostRow, task: Task, begun: Begun) -> None:
        """Let a page wait for its next attempt: behind all others, or, if it was due again, at its old place."""
        ref, before = begun
        if before is None:
            self._store.requeue(row.id, msgspec.structs.replace(task, attempt=task.attempt + 1, history=None), ref)
            return
        history = msgspec.structs.replace(before.history, attempt=task.attempt + 1)
        due = msgspec.structs.replace(before, history=history)
        self._store.finish(row.id, task, ref, CODES[history.reason], due)
