"""Links are read again from real log files, and a transport that fails is called again later."""

import asyncio
from pathlib import Path

import pytest

from tests.logs import url
from tests.shards.bus import Bus
from tests.shards.simulation import Cluster, Process, Web
from windrow import log, sharding
from windrow.log.writer import Log
from windrow.records import Entry, Frame, Reason, Report, Task
from windrow.shards import courier, messages, outbound
from windrow.shards.courier import BACKOFF, Courier, LogReader
from windrow.shards.exchange import Unsent
from windrow.shards.messages import Standing

COUNT = 2
FOREIGN = next(f"d{number}.org" for number in range(99) if sharding.shard_of(f"d{number}.org", COUNT) == 1)


def sending(number: int, links: int) -> Frame:
    via = url(f"{number}").text
    report = Report(seq=number, task=Task(url(f"{number}")), reason=Reason.OK, detail="", time=1.0)
    sent = tuple(Task(url(f"{number}/{link}", FOREIGN), depth=1, via=via, hints=b"ab") for link in range(links))
    return Frame(
        number=number, time=1.0, entries=(Entry(report, sent=sent),), lengths={}, receivers=(1,) if links else ()
    )


def read(path: Path, wanted: Unsent) -> list[outbound.Packet]:
    return list(asyncio.run(LogReader(log.Outbox(path), COUNT)(wanted)))


def wrote(path: Path, frames: list[Frame]) -> list[Task]:
    file = Log(path, ("", 0))
    for frame in frames:
        file.append(log.encode(frame))
    file.close()
    return [task for frame in frames for entry in frame.entries for task in entry.sent]


def test_packets_hold_the_links_of_the_log_and_end_with_whole_frames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(courier, "LINKS", 5)
    links = wrote(tmp_path, [sending(number, number % 3) for number in range(1, 12)])
    packets = read(tmp_path, Unsent(receiver=1, after=0, until=11, room=1 << 20))
    assert [task for packet in packets for task in messages.unpack(packet.links)] == links
    assert packets[-1].frame == 11 and all(len(messages.unpack(packet.links)) >= 5 for packet in packets[:-1])


def test_reading_stops_when_the_window_is_full_and_continues_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(courier, "LINKS", 1)
    links = wrote(tmp_path, [sending(number, 2) for number in range(1, 8)])
    found: list[Task] = []
    after, calls = 0, 0
    while after < 7:
        packets = read(tmp_path, Unsent(receiver=1, after=after, until=7, room=100))
        found += [task for packet in packets for task in messages.unpack(packet.links)]
        after, calls = packets[-1].frame, calls + 1
    assert found == links and calls > 2


class Written(Process):
    """A process whose log is files."""

    path: Path

    def write(self) -> None:
        if self.frame is not None:
            position = self.file.append(log.encode(self.frame))
            self.outbox.note(self.frame.number, position)
        super().write()


def test_a_crawl_whose_transport_loses_everything_is_fed_from_the_files_of_its_logs(tmp_path: Path) -> None:
    bus = Bus()
    cluster = Cluster(Web(5, pages=50), bus, COUNT)
    for shard in range(COUNT):
        process = Written(cluster.disks[shard], shard, COUNT, cluster.web, bus, 1000, lambda: 1)
        process.path = tmp_path / str(shard)
        process.file, process.outbox = Log(process.path, ("", 0)), log.Outbox(process.path)
        process.courier = Courier(process.exchange, bus, LogReader(process.outbox, COUNT))
        cluster.processes[shard] = process

    async def run() -> None:
        for _ in range(12):
            for shard, process in enumerate(cluster.processes):
                process.take()
                process.fetch()
                process.cut()
                process.write()
                bus.swallows = 99
                await cluster.call(shard)
        bus.swallows = 0
        await cluster.run_to_end()

    asyncio.run(run())
    cluster.check_result()
    for process in cluster.processes:
        assert isinstance(process, Written)
        process.file.close()


def test_a_transport_that_fails_is_called_less_and_less_often_and_nothing_is_lost() -> None:
    bus = Bus()
    cluster = Cluster(Web(5), bus, COUNT)
    own = cluster.processes[0].courier
    pauses = []
    for _ in range(9):
        bus.fail = "before"
        assert not asyncio.run(own.call(0.0, Standing(0)))
        pauses.append(own.pause)
    assert pauses[0] == BACKOFF[0] and pauses[-1] == BACKOFF[1] and pauses == sorted(pauses)
    assert own.failure == "before"
    assert asyncio.run(own.call(0.0, Standing(0)))
    assert (own.pause, own.failure) == (0.0, "")
    asyncio.run(cluster.run_to_end())
    cluster.check_result()


def test_the_end_is_believed_only_by_those_that_were_part_of_it() -> None:
    bus = Bus()
    cluster = Cluster(Web(5), bus, COUNT)
    asyncio.run(cluster.run_to_end())
    one = cluster.processes[0]
    del bus.standing[0]  # a shard has left, and Redis has lost what it had said
    asyncio.run(one.courier.call(cluster.now, one.standing()))
    assert asyncio.run(one.courier.ended(one.standing())) == one.ended
    cluster.crash(0)
    again = cluster.processes[0]
    again.cut()
    again.write()
    asyncio.run(again.courier.call(cluster.now, again.standing()))
    assert again.standing().idle and not asyncio.run(again.courier.ended(again.standing()))
