"""docs/backup.md: a copy that is made while the crawl runs, by the commands of the page, loses nothing committed."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import blocks, crashing, truth
from tests.world import World

PAGE = Path(__file__).resolve().parents[2] / "docs" / "backup.md"


def commands() -> list[str]:
    """Return the commands of the page that copy a crawl: the first is complete before the others begin."""
    block = next(block for block in blocks.blocks(PAGE) if "cp -a" in block.code)
    first, middle, rest = block.code.partition("for part")
    return [first, middle + rest]


def until(wanted: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def running(prose_world: World, tmp_path: Path) -> Path:
    """Return a directory with a crawl that is slow enough to be copied meanwhile."""
    prose_world.reset()
    return truth.prepare(tmp_path / "mycrawl", prose_world, *truth.TEXT, "fetch.delay=0.05", "crawl.in_flight=4")


def test_a_copy_of_a_running_crawl_continues_with_all_that_was_committed(
    running: Path, prose_world: World, tmp_path: Path
) -> None:
    process = crashing.launch("crawl", str(running))
    log_first, everything_else = commands()
    try:
        until(lambda: (running / "log").exists() and len(truth.committed(running)) >= 5)
        subprocess.run(["bash", "-euc", log_first], cwd=tmp_path, check=True)
        copy = tmp_path / "mycrawl-copy"
        finished = truth.committed(copy).keys()
        until(lambda: len(truth.committed(running)) >= len(finished) + 5)  # all other files are ahead of the copied log
        subprocess.run(["bash", "-euc", everything_else], cwd=tmp_path, check=True)
        assert process.poll() is None, "the crawl ended before it was copied"
    finally:
        crashing.kill(process)
    assert finished and not (copy / "state").exists()
    before = len(prose_world.requests())
    continued = crashing.run(["crawl", str(copy)])
    assert continued.code == 0, continued.err
    assert not {row.url for row in prose_world.requests()[before:]} & finished
    truth.assert_whole(copy, prose_world)
    truth.assert_corpus(copy)


def test_a_copy_whose_log_is_newer_than_its_archive_is_refused(
    running: Path, prose_world: World, tmp_path: Path
) -> None:
    process = crashing.launch("crawl", str(running))
    try:
        until(lambda: (running / "log").exists() and len(truth.committed(running)) >= 5)
        for command in commands():
            subprocess.run(["bash", "-euc", command], cwd=tmp_path, check=True)
        until(lambda: len(truth.committed(running)) >= len(truth.committed(tmp_path / "mycrawl-copy")) + 5)
        subprocess.run(["cp", "-a", "mycrawl/log", "mycrawl-copy/"], cwd=tmp_path, check=True)
    finally:
        crashing.kill(process)
    refused = crashing.run(["crawl", str(tmp_path / "mycrawl-copy")])
    assert refused.code == 2 and "committed bytes" in refused.err
