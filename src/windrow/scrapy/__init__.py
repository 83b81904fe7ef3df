"""Windrow for spiders of Scrapy: its order and politeness, its archive and corpus, and a queue for several spiders.

Requests of a spider come in, pages of the corpus, WARC records and a log go out, as with every crawl. `requests` writes
a request down, `captures` makes Windrow's record of a response. `scheduler` and `middleware` are the places where
Scrapy calls us; `backend` says what stands behind them, and `engine` holds the few things that Scrapy keeps to itself.

Two backends. `ordered` is a crawl of its own directory, on Scrapy's event loop: the frontier decides what is requested
and when, and the log is the truth. Scrapy is its guest (`crawler.guest`), of which `pages` says what is different: it
sends the requests (`exchanges`) and its spider finds the links (`found`). `fifo` is a queue in Redis that several
spiders in several processes share, first in, first out.

`archive` records the responses of any spider as a crawl records its pages; `archiving` is the middleware for it.

It needs the extra `scrapy`: pip install 'windrow-corpus[scrapy]'.
"""

from windrow.scrapy.addon import Addon
from windrow.scrapy.archiving import ArchiveMiddleware
from windrow.scrapy.scheduler import Scheduler

__all__ = ["Addon", "ArchiveMiddleware", "Scheduler"]
