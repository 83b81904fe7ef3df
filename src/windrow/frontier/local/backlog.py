"""The backlog: hosts with work that are not open, and which of them are opened.

The store holds a backlog of domains and, per domain, a backlog of its hosts. Each is ordered by positions, which a host
or domain gets when it gets work. A limited number of hosts and domains is open, that is in memory. Between any two
calls these statements hold:

- A host is in a backlog while URLs of it wait, a domain while one of its hosts is.
- A domain that is not open has a position after the cursor, so it will be reached. Closing a domain gives it a new
  position.
- In an open domain, a host with work that is not open has a position after the domain's cursor, and the domain is
  among the unfinished ones, unless it is leaving: then it is closed with its last open host.

A host none of whose URLs waits, but some of which are to be visited again, rests until the first of these is due: it is
in a backlog of hosts whose positions are times. Then it gets work as if a URL of it had been found.
"""

import math

from windrow import config
from windrow.frontier.local.blocks import Blocks
from windrow.frontier.local.hosts import OpenDomain, OpenHost
from windrow.frontier.local.rows import RowCache
from windrow.frontier.store.protocol import Store
from windrow.frontier.store.rows import DomainRow, HostRow, Meta

RESTING = 0  # the number of the backlog of hosts that rest: that of no domain
WOKEN = 64  # hosts per call


