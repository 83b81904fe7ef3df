"""Which tasks are new, and which of those the caps let in."""

import re
from collections.abc import Iterable

from windrow import config
from windrow.data import Task, Url
from windrow.frontier.local.backlog import Line
from windrow.frontier.local.ledgers import Ledgers
from windrow.frontier.local.rows import Rows
from windrow.frontier.local.schedule import Seat
from windrow.frontier.policy import steer
from windrow.frontier.store.base import LOW_YIELD, Host, Shelf

RECENT = 100_000  # keys remembered to save a look into the shelf, twice over; some 75 bytes each
LONGEST = 65_535  # characters of a URL that a shelf can keep
SHAPES = 8  # page shapes counted per host

Ranks = tuple[str, int, int]  # of a page's links: its host, the rank of links to that host, the rank of links to others


class Admission:
    def __init__(self, shelf: Shelf, rows: Rows, line: Line, ledgers: Ledgers, caps: config.Frontier) -> None:
        self._shelf = shelf
        self._rows = rows
        self._line = line
        self._meta = rows.meta
        self._ledgers = ledgers
        self._caps = caps
        self._counted = caps.max_host_urls > 0 or caps.max_domain_urls > 0
        self.named: re.Pattern[str] | None = None  # found in the URLs that are preferred, see `steer.naming`
        self._recent: set[int] = set()
        self._older: set[int] = set()

    def admit(
        self, tasks: Iterable[Task], via: int, refused: dict[str, int] | None, ranks: Ranks | None = None
    ) -> tuple[list[Task], list[Seat]]:
        """Enters the tasks that are new, with new ranks where these are given. Returns them, and the seats that got work.

        Those a cap refuses are counted in `refused` by rule; without it nothing is refused, which is for tasks that were admitted once.
        """
        new: list[Task] = []
        seats: list[Seat] = []
        recent, older, rows = self._recent, self._older, self._rows
        for task in tasks:
            url = task.url
            key = url.key
            if key in recent:
                continue
            if key in older:
                recent.add(key)
                continue
            host = rows.hosts.get(url.host) or rows.host(url.host)
            domain = rows.domains.get(url.domain) or rows.domain(url.domain)
            if refused is not None and (
                host is None or host.closed or host.cut or not host.urls
                or domain is None or domain.closed or self._counted or len(url.text) > LONGEST
            ):  # fmt: skip
                rule = self._refuses(host, url)
                if rule:
                    refused[rule] = refused.get(rule, 0) + 1
                    continue
            host = host or rows.make_host(url)
            recent.add(key)
            if ranks is not None:
                rank = ranks[1] if url.host == ranks[0] else ranks[2]
                named = self.named is not None and self.named.search(url.text)
                task = steer.ranked(task, rank - steer.NAMED if named else rank)
            if self._shelf.add(host.id, task, via):
                new.append(task)
                seat = self._enter(host, task)
                if seat is None and refused is not None and self._ledgers.is_rich(host, task.priority):
                    seat = self._line.open_now(host)
                if seat is not None:
                    seats.append(seat)
        if len(recent) > RECENT:
            self._older, self._recent = recent, set()
        return new, seats

    def _enter(self, host: Host, task: Task) -> Seat | None:
        """Counts a new URL of a host; the host's seat, where it has one."""
        rows, meta = self._rows, self._meta
        domain = rows.domains.get(host.domain) or rows.make_domain(host.domain)
        if not host.urls:
            meta.hosts += 1
            meta.domains += not domain.urls
            domain.hosts += 1
        host.urls += 1
        host.waiting += 1
        domain.urls += 1
        meta.waiting += 1
        rows.changed_hosts.add(host.name)
        rows.changed_domains.add(domain.name)
        if not host.ticket:
            self._line.enter(host)
        seat = self._line.seats.get(host.name)
        if seat is not None and task.priority < seat.rank:
            seat.rank = task.priority
        return seat

    def _refuses(self, host: Host | None, url: Url) -> str:
        """The name of the cap that keeps a URL out; empty where none does, or where the URL is known already."""
        rule = self._cap(host, url)
        return "" if rule and host is not None and self._shelf.look(host.id, url.key) else rule

    def _cap(self, host: Host | None, url: Url) -> str:
        caps = self._caps
        domain = self._rows.domain(url.domain)
        if len(url.text) > LONGEST:
            return "length"
        if closed := self._ledgers.closed(url):
            return "low-yield" if closed == LOW_YIELD else "host-closed"
        if host is None or not host.urls:
            if domain is not None and 0 < caps.max_domain_hosts <= domain.hosts:
                return "domain-hosts"
        elif 0 < caps.max_host_urls <= host.urls:
            return "host-urls"
        return "domain-urls" if domain is not None and 0 < caps.max_domain_urls <= domain.urls else ""


def count_shape(shapes: dict[int, int], shape: int) -> int:
    """Counts a shape among the most frequent of a host and says how often it was seen at least.

    By Misra and Gries (1982): a shape that more than one page in nine has is never missed.
    """
    if shape in shapes or len(shapes) < SHAPES:
        shapes[shape] = shapes.get(shape, 0) + 1
        return shapes[shape]
    for known in list(shapes):
        shapes[known] -= 1
        if not shapes[known]:
            del shapes[known]
    return 0
