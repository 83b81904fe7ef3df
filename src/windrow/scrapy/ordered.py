"""Windrow's order: the scheduler is a crawl, and Scrapy its guest.

The crawl of `WINDROW_DIR` runs on Scrapy's event loop. It owns all state: the frontier decides which page is requested
and when, archives every answer and writes the corpus, and the log is the truth. Scrapy gets a request
when its host is due, and gives back the answer and the requests of the spider.
"""

import asyncio
import functools
import logging
import time

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from windrow import rules
from windrow.config import ConfigError
from windrow.crawler import outcome
from windrow.crawler.setup import checks, start
from windrow.frontier.policy import retry
from windrow.frontier.policy.scope import Scope
from windrow.records import Capture, Failure, Reason, Task
from windrow.scrapy import captures, engine, names, requests, settings
from windrow.scrapy.exchanges import Exchanges, ScrapyExchange
from windrow.scrapy.found import UNWRITABLE
from windrow.scrapy.pages import ScrapyPages

log = logging.getLogger(__name__)


class OrderedBackend:
    """The crawl behind a spider. Implements `backend.Backend`."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.directory, self.options = settings.directory(crawler.settings)
        self._exchanges = Exchanges(functools.partial(engine.wake, crawler))
        self._scope = Scope(self.options.scope)
        self._seeds: list[tuple[Request, Task]] = []  # that wait to be admitted
        self._explained: set[str] = set()  # rules
        self._arrived = asyncio.Event()
        self._crawl: start.Crawl | None = None
        self._runs: asyncio.Task[None] | None = None
        self._admits: asyncio.Task[None] | None = None

    # For Scrapy

    async def open(self, spider: Spider) -> None:
        self._spider = spider
        self._pages = ScrapyPages(self.options, spider, self._exchanges, functools.partial(engine.wake, self._crawler))
        names.install(self._crawler)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._runs = asyncio.create_task(self._run(ready))
        self._runs.add_done_callback(self._ended)
        await asyncio.wait((ready, self._runs), return_when=asyncio.FIRST_COMPLETED)
        if self._runs.done():
            self._runs.result()
        self._admits = asyncio.create_task(self._admit())

    async def close(self, reason: str) -> None:
        """End the crawl; everything is committed when this returns."""
        self._exchanges.end(())
        self._exchanges.stop()
        if self._admits is not None:
            await self._flush()
            self._admits.cancel()
        if self._crawl is not None:
            self._crawl.stop("done" if reason == "finished" else "stopped")
        if self._runs is not None:
            await asyncio.wait((self._runs,))

    def enqueue(self, request: Request) -> bool:
        """Take a request; return False if it will not be requested. Whether its URL is new is known later."""
        exchange = self._exchanges.of(request)
        if exchange is not None:
            return self._take_found(exchange, request)
        task = self._pages.maker.task(request, self._scope)
        if isinstance(task, str):
            self._count(f"refused/{task}")
            self._explain(task, request)
            return False
        checks.check_contact(self.options, [task])
        self._seeds.append((request, task))
        self._arrived.set()
        return True

    def next(self) -> Request | None:
        self._exchanges.end(engine.under_way(self._crawler))
        return self._exchanges.take()

    def pending(self) -> bool:
        self._exchanges.end(engine.under_way(self._crawler))
        return bool(self._seeds) or not self._pages.idle or len(self._exchanges) > 0

    def sent(self, request: Request) -> None:
        exchange = self._exchanges.of(request)
        if exchange is not None:
            exchange.sent = time.time()

    def answered(self, request: Request, response: Response) -> Request | None:
        """Take an answer of the downloader; return the request if the spider must not see it: it is tried again."""
        exchange = self._exchanges.of(request)
        if exchange is None or not exchange.sent:
            return None
        task = requests.plain(exchange.task)
        answer = captures.capture(task, request, response, exchange.times, self.options.fetch)
        exchange.reply(answer)
        return self._again(exchange, request, _reason(answer))

    def failed(self, request: Request, error: Exception) -> Request | None:
        exchange = self._exchanges.of(request)
        if exchange is None or not exchange.sent:
            return None
        answer = captures.failure(requests.plain(exchange.task), error, exchange.times)
        exchange.reply(answer)
        return self._again(exchange, request, answer.reason)

    def found(self, response: Response, request: Request) -> None:
        """Note on which page a spider found a request."""
        above = response.request
        if above is not None and above.meta.get(requests.TOKEN):
            request.meta[requests.TOKEN] = above.meta[requests.TOKEN]
            request.meta[_FOUND] = True

    def _again(self, exchange: ScrapyExchange, request: Request, why: Reason) -> Request | None:
        if not retry.again(why, exchange.task.attempt):
            return None
        self._count(f"retried/{why.value}")
        later: Request = request.replace(meta={**request.meta, _LATER: True})
        return later

    def _take_found(self, exchange: ScrapyExchange, request: Request) -> bool:
        if request.meta.pop(_LATER, False):  # the frontier has the task, and its next attempt
            return True
        if request.meta.pop(_FOUND, False):
            exchange.found.append(request)
        else:
            exchange.instead.append(request)
        return True

    def _explain(self, rule: str, request: Request) -> None:
        """Say why a start request is refused, once per rule: without them the spider ends with nothing."""
        if rule not in self._explained and rule != UNWRITABLE:  # which is in Scrapy's log already
            log.warning("%s is not requested: %s", request.url, rules.refusal(rule, self.options))
        self._explained.add(rule)

    def _count(self, name: str) -> None:
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(f"windrow/{name}")

    # Its run

    async def _run(self, ready: "asyncio.Future[None]") -> None:
        def begun(crawl: start.Crawl, resumed: object) -> None:
            self._crawl = crawl
            ready.set_result(None)

        observer = start.Observer(begun, log.warning)
        given = settings.given(self._crawler.settings)
        await start.run(self.directory, self.options, observer, given, guest=self._pages)

    def _ended(self, run: "asyncio.Task[None]") -> None:
        """The crawl has ended: at a limit of its own, or by an error. Then the spider ends too."""
        error = None if run.cancelled() else run.exception()
        if error is not None:
            log.error("the crawl in %s ended: %s", self.directory, error, exc_info=not isinstance(error, ConfigError))
        if self._admits is not None and self._crawler.engine is not None and self._crawler.engine.spider is not None:
            reason = "windrow_error" if error is not None else "windrow_limit"
            self._closing = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=reason))

    async def _admit(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            await self._flush()

    async def _flush(self) -> None:
        """Admit the seeds that wait. They count as pending until the crawl knows them."""
        while self._seeds and self._crawl is not None:
            batch = self._seeds[:]
            admitted = {task.url.key for task in await self._crawl.add([task for _, task in batch])}
            self._pages.idle = False  # until the crawl has looked at them
            del self._seeds[: len(batch)]
            for request, task in batch:
                if task.url.key not in admitted:
                    self._count("known")
                    self._crawler.signals.send_catch_log(signals.request_dropped, request=request, spider=self._spider)
            engine.wake(self._crawler)


def _reason(answer: Capture | Failure) -> Reason:
    """Return what an answer means for the attempt, as the crawl will see it."""
    if isinstance(answer, Failure):
        return answer.reason
    why = outcome.reason(answer)
    return Reason.DISCONNECT if answer.truncated == "disconnect" and why is not Reason.REDIRECT else why


_LATER = "windrow_later"  # in `Request.meta`: the request is not for now; Windrow tries its task again
_FOUND = "windrow_found"  # in `Request.meta`: the spider yielded the request
