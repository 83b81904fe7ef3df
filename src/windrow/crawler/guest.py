"""Another program in the process of the crawl that downloads the pages and finds their links, such as Scrapy.

The crawl keeps everything else: which page is requested and when, robots.txt, archive, corpus and log. While it
has a guest it does not end when nothing waits: the guest may have more URLs, and asks it to stop.
"""

from collections.abc import Coroutine
from typing import Any, Protocol

from windrow.crawler.visit import Downloads, Visit
from windrow.records import Task


class Guest(Protocol):
    idle: bool  # set by the crawl: nothing waits and nothing is under way

    def client(self, own: Downloads) -> Downloads: ...  # `own`: the client that requests well-known files
    def life(self, task: Task, visit: Visit) -> Coroutine[Any, Any, None]: ...  # as `lives.life`
