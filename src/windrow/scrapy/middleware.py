"""The two places where Windrow looks at what passes through Scrapy: beside the downloader, and beside the engine."""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from windrow.scrapy import engine
from windrow.scrapy.backend import Backend

BESIDE_DOWNLOADER = 1000  # after every middleware of Scrapy: the body is still in its content coding
BESIDE_ENGINE = 10  # requests as they reach the engine, whatever other middlewares made of them


class _Middleware:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Any:
        return cls(crawler)

    @property
    def _backend(self) -> Backend | None:
        backend = getattr(engine.scheduler(self._crawler), "backend", None)
        return backend  # None: another scheduler is used


class DownloaderMiddleware(_Middleware):
    def process_request(self, request: Request) -> None:
        if (backend := self._backend) is not None:
            backend.sent(request)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        backend = self._backend
        return (backend.answered(request, response) if backend is not None else None) or response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        backend = self._backend
        return backend.failed(request, exception) if backend is not None else None


class SpiderMiddleware(_Middleware):
    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        for item in result:
            self._note(response, item)
            yield item

    async def process_spider_output_async(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for item in result:
            self._note(response, item)
            yield item

    def _note(self, response: Response, item: Any) -> None:
        if isinstance(item, Request) and (backend := self._backend) is not None:
            backend.found(response, item)
