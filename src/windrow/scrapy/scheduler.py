"""`windrow.scrapy.Scheduler`: Scrapy's scheduler, with Windrow behind it."""

from typing import Any

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from windrow.config import ConfigError
from windrow.scrapy import settings
from windrow.scrapy.backend import Backend
from windrow.scrapy.middleware import DownloaderMiddleware, SpiderMiddleware


class Scheduler(BaseScheduler):
    """Hands everything on to its backend, which `WINDROW_ORDER` chooses."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Scheduler":
        _check(crawler)
        if settings.order(crawler.settings) == "fifo":
            try:
                from windrow.scrapy.fifo import FifoBackend
            except ModuleNotFoundError as error:
                raise ConfigError(
                    f"WINDROW_ORDER = 'fifo' needs {error.name}; install it with: "
                    "pip install 'windrow-corpus[scrapy,cluster]'"
                ) from error
            return cls(FifoBackend(crawler))
        from windrow.scrapy.ordered import OrderedBackend

        return cls(OrderedBackend(crawler))

    def open(self, spider: Spider) -> "Deferred[None]":
        return deferred_from_coro(self.backend.open(spider))

    def close(self, reason: str) -> "Deferred[None]":
        return deferred_from_coro(self.backend.close(reason))

    def enqueue_request(self, request: Request) -> bool:
        return self.backend.enqueue(request)

    def next_request(self) -> Request | None:
        return self.backend.next()

    def has_pending_requests(self) -> bool:
        return self.backend.pending()


def _check(crawler: Crawler) -> None:
    """Refuse settings with which requests would be lost without a word."""
    for name, wanted in (("DOWNLOADER_MIDDLEWARES", DownloaderMiddleware), ("SPIDER_MIDDLEWARES", SpiderMiddleware)):
        if not _has(crawler.settings.getdict(name), wanted):
            raise ConfigError(
                f"windrow.scrapy.Scheduler needs its middlewares, and {name} has none of them; write "
                'ADDONS = {"windrow.scrapy.Addon": 0} in the settings, which sets all three'
            )


def _has(found: dict[Any, Any], wanted: type) -> bool:
    names = (wanted, f"{wanted.__module__}.{wanted.__name__}", f"windrow.scrapy.{wanted.__name__}")
    return any(found.get(name) is not None for name in names)
