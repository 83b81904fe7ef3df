"""Stands in the crawl for its HTTP client: pages are requested by Scrapy, well-known files by the client itself."""

import time

from windrow.config import Config
from windrow.crawler.visit import Downloads
from windrow.fetch.client.peers import Peers
from windrow.records import Capture, Failure, Kind, Reason, Task
from windrow.scrapy import life, names, requests
from windrow.scrapy.exchanges import Exchanges


class ScrapyDownloads:
    """Implements `crawler.visit.Downloads`."""

    def __init__(self, options: Config, own: Downloads, exchanges: Exchanges, sender: life.Sender) -> None:
        self._own = own
        self._peers = Peers(options.fetch, options.identity)
        self._exchanges = exchanges
        self._sender = sender

    async def get(self, task: Task, address: str, text: str = "", limit: int = 0) -> Capture | Failure:
        if task.kind is not Kind.PAGE:
            return await self._own.get(task, address, text, limit)
        peer = self._peers.find(address)
        if not peer.allowed:
            detail = f"connecting to {address} is not allowed"
            return Failure(requests.plain(task), Reason.BLOCKED_ADDRESS, detail=detail, time=round(time.time(), 3))
        names.note(task.url.host, peer.ip)
        try:
            request = requests.decode(task.request, self._sender.spider, requests.plain(task).url.text)
        except ValueError as error:
            raise life.NotSent(str(error), None) from None
        exchange = self._sender.exchanges[task.url.key] = self._exchanges.begin(task, request)
        answer = await exchange.answer
        if answer is None:
            raise life.NotSent(life.UNSENT, exchange)
        return answer

    def close(self) -> None:
        self._own.close()
