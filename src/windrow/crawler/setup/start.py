"""Starts the crawl of a directory: checks, and then the crawl itself."""

from collections.abc import Collection, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import uvloop

from windrow.config import Config
from windrow.crawler import session
from windrow.crawler.ending import Ending
from windrow.crawler.guest import Guest
from windrow.crawler.loop import Crawl as Crawl
from windrow.crawler.loop import Observer as Observer
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.setup.checks import check_alone, check_contact, check_judges
from windrow.frontier import seeds
from windrow.records import Task

_T = TypeVar("_T")


async def run(
    directory: Path,
    options: Config,
    observer: Observer,
    given: Collection[str] = (),
    neighbours: Neighbours | None = None,
    guest: Guest | None = None,
) -> Ending:
    """Run or resume the crawl of a directory until it ends.

    `given`: the names of options that the command line sets. They hold instead of those that orders have set.
    `neighbours`: the other shards, if the directory is one shard of a crawl. `guest`: it adds the seeds.
    """
    if neighbours is None:
        check_alone(directory)
    tasks = _seeds(directory, options) if guest is None else []
    async with session.opened(directory, options, given, neighbours) as opened:
        crawl = Crawl(opened, observer, guest)
        observer.begun(crawl, opened.resumed)
        return await crawl.run(tasks)


def check(directory: Path, options: Config) -> None:
    """Refuse a crawl that cannot be started with its seeds or its options: ConfigError."""
    _seeds(directory, options)
    check_judges(options)


def _seeds(directory: Path, options: Config) -> list[Task]:
    tasks = seeds.tasks(seeds.read(directory / options.crawl.seeds))
    check_contact(options, tasks)
    return tasks


def execute(main: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on the fastest event loop available."""
    return uvloop.run(main)
