"""Who waits for room, and who is woken."""

import asyncio
from pathlib import Path

from windrow.config import Crawl
from windrow.crawl.disk import Disk
from windrow.crawl.inflight import Flight


def flight(tmp_path: Path, urls: int = 4, size: int = 100) -> Flight:
    return Flight(Crawl(in_flight=urls, in_flight_bytes=size), Disk(tmp_path, 0))


async def settled() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_as_many_are_woken_as_there_is_room_for_in_the_order_they_came(tmp_path: Path) -> None:
    async def run() -> None:
        one = flight(tmp_path)
        one.urls = 4
        woken: list[int] = []

        async def turn(number: int) -> None:
            while not one.room():
                await one.wait()
            one.urls += 1
            woken.append(number)

        turns = [asyncio.create_task(turn(number)) for number in range(6)]
        await settled()
        one.wake()
        await settled()
        assert woken == [] and one.waiting
        one.urls -= 2
        one.wake()
        await settled()
        assert woken == [0, 1] and one.urls == 4
        turns[2].cancel()
        one.urls -= 1
        one.wake()
        await settled()
        assert woken == [0, 1, 3], "a place is not given to a turn that is gone"
        one.wake_all()
        await settled()
        assert woken == [0, 1, 3] and one.waiting, "who finds no room waits again"
        one.urls -= 4
        one.wake()
        await asyncio.gather(*turns, return_exceptions=True)
        assert woken == [0, 1, 3, 4, 5] and not one.waiting

    asyncio.run(run())


def test_bodies_that_wait_and_a_full_disk_leave_no_room(tmp_path: Path) -> None:
    async def run() -> None:
        one = flight(tmp_path)
        one.hold(60)
        assert one.room() == 4
        one.hold(60)
        assert one.room() == 0
        waiting = asyncio.create_task(one.wait())
        await settled()
        one.let_go(60)
        await waiting
        disk = Disk(tmp_path, 0)
        held = Flight(Crawl(in_flight=4), disk)
        disk.paused = True
        assert held.room() == 0
        disk.paused = False
        held.urls = 5
        assert held.room() == 0

    asyncio.run(run())
