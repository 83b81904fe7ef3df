"""The rows of hosts and domains in memory, and which of them have to be written.

A row is one object for all its users. Only `trim` drops rows. It runs between two operations, when only the open hosts
hold rows, and it keeps those. So there are never two objects for one host, one of them out of date.
"""

from collections.abc import Collection

from windrow.frontier.store.protocol import Store
from windrow.frontier.store.rows import DomainRow, HostRow, Meta
from windrow.records import Url

MOST = 8_000  # rows of a kind in memory, besides those of open hosts; about 600 bytes each


class RowCache:
    """The rows in memory."""

    def __init__(self, store: Store, meta: Meta) -> None:
        self._store = store
        self.meta = meta
        self.hosts: dict[str, HostRow] = {}
        self.domains: dict[str, DomainRow] = {}
        self.changed_hosts: set[str] = set()
        self.changed_domains: set[str] = set()

    def host(self, name: str) -> HostRow | None:
        row = self.hosts.get(name)
        if row is None:
            row = self._store.load_host(name)
            if row is not None:
                self.hosts[name] = row
        return row

    def domain(self, name: str) -> DomainRow | None:
        row = self.domains.get(name)
        if row is None:
            row = self._store.load_domain(name)
            if row is not None:
                self.domains[name] = row
        return row

    def make_host(self, url: Url) -> HostRow:
        """Return the row of a URL's host; make it if the host is new."""
        row = self.host(url.host)
        if row is None:
            self.meta.rows += 1
            row = self.hosts[url.host] = HostRow(id=self.meta.rows, name=url.host, domain=url.domain)
            self.changed_hosts.add(row.name)
        return row

    def make_domain(self, name: str) -> DomainRow:
        """Return the row of a domain; make it if the domain is new."""
        row = self.domain(name)
        if row is None:
            self.meta.rows += 1
            row = self.domains[name] = DomainRow(id=self.meta.rows, name=name)
            self.changed_domains.add(name)
        return row

    def save(self) -> None:
        """Write the changed rows, ordered by name: neighbours share pages of the tree. Repeat it after an error."""
        for name in sorted(self.changed_hosts):
            self._store.reserve(1)
            self._store.save_host(self.hosts[name])
        for name in sorted(self.changed_domains):
            self._store.reserve(1)
            self._store.save_domain(self.domains[name])
        self.changed_hosts.clear()
        self.changed_domains.clear()

    def trim(self, hosts: Collection[str], domains: Collection[str]) -> None:
        """Drop all rows but these if there are too many. Nothing else may hold a row."""
        if len(self.hosts) <= MOST + len(hosts) and len(self.domains) <= MOST + len(domains):
            return
        self.save()
        self.hosts = {name: self.hosts[name] for name in hosts}
        self.domains = {name: self.domains[name] for name in domains if name in self.domains}
