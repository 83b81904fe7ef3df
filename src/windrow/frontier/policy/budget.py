"""When a domain is retired: its text yield against a threshold that rises with the number of its pages.

The rule is SpiderLing's (Suchomel and Pomikálek 2012): yield = bytes of text kept / bytes downloaded. A domain whose
yield after n pages is below t(n) = a·(log10 n - b) is retired, but never before it has used up its grace. As t grows
without bound, every domain is retired in the end, those with little text first: text comes from the domains that are
rich in it, and from many of them.
"""

import math
from collections.abc import Callable, Collection, Mapping
from typing import Literal, Protocol

import msgspec

from windrow import config, plugins
from windrow.frontier.store.rows import PartRow
from windrow.plugins import OpenTable, Sections
from windrow.records import Closing, Reason, Report

# a, with b = 1: 0.01 is the paper's, 0.005 and 0.002 are those of today's SpiderLing
PRESETS = {"strict": 0.01, "normal": 0.005, "permissive": 0.002}
SEGMENTS = 32  # parts of a host that have an account of their own
REST = "/"  # name of the account of all other parts
PAGE = 1_000_000  # a page's yield is summed in whole millionths, so that the sum does not depend on the order

Text = Literal["kept", "clean", "primary"]
Threshold = Callable[[int], float]  # the yield required after so many pages


class YieldAccount(Protocol):
    """The sums over the pages of a domain, of a host or of a part of a host."""

    pages: int  # responses
    downloaded: int  # bytes
    kept: int  # bytes
    clean: int  # bytes
    primary: int  # bytes
    yields: int  # of its pages, summed, in millionths


class YieldRule(msgspec.Struct, frozen=True):
    """The options of the rule, read once."""

    factor: float  # a; 0: the yield retires nothing
    start: float  # b
    grace_pages: int
    grace_bytes: int
    by_pages: bool = False  # use the mean of the pages' yields instead of the yield of all bytes
    text: Text = "kept"
    min_primary_share: float = 0.0
    own: Threshold | None = None  # of the user, instead of a and b


def _line(factor: float, start: float = 1.0) -> Threshold:
    """Return a·(log10 n - b)."""
    return lambda pages: factor * (math.log10(pages) - start)


# What a threshold of the user's own can wrap.
THRESHOLDS: dict[str, Callable[[None, Threshold | None], Threshold]] = {
    "strict": lambda options, inner: _line(PRESETS["strict"]),
    "normal": lambda options, inner: _line(PRESETS["normal"]),
    "permissive": lambda options, inner: _line(PRESETS["permissive"]),
}


def rule(options: config.FrontierOptions, sections: Sections | None = None) -> YieldRule:
    """Return the rule that the options describe. `sections`: of plug-ins; without them the user's own is left out."""
    word = options.yield_threshold.strip("[] ")
    if word == "auto":
        word = "off" if options.order == "value" else "normal"
    factor, start, own = 0.0, 1.0, None
    if word in PRESETS:
        factor = PRESETS[word]
    elif "," in word:
        factor, start = map(float, word.split(","))
    elif word != "off" and sections is not None:
        table = OpenTable("frontier.yield_threshold", THRESHOLDS, inner="normal")
        own = plugins.build(table, word, sections, None)
    text: Text = "clean" if options.yield_text == "clean" else "primary" if options.yield_text == "primary" else "kept"
    return YieldRule(
        factor=factor,
        start=start,
        grace_pages=options.grace_pages,
        grace_bytes=options.grace_bytes,
        by_pages=options.yield_form == "pages",
        text=text,
        min_primary_share=options.min_primary_share,
        own=own,
    )


def threshold(rule: YieldRule, pages: int) -> float:
    """Return the yield required after so many pages. It is negative for the first pages, which require none."""
    if pages > 0 and rule.own is not None:
        return rule.own(pages)
    return rule.factor * (math.log10(pages) - rule.start) if pages > 0 and rule.factor else -math.inf


def enter(report: Report, rule: YieldRule, *accounts: YieldAccount) -> None:
    """Enter a response into each of these accounts."""
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


def rate(account: YieldAccount, rule: YieldRule) -> float:
    """Return the yield of an account, in the form that the rule names. It may exceed 1: the wire compresses text."""
    if rule.by_pages:
        return account.yields / (PAGE * account.pages) if account.pages else 0.0
    return float(getattr(account, rule.text) / account.downloaded) if account.downloaded else 0.0


def retired(account: YieldAccount, rule: YieldRule) -> bool:
    """Return whether the owner of this account gets no more requests."""
    return account.pages >= rule.grace_pages and account.downloaded >= rule.grace_bytes and _poor(account, rule)


def spared(account: YieldAccount, rule: YieldRule) -> bool:
    """Return whether a host has proved to be better than its domain, which was retired."""
    return account.pages >= rule.grace_pages and getattr(account, rule.text) > 0 and not _poor(account, rule)


def _poor(account: YieldAccount, rule: YieldRule) -> bool:
    if rule.min_primary_share and account.primary < rule.min_primary_share * account.clean:
        return True
    required = threshold(rule, account.pages)
    return required > 0 and rate(account, rule) < required


def segment(parts: Collection[str], text: str) -> str:
    """Return the part of its host that a canonical URL belongs to: its first path element, "" for files at the top.

    If the part is not among those with an account, and there are as many of these as allowed, it belongs to the rest.
    """
    start = text.index("/", 8) + 1
    end = text.find("/", start)
    name = text[start:end] if end > 0 and "?" not in text[start:end] else ""
    return name if len(parts) < SEGMENTS or name in parts else REST


def in_closed_part(parts: Mapping[str, PartRow], text: str) -> bool:
    """Return whether a URL belongs to a closed part of its host."""
    part = parts.get(segment(parts, text))
    return part is not None and part.closed


def closes(closing: Closing, text: str) -> Reason | None:
    """Return the reason why a URL of this host must not be requested any more; None if it may be."""
    if closing.reason is not None or not closing.closed_parts:
        return closing.reason
    parts = closing.closed_parts | closing.open_parts
    return Reason.LOW_YIELD if segment(parts, text) in closing.closed_parts else None
