"""Back-pressure: which visits wait for room, and which are woken."""

import asyncio
from pathlib import Path

from windrow.config import CrawlOptions
from windrow.crawler.machine.disk import Disk
from windrow.crawler.machine.inflight import InFlight


def limits(tmp_path: Path, asked: list[int] | None = None, **options: int) -> InFlight:
    counted = asked if asked is not None else []
    fields = {"in_flight": 4, "in_flight_bytes": 100, **options}
    return InFlight(CrawlOptions(**fields), Disk(tmp_path, 0), lambda: counted.append(1))  # type: ignore[arg-type]


async def let_others_run() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_as_many_visits_are_woken_as_there_is_room_for_in_the_order_they_came(tmp_path: Path) -> None:
    async def run() -> None:
        asked: list[int] = []
        one = limits(tmp_path, asked)
        one.urls = 4
        woken: list[int] = []

        async def visit(number: int) -> None:
            if await one.enter(page=True):
                woken.append(number)

        visits = [asyncio.create_task(visit(number)) for number in range(6)]
        await let_others_run()
        one.wake()
        await let_others_run()
        assert woken == [] and one.waiting
        assert asked, "a visit that waits asks for a commit"
        one.leave(2)
        await let_others_run()
        assert woken == [0, 1] and one.urls == 4
        visits[2].cancel()
        one.leave(1)
        await let_others_run()
        assert woken == [0, 1, 3], "room is not given to a visit that was cancelled"
        one.leave(4)
        await asyncio.gather(*visits, return_exceptions=True)
        assert woken == [0, 1, 3, 4, 5] and not one.waiting

    asyncio.run(run())


def test_bodies_that_wait_and_a_full_disk_leave_no_room(tmp_path: Path) -> None:
    async def run() -> None:
        one = limits(tmp_path)
        one.hold(60)
        assert one.room() == 4
        one.hold(60)
        assert one.room() == 0
        waiting = asyncio.create_task(one.enter(page=True))
        await let_others_run()
        one.let_go(60)
        assert await waiting
        disk = Disk(tmp_path, 0)
        held = InFlight(CrawlOptions(in_flight=4), disk, lambda: None)
        disk.paused = True
        assert held.room() == 0
        disk.paused = False
        held.urls = 5
        assert held.room() == 0

    asyncio.run(run())


def test_after_the_stop_no_request_starts(tmp_path: Path) -> None:
    async def run() -> None:
        one = limits(tmp_path)
        one.urls = 4
        waiting = asyncio.create_task(one.enter(page=True))
        await let_others_run()
        one.stop()
        assert not await waiting
        one.leave(4)
        assert not await one.enter(page=False)

    asyncio.run(run())


def test_a_page_limit_is_kept_and_files_of_origins_do_not_count(tmp_path: Path) -> None:
    async def run() -> None:
        one = limits(tmp_path, max_pages=2)
        assert [await one.enter(page=True) for _ in range(3)] == [True, True, False]
        assert await one.enter(page=False)
        one.pages -= 1  # a page that failed
        assert await one.enter(page=True)

    asyncio.run(run())


def test_a_request_that_does_not_count_makes_room(tmp_path: Path) -> None:
    async def run() -> None:
        one = limits(tmp_path, max_pages=10, in_flight=1)
        assert await one.enter(page=True)
        waiting = asyncio.create_task(one.enter(page=True))
        await let_others_run()
        assert not waiting.done()
        one.give_back(page=True)
        assert await waiting
        assert (one.urls, one.pages) == (1, 1)

    asyncio.run(run())
