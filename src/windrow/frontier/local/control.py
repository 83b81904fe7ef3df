"""Carries out orders: blocks names, and lets URLs that ended wait again.

URLs are reopened in parts of bounded work, host after host in the order of their names, and by key within a host: a
part is a range of these, so a replay of the log reopens exactly the same URLs. Everything else that an order changes
is remembered and returned by `controls`; the driver acts on it.
"""

from collections.abc import Callable, Iterator

import msgspec

from windrow import config, orders, urls
from windrow.frontier.local.acks import Views
from windrow.frontier.local.blocks import Blocks
from windrow.frontier.local.hosts import OpenHost
from windrow.frontier.policy import health
from windrow.frontier.store.rows import CODES, LOW_YIELD, REASONS, DomainRow, HostRow
from windrow.records import Controls, Order, Reason

MOST_URLS = 2_000  # reopened in one part: some 20 ms
MOST_ROWS = 20_000  # of URLs and hosts looked at in one part: some 20 ms
_ROWS = 1_000  # read from the store at a time
_BY_ROBOTS = frozenset({CODES[Reason.ROBOTS], CODES[Reason.ROBOTS_UNREACHABLE]})


class Control:
    """Changes the views of a frontier as orders say."""

    def __init__(
        self, views: Views, blocks: Blocks, fetch: config.FetchOptions, changed: Callable[[OpenHost], None]
    ) -> None:
        """`changed` is called with each open host of which something was closed or opened again."""
        self._store = views.store
        self._rows = views.rows
        self._meta = views.rows.meta
        self._backlog = views.backlog
        self._dispatcher = views.dispatcher
        self._origins = views.origins
        self._blocks = blocks
        self._changed = changed
        self._now = 0.0
        self.configure(fetch)

    def configure(self, fetch: config.FetchOptions) -> None:
        self._fetch = fetch

    @property
    def controls(self) -> Controls:
        return self._meta.controls

    def carry_out(self, order: Order, now: float, live: bool) -> Order:
        """Carry out an order, or the next part of it; return it with what it changed.

        Without `live` the order is from the log: a part with a beginning and an end.
        """
        self._now = now
        if order.verb not in orders.VERBS:
            return order  # of another version of Windrow, or for another command
        self._block(orders.apply(self.controls, order).blocked)
        if orders.reopens(order)[0]:
            order = self._reopen(order, live)
        self._meta.controls = orders.apply(self.controls, order)
        return order

    def _block(self, names: tuple[str, ...]) -> None:
        if self._blocks.names == frozenset(names):
            return
        self._blocks.replace(names)
        for host in list(self._backlog.hosts.values()):
            blocked = host.row.name in self._blocks
            if blocked != host.blocked:
                host.blocked = blocked
                self._dispatcher.reorder(host)
                self._changed(host)

    # URLs that wait again

    def _reopen(self, order: Order, live: bool) -> Order:
        """Reopen the URLs of one part; a live order says afterwards where the part ended."""
        self._rows.save()  # the store lists the hosts
        part = _Part(order, live)
        for name in self._hosts(order):
            if part.is_over(name):
                break
            part.looked += 1
            part.place = (name, orders.LAST)
            row = self._rows.host(name) if part.wants(name) else None
            if row is not None and not self._reopen_host(row, part):
                break
        else:
            return msgspec.structs.replace(order, reopened=part.reopened)
        return msgspec.structs.replace(order, reopened=part.reopened, end=part.place if live else order.end)

    def _hosts(self, order: Order) -> Iterator[str]:
        """Yield the names of all hosts, from the one at which the order continues."""
        name = order.start[0] if order.start is not None else ""
        while True:
            names = self._store.hosts(name, _ROWS)
            yield from names
            if len(names) < _ROWS:
                return
            name = names[-1] + "\0"

    def _reopen_host(self, row: HostRow, part: "_Part") -> bool:
        """Reopen the URLs of a host; return False if the part ends within it."""
        opened = self._open_again(row, part)
        before = sum(part.reopened.values())
        whole = self._reopen_rows(row, part)
        count = sum(part.reopened.values()) - before
        row.waiting += count
        self._meta.waiting += count
        if not row.waiting:
            self._backlog.settle(row, self._now)  # pages to visit again were left while it was closed or blocked
        elif not row.position:
            self._backlog.enter(row)
        if not count and not opened:
            return whole
        self._rows.changed_hosts.add(row.name)
        host = self._backlog.hosts.get(row.name)
        if host is not None:
            self._dispatcher.reorder(host)
            self._changed(host)
        return whole

    def _reopen_rows(self, row: HostRow, part: "_Part") -> bool:
        start, last = part.keys(row.name)
        while start <= last and row.urls > row.waiting:
            found = self._store.ends(row.id, start, _ROWS)
            for key, ref, code in found:
                if code in part.codes and key <= last:
                    self._reopen_url(row, (key, ref, code), part)
            part.looked += len(found)
            if len(found) < _ROWS:
                break
            start = found[-1][0] + 1
            if part.is_full():
                part.place = (row.name, found[-1][0])
                return False
        return True

    def _reopen_url(self, row: HostRow, end: tuple[int, int, int], part: "_Part") -> None:
        key, ref, code = end
        host = self._backlog.hosts.get(row.name)
        if code in _BY_ROBOTS:
            self._origins.expire(urls.origin(self._store.read(ref, row).url.text), host)
        rank = self._store.reopen(row, key, ref)
        if host is not None:
            host.rank = min(host.rank, rank)
        name = REASONS[code - 1].value
        part.reopened[name] = part.reopened.get(name, 0) + 1
        self._meta.finished[name] -= 1
        if not self._meta.finished[name]:
            del self._meta.finished[name]

    def _open_again(self, row: HostRow, part: "_Part") -> bool:
        """Open a host that was closed for one of the reasons: it begins again without failures and pauses."""
        domain = self._rows.make_domain(row.domain)
        poor = LOW_YIELD in part.codes and (row.closed == LOW_YIELD or row.closed_parts or domain.closed == LOW_YIELD)
        if not poor and row.closed not in part.codes:
            return False
        row.closed = row.errors = row.failures = row.robots_tries = 0
        # Its pauses are over, but not its delay: the last request may have ended just now.
        row.until = min(row.until, self._now + health.delay(row, self._fetch))
        if poor:
            domain.closed = 0
            row.parts, row.closed_parts = {}, 0
            _empty(row)
            _empty(domain)
            self._rows.changed_domains.add(domain.name)
        self._rows.changed_hosts.add(row.name)
        return True


