"""The pages that the frontier has released and Scrapy requests.

A `ScrapyExchange` is one of them: Scrapy's request, its answer, what the spider found on it, and whether the engine is
done with it. It belongs to one task of the crawl, which waits for both.
"""

import asyncio
import collections
import itertools
import time
from collections.abc import Callable, Collection, Iterator

from scrapy import Request

from windrow.records import Capture, Failure, Task
from windrow.scrapy.requests import TOKEN


class ScrapyExchange:
    """One request of Scrapy for one task."""

    def __init__(self, token: int, task: Task, request: Request) -> None:
        loop = asyncio.get_running_loop()
        self.task = task
        self.request = request
        self.token = request.meta[TOKEN] = token
        self.answer: asyncio.Future[Capture | Failure | None] = loop.create_future()  # None: no request was sent
        self.over: asyncio.Future[None] = loop.create_future()  # callback and pipelines have ended
        self.found: list[Request] = []  # by the spider
        self.instead: list[Request] = []  # made by a middleware in place of the answer, such as a redirect
        self.sent = 0.0  # epoch seconds when it was handed to the downloader; 0: not yet

    @property
    def times(self) -> tuple[float, float]:
        return self.sent, time.time()

    def reply(self, answer: Capture | Failure | None) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


class Exchanges:
    """All of them. `wake` is called when the engine should ask for a request."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._numbers = itertools.count(1)
        self._ready: collections.deque[ScrapyExchange] = collections.deque()
        self._taken: dict[int, ScrapyExchange] = {}  # by token: Scrapy has them
        self._stopped = False

    def __len__(self) -> int:
        return len(self._ready) + len(self._taken)

    def begin(self, task: Task, request: Request) -> ScrapyExchange:
        """Offer a request to Scrapy."""
        exchange = ScrapyExchange(next(self._numbers), task, request)
        if self._stopped:
            exchange.answer.cancel()
        else:
            self._ready.append(exchange)
            self._wake()
        return exchange

    def take(self) -> Request | None:
        """Return the next request for Scrapy."""
        if not self._ready:
            return None
        exchange = self._ready.popleft()
        self._taken[exchange.token] = exchange
        return exchange.request

    def of(self, request: Request) -> ScrapyExchange | None:
        """Return the exchange that a request belongs to, or a request that was made of it."""
        return self._taken.get(request.meta.get(TOKEN, 0))

    def end(self, under_way: Collection[Request]) -> None:
        """Note which exchanges the engine is done with."""
        for exchange in self._ended(under_way):
            del self._taken[exchange.token]
            exchange.reply(None)
            exchange.over.set_result(None)

    def _ended(self, under_way: Collection[Request]) -> Iterator[ScrapyExchange]:
        return iter([exchange for exchange in self._taken.values() if exchange.request not in under_way])

    def stop(self) -> None:
        """Give back the tasks that Scrapy did not take; it takes no more."""
        self._stopped = True
        while self._ready:
            self._ready.popleft().answer.cancel()
