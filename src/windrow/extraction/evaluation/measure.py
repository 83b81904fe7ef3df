"""Run extractors over pages, in this process or in several. The scores do not depend on the number of processes."""

import collections
import concurrent.futures
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import msgspec

import windrow
from windrow import extraction
from windrow.config import Config, ConfigError
from windrow.extraction import Extractor
from windrow.extraction.evaluation import peers, score
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.score import PageScore, Tool

_WAITING = 4  # pages per process that are read ahead
_ready: list[Tool] = []  # in a process of the pool: made once, at its start


class Choice(msgspec.Struct, frozen=True):
    """What to measure: options of our extractors by their names in the table, and names of peers."""

    extractors: tuple[tuple[str, Config], ...]
    peers: tuple[str, ...] = ()


def tools(choice: Choice) -> list[Tool]:
    """Make the extractors, ours first."""
    made = [own(name, extraction.extractor(options)) for name, options in choice.extractors]
    made += [peers.peer(name) for name in choice.peers]
    if not made:
        raise ConfigError("there is nothing to evaluate; name an extractor or a peer")
    return made


def own(name: str, read: Extractor) -> Tool:
    """Return one of our extractors as a tool. It decodes the page itself, as in a crawl."""
    return Tool(name, lambda sample, markup: read(sample.capture()), version=windrow.__version__, has_facts=True)


def scores(pages: Iterable[Sample], choice: Choice, jobs: int = 1) -> Iterator[list[PageScore]]:
    """Yield for each page the scores of all tools, in the order of the pages."""
    if jobs < 2:
        yield from in_process(pages, tools(choice))
        return
    tools(choice)  # an error of the set-up is raised here, not in a process
    waiting: collections.deque[Future[list[PageScore]]] = collections.deque()
    try:
        with concurrent.futures.ProcessPoolExecutor(jobs, initializer=_start, initargs=(choice,)) as pool:
            for number, sample in enumerate(pages):
                waiting.append(pool.submit(_scored, sample, number))
                if len(waiting) >= _WAITING * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool:
        fix = "use fewer --jobs if memory is short, or fewer --peers if one of them crashes"
        raise ConfigError(f"a process that evaluates pages was killed; {fix}") from None


def in_process(pages: Iterable[Sample], chosen: Sequence[Tool]) -> Iterator[list[PageScore]]:
    for number, sample in enumerate(pages):
        yield score.page(chosen, sample, number)


def _start(choice: Choice) -> None:
    _ready.extend(tools(choice))


def _scored(sample: Sample, number: int) -> list[PageScore]:
    return score.page(_ready, sample, number)
