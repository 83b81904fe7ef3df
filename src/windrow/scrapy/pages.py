"""The pages that Scrapy requests for a crawl. All else of their lives is as in `crawler.page`.

The request is Scrapy's, and the links are those that the spider yields. So a page is recorded when the engine is done
with it, together with what the spider found on it: in one frame of the log, as every page of a crawl.
"""

import time
from collections.abc import Callable

from scrapy import Spider

from windrow.config import Config
from windrow.crawler.outcome import Outcome
from windrow.crawler.visit import Visit
from windrow.fetch.client.peers import Peers
from windrow.frontier.policy.scope import Scope
from windrow.records import Capture, Failure, Origin, Reason, Request, Task
from windrow.scrapy import names, requests
from windrow.scrapy.exchanges import Exchanges, ScrapyExchange
from windrow.scrapy.found import FoundRequests, Links

UNSENT = "Scrapy did not send the request: one of its middlewares dropped or answered it"


class NotSent(Exception):
    """Scrapy ended an exchange without a request, or the stored request cannot be made again."""


class ScrapyPages:
    """Implements `crawler.guest.Guest`. `wake` is called when the crawl has nothing to do."""

    def __init__(self, options: Config, spider: Spider, exchanges: Exchanges, wake: Callable[[], None]) -> None:
        self.maker = Links(spider)
        self._spider = spider
        self._peers = Peers(options.fetch, options.identity)
        self._exchanges = exchanges
        self._wake = wake
        self._open: dict[int, ScrapyExchange] = {}  # by URL key
        self._idle = False

    @property
    def idle(self) -> bool:
        return self._idle

    @idle.setter
    def idle(self, idle: bool) -> None:
        if idle and not self._idle:
            self._wake()
        self._idle = idle

    def plain(self, task: Task) -> Task:
        return requests.plain(task)

    async def request(self, task: Task, origin: Origin, visit: Visit) -> Capture | Failure | Outcome | None:
        try:
            answer = await visit.request(task, send=self._send)
        except NotSent as error:
            now = visit.session.clock.now()
            return Outcome(task=task, reason=Reason.OUT_OF_SCOPE, detail=str(error), time=now, requested=True)
        if answer is None:  # the next attempt has an exchange of its own
            self._open.pop(task.url.key, None)
        return answer

    async def links(self, outcome: Outcome, refined: object, scope: Scope) -> FoundRequests:
        """Wait until the engine is done with a page; return the links that its spider found."""
        exchange = self._open.pop(outcome.task.url.key, None)
        if exchange is None:  # the address may not be connected to: Scrapy never heard of it
            return FoundRequests((), {})
        await exchange.over
        return self.maker.of(exchange, outcome.task, scope)

    async def _send(self, request: Request) -> Capture | Failure:
        task, plain = request.task, requests.plain(request.task)
        peer = self._peers.find(request.address)
        if not peer.allowed:
            detail = f"connecting to {request.address} is not allowed"
            return Failure(plain, Reason.BLOCKED_ADDRESS, detail=detail, time=round(time.time(), 3))
        names.note(task.url.host, peer.ip)
        try:
            made = requests.decode(task.request, self._spider, plain.url.text)
        except ValueError as error:
            raise NotSent(str(error)) from None
        exchange = self._open[task.url.key] = self._exchanges.begin(task, made)
        answer = await exchange.answer
        if answer is None:
            raise NotSent(UNSENT)
        return answer
