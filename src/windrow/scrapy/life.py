"""The life of a page that Scrapy requests: `crawl.page` with two differences.

The request is Scrapy's, and the links are those that the spider yields. So a page is recorded when the engine is done
with it, together with what the spider found on it: in one frame of the log, as every page of a crawl.
"""

import msgspec
from scrapy import Spider

from windrow.crawler import page
from windrow.crawler.outcome import Outcome, Reading
from windrow.crawler.visit import Visit
from windrow.crawler.workers.wire import Lost
from windrow.frontier.policy import retry
from windrow.records import Capture, Failure, Reason, Task
from windrow.scrapy.exchanges import ScrapyExchange
from windrow.scrapy.found import FoundRequests, Links
from windrow.scrapy.requests import plain

UNSENT = "Scrapy did not send the request: one of its middlewares dropped or answered it"


class Sender:
    """What a life needs of the spider: its open exchanges by task, and the links of an exchange."""

    def __init__(self, spider: Spider, links: Links) -> None:
        self.spider = spider
        self.links = links
        self.exchanges: dict[int, ScrapyExchange] = {}  # by URL key


async def live(task: Task, visit: Visit, sender: Sender) -> None:
    """Have a page requested by Scrapy, and record it. If it returns before `host_is_free`, the task was not run."""
    stations = visit.stations
    origin = await page.cleared(task, plain(task), visit)
    if origin is None:
        return
    try:
        answer = await visit.request(task)
    except NotSent as unsent:
        await _record_unsent(unsent, task, visit, sender)
        return visit.host_is_free()
    finally:
        exchange = sender.exchanges.pop(task.url.key, None)
    if answer is None:  # our own network failed, not the host
        return stations.in_flight.give_back(page=True)
    outcome = msgspec.structs.replace(page.understood(answer, origin, visit), task=task, links=(), refused={})
    if outcome.reason is not Reason.OK or isinstance(answer, Failure):
        return await _record_other(outcome, answer, visit, await _found(exchange, task, visit, sender))
    members, refined = await page.read(answer, origin, visit)
    found = await _found(exchange, task, visit, sender)
    if isinstance(refined, Lost):
        lost = Reading(found.tasks, found.refused, 0)
        outcome = msgspec.structs.replace(outcome, reason=refined.reason, detail=refined.detail)
        return stations.recorder.record_page(outcome, members, lost)
    judged = page.candidate(task, answer, members, refined, origin)
    reading = Reading(found.tasks, found.refused, refined.shape, judged, refined.charset)
    stations.recorder.record_page(outcome, members, reading)


class NotSent(Exception):
    """Scrapy ended an exchange without a request, or the stored request cannot be made again."""

    def __init__(self, detail: str, exchange: ScrapyExchange | None) -> None:
        super().__init__(detail)
        self.detail, self.exchange = detail, exchange


async def _found(exchange: ScrapyExchange | None, task: Task, visit: Visit, sender: Sender) -> FoundRequests:
    """Wait until the engine is done with a page; return the links that its spider found."""
    if exchange is None:  # the address may not be connected to: Scrapy never heard of it
        return FoundRequests((), {})
    await exchange.over
    return sender.links.of(exchange, task, visit.stations.scope)


async def _record_unsent(unsent: NotSent, task: Task, visit: Visit, sender: Sender) -> None:
    stations = visit.stations
    stations.in_flight.give_back(page=True)
    found = await _found(unsent.exchange, task, visit, sender)
    now = stations.clock.now()
    outcome = Outcome(task=task, reason=Reason.OUT_OF_SCOPE, detail=unsent.detail, time=now)
    await stations.recorder.record(msgspec.structs.replace(outcome, links=found.tasks, refused=found.refused))


async def _record_other(outcome: Outcome, answer: Capture | Failure, visit: Visit, found: FoundRequests) -> None:
    stations = visit.stations
    stations.in_flight.pages -= 1
    members = stations.recorder.compress(answer) if isinstance(answer, Capture) else None
    outcome = msgspec.structs.replace(outcome, links=found.tasks, refused=found.refused)
    await stations.recorder.record(outcome, members)
    visit.host_is_free(pause=retry.pauses(outcome.reason))
