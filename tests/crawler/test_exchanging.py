"""What runs beside the crawl of a shard ends when it is asked to."""

import asyncio
from typing import Any

from windrow.crawler.ending import Sums
from windrow.crawler.exchanging import Exchanging
from windrow.crawler.neighbours import Addresses
from windrow.frontier import Territory
from windrow.log import Tally
from windrow.records import Counts, LimitCounts, Task


class DeafNeighbours:
    """Other shards whose transport takes the first cancellation for a timeout, as a library may."""

    cancelled = 0

    elsewhere = LimitCounts()
    territory = Territory(0, 2, keys=16)

    def errands(self) -> list[Task]:
        return []

    answers = errands

    async def call(self, idle: bool, counts: Counts, made: LimitCounts) -> float:
        return 60.0

    def arrived(self) -> None:
        return None

    async def regained(self) -> None:
        await asyncio.Event().wait()

    async def addresses(self) -> Addresses:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            if self.cancelled > 1:
                raise
        return Addresses({}, [], [])


class Part:
    """Stands for a crawl without work, its session, frontier and recorder."""

    pending = False

    def __init__(self) -> None:
        self.commits: Any = self
        self.frontier: Any = self
        self.recorder: Any = self

    async def counts(self) -> Counts:
        return Counts()

    def ended(self, task: object) -> None: ...
    def wake(self) -> None: ...

    async def addresses(self, granted: dict[str, float], lost: list[str], wanted: list[str]) -> None:
        await asyncio.Event().wait()


def test_a_cancellation_that_is_taken_for_a_timeout_does_not_keep_a_shard_from_its_end() -> None:
    async def main() -> int:
        part: Any = Part()
        neighbours: Any = DeafNeighbours()
        exchanging = Exchanging(neighbours, part, Sums(Tally()), part)
        exchanging.start()
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

    async def call(self, idle: bool, counts: Counts, made: LimitCounts) -> float:
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
        exchanging = Exchanging(neighbours, part, Sums(Tally()), part)
        exchanging.start()
        while "ended" not in neighbours.said:
            await asyncio.sleep(0)
        await asyncio.wait_for(exchanging.finish(), 60)
        said: list[str] = neighbours.said
        return said

    assert asyncio.run(main()) == ["begun", "ended"] * 2


class Regained(DeafNeighbours):
    """Another node takes this shard, after its lease had run out once and was there again."""

    def __init__(self) -> None:
        self.times = 0

    async def regained(self) -> None:
        self.times += 1
        if self.times == 2:
            raise ValueError("taken")

    async def addresses(self) -> Addresses:
        await asyncio.Event().wait()
        raise AssertionError


class NotedPart(Part):
    def __init__(self) -> None:
        super().__init__()
        self.wakes = 0
        self.error: BaseException | None = None

    def wake(self) -> None:
        self.wakes += 1

    def ended(self, task: Any) -> None:
        self.error = task.exception()


def test_the_crawl_goes_on_when_its_lease_is_back_and_ends_when_another_process_has_its_shard() -> None:
    async def main() -> None:
        part: Any = NotedPart()
        neighbours: Any = Regained()
        exchanging = Exchanging(neighbours, part, Sums(Tally()), part)
        exchanging.start()
        async with asyncio.timeout(60):
            while part.error is None:
                await asyncio.sleep(0)
        assert part.wakes == 1 and str(part.error) == "taken"
        await exchanging.finish()

    asyncio.run(main())
