"""A host has one life at a time, whatever the lives do; what they leave behind needs it no more."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.logs import task
from windrow.config import Config
from windrow.crawler.machine.clock import Clock
from windrow.crawler.visit import Life, Rest, Then, Visit, Visits
from windrow.records import Grant, Lease, Task

TASKS = tuple(task(name) for name in "abcd")


class Desk:
    """Stands for the frontier and for the crawl: grants one lease, and notes what comes back and what ends."""

    def __init__(self, tasks: Sequence[Task] = TASKS) -> None:
        self.lease_ = Lease("a.example.org", "127.0.0.1", tuple(tasks), 0.0, (), 1)
        self.unused: list[list[str]] = []  # of each release
        self.errors: list[BaseException] = []

    async def lease(self, hosts: int, now: float) -> Grant:
        return Grant((self.lease_,), None)

    async def release(self, lease: Lease, unused: Sequence[Task], last: float) -> None:
        await asyncio.sleep(0)
        self.unused.append([each.url.text[-1] for each in unused])

    def ended(self, over: "asyncio.Task[None]") -> None:
        if not over.cancelled() and (error := over.exception()) is not None:
            self.errors.append(error)


def visits(desk: Desk, life: Life) -> Visits:
    session: Any = SimpleNamespace(
        frontier=desk,
        others=None,
        options=Config(),
        clock=Clock(),
        disk=SimpleNamespace(paused=False),
        pool=SimpleNamespace(faults=SimpleNamespace(held=0)),
        in_flight=SimpleNamespace(paused=False, enough=lambda: False),
    )
    stations: Any = SimpleNamespace(session=session, network=SimpleNamespace(offline=0.0))
    return Visits(stations, life, desk.ended)


def run(desk: Desk, life: Life, meanwhile: Callable[[Visits], None] = lambda made: None) -> None:
    async def main() -> None:
        made = visits(desk, life)
        assert await made.lease(0.0) is None
        assert len(made) == 1
        for _ in range(3):
            await asyncio.sleep(0)
        meanwhile(made)
        while not made.over:
            await asyncio.sleep(0)
        assert len(made) == 0

    asyncio.run(main())


def test_lives_follow_one_another_and_their_rests_run_beside_them() -> None:
    at_host, steps = 0, []

    async def life(own: Task, visit: Visit) -> Then | Rest:
        nonlocal at_host
        at_host += 1
        assert at_host == 1, "two lives are at the host"
        steps.append(f"{own.url.text[-1]} begins")
        for _ in range(3):
            await asyncio.sleep(0)
        at_host -= 1
        return rest(own) if own is not TASKS[1] else Then.NEXT

    async def rest(own: Task) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        steps.append(f"{own.url.text[-1]} ends")

    desk = Desk()
    run(desk, life)
    assert [step for step in steps if "begins" in step] == [f"{name} begins" for name in "abcd"]
    assert steps.index("d begins") < steps.index("a ends"), "a rest holds nobody up"
    assert sorted(step for step in steps if "ends" in step) == ["a ends", "c ends", "d ends"]
    assert desk.unused == [[]] and not desk.errors


@pytest.mark.parametrize(("then", "unused"), [(Then.BACK, ["b", "c", "d"]), (Then.PAUSE, ["c", "d"])])
def test_a_life_that_ends_the_visit_gives_the_other_tasks_back(then: Then, unused: list[str]) -> None:
    async def life(own: Task, visit: Visit) -> Then:
        return then if own is TASKS[1] else Then.NEXT

    desk = Desk()
    run(desk, life)
    assert desk.unused == [unused]


def test_a_life_that_fails_ends_its_visit_and_its_task_goes_back() -> None:
    async def life(own: Task, visit: Visit) -> Then:
        if own is TASKS[2]:
            raise ValueError("a bug")
        return Then.NEXT

    desk = Desk()
    run(desk, life)
    assert desk.unused == [["c", "d"]]
    assert [str(error) for error in desk.errors] == ["a bug"]


def test_a_life_that_is_cancelled_gives_its_task_back(tmp_path: Path) -> None:
    async def life(own: Task, visit: Visit) -> Then:
        if own is TASKS[1]:
            await asyncio.Event().wait()
        return Then.NEXT

    desk = Desk()
    run(desk, life, meanwhile=lambda made: made.cancel())
    assert desk.unused == [["b", "c", "d"]] and not desk.errors
