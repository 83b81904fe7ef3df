"""Which archive a crawler writes to, if it does."""

import weakref
from typing import Protocol

from scrapy import Request
from scrapy.crawler import Crawler


class Settles(Protocol):
    def settled(self, request: Request) -> bool: ...  # whether nothing of a request waits to be made durable


_open: "weakref.WeakKeyDictionary[Crawler, Settles]" = weakref.WeakKeyDictionary()


def note(crawler: Crawler, archive: Settles) -> None:
    _open[crawler] = archive


def of(crawler: Crawler) -> Settles | None:
    return _open.get(crawler)
