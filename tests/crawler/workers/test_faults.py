"""Errors of the user's code are counted: many equal ones stop the crawl, and few cost a page each."""

import asyncio
import random
from collections.abc import Callable

import pytest

from tests.crawler.workers.test_pool import capture
from windrow.config import Config, ConfigError, JudgeOptions
from windrow.crawler.workers.faults import FEW, PASSES, Faults
from windrow.crawler.workers.wire import Lost, ReadRequest
from windrow.crawler.workers.worker import Job
from windrow.plugins import PluginFault
from windrow.records import Reason

DEAD = Lost(Reason.PARSE_TIMEOUT, "more CPU time")
OWN = Config(judge=JudgeOptions(judges=("mine:judge",)))


def lost(line: int = 1) -> Lost:
    fault = PluginFault("mine:judge", "KeyError", f"mine.py, line {line}", "'x'", "raise KeyError('x')")
    return Lost(Reason.PARSE_CRASH, "KeyError: 'x'", fault)


class Pages:
    """Pages that are read, and what became of those that failed."""

    def __init__(self, config: Config = OWN) -> None:
        self.errors: list[ConfigError] = []
        self.faults = Faults(config, self.errors.append)
        self.jobs: list[Job] = []

    def job(self, probe: bool = False) -> Job:
        self.jobs.append(Job(ReadRequest(capture(b"", str(len(self.jobs))), probe=probe), asyncio.Future()))
        return self.jobs[-1]

    def fail(self, times: int = 1, line: int = 1) -> None:
        for _ in range(times):
            self.faults.failed(self.job(), lost(line))

    def die(self, times: int = 1) -> None:
        for _ in range(times):
            self.faults.died(self.job(), DEAD)

    def read(self, times: int) -> None:
        for _ in range(times):
            self.faults.passed()

    def answered(self) -> list[bool]:
        return [job.answer.done() and not job.answer.cancelled() and not job.answer.exception() for job in self.jobs]


def within_a_loop(test: Callable[[], None]) -> Callable[[], None]:
    async def run() -> None:
        test()

    return lambda: asyncio.run(run())


@within_a_loop
def test_an_answer_is_held_back_until_enough_pages_were_read() -> None:
    pages = Pages()
    pages.fail(2)
    pages.read(PASSES - 1)
    assert (pages.answered(), pages.faults.held) == ([False, False], 2)
    pages.read(1)
    assert (pages.answered(), pages.faults.held) == ([True, False], 1)
    pages.read(PASSES)
    assert (pages.answered(), pages.errors, pages.faults.held) == ([True, True], [], 0)
    assert pages.jobs[0].answer.result() == lost()


@within_a_loop
def test_a_few_equal_errors_stop_the_crawl_and_answer_no_page() -> None:
    pages = Pages()
    pages.read(1000)
    pages.fail(FEW - 1)
    assert pages.errors == []
    pages.fail()
    [error] = pages.errors
    assert str(error).startswith(
        f"your own code failed on {FEW} pages, the last one http://site.test/{FEW - 1}; they wait"
    )
    assert "mine:judge failed at mine.py, line 1: KeyError: 'x'; correct the code" in str(error)
    assert {str(job.answer.exception()) for job in pages.jobs} == {str(error)} and pages.faults.held == 0


@within_a_loop
def test_errors_at_different_lines_are_not_equal() -> None:
    pages = Pages()
    for line in range(3 * FEW):
        pages.fail(line=line)
    assert pages.errors == [] and pages.faults.held == 3 * FEW


@within_a_loop
def test_deaths_of_workers_count_only_if_own_code_runs_and_few_pages_are_read_between_them() -> None:
    ours = Pages(Config())
    ours.die(3 * FEW)
    assert all(ours.answered()) and ours.errors == []
    pages = Pages()
    for _ in range(3 * FEW):
        pages.die()
        pages.read(1)
    assert all(pages.answered()) and pages.errors == []
    pages.die(FEW)
    assert "Your own code ran on them: mine:judge; look there" in str(pages.errors[0])


@within_a_loop
def test_when_no_other_page_comes_the_majority_decides() -> None:
    broken = Pages()
    broken.read(1)
    broken.fail(2)
    broken.faults.settle(elsewhere=0)
    assert len(broken.errors) == 1 and broken.answered() == [False, False]
    odd = Pages()
    odd.read(2)
    odd.fail(2)
    odd.faults.settle(elsewhere=0)
    assert odd.errors == [] and odd.answered() == [True, True]
    of_a_shard = Pages()
    of_a_shard.fail()
    of_a_shard.faults.settle(elsewhere=1)
    assert of_a_shard.errors == [] and of_a_shard.answered() == [True]


@within_a_loop
def test_errors_count_on_when_their_pages_had_to_be_answered() -> None:
    pages = Pages()
    pages.read(FEW)
    for _ in range(FEW - 1):
        pages.fail()
        pages.faults.settle(elsewhere=0)
    assert all(pages.answered()) and pages.errors == []
    pages.fail()
    assert len(pages.errors) == 1


@within_a_loop
def test_a_crawl_that_ends_gives_the_pages_back() -> None:
    pages = Pages()
    pages.read(5)
    pages.fail()
    pages.faults.give_back()
    pages.fail()
    assert [job.answer.cancelled() for job in pages.jobs] == [True, True] and pages.errors == []


@within_a_loop
def test_the_answer_to_a_probe_is_never_held_back() -> None:
    pages = Pages()
    pages.faults.failed(pages.job(probe=True), lost())
    pages.faults.died(pages.job(probe=True), DEAD)
    assert all(pages.answered())


@pytest.mark.parametrize(("share", "stops"), [(1.0, True), (0.2, True), (0.1, True), (0.02, False), (0.001, False)])
def test_code_that_fails_on_one_page_in_ten_is_broken_and_in_fifty_it_is_not(share: float, stops: bool) -> None:
    rng = random.Random(7)

    @within_a_loop
    def run() -> None:
        pages = Pages()
        for _ in range(20_000):
            if rng.random() < share:
                pages.fail()
            else:
                pages.read(1)
            if pages.errors:
                break
        assert bool(pages.errors) == stops

    run()
