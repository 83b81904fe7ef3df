"""The records of origins: which of their well-known files are missing, and what a new file changes.

Only robots.txt is special: its record says how long everything that is known of the origin holds. Every other file has
a name and a path and belongs to the robots.txt that was fetched before it.
"""

from collections.abc import Iterable, Mapping

import msgspec

from windrow import config, urls
from windrow.frontier.local.hosts import OpenHost
from windrow.frontier.policy import health, retry
from windrow.frontier.policy.health import ROBOTS
from windrow.frontier.store.protocol import Store
from windrow.frontier.store.rows import HostRow
from windrow.records import Access, FileState, Kind, Origin, Reason, Report, Task, Url

SHORT = 4096  # characters of an origin's rules and files that an open host keeps; longer ones are read each time


class Origins:
    """The records of origins, in the store and in the open hosts."""

    def __init__(self, store: Store, fetch: config.FetchOptions, files: Mapping[str, str]) -> None:
        self._store = store
        self._fetch = fetch
        self._paths = {ROBOTS: "/robots.txt", **files}
        self._files = tuple(name for name in files if name != ROBOTS)

    def configure(self, fetch: config.FetchOptions) -> None:
        self._fetch = fetch

    def expire(self, name: str, host: OpenHost | None) -> None:
        """Let the robots.txt of an origin be fetched again before the next page."""
        known = self._store.origin(name)
        if known is not None:
            self._store.save_origin(msgspec.structs.replace(known, expires=0.0))
        if host is not None:
            host.origins.pop(name, None)
            host.learnt.discard(name)

    def current(self, host: OpenHost, name: str, now: float) -> Origin | None:
        """Return the record of an origin of this host; None if its robots.txt has to be fetched."""
        origin = host.origins.get(name) or self._store.origin(name)
        # No record holds longer than a day: an expiry further ahead comes from a clock that jumped.
        if origin is None or not (now < origin.expires <= now + 2 * health.FAR or name in host.learnt):
            return None
        if name not in host.origins and _length(origin) <= SHORT:
            host.origins[name] = origin
        return origin

    def missing(self, origin: Origin) -> str:
        """Return the name of the next file to request before a page of this origin; "" if none is missing."""
        if self._files and origin.access is not Access.CLOSED:
            for name in self._files:
                file = origin.files.get(name)
                if file is None or file.state is FileState.UNANSWERED:
                    return name
        return ""

    def task(self, file: str, origin: str, host: HostRow) -> Task:
        """Return the task for one file of an origin of this host."""
        text = origin + self._paths[file]
        return Task(Url(text, host.name, host.domain, urls.key(text)), kind=Kind.FILE, priority=0, file=file)

    def needing(self, tasks: Iterable[Task]) -> list[Origin]:
        """Return the records, expired or not, of the origins that need these files."""
        found = [self._store.origin(needed_by(task)) for task in tasks if task.kind is Kind.FILE]
        return [origin for origin in found if origin is not None]

    def learn(self, report: Report, row: HostRow, host: OpenHost | None) -> None:
        """Take in what the report on a file says of an origin of this host, open or not."""
        origin = report.origin
        if report.task.file != ROBOTS:
            self._learn_file(origin, host)
            return
        if origin is None:  # no response is no permission
            origin = Origin(
                name=needed_by(report.task),
                stamp=report.time,
                fetched=report.time,
                expires=report.time + health.FAR,
                access=Access.CLOSED,
            )
        self._learn_rules(origin, row, host)

    def _learn_rules(self, origin: Origin, row: HostRow, host: OpenHost | None) -> None:
        """Save the rules of an origin. While they are unavailable, retry first: the record would hold for long."""
        row.robots_tries = row.robots_tries + 1 if origin.access is not Access.OPEN else 0
        if row.robots_tries and retry.again(Reason.ROBOTS_UNREACHABLE, row.robots_tries - 1):
            return
        row.robots_tries = 0
        # never less than another origin of this host demands
        row.delay = max(row.delay, min(origin.delay, self._fetch.max_crawl_delay))
        self._save(origin, host)

    def _learn_file(self, origin: Origin | None, host: OpenHost | None) -> None:
        """Save the record with a further file, unless robots.txt was fetched again meanwhile: then the file is too."""
        known = self._store.origin(origin.name) if origin is not None else None
        if origin is not None and (known is None or known.fetched == origin.fetched):
            self._save(origin, host)

    def _save(self, origin: Origin, host: OpenHost | None) -> None:
        self._store.save_origin(origin)
        if host is not None:
            host.origins.pop(origin.name, None)
            host.learnt.add(origin.name)
            host.ends_pages |= origin.access is Access.CLOSED


def needed_by(task: Task) -> str:
    """Return the origin that needs a file: after a redirect, not the one that is requested."""
    return task.via or urls.origin(task.url.text)


def length(origin: Origin | None) -> int:
    """Return the characters of a record that may be long."""
    return _length(origin) if origin is not None else 0


def _length(origin: Origin) -> int:
    return len(origin.rules) + sum(len(file.text) for file in origin.files.values())
