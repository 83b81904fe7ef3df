"""The limits of a job: how much all its shards make together until nodes stop it.

A job is one run, from its creation to its end: shards and nodes that start again do not begin a new count, because each
shard announces what its log says. Nodes add that up. The limits are a part of the state of the job, so a node decides
by the limits of one version of the state, and stops the job only if that version still holds.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

from windrow import config
from windrow.config import Config, CrawlOptions
from windrow.records import LimitCounts
from windrow.shards.messages import Standing
from windrow.units import count, span

Limits = Mapping[str, int | float]
NAMES = ("pages", "documents", "tokens", "seconds")  # of the options crawl.max_NAME
OPTIONS = {f"crawl.max_{name}": name for name in NAMES}


def of(options: CrawlOptions) -> dict[str, int | float]:
    """Return the limits that options have."""
    limits = {name: getattr(options, f"max_{name}") for name in NAMES}
    return {name: value for name, value in limits.items() if value > 0}


def changed(settings: Iterable[str], options: Config) -> dict[str, int | float]:
    """Return the limits that settings change, 0 for none. `options`: of the job, for a setting without a value."""
    changes: dict[str, int | float] = {}
    for setting in settings:
        option, _, value = setting.partition("=")
        own = config.change(options, [setting] if value else [], Path())
        changes[OPTIONS[option]] = max(0, getattr(own.crawl, option.partition(".")[2]))
    return changes


def without(options: CrawlOptions) -> CrawlOptions:
    """Return the options of a job for one of its shards, which does not end for a limit of its own."""
    return dataclasses.replace(options, max_pages=0, max_documents=0, max_tokens=0, max_seconds=0.0)


def sum_of(standings: Iterable[Standing]) -> LimitCounts:
    """Return what shards have announced together."""
    outputs = [standing.made for standing in standings]
    return LimitCounts(
        pages=sum(made.pages for made in outputs),
        documents=sum(made.documents for made in outputs),
        tokens=sum(made.tokens for made in outputs),
    )


def reached(limits: Limits, made: LimitCounts, seconds: float) -> str:
    """Return the name of the first limit that is reached; "" if none."""
    return next((name for name in NAMES if 0 < limits.get(name, 0) <= figure(name, made, seconds)), "")


def figure(name: str, made: LimitCounts, seconds: float) -> int | float:
    """Return how much a job has of what a limit counts."""
    return seconds if name == "seconds" else int(getattr(made, name))


def progress(name: str, made: LimitCounts, seconds: float) -> str:
    """Return the same in words."""
    return span(seconds) if name == "seconds" else f"{figure(name, made, seconds):,}"


def describe(name: str, value: float) -> str:
    """Return a limit in words: 10,000,000 tokens."""
    return span(value) if name == "seconds" else count(int(value), name.removesuffix("s"))