class _Part:
    """One part of an order: which URLs it is about, and what was done so far."""

    def __init__(self, order: Order, live: bool) -> None:
        wanted, self._only = orders.reopens(order)
        self.codes = frozenset(CODES[Reason(name)] for name in wanted)
        self.reopened: dict[str, int] = {}
        self.looked = 0  # rows
        self.place = order.start or ("", 0)  # the last URL that was looked at
        self._start, self._end, self._live = order.start, order.end, live

    def is_full(self) -> bool:
        return self._live and (self.looked >= MOST_ROWS or sum(self.reopened.values()) >= MOST_URLS)

    def is_over(self, host: str) -> bool:
        """Return whether the part ends before this host."""
        return self.is_full() if self._live else self._end is not None and host > self._end[0]

    def wants(self, host: str) -> bool:
        return not self._only or urls.below(host, self._only)

    def keys(self, host: str) -> tuple[int, int]:
        """Return the first and the last key of a host in this part."""
        first = self._start[1] + 1 if self._start is not None and self._start[0] == host else 0
        return first, self._end[1] if self._end is not None and self._end[0] == host else orders.LAST


def _empty(account: HostRow | DomainRow) -> None:
    """Begin an account of yield again: with the old one, the next page would close its owner again."""
    account.pages = account.downloaded = account.kept = account.clean = account.primary = account.yields = 0
