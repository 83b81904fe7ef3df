"""Where the pages of a crawl come from: from the crawl itself, or from a guest in its process.

A guest is another program, such as Scrapy. The crawl keeps everything else: which page is requested and when,
robots.txt, archive, corpus and log. While it has a guest it does not end when nothing waits: the guest may have more
URLs, and asks it to stop.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from windrow.crawler.outcome import Outcome
from windrow.crawler.visit import Visit
from windrow.crawler.workers.wire import Lost
from windrow.frontier.policy.scope import Scope
from windrow.records import Capture, Failure, Origin, Task
from windrow.refine import Refined

PageLinks = tuple[tuple[Task, ...], dict[str, int]]  # the tasks for the links of a page; those refused, by rule
# Returns the links of a task that has ended; with what a worker found on its page, if one was to read it.
FindLinks = Callable[[Outcome, Refined | Lost | None, Scope], Awaitable[PageLinks]]


class Source(Protocol):
    """What differs between the pages of a crawl and those of its guest. `page.live` calls it in this order."""

    def plain(self, task: Task) -> Task: ...  # as rules and archive see it
    # Return the answer; an Outcome if there was no request and there will be none; None if the task goes back.
    async def request(self, task: Task, origin: Origin, visit: Visit) -> Capture | Failure | Outcome | None: ...
    async def links(self, outcome: Outcome, refined: Refined | Lost | None, scope: Scope) -> PageLinks: ...


class Guest(Source, Protocol):
    idle: bool  # set by the crawl: nothing waits and nothing is under way
