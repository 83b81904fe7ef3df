"""`windrow.scrapy.ArchiveMiddleware`: the responses of any spider, whatever its scheduler, into a crawl directory."""

import time
import weakref
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from windrow.records import Capture, Task
from windrow.scrapy import archives, captures, requests, settings
from windrow.scrapy.archive import Archive


class ArchiveMiddleware:
    """A downloader middleware; its place is beside the downloader, where bodies are still in their content coding."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        directory, self._options = settings.directory(crawler.settings)
        self._archive = Archive(directory, self._options)
        self._sent: weakref.WeakKeyDictionary[Request, float] = weakref.WeakKeyDictionary()
        self._keys: weakref.WeakKeyDictionary[Request, int] = weakref.WeakKeyDictionary()
        crawler.signals.connect(self._archive.open, signals.spider_opened)
        crawler.signals.connect(self._archive.close, signals.spider_closed)
        archives.note(crawler, self)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Any:
        if settings.archives_itself(crawler.settings):
            raise NotConfigured("in Windrow's order every response is archived without this middleware")
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        self._sent[request] = time.time()

    async def process_response(self, request: Request, response: Response) -> Response:
        start = self._sent.pop(request, 0.0)
        if start and not await self._take(request, response, (start, time.time())):
            assert self._crawler.stats is not None
            self._crawler.stats.inc_value("windrow/not_archived")
        return response

    def settled(self, request: Request) -> bool:
        """Return whether nothing of a request waits to be made durable."""
        return self._keys.get(request) not in self._archive.unsettled

    async def _take(self, request: Request, response: Response, times: tuple[float, float]) -> bool:
        url = requests.address(request, again=False)
        if url is not None and await self._archive.knows(url):
            url = requests.address(request, again=True)
        if url is None:
            return False
        task = Task(url, depth=int(request.meta.get("depth", 0)))
        capture = captures.capture(requests.plain(task), request, response, times, self._options.fetch)
        if not isinstance(capture, Capture):
            return False
        self._keys[request] = url.key
        return await self._archive.take(task, capture)
