"""The accounts of domains, hosts and parts of hosts, and what they close.

The closings are a function of the reports in their order: a row is closed only when a response is entered into it, so
a replay of the log gives the same closings. Whether a host is spared when its domain is closed is computed from its
account each time, until one of its own responses decides it.
"""

import operator

from windrow import config
from windrow.frontier.local.blocks import Blocks
from windrow.frontier.local.hosts import OpenHost
from windrow.frontier.local.rows import RowCache
from windrow.frontier.local.values import Values
from windrow.frontier.policy import budget, rank, steer
from windrow.frontier.store.rows import BLOCKED, LOW_YIELD, REASONS, DomainRow, HostRow, Meta, PartRow
from windrow.records import Closing, Report, Url


class Ledgers:
    """Enters responses and answers questions about yield."""

    def __init__(
        self, rows: RowCache, meta: Meta, options: config.Config, blocks: Blocks, values: Values | None = None
    ) -> None:
        self._rows = rows
        self.values = values
        self._blocks = blocks
        self._account = meta.account
        self._rule = budget.rule(options.frontier, options.plugins)
        self._factor = rank.host_term(options.frontier.host_terms, options.plugins)
        self._with_parts = options.frontier.segments
        self._judged = options.extract.extractor != "none"  # without text every yield is 0 and means nothing
        self._sums = operator.attrgetter(self._rule.text, "downloaded")
        self.steers = self._judged and options.frontier.order != "breadth"

    def enter(self, host: HostRow, report: Report) -> DomainRow | None:
        """Enter a response. Return the domain if the response closes it. The response may close the host too."""
        domain = self._rows.domains.get(host.domain) or self._rows.make_domain(host.domain)
        self._rows.changed_domains.add(domain.name)
        if not self._judged:
            budget.enter(report, self._rule, domain)
            return None
        steer.enter(self._account, host.pages, getattr(report, self._rule.text), report.downloaded)
        if self._with_parts:
            self._enter_part(domain, host, report)
        else:
            budget.enter(report, self._rule, domain, host)
        if self.steers and not self._account.recent.text:
            return None  # no text kept anywhere yet: retiring now would close every domain of a rare-language crawl
        closing = not domain.closed and budget.retired(domain, self._rule)
        if closing:
            domain.closed = LOW_YIELD
        if not host.closed and self._is_poor(host, domain):
            host.closed = LOW_YIELD
        return domain if closing else None

    def _enter_part(self, domain: DomainRow, host: HostRow, report: Report) -> None:
        name = budget.segment(host.parts, report.task.url.text)
        part = host.parts.get(name)
        if part is None:
            part = host.parts[name] = PartRow()
        budget.enter(report, self._rule, domain, host, part)
        text_found = not self.steers or self._account.recent.text
        if text_found and not part.closed and budget.retired(part, self._rule):
            part.closed = True
            host.closed_parts += 1

    def _is_poor(self, host: HostRow, domain: DomainRow) -> bool:
        if domain.closed:
            known = host.pages >= self._rule.grace_pages
            return not self._with_parts or (known and not budget.spared(host, self._rule))
        return self._with_parts and budget.retired(host, self._rule)

    def retired(self, host: HostRow) -> int:
        """Return the code of the reason why a host is closed with its domain; 0 if it is not."""
        domain = self._rows.domains.get(host.domain) or self._rows.make_domain(host.domain)
        return domain.closed if domain.closed and self._is_poor(host, domain) else 0

    def closed(self, url: Url) -> int:
        """Return the code of the reason why a URL must not be requested: that of its host, its part or its domain."""
        if url.host in self._blocks:
            return BLOCKED
        host = self._rows.hosts.get(url.host) or self._rows.host(url.host)
        if host is None:
            domain = None if self._with_parts else self._rows.domain(url.domain)
            return domain.closed if domain is not None else 0
        if host.closed:
            return host.closed
        closed_part = host.closed_parts and budget.in_closed_part(host.parts, url.text)
        return LOW_YIELD if closed_part else self.retired(host)

    def closing(self, host: OpenHost) -> Closing:
        """Return what is closed of an open host."""
        row = host.row
        code = BLOCKED if host.blocked else row.closed or host.retired
        return Closing(
            host=row.name,
            reason=REASONS[code - 1] if code else None,
            closed_parts=frozenset(name for name, part in row.parts.items() if part.closed),
            open_parts=frozenset(name for name, part in row.parts.items() if not part.closed),
        )

    def expected(self, host: HostRow, rank: int) -> float:
        """Return the expected yield of a host's next page, which has this rank."""
        return self._expected(host, rank) * self._factor(host)

    def _expected(self, host: HostRow, rank: int) -> float:
        if self.values is not None:
            return self.values.expected(host, rank)
        domain = self._rows.domains.get(host.domain) or self._rows.make_domain(host.domain)
        return steer.expected(self._sums(host), self._sums(domain), self._account, rank)

    def likely(self, host: HostRow, rank: int) -> float:
        """Return the same, corrected by what such expectations came to."""
        likely = self.values.likely(host, rank) if self.values is not None else self._expected(host, rank)
        return likely * self._factor(host)

    def is_rich(self, host: HostRow, rank: int) -> bool:
        """Return whether a host has proved to be good."""
        return self.steers and host.pages >= steer.FIRST and self.is_good(self.likely(host, rank))

    def is_good(self, expected: float) -> bool:
        """Return whether this yield is good compared with that of the crawl."""
        return steer.good(expected, self._account)
