"""The exchange of a shard, call by call."""

import asyncio

import pytest

from tests.logs import url
from tests.shards.bus import Bus
from tests.shards.simulation import Cluster, Process, Web
from windrow import sharding
from windrow.records import Exchanged, Frame, Task, Watermark
from windrow.shards import exchange, messages, outbound
from windrow.shards.messages import Batch, Standing
from windrow.shards.transport import Outgoing


def two_shards(seed: int = 3, pages: int = 30) -> tuple[Cluster, Bus]:
    bus = Bus()
    return Cluster(Web(seed, pages), bus, count=2), bus


def commit(process: Process) -> None:
    process.cut()
    process.write()


async def introduce(cluster: Cluster) -> None:
    """Let all shards commit their incarnation and accept those of the others."""
    for _ in range(4):
        for shard, process in enumerate(cluster.processes):
            process.take()
            commit(process)
            await cluster.call(shard)


def send(cluster: Cluster, bus: Bus) -> Process:
    """Let the first shard crawl until a link of it waits for the second; return the second."""
    asyncio.run(introduce(cluster))
    sender, receiver = cluster.processes
    while not bus.inboxes.get(1):
        sender.fetch()
        commit(sender)
        asyncio.run(cluster.call(0))
    return receiver


def finish(cluster: Cluster) -> int:
    rounds = asyncio.run(cluster.run_to_end())
    cluster.check_result()
    return rounds


def test_a_crawl_without_faults_ends_soon() -> None:
    cluster, _ = two_shards()
    assert finish(cluster) < 30


def test_nothing_is_said_before_the_log_has_the_incarnation() -> None:
    cluster, bus = two_shards()
    asyncio.run(cluster.call(0))
    assert not bus.standing and not bus.hellos
    commit(cluster.processes[0])
    asyncio.run(cluster.call(0))
    assert bus.standing[0].incarnation == 1000 and (0, 1) in bus.hellos


def test_the_inbox_of_a_receiver_that_never_came_stays_empty() -> None:
    cluster, bus = two_shards()
    process = cluster.processes[0]
    for _ in range(30):
        process.fetch()
        commit(process)
        asyncio.run(cluster.call(0))
    assert not bus.inboxes.get(1)


def test_messages_leave_the_inbox_only_after_their_links_are_durable() -> None:
    cluster, bus = two_shards()
    receiver = send(cluster, bus)
    asyncio.run(cluster.call(1))
    receiver.take()
    receiver.cut()
    asyncio.run(cluster.call(1))
    assert bus.inboxes[1], "its links are admitted, but not durable"
    receiver.write()
    asyncio.run(cluster.call(1))
    assert not bus.inboxes[1]


def test_a_call_that_is_carried_out_late_does_not_say_idle_of_a_shard_at_work() -> None:
    """The registers would be a mixture of two moments, and the end could be seen too early."""
    cluster, bus = two_shards()
    asyncio.run(introduce(cluster))
    process = cluster.processes[0]
    bus.fail = "late"
    asyncio.run(process.courier.call(1.0, Standing(0, idle=True)))
    asyncio.run(process.courier.call(2.0, Standing(0, idle=False)))
    bus.catch_up()
    assert not bus.standing[0].idle


def test_a_process_that_was_replaced_cannot_announce_and_learns_of_it() -> None:
    cluster, bus = two_shards()
    asyncio.run(introduce(cluster))
    cluster.clock += 500
    cluster.replace(0)
    commit(cluster.processes[0])
    asyncio.run(cluster.call(0))
    zombie = cluster.zombies[0]
    asyncio.run(zombie.courier.call(5.0, Standing(0, idle=True)))
    assert bus.standing[0].incarnation == cluster.processes[0].exchange.incarnation == 1500
    assert zombie.exchange.superseded == 1500


def test_a_shard_that_lost_its_directory_and_whose_clock_is_behind_takes_a_higher_incarnation() -> None:
    cluster, bus = two_shards()
    asyncio.run(introduce(cluster))
    bus.flush()
    cluster.clock = 5
    cluster.crash(0, lose=True)
    assert cluster.processes[0].exchange.incarnation == 5
    finish(cluster)
    assert cluster.processes[0].exchange.incarnation > 1000


def test_a_new_incarnation_is_higher_than_all_before_it_even_if_the_clock_went_back() -> None:
    cluster, _ = two_shards()
    commit(cluster.processes[0])
    cluster.clock = 7
    cluster.crash(0)
    assert cluster.processes[0].exchange.incarnation > 1000


def test_a_shard_that_lost_its_directory_does_not_take_an_incarnation_that_the_lost_one_may_have_had() -> None:
    found = exchange.ShardExchange(0, 2, Exchanged(), 7, jump=lambda: 4711)
    found.superseded = 1304  # another shard remembers this one; the lost directory may have had 1305 as well
    found.begin(7)
    assert found.incarnation == 1304 + 4711
    found.superseded = 2**40
    found.begin(2**41)
    assert found.incarnation == 2**41, "the clock is ahead of everything that is known"


