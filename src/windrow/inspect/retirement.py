"""Why a domain was retired, in figures: what it had given until then, and what the rule required."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from windrow import config, log, urls
from windrow.frontier.policy import budget
from windrow.frontier.policy.budget import Text, YieldRule
from windrow.log import SiteAccount
from windrow.records import Kind, Reason, Report
from windrow.units import count, size

_LOW_YIELD = Reason.LOW_YIELD.value
_PAGE = Kind.PAGE


class Retirements(msgspec.Struct):
    """A fold: what each domain has given, and what it had given whenever URLs of it were dropped."""

    reads: ClassVar = ("url", "kind", "reason", "time", "status", "downloaded", "clean", "primary", "kept")

    text: Text  # that the rule of the crawl looks at
    accounts: dict[str, SiteAccount] = {}
    dropped: dict[str, list[tuple[float, SiteAccount]]] = {}  # by domain: when, and its account at that time

    def add(self, head: log.Head, lines: Sequence[log.Line]) -> None:
        rule = YieldRule(0.0, 1.0, grace_pages=0, grace_bytes=0, text=self.text)  # of which `enter` needs no more
        for line in lines:
            if line.kind is not _PAGE:
                continue
            if line.status:
                budget.enter(line, rule, self._account(_domain(line.url.split("/", 3)[2])))
            elif line.reason == _LOW_YIELD:
                self._drop(_domain(line.url.split("/", 3)[2]), line.time)

    def _account(self, domain: str) -> SiteAccount:
        account = self.accounts.get(domain)
        if account is None:
            account = self.accounts[domain] = SiteAccount()
        return account

    def _drop(self, domain: str, time: float) -> None:
        account, earlier = self._account(domain), self.dropped.setdefault(domain, [])
        if not earlier or earlier[-1][1] != account:
            earlier.append((time, msgspec.structs.replace(account)))

    def at(self, domain: str, time: float) -> SiteAccount:
        """Return what a domain had given when its URLs were dropped at this time."""
        return max(
            ((when, account) for when, account in self.dropped.get(domain, ()) if when <= time),
            key=lambda entry: entry[0],
            default=(0.0, SiteAccount()),
        )[1]


@functools.lru_cache(1 << 18)
def _domain(authority: str) -> str:
    return urls.domain(urls.host_of(f"//{authority}"))


def describe(directory: Path, report: Report, options: config.Config) -> tuple[float, str]:
    """Return the yield of the domain of a URL that ended as low-yield, and the comparison in words."""
    rule = budget.rule(options.frontier, options.plugins)
    domain = report.task.url.domain
    (retirements,) = log.View(directory, "retirements", Retirements(rule.text)).read()
    account = retirements.at(domain, report.time)
    rate, required = budget.rate(account, rule), budget.threshold(rule, account.pages)
    text = f"{domain} gave {size(getattr(account, rule.text))} of text for {size(account.downloaded)}"
    text += f" in {count(account.pages, 'response')}: a yield of {rate:.4f}"
    if rate < required:
        return rate, f"{text}, and after so many responses {required:.4f} are required"
    return rate, f"{text}; its host, or this part of the host, gave less"
