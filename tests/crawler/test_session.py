"""A run holds its directory from its lock to its end, however it ends; two drivers have the same session."""

import asyncio
from pathlib import Path

import pytest

from tests import truth
from tests.logs import task
from windrow.config import Config, ConfigError, CrawlOptions, ExtractOptions, WorkersOptions
from windrow.crawler import session
from windrow.crawler.outcome import Outcome
from windrow.crawler.recover import Opened
from windrow.crawler.session import Session
from windrow.records import Reason, Receipt

OPTIONS = Config(
    crawl=CrawlOptions(commit_seconds=60.0),  # only the commits that a test asks for, and the last one
    extract=ExtractOptions(extractor="none"),
    workers=WorkersOptions(count=1),
)


class Driver:
    """Notes what its session says."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.said: list[str] = []

    def recorded(self, receipt: Receipt) -> None:
        self.said += [entry.report.task.url.text for entry in receipt.entries]

    async def committed(self) -> None:
        self.said.append("committed")

    def broken(self, error: BaseException | None) -> None:
        self.error = self.error or error


async def use(opened: Opened, driver: Driver, error: Exception | None = None) -> None:
    """Record one page in a session; then let its driver be broken by an error, if there is one."""
    made = Session(opened, driver)
    try:
        await made.start()
        await made.recorder.add([task("a")])
        await made.recorder.record(Outcome(task=task("a"), reason=Reason.NOT_FOUND, time=1000.0))
        driver.broken(error)
    finally:
        await made.end()


def test_what_was_recorded_is_committed_at_the_end_of_a_session(tmp_path: Path) -> None:
    async def main() -> None:
        async with session.opened(tmp_path, OPTIONS) as opened:
            await use(opened, driver)

    driver = Driver()
    asyncio.run(main())
    assert driver.said == [task("a").url.text]
    assert truth.committed(tmp_path) == {task("a").url.text: 1}


def test_a_broken_session_ends_without_a_commit_and_the_directory_is_free(tmp_path: Path) -> None:
    async def main() -> None:
        async with session.opened(tmp_path, OPTIONS) as opened:
            await use(opened, Driver(), ValueError("broken"))
        assert not truth.committed(tmp_path)
        async with session.opened(tmp_path, OPTIONS) as opened:
            await use(opened, Driver())

    asyncio.run(main())
    assert truth.committed(tmp_path) == {task("a").url.text: 1}


def test_a_directory_is_held_until_the_run_ends_and_an_error_lets_it_go(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(KeyError):
            async with session.opened(tmp_path, OPTIONS):
                with pytest.raises(ConfigError, match="is being crawled by process"):
                    async with session.opened(tmp_path, OPTIONS):
                        raise AssertionError("two runs have one directory")
                raise KeyError("an error before the session was made")
        async with session.opened(tmp_path, OPTIONS) as opened:  # the lock is free, and so is the store
            assert opened.resumed.frames == 0

    asyncio.run(main())
