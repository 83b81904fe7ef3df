"""The requests of a spider as tasks of the frontier."""

import logging
from typing import NamedTuple

import msgspec
from scrapy import Request, Spider

from windrow.frontier.policy.scope import Scope
from windrow.records import Task
from windrow.scrapy import requests
from windrow.scrapy.exchanges import ScrapyExchange

log = logging.getLogger(__name__)

NO_URL = "no-url"  # the rule that refuses requests of other schemes than http and https
UNWRITABLE = "unwritable"  # the rule that refuses requests that cannot be stored


class FoundRequests(NamedTuple):
    """What a spider found on a page."""

    tasks: tuple[Task, ...]
    refused: dict[str, int]  # requests that are not admitted, counted by rule


class Links:
    """Makes tasks of requests."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider

    def of(self, exchange: ScrapyExchange, above: Task, scope: Scope) -> FoundRequests:
        """Return the tasks for what was found on the page of a task."""
        tasks: list[Task] = []
        refused: dict[str, int] = {}
        for request in (*exchange.instead, *exchange.found):
            task = self.task(request, scope, above, instead=request in exchange.instead)
            if isinstance(task, Task):
                tasks.append(task)
            else:
                refused[task] = refused.get(task, 0) + 1
        return FoundRequests(tuple(tasks), refused)

    def task(self, request: Request, scope: Scope, above: Task | None = None, instead: bool = False) -> Task | str:
        """Return the task for a request, or the name of the rule that refuses it. `above`: its page; None: a seed.

        `instead`: a middleware made it in place of the answer. A seed is never repeated: Scrapy's start requests say
        `dont_filter`, and a crawl that continues has them done.
        """
        again = above is not None and (_is_same(request, above) if instead else request.dont_filter)
        url = requests.address(request, again)
        if url is None:
            return NO_URL
        bare = requests.plain(Task(url)).url
        if rule := scope.refuses(bare):
            return rule
        task = Task(url) if above is None else scope.follow(above, url, redirect=instead)
        if isinstance(task, str):
            return task
        try:
            data = requests.encode(request, self._spider, bare.text)
        except requests.Unwritable as error:
            log.error("%s", error)
            return UNWRITABLE
        return msgspec.structs.replace(task, priority=requests.rank(request.priority), request=data, hints=b"")


def _is_same(request: Request, above: Task) -> bool:
    """Return whether a middleware wants the page of the task again: by a redirect to itself, or by a retry."""
    url = requests.address(request, again=False)
    return url is not None and url.text == above.url.text
