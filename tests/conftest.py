"""Set what holds for every test: the examples of Hypothesis, the marker `slow`, the kernels; a web, a Redis server."""

import gc
import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import finished as crawls
from tests import redisserver, slow
from tests.world import World
from windrow import kernels

# Without bytecode files, all modules would be compiled again by each run and by hundreds of processes of the tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Examples are the same on every machine, and a slow machine is no failure: tests never judge by the clock.
settings.register_profile("windrow", derandomize=True, deadline=None)
settings.load_profile("windrow")
LONG_BYTES = 16


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-slow", action="store_true", help="measure every test and rewrite tests/slow.txt")
    parser.addoption(
        "--expect-kernels",
        choices=("all", "none"),
        help="refuse to run unless all C kernels, or none, can be imported: so that a run tests what it says it tests",
    )


def pytest_configure(config: pytest.Config) -> None:
    expected = config.getoption("--expect-kernels")
    if expected and len(kernels.missing()) != (0 if expected == "all" else len(kernels.KERNELS)):
        raise pytest.UsageError(f"--expect-kernels {expected}: not built are {', '.join(kernels.missing()) or 'none'}")
    if config.getoption("--write-slow") and not hasattr(config, "workerinput"):  # the main process sees all reports
        config.pluginmanager.register(slow.Stopwatch())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector: the tests that are collected stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name long bytes by their length: packed data hold the time, and the ids must be equal in every process."""
    return f"{argname}-{len(val)}" if isinstance(val, bytes) and len(val) > LONG_BYTES else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    names = slow.names()
    for item in items:
        if slow.name(item.nodeid) in names:
            item.add_marker(pytest.mark.slow)
    items[:] = slow.first(items)


@pytest.fixture(scope="module")
def prose_world() -> Iterator[World]:
    """A small web with running text."""
    with World(seed=5, pages=14, hosts=2, kinds=("absent", "mirror"), prose=True) as world:
        yield world


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[crawls.Finished]:
    with crawls.crawl(tmp_path_factory.mktemp("finished")) as crawled:
        yield crawled


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[redisserver.Server]:
    """A Redis server that only this test has: it starts in 13 ms. A parameter is its program."""
    with redisserver.serve(program=getattr(request, "param", "")) as server:
        yield server
