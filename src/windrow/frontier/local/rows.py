"""The rows of hosts and domains that are in memory, and what of them has to be written.

A row is one object for all who use it. Rows are let go only by `trim`, which is called between two operations, when nobody holds
one but the seats, whose rows it keeps: two objects for one host, one of them stale, cannot come about.
"""

from collections.abc import Collection

from windrow.data import Url
from windrow.frontier.store.base import Domain, Host, Meta, Shelf

MOST = 8_000  # rows of a kind held beside those of open hosts; each takes some 600 bytes


class Rows:
    def __init__(self, shelf: Shelf, meta: Meta) -> None:
        self._shelf = shelf
        self.meta = meta
        self.hosts: dict[str, Host] = {}
        self.domains: dict[str, Domain] = {}
        self.changed_hosts: set[str] = set()
        self.changed_domains: set[str] = set()

    def host(self, name: str) -> Host | None:
        row = self.hosts.get(name)
        if row is None:
            row = self._shelf.load_host(name)
            if row is not None:
                self.hosts[name] = row
        return row

    def domain(self, name: str) -> Domain | None:
        row = self.domains.get(name)
        if row is None:
            row = self._shelf.load_domain(name)
            if row is not None:
                self.domains[name] = row
        return row

    def make_host(self, url: Url) -> Host:
        """The row of a host, made where it is new."""
        row = self.host(url.host)
        if row is None:
            self.meta.rows += 1
            row = self.hosts[url.host] = Host(self.meta.rows, url.host, url.domain)
            self.changed_hosts.add(row.name)
        return row

    def make_domain(self, name: str) -> Domain:
        row = self.domain(name)
        if row is None:
            self.meta.rows += 1
            row = self.domains[name] = Domain(self.meta.rows, name)
            self.changed_domains.add(name)
        return row

    def save(self) -> None:
        """Writes what changed, in the order of the names: neighbours share pages of the tree. If it fails nothing is lost."""
        for name in sorted(self.changed_hosts):
            self._shelf.reserve(1)
            self._shelf.save_host(self.hosts[name])
        for name in sorted(self.changed_domains):
            self._shelf.reserve(1)
            self._shelf.save_domain(self.domains[name])
        self.changed_hosts.clear()
        self.changed_domains.clear()

    def trim(self, hosts: Collection[str], domains: Collection[str]) -> None:
        """Lets go of all rows but these, where there are too many. Nobody else may hold one."""
        if len(self.hosts) <= MOST + len(hosts) and len(self.domains) <= MOST + len(domains):
            return
        self.save()
        self.hosts = {name: self.hosts[name] for name in hosts}
        self.domains = {name: self.domains[name] for name in domains if name in self.domains}
