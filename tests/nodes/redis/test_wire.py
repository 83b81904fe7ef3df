"""The contract of the exchange holds over a real server that is killed, emptied, paused and full."""

import asyncio
import contextlib
import random
import signal
from collections.abc import AsyncIterator

import msgspec
import pytest

from tests.logs import url
from tests.redisserver import Server, each_redis
from tests.shards.simulation import Cluster, Web
from windrow.nodes.redis import client as clients
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.wire import RedisTransport
from windrow.records import Failure, Reason, Task, Watermark
from windrow.shards.messages import Ack, Errand, ErrandReply, Hello, Standing
from windrow.shards.transport import Incoming, Outgoing, Unavailable

pytestmark = each_redis


@contextlib.asynccontextmanager
async def transport(server: Server, job: str = "test", shards: int = 3) -> AsyncIterator[RedisTransport]:
    client = RedisClient(server.url)
    try:
        yield RedisTransport(client, job, shards)
    finally:
        await client.close()


def said(number: int = 1, incarnation: int = 7, shard: int = 0, **fields: object) -> Outgoing:
    given: dict[str, object] = {"batches": (), "hellos": {}, "acks": {}, "after": "", "most": 99, "done": "", **fields}
    given.setdefault("standing", Standing(incarnation))
    return Outgoing(shard=shard, incarnation=incarnation, number=number, **given)  # type: ignore[arg-type]


def test_what_is_said_is_what_arrives(server: Server) -> None:
    async def run() -> None:
        async with transport(server) as wire:
            hello, ack = Hello(7, 5, (Watermark(7, 1),)), Ack(7, Watermark(3, 2), 1)
            reply = await wire.call(
                said(batches=((1, b"one"), (2, b"other"), (1, b"two")), hellos={1: hello}, acks={1: ack})
            )
            assert reply.announced and not reply.unpublished and not reply.messages
            there = await wire.call(said(shard=1))
            assert [data for _, data in there.messages] == [b"one", b"two"]
            assert (there.hellos, there.acks) == ({0: hello}, {0: ack})
            assert there.epoch == reply.epoch
            first, second = (name for name, _ in there.messages)
            after = await wire.call(said(2, shard=1, after=first, done=first))
            assert [data for _, data in after.messages] == [b"two"]
            assert (await wire.call(said(3, shard=1, most=0))).messages == (), "too many links wait already"
            again = await wire.call(said(4, shard=1))
            assert [name for name, _ in again.messages] == [second], "what is done is removed, and nothing else"
            survey = await wire.survey()
            assert survey.hellos == {(0, 1): hello} and survey.acks == {(1, 0): ack}
            assert set(survey.standings) == set(await wire.standings()) == {0, 1}

    asyncio.run(run())


def test_an_announcement_is_never_written_over_a_later_one_or_a_later_incarnation(server: Server) -> None:
    async def run() -> None:
        async with transport(server) as wire:
            assert (await wire.call(said(5, standing=Standing(7, idle=False)))).announced
            late = await wire.call(said(4, standing=Standing(7, idle=True)))
            assert (late.announced, late.superseded) == (False, 0)
            assert (await wire.call(said(1, incarnation=1_800_000_000_000))).announced
            zombie = await wire.call(said(99))
            assert (zombie.announced, zombie.superseded) == (False, 1_800_000_000_000)
            assert (await wire.standings())[0].incarnation == 1_800_000_000_000

    asyncio.run(run())


def test_jobs_do_not_see_each_other(server: Server) -> None:
    async def run() -> None:
        async with transport(server, "a") as one, transport(server, "b") as other:
            await one.call(said(batches=((1, b"one"),)))
            assert await other.standings() == {}
            assert (await other.call(said(shard=1))).messages == ()

    asyncio.run(run())