class Backlog:
    """Opens and closes hosts."""

    def __init__(self, store: Store, rows: RowCache, meta: Meta, options: config.Config, blocks: Blocks) -> None:
        self._store = store
        self._rows = rows
        self._meta = meta
        self._options = options.frontier
        self._blocks = blocks
        self.start = 0.0  # epoch seconds of a restart: any host may have got a request just before
        self.hosts: dict[str, OpenHost] = {}
        self.domains: dict[str, OpenDomain] = {}
        self._unfinished: dict[str, OpenDomain] = {}  # may have more hosts to open; an ordered set
        self._cursor = 0  # position of the last domain that was opened
        self.revisiting = False  # URLs are visited again when they are due

    def enter(self, host: HostRow) -> None:
        """Put a host that got work at the end of its domain's backlog, and the domain into the backlog of domains."""
        domain = self._rows.make_domain(host.domain)
        self._meta.hosts_waiting += 1
        domain.hosts_waiting += 1
        self._enter_host(host, domain)
        if not domain.position:
            self._enter_domain(domain)

    def settle(self, host: HostRow, now: float, closed: bool = False) -> None:
        """Put a host without waiting URLs where its URLs that are to be visited again belong: it has work now, or rests
        until it has, or takes no place. `closed`: it visits no URL again, unless an order opens it."""
        first = next(iter(self._store.due(host.id, (), 1)), None) if self._meta.due and not closed else None
        if first is not None and first.at <= now and self.revisiting:
            if not host.position:
                self.enter(host)
            return
        if host.position:
            self._leave(host)
        self._rest(host, first.at if first is not None else 0)

    def wake(self, now: float) -> None:
        """Let hosts that rest have work if one of their URLs is due."""
        for _ in range(WOKEN):
            resting = self._store.next_host(RESTING, 0)
            if resting is None or resting[0] >> 32 > now:
                return
            host = self._rows.host(resting[1])
            assert host is not None, f"{resting[1]} rests and has no row"
            self._rest(host, 0)
            if not host.waiting:
                self.settle(host, now, closed=host.closed > 0 or host.name in self._blocks)

    def next_due(self) -> float:
        """Return when the next host that rests has work; infinity if none does."""
        resting = self._store.next_host(RESTING, 0) if self.revisiting and self._meta.due else None
        return resting[0] >> 32 if resting is not None else math.inf

    def _rest(self, host: HostRow, until: int) -> None:
        if host.due == until:
            return
        if host.due:
            self._store.leave_host(RESTING, host.due << 32 | host.id)
        host.due = until
        if until:
            self._store.enter_host(RESTING, until << 32 | host.id, host.name)
        self._rows.changed_hosts.add(host.name)

    def _leave(self, host: HostRow) -> None:
        """Take a host without work out of the backlog, and its domain with its last host."""
        domain = self._rows.make_domain(host.domain)
        self._store.leave_host(domain.id, host.position)
        host.position = 0
        self._meta.hosts_waiting -= 1
        domain.hosts_waiting -= 1
        if not domain.hosts_waiting:
            self._store.leave_domain(domain.position)
            domain.position = 0
        self._note_change(host, domain)

    def fill(self) -> list[OpenHost]:
        """Open as many hosts as allowed: first one per new domain, then one more of each open domain in turn."""
        opened = []
        while len(self.hosts) < self._options.open_hosts:
            domain = self._next_unfinished()
            if domain is None:
                break
            del self._unfinished[domain.name]
            host = self._open_next(domain)
            if host is not None:
                self._unfinished[domain.name] = domain
                opened.append(host)
            elif not domain.hosts:
                self._close_domain(domain)
        return opened

    def open_for_errand(self, row: HostRow) -> OpenHost:
        """Return the open host that an errand goes to; open it if necessary."""
        domain = self.domains.get(row.domain)
        if domain is None:
            domain = self.domains[row.domain] = OpenDomain(row.domain, leaving=True)
        return self.hosts.get(row.name) or self._open(row, domain)

    def open_now(self, row: HostRow) -> OpenHost | None:
        """Open a good host out of order, unless twice as many as allowed are open."""
        if len(self.hosts) >= 2 * self._options.open_hosts or len(self.domains) >= 2 * self._options.open_domains:
            return None
        domain = self.domains.get(row.domain)
        if domain is None:
            domain = self._unfinished[row.domain] = self.domains[row.domain] = OpenDomain(row.domain, leaving=False)
        return None if domain.leaving else self._open(row, domain)

    def close(self, host: OpenHost, due: float) -> None:
        """Close a host, which gets no request before it is due. If it has work it goes to the end of the backlog."""
        row, domain = host.row, host.domain
        del self.hosts[row.name]
        del domain.hosts[row.name]
        if due > row.until:
            row.until = due
            self._rows.changed_hosts.add(row.name)
        if row.position:
            owner = self._rows.make_domain(row.domain)
            self._store.leave_host(owner.id, row.position)
            self._enter_host(row, owner)
        if not domain.hosts and domain.name not in self._unfinished:
            self._close_domain(domain)

    def had_share(self, domain: OpenDomain, quantum: float) -> bool:
        """Return whether an open domain had its share of so many pages, and others wait to be opened."""
        return domain.pages >= quantum and self.others_wait()

    def others_wait(self) -> bool:
        """Return whether hosts wait that cannot be opened, because as many as allowed are open."""
        full = len(self.hosts) >= self._options.open_hosts
        if full and self._unfinished:
            return True
        return (full or len(self.domains) >= self._options.open_domains) and self._next_domain() is not None

    def stop_opening(self, domain: OpenDomain) -> None:
        """Open no more hosts of a domain. The caller closes those that are open."""
        domain.leaving = True
        self._unfinished.pop(domain.name, None)

    def _next_domain(self) -> tuple[int, str] | None:
        """Return the next domain of the backlog that is not open. An open one on the way gets a new share."""
        while (found := self._store.next_domain(self._cursor)) is not None:
            domain = self.domains.get(found[1])
            if domain is None:
                return found
            self._cursor = found[0]
            domain.leaving = False
            domain.pages = 0
            self._unfinished[domain.name] = domain
        return None

    def _next_unfinished(self) -> OpenDomain | None:
        """Return a domain that may open a host: the next of the backlog, or the unfinished one that waits longest."""
        found = self._next_domain() if len(self.domains) < self._options.open_domains else None
        if found is not None:
            self._cursor, name = found
            self._unfinished[name] = self.domains[name] = OpenDomain(name, leaving=False)
            return self.domains[name]
        return next(iter(self._unfinished.values()), None)

    def _open_next(self, domain: OpenDomain) -> OpenHost | None:
        """Open the next host of a domain; return None if it has no more."""
        owner = self._rows.make_domain(domain.name)
        while (found := self._store.next_host(owner.id, domain.cursor)) is not None:
            domain.cursor, name = found
            if name not in self.hosts:
                row = self._rows.host(name)
                assert row is not None, f"the backlog names {name}, which has no row"
                return self._open(row, domain)
        return None

    def _open(self, row: HostRow, domain: OpenDomain) -> OpenHost:
        host = OpenHost(row, domain, self.start)
        host.blocked = row.name in self._blocks
        for rank, _ in self._store.head(row.id, (), 1):
            host.rank = rank
        for url in self._store.due(row.id, (), 1) if self.revisiting and self._meta.due else ():
            host.due = url.at
        self.hosts[row.name] = domain.hosts[row.name] = host
        return host

    def _close_domain(self, domain: OpenDomain) -> None:
        """Close a domain without open hosts. If it has work, it goes to the end of the backlog, unless it is after the
        cursor already."""
        del self.domains[domain.name]
        row = self._rows.domain(domain.name)
        if row is not None and 0 < row.position <= self._cursor:
            self._store.leave_domain(row.position)
            self._enter_domain(row)

    def _enter_host(self, host: HostRow, domain: DomainRow) -> None:
        self._meta.position += 1
        host.position = self._meta.position
        self._store.enter_host(domain.id, host.position, host.name)
        self._note_change(host, domain)
        opened = self.domains.get(host.domain)
        if opened is not None and not opened.leaving and host.name not in self.hosts:
            self._unfinished[opened.name] = opened

    def _enter_domain(self, domain: DomainRow) -> None:
        self._meta.position += 1
        domain.position = self._meta.position
        self._store.enter_domain(domain.position, domain.name)
        self._rows.changed_domains.add(domain.name)

    def _note_change(self, host: HostRow, domain: DomainRow) -> None:
        self._rows.changed_hosts.add(host.name)
        self._rows.changed_domains.add(domain.name)
