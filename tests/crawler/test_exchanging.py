"""What runs beside the crawl of a shard ends when it is asked to."""

import asyncio
from typing import Any

from windrow.crawler.exchanging import Exchanging, Sides
from windrow.crawler.neighbours import Addresses
from windrow.frontier import Territory
from windrow.records import Counts, Made, Task


class DeafNeighbours:
    """Other shards whose transport takes the first cancellation for a timeout, as a library may."""

    cancelled = 0

    elsewhere = Made()
    territory = Territory(0, 2, keys=16)

    def errands(self) -> list[Task]:
        return []

    answers = errands

    async def call(self, idle: bool, counts: Counts, made: Made) -> float:
        return 60.0

    def arrived(self) -> None:
        return None

    async def addresses(self) -> Addresses:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            if self.cancelled > 1:
                raise
        return Addresses({}, [], [])


class Part:
    """Stands for the frontier, the recorder and the cadence of a crawl without work."""

    pending = False

    def __init__(self) -> None:
        self.commits: Any = self
        self.frontier: Any = self
        self.recorder: Any = self

    async def counts(self) -> Counts:
        return Counts()

    async def addresses(self, granted: dict[str, float], lost: list[str], wanted: list[str]) -> None:
        await asyncio.Event().wait()


def test_a_cancellation_that_is_taken_for_a_timeout_does_not_keep_a_shard_from_its_end() -> None:
    async def main() -> int:
        part: Any = Part()
        neighbours: Any = DeafNeighbours()
        sides = Sides(
            frontier=part,
            stations=part,
            cadence=part,
            admitted=lambda tasks: None,
            made=Made,
            heard=lambda made: None,
            end=lambda: None,
        )
        exchanging = Exchanging(neighbours, sides)
        exchanging.start(lambda error: None)
        for _ in range(3):
            await asyncio.sleep(0)
        await asyncio.wait_for(exchanging.finish(), 60)
        return neighbours.cancelled

    assert asyncio.run(main()) == 1


class LateNews(DeafNeighbours):
    """Other shards with news of addresses during the last call."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.said: list[str] = []

    async def call(self, idle: bool, counts: Counts, made: Made) -> float:
        self.said.append("begun")
        if len(self.said) > 1:
            self.news.set()
        for _ in range(20):
            await asyncio.sleep(0)
        self.said.append("ended")
        return 60.0

    async def addresses(self) -> Addresses:
        await self.news.wait()
        self.news.clear()
        return Addresses({}, [], [])


class QuickPart(Part):
    async def addresses(self, granted: dict[str, float], lost: list[str], wanted: list[str]) -> None:
        return None


def test_news_of_addresses_do_not_cut_off_the_last_word() -> None:
    async def main() -> list[str]:
        part: Any = QuickPart()
        neighbours: Any = LateNews()
        sides = Sides(
            frontier=part,
            stations=part,
            cadence=part,
            admitted=lambda tasks: None,
            made=Made,
            heard=lambda made: None,
            end=lambda: None,
        )
        exchanging = Exchanging(neighbours, sides)
        exchanging.start(lambda error: None)
        while "ended" not in neighbours.said:
            await asyncio.sleep(0)
        await asyncio.wait_for(exchanging.finish(), 60)
        said: list[str] = neighbours.said
        return said

    assert asyncio.run(main()) == ["begun", "ended"] * 2