@pytest.mark.parametrize("loss", ["flush", "restart", "old copy"])
def test_every_loss_is_another_epoch(server: Server, loss: str) -> None:
    async def run() -> None:
        async with transport(server) as wire:
            before = await wire.call(said(1))
            assert (await wire.call(said(2))).epoch == before.epoch
            if loss == "flush":
                server.command("FLUSHALL")
            else:
                if loss == "old copy":
                    server.command("SAVE")
                server.restart()
                with contextlib.suppress(Unavailable):
                    await wire.call(said(3))
            after = await wire.call(said(4))
            assert after.epoch != before.epoch
            assert (await wire.call(said(5))).epoch == after.epoch
            assert (await wire.call(said(6))).announced, "the server has lost the script, and gets it again"

    asyncio.run(run())


def test_a_full_server_still_reads_and_trims(server: Server) -> None:
    async def run() -> None:
        async with transport(server) as wire:
            await wire.call(said(batches=((1, b"x" * 1000),)))
            server.command("CONFIG", "SET", "maxmemory", "1")
            reply = await wire.call(said(2, batches=((1, b"a"), (1, b"b"))))
            assert (reply.unpublished, reply.announced) == ((0, 1), False)
            assert "OOM" in wire.trouble or "maxmemory" in wire.trouble
            inbox = await wire.call(said(1, shard=1))
            assert len(inbox.messages) == 1
            inbox = await wire.call(said(2, shard=1, done=inbox.messages[0][0]))
            server.command("CONFIG", "SET", "maxmemory", "0")
            assert (await wire.call(said(3, shard=1))).messages == ()
            assert wire.trouble == ""

    asyncio.run(run())


def test_values_that_are_not_ours_are_left_out(server: Server) -> None:
    async def run() -> None:
        async with transport(server) as wire:
            server.command("SET", "windrow:{test}:hellos:0", "junk")
            server.command("HSET", "windrow:{test}:marks:0", "1", "junk", "x", "junk")
            server.command("HSET", "windrow:{test}:errands:0", "1", "junk", "x", "junk")
            server.command("HSET", "windrow:{test}:lives", "1", "junk", "x", "junk")
            server.command("HSET", "windrow:{test}:board", "1", "junk")
            server.command("HSET", "windrow:{test}:owners", "0", "junk")
            answer = await wire.call(said())
            assert answer.hellos == answer.acks == {} and answer.announced
            assert set(await wire.standings()) == {0}
            hello, ack = Hello(7, 5, (Watermark(7, 1),)), Ack(7, Watermark(3, 2))
            assert (await wire.call(said(shard=1, hellos={0: hello}, acks={0: ack}))).announced
            answer = await wire.call(said(2))
            assert (answer.hellos, answer.acks) == ({1: hello}, {1: ack}), "they are written over"

    asyncio.run(run())


LIVES = (Watermark(7, 1),)
TASK = Task(url("robots.txt"))


def test_errands_and_answers_are_read_with_their_registers_and_only_as_long_as_they_are_said(server: Server) -> None:
    errands = (Errand("one", TASK),)
    told = (ErrandReply("one", failure=Failure(TASK, Reason.TIMEOUT, detail="", time=1.0)),)

    async def run() -> None:
        async with transport(server) as wire, transport(server) as other:
            for number, (asks, tells) in enumerate([((), ()), (errands, told), (errands, ()), ((), told), ((), ())], 1):
                hello, ack = Hello(7, number, LIVES, asks), Ack(7, Watermark(3, number), number, tells)
                await wire.call(said(number, hellos={1: hello}, acks={1: ack}))
                there = await other.call(said(number, shard=1))
                assert (there.hellos, there.acks) == ({0: hello}, {0: ack})
                survey = await other.survey()
                assert survey.hellos == {(0, 1): hello} and survey.acks == {(1, 0): ack}
            assert server.command("EXISTS", "windrow:{test}:errands:1", "windrow:{test}:tells:1") == b":0\r\n"

    asyncio.run(run())


