"""`windrow replay`: what other rules would have made of a crawl, from its log alone."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow import config
from windrow.batch import fold, whatif
from windrow.batch.fold import Folded, Outcome, Watch
from windrow.batch.whatif import Row
from windrow.config import ConfigError
from windrow.frontier.policy import budget
from windrow.frontier.policy.budget import YieldRule as Rule
from windrow.units import size

THRESHOLDS = ("strict", "normal", "permissive")


class Told(msgspec.Struct, frozen=True):
    """A crawl under one threshold function."""

    threshold: str  # as it was written
    factor: float  # a of a·(log10 n - b)
    start: float  # b
    retired: int  # domains that would have been closed
    pages: int  # that would still have been asked for
    downloaded: int  # bytes of these
    kept: int  # bytes of text of these
    rate: float = msgspec.field(name="yield")
    pages_saved: int = 0
    downloaded_saved: int = 0
    kept_lost: int = 0


class Replay(msgspec.Struct, frozen=True):
    """Both tables for one crawl."""

    unit: str  # what is judged: "domain" or "host"
    form: str  # of its yield: "bytes" or "pages"
    text: str  # that counts: "kept", "clean" or "primary"
    grace_pages: int
    grace_bytes: int
    domains: int
    ladder: list[Row]
    rules: list[Told]
    notes: list[str] = []


class Question(msgspec.Struct, frozen=True):
    """What is to be replayed."""

    options: config.Frontier
    thresholds: tuple[str, ...] = THRESHOLDS
    ladder: tuple[float, ...] = whatif.LADDER
    unit: str = "domain"


def question(directory: Path, thresholds: Sequence[str], ladder: str, unit: str, settings: Sequence[str]) -> Question:
    """Yield, text and grace are those of the crawl's own options, where `settings` do not say otherwise."""
    if unit not in fold.UNITS:
        raise ConfigError(f"--by {unit!r} is neither 'domain' nor 'host'")
    file = directory / "crawl.toml"
    options = config.load(file, settings) if file.exists() else config.make(settings, directory)
    steps = whatif.ladder(ladder) if ladder else whatif.LADDER
    return Question(options.frontier, tuple(thresholds) or THRESHOLDS, steps, unit)


def rules(asked: Question, directory: Path) -> list[Rule]:
    """One for each threshold."""
    found = []
    for word in asked.thresholds:
        options = config.make([f"frontier.yield_threshold={word}"], directory).frontier
        threshold = budget.rule(options)
        found.append(
            msgspec.structs.replace(budget.rule(asked.options), factor=threshold.factor, start=threshold.start)
        )
    return found


def run(directory: Path, asked: Question, watch: Watch | None = None) -> Replay:
    folded = fold.fold(directory, rules(asked, directory), asked.unit, watch)
    return of(folded, asked)


def of(folded: Folded, asked: Question) -> Replay:
    """Of a log that was folded with the rules of this question."""
    rule = budget.rule(asked.options)
    rows = whatif.table(folded.accounts.values(), asked.ladder, rule)
    told = [_told(folded, outcome, word) for outcome, word in zip(folded.outcomes, asked.thresholds, strict=True)]
    form = "pages" if rule.by_pages else "bytes"
    return Replay(
        asked.unit, form, rule.text, rule.grace_pages, rule.grace_bytes, len(folded.accounts), rows, told, folded.notes
    )


def _told(folded: Folded, outcome: Outcome, word: str) -> Told:
    accounts = folded.accounts.values()
    downloaded = sum(account.downloaded for account in accounts) - outcome.downloaded
    kept = sum(account.kept for account in accounts) - outcome.kept
    return Told(
        threshold=word,
        factor=outcome.rule.factor,
        start=outcome.rule.start,
        retired=outcome.retired,
        pages=sum(account.pages for account in accounts) - outcome.pages,
        downloaded=downloaded,
        kept=kept,
        rate=whatif.ratio(kept, downloaded),
        pages_saved=outcome.pages,
        downloaded_saved=outcome.downloaded,
        kept_lost=outcome.kept,
    )


def told(replay: Replay) -> str:
    """Both tables, for a terminal."""
    many = f"{replay.unit}s"
    ladder = [["yield above", many, "downloaded", "kept", "yield"]]
    for row in replay.ladder:
        step = "(all)" if row.threshold is None else f"{row.threshold:g}"
        ladder.append([step, f"{row.domains:,}", size(row.downloaded), size(row.kept), f"{row.rate:.4f}"])
    rules = [["threshold", "a", "b", "retired", "pages", "downloaded", "kept", "yield", "not downloaded", "text lost"]]
    for rule in replay.rules:
        rules.append([rule.threshold, f"{rule.factor:g}", f"{rule.start:g}", f"{rule.retired:,}", f"{rule.pages:,}"])
        rules[-1] += [
            size(rule.downloaded),
            size(rule.kept),
            f"{rule.rate:.4f}",
            size(rule.downloaded_saved),
            size(rule.kept_lost),
        ]
    form = (
        "the mean of its pages' yields"
        if replay.form == "pages"
        else f"bytes of {replay.text} text per byte downloaded"
    )
    grace = f"never before {replay.grace_pages} pages and {size(replay.grace_bytes)}"
    head = f"{replay.domains:,} {many}; the yield of a {replay.unit} is {form}"
    parts = [
        head,
        _aligned(ladder),
        f"a·(log10 n - b) after n pages, {grace}, page by page:",
        _aligned(rules),
        *replay.notes,
    ]
    return "\n\n".join(parts)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
