"""A finished crawl that many tests look at; `tests/conftest.py` makes it the fixture `finished`."""

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path

from tests import crashing, truth
from tests.crashing import Result
from tests.world import World


@dataclasses.dataclass(frozen=True, slots=True)
class Finished:
    world: World
    directory: Path
    result: Result  # of `windrow crawl --json`
    requests: int  # that it took


@contextlib.contextmanager
def crawl(folder: Path) -> Iterator[Finished]:
    """A world with everything in it, crawled to the end."""
    with World(seed=11, pages=24, hosts=3) as world:
        directory = truth.prepare(folder / "crawl", world, "fetch.header_timeout=0.4", "crawl.in_flight=64")
        result = crashing.run(["crawl", str(directory), "--json"])
        yield Finished(world, directory, result, len(world.requests()))