def test_errands_of_an_earlier_process_are_not_taken_for_those_of_the_next(server: Server) -> None:
    async def run() -> None:
        async with transport(server) as wire, transport(server) as after, transport(server) as other:
            await wire.call(said(hellos={1: Hello(7, 5, LIVES, (Errand("one", TASK),))}))
            hello = Hello(8, 5, (*LIVES, Watermark(8, 6)))
            await after.call(said(incarnation=8, hellos={1: hello}))
            assert (await other.call(said(shard=1))).hellos == {0: hello}

    asyncio.run(run())


def test_the_incarnations_of_a_sender_are_read_again_when_it_has_started_again(server: Server) -> None:
    async def run() -> None:
        async with transport(server) as wire:
            for incarnation in (7, 8, 9):
                lives = tuple(Watermark(lived, lived) for lived in range(7, incarnation + 1))
                hello = Hello(incarnation, 5, lives)
                await wire.call(said(incarnation=incarnation, hellos={1: hello}))
                for number in (1, 2):
                    reply = await wire.call(said(10 * incarnation + number, shard=1))
                    assert reply.hellos == {0: hello}
            server.command("HDEL", "windrow:{test}:lives", "0")
            async with transport(server) as other:
                assert (await other.call(said(99, shard=1))).hellos == {}, "until it is said again"

    asyncio.run(run())


def test_shards_with_work_do_not_read_the_standings_of_many_others(server: Server) -> None:
    async def run() -> None:
        async with transport(server) as wire:

            async def board(number: int, shard: int, **fields: bool) -> set[int]:
                standing = Standing(7, idle=fields.get("idle", False), ended=(7, 7, 7) if fields.get("ended") else ())
                reply = await wire.call(
                    said(number, shard=shard, standing=standing, watches=fields.get("watches", False))
                )
                return set(reply.standings)

            assert await board(1, 0) == set()
            assert await board(1, 1) == set()
            assert await board(2, 0, watches=True) == {0, 1}
            assert await board(1, 2, idle=True) == set() == await board(3, 0, idle=True), "shard 1 has work"
            assert await board(2, 1, idle=True) == set()
            assert await board(2, 2, idle=True) == {0, 1, 2}, "all are idle: it may be the end"
            assert await board(4, 0) == {0, 1, 2}
            assert await board(3, 1) == set(), "one has work again"
            assert await board(5, 0, idle=True, ended=True) == set()
            server.command("SREM", "windrow:{test}:resting", "2")
            assert await board(4, 1) == {0, 1, 2}, "one has seen the end"

    asyncio.run(run())


