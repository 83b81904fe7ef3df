"""When a domain has been asked enough: its text yield against a threshold that rises with the number of its pages.

The rule is SpiderLing's (Suchomel and Pomikálek 2012): yield = bytes of text kept / bytes downloaded; a domain whose yield is below
t(n) = a·(log10 n - b) after n pages is retired, never before it has had its grace. As t grows without bound every domain is retired at
last, the poor ones first: text comes from the rich ones, and from many of them.
"""

import math
from collections.abc import Collection, Mapping
from typing import Literal, Protocol

import msgspec

from windrow import config
from windrow.data import Report
from windrow.frontier.store.base import Segment

PRESETS = {
    "strict": 0.01,
    "normal": 0.005,
    "permissive": 0.002,
}  # a; b is 1: 0.01 is the paper's, 0.005 and 0.002 today's SpiderLing's
SEGMENTS = 32  # parts of a host that have an account of their own
REST = "/"  # names the account of all further ones
PAGE = (
    1_000_000  # a page's yield is summed as a whole number of millionths, so that the sum does not depend on the order
)

Text = Literal["kept", "clean", "primary"]


class Account(Protocol):
    """What is known of a domain, or of a part of one."""

    pages: int  # requests that were answered
    downloaded: int  # bytes
    kept: int  # bytes
    clean: int  # bytes
    primary: int  # bytes
    yields: int  # of its pages, summed, in millionths


class Rule(msgspec.Struct, frozen=True):
    """The options, read once."""

    factor: float  # a; 0: nothing is retired for its yield
    start: float  # b
    grace_pages: int
    grace_bytes: int
    by_pages: bool = False  # the mean of the pages' yields instead of the yield of all bytes
    text: Text = "kept"
    min_primary_share: float = 0.0


def rule(options: config.Frontier) -> Rule:
    """The rule that a configuration describes."""
    word = options.yield_threshold.strip("[] ")
    if word == "off":
        factor, start = 0.0, 1.0
    elif word in PRESETS:
        factor, start = PRESETS[word], 1.0
    else:
        factor, start = map(float, word.split(","))
    text: Text = "clean" if options.yield_text == "clean" else "primary" if options.yield_text == "primary" else "kept"
    by_pages = options.yield_form == "pages"
    return Rule(factor, start, options.grace_pages, options.grace_bytes, by_pages, text, options.min_primary_share)


def threshold(rule: Rule, pages: int) -> float:
    """The yield that a domain must have after so many pages; negative at the beginning, where none is asked for."""
    return rule.factor * (math.log10(pages) - rule.start) if pages > 0 and rule.factor else -math.inf


def enter(report: Report, rule: Rule, *accounts: Account) -> None:
    """Books an answer in each of these."""
    downloaded, kept, clean, primary = report.downloaded, report.kept, report.clean, report.primary
    text = getattr(report, rule.text)
    part = text * PAGE // downloaded if text and downloaded > 0 else 0
    for account in accounts:
        account.pages += 1
        account.downloaded += downloaded
        if kept or clean or primary:
            account.kept += kept
            account.clean += clean
            account.primary += primary
            account.yields += part


def rate(account: Account, rule: Rule) -> float:
    """The yield of an account, in the form that the rule names. Where text is compressed on the wire it may be above 1."""
    if rule.by_pages:
        return account.yields / (PAGE * account.pages) if account.pages else 0.0
    return float(getattr(account, rule.text) / account.downloaded) if account.downloaded else 0.0


def retired(account: Account, rule: Rule) -> bool:
    """Whether no more is to be asked for."""
    return account.pages >= rule.grace_pages and account.downloaded >= rule.grace_bytes and _poor(account, rule)


def spared(account: Account, rule: Rule) -> bool:
    """Whether a host has shown that it is better than its domain, which was retired."""
    return account.pages >= rule.grace_pages and getattr(account, rule.text) > 0 and not _poor(account, rule)


def _poor(account: Account, rule: Rule) -> bool:
    if rule.min_primary_share and account.primary < rule.min_primary_share * account.clean:
        return True
    return rule.factor > 0 and rate(account, rule) < threshold(rule, account.pages)


def segment(known: Collection[str], text: str) -> str:
    """The part of its host that a canonical URL belongs to: its first path element, empty for the files at the top.

    Where that is not among those known, and these are as many as may be, it is the rest.
    """
    start = text.index("/", 8) + 1
    end = text.find("/", start)
    name = text[start:end] if end > 0 and "?" not in text[start:end] else ""
    return name if len(known) < SEGMENTS or name in known else REST


def is_cut(segments: Mapping[str, Segment], text: str) -> bool:
    """Whether a URL is of a part of its host that was closed."""
    part = segments.get(segment(segments, text))
    return part is not None and part.closed
