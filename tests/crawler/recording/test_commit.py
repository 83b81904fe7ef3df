"""The frames of a shard say what it sends and what it has got; a crawl without shards writes neither."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from tests.logs import ok, url
from tests.shards.bus import Bus
from windrow import frontier, log, sharding
from windrow.config import Config
from windrow.crawler.machine.disk import Disk
from windrow.crawler.recording.commit import GroupCommit
from windrow.crawler.recording.serial import Serial
from windrow.log.writer import Log
from windrow.records import Entry, Exchanged, Frame, Task, Watermark
from windrow.shards.courier import Courier, LogReader
from windrow.shards.exchange import ShardExchange
from windrow.shards.messages import Standing

COUNT = 2
OPTIONS = Config()
HOSTS = {sharding.shard_of(f"d{number}.org", COUNT): f"d{number}.org" for number in range(20)}


def page(number: int, host: str, *links: str) -> Entry:
    """Return the line of a page with links to a host of another shard."""
    found = ok(number, str(number))
    sent = tuple(Task(url(link, host), depth=1, via=found.report.task.url.text) for link in links)
    return msgspec.structs.replace(found, sent=sent)


class Shard:
    """The part of a crawl between the frontier and the log, with an exchange."""

    alone = False  # True: it is no shard after all

    def __init__(
        self, directory: Path, number: int, bus: Bus, clock: int = 1000, permit: "Lease | None" = None
    ) -> None:
        self.permit = permit
        directory.mkdir(exist_ok=True)
        self.directory, self.number, self.bus = directory, number, bus
        self.store = frontier.open(directory / "state", OPTIONS, 0.0)
        self.clock = clock

    async def __aenter__(self) -> "Shard":
        saved = self.store.position()
        for frame, position in log.frames(self.directory / "log", saved.log, saved.frame):
            await self.store.replay(frame, position)
        reached = self.store.position()
        self.exchange = ShardExchange(self.number, COUNT, reached.exchanged, self.clock, jump=lambda: 1)
        self.serial = Serial()
        self.serial.start()
        journal = Log(self.directory / "log", reached.log)
        disk, others = Disk(self.directory, 0), None if self.alone else self.exchange
        self.commits = GroupCommit(self.store, journal, (), self.serial, disk, others, self.permit)
        reader = LogReader(log.Outbox(self.directory / "log"), COUNT)
        self.courier = Courier(self.exchange, self.bus, reader)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.serial.close()
        self.commits.close()
        await self.store.close()

    async def commit(self, checkpoint: bool = False) -> None:
        async def take_in() -> None:
            arrival = self.exchange.arrived()
            if arrival is not None:
                self.commits.note_arrival(await self.store.add(arrival.tasks), arrival.got)

        await self.commits.between(lambda: 1.0, lambda: 0, take_in)
        await self.commits.commit(lambda: 1.0, lambda: 0, checkpoint)
        await self.courier.call(1.0, Standing(0))

    def frames(self) -> list[Frame]:
        return [frame for frame, _ in log.frames(self.directory / "log")]


def test_links_reach_the_frontier_of_their_shard_and_both_logs_say_so(tmp_path: Path) -> None:
    async def run() -> None:
        bus = Bus()
        async with Shard(tmp_path / "0", 0, bus) as one, Shard(tmp_path / "1", 1, bus) as other:
            for _ in range(3):
                await one.commit()
                await other.commit()
            entry = page(1, HOSTS[1], "a", "b")
            one.commits.note(entry, False)
            for _ in range(2):
                await one.commit()
                await other.commit()
            sending = next(frame for frame in one.frames() if frame.entries)
            assert (sending.receivers, sending.entries[0].sent) == ((1,), entry.sent)
            taking = next(frame for frame in other.frames() if frame.seeds)
            assert [(task.url, task.via, task.depth) for task in taking.seeds] == [
                (task.url, task.via, task.depth) for task in entry.sent
            ]
            assert taking.got == {0: Watermark(1000, sending.number)}
            assert (await other.store.counts()).seen == 2
            assert one.store.position().exchanged.tails == {1: sending.number}

    asyncio.run(run())


def test_a_shard_that_starts_again_continues_from_its_log_with_and_without_a_checkpoint(tmp_path: Path) -> None:
    async def run(checkpoint: bool) -> None:
        directory = tmp_path / str(checkpoint)
        bus = Bus()
        async with Shard(directory, 0, bus) as one:
            one.commits.note(page(1, HOSTS[1], "a"), False)
            one.commits.note_arrival([], {1: Watermark(7, 3)})
            await one.commit(checkpoint)
            before = one.store.position().exchanged
        async with Shard(directory, 0, bus) as again:
            assert again.store.position().exchanged == before
            assert again.exchange.begins == 1001
            await again.commit()
            lived = again.store.position().exchanged.incarnations
            assert [begun.incarnation for begun in lived] == [1000, 1001]

    for checkpoint in (False, True):
        asyncio.run(run(checkpoint))


def test_a_crawl_without_shards_writes_nothing_of_them(tmp_path: Path) -> None:
    async def run() -> None:
        alone = Shard(tmp_path / "0", 0, Bus())
        alone.alone = True
        async with alone as one:
            one.commits.note(ok(1, "a", "b"), False)
            await one.commits.commit(lambda: 1.0, lambda: 0)
            (frame,) = one.frames()
            assert (frame.incarnation, frame.receivers, frame.got) == (0, (), {})
            assert one.store.position().exchanged == Exchanged()

    asyncio.run(run())


class Lease:
    """A permit that can be withdrawn."""

    def __init__(self) -> None:
        self.holds = True
        self.taken: Exception | None = None

    async def hold(self) -> None:
        while not self.holds:
            if self.taken is not None:
                raise self.taken
            await asyncio.sleep(0)

    def may_commit(self) -> bool:
        return self.holds


def test_nothing_is_committed_without_a_lease_and_nothing_is_lost_when_it_is_back(tmp_path: Path) -> None:
    async def run() -> None:
        lease = Lease()
        async with Shard(tmp_path / "0", 0, Bus(), permit=lease) as one:
            await one.commit()
            before = one.frames()
            lease.holds = False
            one.commits.note(ok(1, "a", "b"), False)
            waiting = asyncio.create_task(one.commits.commit(lambda: 1.0, lambda: 0))
            await asyncio.sleep(0.05)
            assert not waiting.done() and one.frames() == before
            lease.holds = True
            await waiting
            assert len(one.frames()) == len(before) + 1 and one.frames()[-1].entries

    asyncio.run(run())


def test_a_shard_that_another_process_has_is_not_committed_to(tmp_path: Path) -> None:
    async def run() -> None:
        lease = Lease()
        async with Shard(tmp_path / "0", 0, Bus(), permit=lease) as one:
            await one.commit()
            before = one.frames()
            one.commits.note(ok(1, "a", "b"), False)
            lease.holds, lease.taken = False, ValueError("taken")
            with pytest.raises(ValueError, match="taken"):
                await one.commits.commit(lambda: 1.0, lambda: 0)
            assert one.frames() == before

    asyncio.run(run())