def test_a_survey_is_of_one_moment_or_empty(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.nodes.redis.wire.AT_ONCE", 1)

    async def run() -> None:
        async with transport(server) as wire:
            hello = Hello(7, 5, LIVES)
            for shard in range(3):
                others = {other: hello for other in range(3) if other != shard}
                await wire.call(said(shard=shard, hellos=others, standing=Standing(7, frame=5)))
            assert len((await wire.survey()).hellos) == 6
            read = wire._part

            async def interrupted(part: range) -> object:
                found = await read(part)
                if part.start == 1:  # another process writes, after its column was read
                    later = {other: Hello(7, 6, LIVES) for other in range(3) if other != 1}
                    await wire.call(said(2, shard=1, hellos=later, standing=Standing(7, frame=6)))
                return found

            monkeypatch.setattr(wire, "_part", interrupted)
            found = await wire.survey()
            assert (found.standings, found.hellos, found.acks) == ({}, {}, {})

    asyncio.run(run())


def test_all_registers_of_a_job_need_36_bytes_per_pair_of_shards(server: Server) -> None:
    count = 256

    async def run() -> None:
        async with transport(server, shards=count) as wire:
            for shard in (count - 1, *range(count - 1)):  # the last one fills no gap
                others = [other for other in range(count) if other != shard]
                hellos = dict.fromkeys(others, Hello(7, 10**9, tuple(Watermark(n, n) for n in range(1, 8))))
                acks = dict.fromkeys(others, Ack(7, Watermark(1_800_000_000_000, 10**9), 10**9))
                assert (await wire.call(said(shard=shard, hellos=hellos, acks=acks))).announced
            assert len((await wire.call(said(2))).hellos) == count - 1

    asyncio.run(run())
    for name, size in (("hellos", 12 * count), ("marks", 24 * count)):
        used = int(server.command("MEMORY", "USAGE", f"windrow:{{test}}:{name}:5")[1:])
        assert size <= used < 1.25 * size + 150, "allocators round up"


def test_a_server_that_is_down_or_paused_is_unavailable_and_the_next_call_connects_again(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "ANSWER", 0.2)

    async def run() -> None:
        async with transport(server) as wire:
            await wire.call(said(1))
            server.signal(signal.SIGSTOP)
            with pytest.raises(Unavailable, match="does not answer"):
                await wire.call(said(2))
            server.signal(signal.SIGCONT)
            assert (await wire.call(said(3))).announced
            server.kill()
            for number in (4, 5):
                with pytest.raises(Unavailable, match="does not answer"):
                    await wire.call(said(number))
            server.start()
            assert (await wire.call(said(6))).announced

    asyncio.run(run())


class Unwatched(RedisTransport):
    """That of a node with many shards: they get the standings of all only near the end."""

    async def call(self, outgoing: Outgoing) -> Incoming:
        return await super().call(msgspec.structs.replace(outgoing, watches=False))


def storm(server: Server, seed: int, steps: int) -> None:
    """Run a crawl over a server that is killed and emptied, with shards that crash and lose their directory."""
    chance = random.Random(seed)

    async def run() -> None:
        async with transport(server) as wire:
            if seed % 2:
                wire = Unwatched(wire._client, "test", 3)
            cluster = Cluster(Web(seed, pages=60), wire, count=3)
            for _ in range(steps):
                shard = chance.randrange(cluster.count)
                for step in chance.choices(["take", "fetch", "cut", "write"], k=5):
                    getattr(cluster.processes[shard], step)()
                cluster.now += chance.choice([0.05, 0.3, 2.0])
                await cluster.call(shard)
                await _fault(chance, cluster, server)
                cluster.check()
                with contextlib.suppress(Unavailable):
                    cluster.check_end(await wire.survey())
            await wire_answers(wire)
            await cluster.run_to_end()
            cluster.check_result()

    asyncio.run(run())


async def wire_answers(wire: RedisTransport) -> None:
    for _ in range(3):
        with contextlib.suppress(Unavailable):
            await wire.standings()


async def _fault(chance: random.Random, cluster: Cluster, server: Server) -> None:
    what, shard = chance.random(), chance.randrange(cluster.count)
    if what < 0.02:
        server.restart()
    elif what < 0.04:
        server.command("FLUSHALL")
    elif what < 0.05:
        server.command("SCRIPT", "FLUSH")
    elif what < 0.1:
        cluster.clock += chance.choice([1, 500, -700])
        cluster.crash(shard, chance.random() < 0.2)
    elif what < 0.3:
        server.command("XTRIM", f"windrow:{{test}}:in:{shard}", "MAXLEN", "1")
    elif what < 0.33:
        server.command(
            "DEL",
            "windrow:{test}:lives",
            f"windrow:{{test}}:{chance.choice(['hellos', 'marks', 'errands', 'tells', 'in'])}:{shard}",
        )


@pytest.mark.parametrize("seed", range(4))
def test_a_storm_of_faults_over_a_real_server_changes_no_result(
    server: Server, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windrow.nodes.redis.wire.AT_ONCE", 1 if seed % 2 else 64)
    storm(server, seed, 120)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 130))
def test_a_long_storm_of_faults_over_a_real_server_changes_no_result(
    server: Server, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windrow.nodes.redis.wire.AT_ONCE", 1 if seed % 2 else 64)
    storm(server, seed, 500)
