"""What a crawl would have been under another yield rule: two tables, from the accounts of its domains.

The ladder is SpiderLing's (Suchomel and Pomikálek 2012, table 1): the domains with a yield above a threshold at the
end, and all that came from them. The rules are applied page by page, in the order of the log: a domain that a rule has
retired is not requested again, so its further pages are saved and their text is lost.
"""

import bisect
import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from windrow import config
from windrow.config import ConfigError
from windrow.frontier.policy import budget
from windrow.frontier.policy.budget import YieldAccount, YieldRule
from windrow.plugins import Sections
from windrow.records import Report

THRESHOLDS = ("strict", "normal", "permissive")
# The thresholds of Suchomel and Pomikálek (2012), table 1; -inf is "none": every domain is above it.
LADDER = (
    -math.inf,
    0.0,
    0.0001,
    0.0002,
    0.0004,
    0.0008,
    0.0016,
    0.0032,
    0.0064,
    0.0128,
    0.0256,
    0.0512,
    0.1024,
    0.2048,
    0.4096,
)


class RetiredAccount(YieldAccount, Protocol):
    """An account that remembers which rules have retired it."""

    retired: int  # bit n: rule n


class LadderRow(msgspec.Struct, frozen=True):
    """The domains with a yield above a threshold, and all that came from them."""

    threshold: float | None  # None: no threshold
    domains: int
    downloaded: int  # bytes
    kept: int  # bytes
    rate: float = msgspec.field(name="yield")


class RuleRow(msgspec.Struct, frozen=True):
    """The crawl under one threshold function."""

    threshold: str  # as the user wrote it
    factor: float  # a of a·(log10 n - b)
    start: float  # b
    retired: int  # domains that the rule would have retired
    pages: int  # that would still have been requested
    downloaded: int  # bytes of these
    kept: int  # bytes of text of these
    rate: float = msgspec.field(name="yield")
    pages_saved: int = 0
    downloaded_saved: int = 0
    kept_lost: int = 0


class WhatIfTables(msgspec.Struct, frozen=True):
    """Both tables for one crawl."""

    unit: str  # what a rule decides on: "domain" or "host"
    form: str  # of its yield: "bytes" or "pages"
    text: str  # that counts: "kept", "clean" or "primary"
    grace_pages: int
    grace_bytes: int
    domains: int
    ladder: list[LadderRow]
    rules: list[RuleRow]
    notes: list[str] = []


class Question(msgspec.Struct, frozen=True):
    """The rules and thresholds to apply to a crawl, and its options, which say what a yield is."""

    options: config.FrontierOptions
    thresholds: tuple[str, ...] = THRESHOLDS
    ladder: tuple[float, ...] = LADDER
    unit: str = "domain"
    plugins: Sections = {}

    def rules(self) -> list[YieldRule]:
        """Return one rule per threshold; all else is as in the crawl's own options."""
        own = budget.rule(self.options)
        rules = []
        for word in self.thresholds:
            other = budget.rule(config.make([f"frontier.yield_threshold={word}"], Path()).frontier, self.plugins)
            rules.append(msgspec.structs.replace(own, factor=other.factor, start=other.start, own=other.own))
        return rules


class RuleOutcome(msgspec.Struct):
    """What one rule would have done."""

    rule: YieldRule
    retired: int = 0  # domains
    pages: int = 0  # not requested
    downloaded: int = 0  # bytes of these
    kept: int = 0  # bytes of text lost with them


class WhatIf:
    """Applies rules to the pages of a crawl, in their order."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.outcomes = [RuleOutcome(rule) for rule in question.rules()]
        self._own = budget.rule(question.options)
        self._all = (1 << len(self.outcomes)) - 1
        self._grace = min([outcome.rule.grace_bytes for outcome in self.outcomes], default=0)

    def book(self, account: RetiredAccount, page: Report) -> None:
        """Book a page into the account of its domain, and count what each rule would have made of it.

        page: a report, or its line in the log, which has the same sizes.
        """
        if account.retired:
            self._lose(account.retired, page)
        budget.enter(page, self._own, account)
        if account.retired != self._all and account.downloaded >= self._grace:
            for number, outcome in enumerate(self.outcomes):
                if not account.retired >> number & 1 and budget.retired(account, outcome.rule):
                    account.retired |= 1 << number
                    outcome.retired += 1

    def _lose(self, retired: int, page: Report) -> None:
        for number, outcome in enumerate(self.outcomes):
            if retired >> number & 1:
                outcome.pages += 1
                outcome.downloaded += page.downloaded
                outcome.kept += page.kept

    def tables(self, accounts: Collection[YieldAccount], notes: Sequence[str] = ()) -> WhatIfTables:
        """Return both tables, after the last page."""
        rule, asked = self._own, self.question
        rows = zip(self.outcomes, asked.thresholds, strict=True)
        return WhatIfTables(
            unit=asked.unit,
            form="pages" if rule.by_pages else "bytes",
            text=rule.text,
            grace_pages=rule.grace_pages,
            grace_bytes=rule.grace_bytes,
            domains=len(accounts),
            ladder=ladder(accounts, asked.ladder, rule),
            rules=[_row(outcome, word, accounts) for outcome, word in rows],
            notes=list(notes),
        )


def _row(outcome: RuleOutcome, threshold: str, accounts: Collection[YieldAccount]) -> RuleRow:
    downloaded = sum(account.downloaded for account in accounts) - outcome.downloaded
    kept = sum(account.kept for account in accounts) - outcome.kept
    return RuleRow(
        threshold=threshold,
        factor=outcome.rule.factor,
        start=outcome.rule.start,
        retired=outcome.retired,
        pages=sum(account.pages for account in accounts) - outcome.pages,
        downloaded=downloaded,
        kept=kept,
        rate=ratio(kept, downloaded),
        pages_saved=outcome.pages,
        downloaded_saved=outcome.downloaded,
        kept_lost=outcome.kept,
    )


def ladder(accounts: Iterable[YieldAccount], steps: Sequence[float], rule: YieldRule) -> list[LadderRow]:
    """Return one row per threshold. The rule says which yield a domain has; a row's own is that of all its bytes."""
    sizes = ((budget.rate(account, rule), account.downloaded, account.kept) for account in accounts)
    ranked = sorted(sizes, reverse=True)
    falling = [-rate for rate, _, _ in ranked]
    downloaded = [0, *itertools.accumulate(entry[1] for entry in ranked)]
    kept = [0, *itertools.accumulate(entry[2] for entry in ranked)]
    rows = []
    for threshold in steps:
        above = bisect.bisect_left(falling, -threshold)
        shown = None if math.isinf(threshold) else threshold
        rows.append(LadderRow(shown, above, downloaded[above], kept[above], ratio(kept[above], downloaded[above])))
    return rows


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def steps(text: str) -> tuple[float, ...]:
    """Return the thresholds of a ladder as a user writes them: "none, 0, 0.01"."""
    words = [word.strip() for word in text.split(",")]
    try:
        values = {float(word) for word in words if word != "none"}
    except ValueError:
        values = {math.nan}
    if not all(0 <= step < math.inf for step in values):
        raise ConfigError(
            f"--ladder {text!r} is not a list of yields; write numbers from 0 upwards, and none for no threshold: "
            "none,0,0.01,0.1"
        )
    return (*([-math.inf] if "none" in words else []), *sorted(values))
