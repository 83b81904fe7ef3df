"""Requests of a spider as tasks: which are new URLs, which are repeated, and which are refused."""

import asyncio
from collections.abc import Callable

from scrapy import Request, Spider

from windrow import urls
from windrow.config import ScopeOptions
from windrow.frontier.policy.scope import Scope
from windrow.records import Task
from windrow.scrapy.exchanges import ScrapyExchange
from windrow.scrapy.found import FoundRequests, Links

HOME = "http://example.org/"
ABOVE = Task(urls.restored(HOME), depth=2)
SCOPE = Scope(ScopeOptions(hosts_denied=("no.example.org",), max_depth=3))
LINKS = Links(Spider("test"))


def found(fill: Callable[[ScrapyExchange], None], above: Task = ABOVE) -> FoundRequests:
    async def run() -> FoundRequests:
        exchange = ScrapyExchange(1, above, Request(above.url.text))
        fill(exchange)
        return LINKS.of(exchange, above, SCOPE)

    return asyncio.run(run())


def by_spider(*requests: Request, above: Task = ABOVE) -> FoundRequests:
    return found(lambda exchange: exchange.found.extend(requests), above)


def test_a_link_is_one_deeper_and_names_its_page() -> None:
    [task] = by_spider(Request(HOME + "a?utm_source=x#b", priority=5)).tasks
    assert (task.url.text, task.depth, task.via, task.priority) == (HOME + "a", 3, HOME, 123)
    assert b"utm_source" in task.request, "the spider's own spelling is requested"


def test_a_page_that_links_to_itself_is_not_requested_again() -> None:
    [task] = by_spider(Request(HOME)).tasks
    assert task.url == ABOVE.url
    [task] = by_spider(Request(HOME, dont_filter=True)).tasks
    assert task.url.key != ABOVE.url.key


def test_a_request_in_place_of_the_answer_is_a_redirect_also_to_the_same_page() -> None:
    moved, cookie = found(lambda exchange: exchange.instead.extend([Request(HOME + "a"), Request(HOME)])).tasks
    assert (moved.url.text, moved.depth, moved.redirects) == (HOME + "a", 2, 1)
    assert cookie.url.text.startswith(HOME + "#again-")


def test_the_scope_refuses_by_the_url_without_our_fragment() -> None:
    denied = Request("http://no.example.org/", method="POST")
    other = Request("ftp://example.org/")
    assert by_spider(denied, other, Request(HOME, meta={"a": object()})) == FoundRequests(
        (), {"host-denied": 1, "no-url": 1, "unwritable": 1}
    )
    deep = Task(ABOVE.url, depth=3)
    assert by_spider(Request(HOME + "a"), above=deep).refused == {"depth": 1}


def test_a_start_request_is_one_page_whatever_dont_filter_says() -> None:
    task = LINKS.task(Request(HOME, dont_filter=True), SCOPE)
    assert isinstance(task, Task) and task.url == ABOVE.url
