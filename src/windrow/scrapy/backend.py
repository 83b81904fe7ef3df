"""The work behind the scheduler: of a crawl (`ordered`), or of a queue that several spiders share (`fifo`)."""

from typing import Protocol

from scrapy import Request, Spider
from scrapy.http import Response


class Backend(Protocol):
    async def open(self, spider: Spider) -> None: ...
    async def close(self, reason: str) -> None: ...  # when it returns, everything is durable
    def enqueue(self, request: Request) -> bool: ...  # False: it is refused
    def next(self) -> Request | None: ...
    def pending(self) -> bool: ...  # whether a request waits or is under way, here or in another process

    # Of the middlewares: the way of a request that `next` returned
    def sent(self, request: Request) -> None: ...  # to the downloader
    def answered(self, request: Request, response: Response) -> Request | None: ...  # a request: hide the answer
    def failed(self, request: Request, error: Exception) -> Request | None: ...
    def found(self, response: Response, request: Request) -> None: ...  # by the spider, on this page
