"""Why a domain was retired, in figures: what it had given until then, and what the rule required."""

from pathlib import Path

from windrow import config, log, urls
from windrow.frontier.policy import budget
from windrow.frontier.policy.budget import YieldRule
from windrow.log import SiteAccount, format
from windrow.records import Kind, Report
from windrow.units import count, size

_decode = format.view("url", "time", "status", "downloaded", "clean", "primary", "kept", "kind")


def describe(home: Path, report: Report, options: config.Config) -> tuple[float, str]:
    """Return the yield of the domain of a URL that ended as low-yield, and the comparison in words."""
    rule = budget.rule(options.frontier, options.plugins)
    domain = report.task.url.domain
    account = _account(home, domain, report.time, rule)
    rate, required = budget.rate(account, rule), budget.threshold(rule, account.pages)
    text = f"{domain} gave {size(getattr(account, rule.text))} of text for {size(account.downloaded)}"
    text += f" in {count(account.pages, 'response')}: a yield of {rate:.4f}"
    if rate < required:
        return rate, f"{text}, and after so many responses {required:.4f} are required"
    return rate, f"{text}; its host, or this part of the host, gave less"


def _account(home: Path, domain: str, end: float, rule: YieldRule) -> SiteAccount:
    """Return what a domain had given until a moment. Only lines that contain its name are decoded."""
    account = SiteAccount()
    needle = domain.encode()
    for _, lines, _ in log.raw_frames(home):
        for text in lines:
            if needle not in text:
                continue
            line = _decode(text)
            counts = line.kind is Kind.PAGE and line.status and line.time <= end
            if counts and urls.domain(urls.host_of(line.url)) == domain:
                budget.enter(line, rule, account)
    return account
