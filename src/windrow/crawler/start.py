"""Starts the crawl of a directory: checks, the lock, recovery, and then the crawl itself."""

from collections.abc import Callable, Collection, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import uvloop

from windrow import takedown
from windrow.config import Config
from windrow.crawler import recover
from windrow.crawler.checks import check_alone, check_contact, check_judges, check_space
from windrow.crawler.ending import Ending
from windrow.crawler.loop import Crawl
from windrow.crawler.machine.clock import Clock
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.orders import take
from windrow.frontier import seeds
from windrow.records import Task

_T = TypeVar("_T")


async def run(
    directory: Path,
    options: Config,
    watch: Callable[[Crawl, recover.Resumed], None],
    given: Collection[str] = (),
    neighbours: Neighbours | None = None,
) -> Ending:
    """Run or resume the crawl of a directory until it ends; `watch` gets it once it is set up.

    `given`: the names of options that the command line sets. They hold instead of those that orders have set.
    `neighbours`: the other shards, if the directory is one shard of a crawl.
    """
    if neighbours is None:
        check_alone(directory)
    tasks = check(directory, options)
    with recover.lock(directory):
        takedown.check_purged(directory)
        check_space(options, directory)
        clock = Clock(recover.last_commit(directory))
        if neighbours is not None:
            neighbours.start(clock.now)
        resumed = await recover.resume(directory, options, clock.now(), neighbours)
        try:
            crawl = Crawl(directory, take.StartOptions(options, given), resumed, clock, neighbours)
        except BaseException:
            await resumed.frontier.close()
            raise
        watch(crawl, resumed)
        return await crawl.run(tasks)


def check(directory: Path, options: Config) -> list[Task]:
    """Return the seeds of a crawl; ConfigError if it cannot be started with them or with its options."""
    tasks = seeds.tasks(seeds.read(directory / options.crawl.seeds))
    check_contact(options, tasks)
    check_judges(options)
    return tasks


def execute(main: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on the fastest event loop available."""
    return uvloop.run(main)