def test_damaged_and_foreign_messages_are_counted_and_change_nothing() -> None:
    cluster, bus = two_shards()
    asyncio.run(introduce(cluster))
    foreign = Task(next(url("x", f"d{n}.org") for n in range(99) if sharding.shard_of(f"d{n}.org", 2) == 0))
    for data in (
        b"",
        b"\xc1 no message",
        messages.encode({"a": 1}),
        messages.encode(Batch(0, 1000, 0, 2, b"not zstd")),
        messages.encode(Batch(0, 1000, 0, 2, messages.pack([foreign]))),
        messages.encode(Batch(7, 1000, 1, 2, b"")),  # of no shard; ignored
    ):
        bus.deliver(1, data)
    asyncio.run(cluster.call(1))
    assert cluster.processes[1].exchange.damaged == 5
    assert cluster.processes[1].exchange.arrived() is None
    finish(cluster)


def test_the_window_bounds_what_is_under_way_and_all_links_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "WINDOW", 120)
    cluster, bus = two_shards(pages=80)
    asyncio.run(introduce(cluster))
    process = cluster.processes[0]
    for _ in range(60):
        process.fetch()
        commit(process)
        asyncio.run(cluster.call(0))
        assert sum(len(messages.batch(data).links) for _, data in bus.inboxes.get(1, [])) < 120 + 200
    finish(cluster)


def test_the_inbox_is_not_read_while_too_many_links_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MOST_PENDING", 1)
    cluster, _ = two_shards()
    process = cluster.processes[1]
    assert process.exchange.outgoing(0.0, process.standing()).most
    finish(cluster)


def test_links_from_the_log_are_dropped_if_the_receiver_asked_for_others_meanwhile() -> None:
    cluster, _ = two_shards()
    asyncio.run(introduce(cluster))
    machine = cluster.processes[0].exchange
    links = tuple(cluster.web.urls[page] for page in range(30))
    foreign = tuple(Task(link) for link in links if sharding.shard_of(link.domain, 2) == 1)
    machine.committed(Frame(number=5, time=0.0, entries=(), lengths={}, receivers=(), got={}))
    wanted = exchange.Unsent(receiver=1, after=99, until=100, room=1)
    machine.resend(wanted, [outbound.Packet(100, messages.pack(foreign))])
    assert outgoing(machine).batches == ()


def outgoing(machine: exchange.ShardExchange) -> Outgoing:
    return machine.outgoing(0.0, Standing(0))


def test_registers_are_said_again_after_a_while_because_a_replica_may_have_lost_them() -> None:
    cluster, _ = two_shards()
    asyncio.run(introduce(cluster))
    machine = cluster.processes[0].exchange
    now = cluster.now
    assert machine.outgoing(now + 0.1, Standing(0)).hellos == {}
    assert set(machine.outgoing(now + exchange.REFRESH, Standing(0)).hellos) == {1}


def test_an_arrival_names_the_watermarks_that_its_frame_must_have() -> None:
    cluster, _ = two_shards()
    asyncio.run(introduce(cluster))
    got = [frame.got for frame in cluster.disks[1] if frame.got]
    assert got[0] == {0: Watermark(1000, 0)}, "the hello of a new sender is durable before it sends"


def test_a_shard_with_arrivals_that_are_not_durable_does_not_say_that_it_is_idle() -> None:
    cluster, bus = two_shards()
    receiver = send(cluster, bus)
    idle = Standing(0, idle=True)
    asyncio.run(receiver.courier.call(1.0, idle))
    for step in (receiver.take, receiver.cut):
        asyncio.run(receiver.courier.call(1.0, idle))
        assert not bus.standing[1].idle
        step()
    receiver.write()
    asyncio.run(receiver.courier.call(1.0, idle))
    assert bus.standing[1].idle


def test_after_a_loss_the_inbox_is_read_from_its_beginning_because_later_messages_may_have_lower_names() -> None:
    cluster, bus = two_shards()
    asyncio.run(introduce(cluster))
    receiver = cluster.processes[1]
    bus.deliver(1, b"junk")
    asyncio.run(cluster.call(1))
    assert outgoing(receiver.exchange).after
    bus.flush()
    asyncio.run(cluster.call(1))
    bus.deliver(1, b"junk")
    asyncio.run(cluster.call(1))
    assert receiver.exchange.damaged == 2


def test_batches_that_were_refused_are_published_with_the_next_call() -> None:
    cluster, bus = two_shards()
    asyncio.run(introduce(cluster))
    sender = cluster.processes[0]
    bus.full = True
    while not outgoing(sender.exchange).batches:
        sender.fetch()
        commit(sender)
    asyncio.run(cluster.call(0))
    assert not bus.inboxes.get(1)
    bus.full = False
    asyncio.run(cluster.call(0))
    assert len(bus.inboxes[1]) == 1 and not outgoing(sender.exchange).batches


def test_an_inbox_that_was_deleted_and_gives_lower_names_is_read_from_its_beginning_after_asks_in_vain() -> None:
    cluster, bus = two_shards(pages=60)
    asyncio.run(introduce(cluster))
    for shard in range(2):
        bus.deliver(shard, b"junk")
        asyncio.run(cluster.call(shard))
    assert all(outgoing(process.exchange).after for process in cluster.processes)
    bus.inboxes.clear()
    bus.count = 0  # nobody is notified: the epoch is the same
    finish(cluster)


@pytest.mark.parametrize("count", [2, 32, 1024, 4096])
def test_a_call_reads_a_batch_of_every_other_shard(count: int) -> None:
    one = exchange.ShardExchange(0, count, Exchanged(), 1000)
    assert one.outgoing(0.0, Standing(0)).most >= count - 1
