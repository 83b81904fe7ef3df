"""The accounts of domains, hosts and parts of hosts, and what is closed because of them.

What is closed is a function of the reports in their order: a row is closed only when an answer is entered in it, so a replay of the log
comes to the same. Whether a host outlives a domain that was closed is asked of its account each time, until an answer settles it.
"""

import operator

from windrow import config
from windrow.data import Report, Url
from windrow.frontier.local.rows import Rows
from windrow.frontier.policy import budget, steer
from windrow.frontier.store.base import LOW_YIELD, Domain, Host, Meta, Segment


class Ledgers:
    def __init__(self, rows: Rows, meta: Meta, options: config.Config) -> None:
        self._rows = rows
        self._account = meta.account
        self._rule = budget.rule(options.frontier)
        self._segments = options.frontier.segments
        self._judged = options.extract.extractor != "none"  # without text every yield is 0 and says nothing
        self._sums = operator.attrgetter(self._rule.text, "downloaded")
        self.steers = self._judged and options.frontier.order == "yield"

    def enter(self, host: Host, report: Report) -> Domain | None:
        """Books an answer. The domain, where it is closed by that; the host, which the caller holds, may be closed as well."""
        domain = self._rows.domains.get(host.domain) or self._rows.make_domain(host.domain)
        self._rows.changed_domains.add(domain.name)
        if not self._judged:
            budget.enter(report, self._rule, domain)
            return None
        steer.enter(self._account, host.pages, getattr(report, self._rule.text), report.downloaded)
        if self._segments:
            self._enter_segment(domain, host, report)
        else:
            budget.enter(report, self._rule, domain, host)
        if self.steers and not self._account.recent.text:
            return None  # nothing has been found anywhere: a language is rare, and whoever retires now retires all
        closing = not domain.closed and budget.retired(domain, self._rule)
        if closing:
            domain.closed = LOW_YIELD
        if not host.closed and self._is_poor(host, domain):
            host.closed = LOW_YIELD
        return domain if closing else None

    def _enter_segment(self, domain: Domain, host: Host, report: Report) -> None:
        name = budget.segment(host.segments, report.task.url.text)
        part = host.segments.get(name)
        if part is None:
            part = host.segments[name] = Segment()
        budget.enter(report, self._rule, domain, host, part)
        found = not self.steers or self._account.recent.text
        if found and not part.closed and budget.retired(part, self._rule):
            part.closed = True
            host.cut += 1

    def _is_poor(self, host: Host, domain: Domain) -> bool:
        if domain.closed:
            return not self._segments or (host.pages >= self._rule.grace_pages and not budget.spared(host, self._rule))
        return self._segments and budget.retired(host, self._rule)

    def shut(self, host: Host) -> int:
        """The reason, as a code, for which a host ends with its domain; 0 where it does not."""
        domain = self._rows.domains.get(host.domain) or self._rows.make_domain(host.domain)
        return domain.closed if domain.closed and self._is_poor(host, domain) else 0

    def closed(self, url: Url) -> int:
        """The reason, as a code, for which a URL is not to be asked for: that of its host, its part of the host or its domain."""
        host = self._rows.hosts.get(url.host) or self._rows.host(url.host)
        if host is None:
            domain = None if self._segments else self._rows.domain(url.domain)
            return domain.closed if domain is not None else 0
        if host.closed:
            return host.closed
        return LOW_YIELD if host.cut and budget.is_cut(host.segments, url.text) else self.shut(host)

    def expected(self, host: Host, rank: int) -> float:
        """The yield of a host's next page, which has this rank."""
        domain = self._rows.domains.get(host.domain) or self._rows.make_domain(host.domain)
        return steer.expected(self._sums(host), self._sums(domain), self._account, rank)

    def is_rich(self, host: Host, rank: int) -> bool:
        """Whether a host has shown that it is worth asking."""
        return self.steers and host.pages >= steer.FIRST and self.is_good(self.expected(host, rank))

    def is_good(self, expected: float) -> bool:
        return steer.good(expected, self._account)
