"""What Scrapy's engine keeps to itself, and we need of it: all of it is here, so that a new Scrapy changes one file.

The engine says by no signal that a request is over, which is when its callback has ended and all its items are
through the pipelines. It has a set of the requests that are not.
"""

from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler


def _slot(crawler: Crawler) -> Any:
    return getattr(crawler.engine, "_slot", None)


def scheduler(crawler: Crawler) -> Any:
    """Return the scheduler of a running crawler; None before and after."""
    slot = _slot(crawler)
    return None if slot is None else slot.scheduler


def under_way(crawler: Crawler) -> set[Request]:
    """Return the requests that were taken from the scheduler and are not over."""
    slot = _slot(crawler)
    return set() if slot is None else slot.inprogress


def wake(crawler: Crawler) -> None:
    """Let the engine ask the scheduler for requests, and whether it is the end."""
    slot = _slot(crawler)
    if slot is not None and slot.closing is None:
        slot.nextcall.schedule()
