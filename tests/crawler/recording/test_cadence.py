"""When a crawl commits: at once for somebody who waits, but not more often than needed."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from windrow.config import CrawlOptions
from windrow.crawler.machine.disk import Disk
from windrow.crawler.machine.inflight import InFlight
from windrow.crawler.recording import cadence
from windrow.crawler.recording.commit import GroupCommit


class Commits:
    """Notes when there was a commit, and calls `then` after it."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.then: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return 0

    async def commit(self, *others: Any) -> int:
        self.times.append(asyncio.get_running_loop().time())
        asyncio.get_running_loop().call_soon(self.then)
        return 0


async def nothing() -> None:
    pass


def commits_asked_for(directory: Path, count: int) -> list[float]:
    """Ask for a commit, and again after each one; return the times of the first `count`."""

    async def run() -> list[float]:
        commits = Commits()
        in_flight = InFlight(CrawlOptions(commit_seconds=60.0), Disk(directory, 0), lambda: None)
        made = cadence.Cadence(cast(GroupCommit, commits), in_flight, lambda: 0.0, nothing)

        def ask() -> None:
            for _ in range(3):  # many visits may wait
                made.ask()
            if len(commits.times) == count:
                made.stop()

        commits.then = ask
        made.ask()
        async with asyncio.timeout(30):
            await made.run()
        return commits.times

    return asyncio.run(run())


def test_a_commit_that_is_asked_for_comes_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cadence, "HURRY", 50.0)
    assert len(commits_asked_for(tmp_path, 1)) == 1


def test_the_next_commit_that_is_asked_for_comes_some_time_after_it(tmp_path: Path) -> None:
    first, second, third = commits_asked_for(tmp_path, 3)
    assert second - first >= cadence.HURRY and third - second >= cadence.HURRY
