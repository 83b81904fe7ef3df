"""The line of hosts that have work, and which of them are open.

Domains stand in a line on the shelf, the hosts of a domain in a line of its own, each by a ticket drawn when it got work. A
limited number is open: has a group (a domain) or a seat (a host) in memory. What holds between any two calls:

- A host is listed while URLs of it wait, a domain while a host of it is listed.
- A domain that is not open has a ticket behind the cursor: it will be reached. Whoever closes one draws a new ticket for it.
- In an open domain a listed host without a seat has a ticket behind the group's cursor, and the group is among the hungry, unless
  it is retiring: then it is closed with its last seat.
"""

from windrow import config
from windrow.frontier.local.rows import Rows
from windrow.frontier.local.schedule import Group, Seat
from windrow.frontier.store.base import Domain, Host, Meta, Shelf


class Line:
    def __init__(self, shelf: Shelf, rows: Rows, meta: Meta, options: config.Config) -> None:
        self._shelf = shelf
        self._rows = rows
        self._meta = meta
        self._options = options.frontier
        self.start = 0.0  # epoch seconds when the crawl went on after a stop: any host may have been asked just before
        self.seats: dict[str, Seat] = {}
        self.groups: dict[str, Group] = {}
        self._hungry: dict[str, Group] = {}  # groups that may have more hosts to open; an ordered set
        self._cursor = 0  # ticket of the last domain that was opened

    def enter(self, host: Host) -> None:
        """The host has work: it goes to the end of its domain's line, and the domain into the line of domains."""
        domain = self._rows.make_domain(host.domain)
        self._meta.listed += 1
        domain.listed += 1
        self._list_host(host, domain)
        if not domain.ticket:
            self._list_domain(domain)

    def leave(self, host: Host) -> None:
        """The host has no more work."""
        domain = self._rows.make_domain(host.domain)
        self._shelf.unlist_host(domain.id, host.ticket)
        host.ticket = 0
        self._meta.listed -= 1
        domain.listed -= 1
        if not domain.listed:
            self._shelf.unlist_domain(domain.ticket)
            domain.ticket = 0
        self._changed(host, domain)

    def fill(self) -> list[Seat]:
        """Opens hosts until as many are open as may be: first new domains, then further hosts of open ones, each in turn."""
        opened = []
        while len(self.seats) < self._options.open_hosts:
            group = self._open_group()
            if group is None:
                break
            del self._hungry[group.name]
            seat = self._open_next(group)
            if seat is not None:
                self._hungry[group.name] = group
                opened.append(seat)
            elif not group.seats:
                self._close_group(group)
        return opened

    def seat(self, host: Host) -> Seat:
        """The seat of a host that is needed for another's sake; opened for that where it has none."""
        group = self.groups.get(host.domain)
        if group is None:
            group = self.groups[host.domain] = Group(host.domain, retiring=True)
        return self.seats.get(host.name) or self._open(host, group)

    def open_now(self, host: Host) -> Seat | None:
        """Opens a host that is worth it before its turn, unless twice as many as may be are open."""
        if len(self.seats) >= 2 * self._options.open_hosts or len(self.groups) >= 2 * self._options.open_domains:
            return None
        group = self.groups.get(host.domain)
        if group is None:
            group = self._hungry[host.domain] = self.groups[host.domain] = Group(host.domain, retiring=False)
        return None if group.retiring else self._open(host, group)

    def close(self, seat: Seat, due: float) -> None:
        """The host leaves its seat, not to be called before it is due. Where it still has work it goes to the end of the line."""
        host, group = seat.host, seat.group
        del self.seats[host.name]
        del group.seats[host.name]
        if due > host.until:
            host.until = due
            self._rows.changed_hosts.add(host.name)
        if host.ticket:
            domain = self._rows.make_domain(host.domain)
            self._shelf.unlist_host(domain.id, host.ticket)
            self._list_host(host, domain)
        if not group.seats and group.name not in self._hungry:
            self._close_group(group)

    def served(self, group: Group, quantum: float) -> bool:
        """Whether an open domain had its share of so many pages and others wait for its seats."""
        return group.pages >= quantum and self.wanted()

    def wanted(self) -> bool:
        """Whether others wait for a seat."""
        full = len(self.seats) >= self._options.open_hosts
        if full and self._hungry:
            return True
        return (full or len(self.groups) >= self._options.open_domains) and self._next_domain() is not None

    def retire(self, group: Group) -> None:
        """The group opens no more hosts; those it has are closed by whoever owns the schedule."""
        group.retiring = True
        self._hungry.pop(group.name, None)

    def _next_domain(self) -> tuple[int, str] | None:
        """The domain that is next in line. An open one that is met there has its turn again."""
        while (found := self._shelf.next_domain(self._cursor)) is not None:
            group = self.groups.get(found[1])
            if group is None:
                return found
            self._cursor = found[0]
            group.retiring = False
            group.pages = 0
            self._hungry[group.name] = group
        return None

    def _open_group(self) -> Group | None:
        """A group that may open a host: that of the next domain, or the hungry one that waits longest."""
        found = self._next_domain() if len(self.groups) < self._options.open_domains else None
        if found is not None:
            self._cursor, name = found
            self._hungry[name] = self.groups[name] = Group(name, retiring=False)
            return self.groups[name]
        return next(iter(self._hungry.values()), None)

    def _open_next(self, group: Group) -> Seat | None:
        """Opens the next host of a group; None where it has no more."""
        domain = self._rows.make_domain(group.name)
        while (found := self._shelf.next_host(domain.id, group.cursor)) is not None:
            group.cursor, name = found
            if name not in self.seats:
                host = self._rows.host(name)
                assert host is not None, f"the line names {name}, which has no row"
                return self._open(host, group)
        return None

    def _open(self, host: Host, group: Group) -> Seat:
        seat = Seat(host, group, self.start)
        for rank, _ in self._shelf.head(host.id, (), 1):
            seat.rank = rank
        self.seats[host.name] = group.seats[host.name] = seat
        return seat

    def _close_group(self, group: Group) -> None:
        """A domain whose seats are gone goes to the end of the line where it still has work, unless it is yet to be reached there."""
        del self.groups[group.name]
        domain = self._rows.domain(group.name)
        if domain is not None and 0 < domain.ticket <= self._cursor:
            self._shelf.unlist_domain(domain.ticket)
            self._list_domain(domain)

    def _list_host(self, host: Host, domain: Domain) -> None:
        self._meta.ticket += 1
        host.ticket = self._meta.ticket
        self._shelf.list_host(domain.id, host.ticket, host.name)
        self._changed(host, domain)
        group = self.groups.get(host.domain)
        if group is not None and not group.retiring and host.name not in self.seats:
            self._hungry[group.name] = group

    def _list_domain(self, domain: Domain) -> None:
        self._meta.ticket += 1
        domain.ticket = self._meta.ticket
        self._shelf.list_domain(domain.ticket, domain.name)
        self._rows.changed_domains.add(domain.name)

    def _changed(self, host: Host, domain: Domain) -> None:
        self._rows.changed_hosts.add(host.name)
        self._rows.changed_domains.add(domain.name)
