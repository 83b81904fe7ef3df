"""The contract of the exchange holds over a real server that is killed, emptied, paused and full."""

import asyncio
import contextlib
import random
import signal
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.cluster.simulation import Cluster, Web
from tests.redisserver import PROGRAMS, Server, needs_redis, serve
from windrow.cluster.messages import Ack, Hello, Standing
from windrow.cluster.redis import client as clients
from windrow.cluster.redis.client import RedisClient
from windrow.cluster.redis.wire import RedisTransport
from windrow.cluster.transport import Outgoing, Unavailable
from windrow.data import Watermark

pytestmark = needs_redis


@pytest.fixture(params=PROGRAMS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with serve(program=request.param) as running:
        yield running


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
            server.command("HSET", "windrow:{test}:hello:0", "1", "junk", "x", "junk")
            server.command("HSET", "windrow:{test}:board", "1", "junk")
            server.command("HSET", "windrow:{test}:owners", "0", "junk")
            answer = await wire.call(said())
            assert answer.hellos == {} and answer.announced
            assert set(await wire.standings()) == {0}

    asyncio.run(run())


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


def storm(server: Server, seed: int, steps: int) -> None:
    """Run a crawl over a server that is killed and emptied, with shards that crash and lose their directory."""
    chance = random.Random(seed)

    async def run() -> None:
        async with transport(server) as wire:
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
        server.command("DEL", f"windrow:{{test}}:{chance.choice(['hello', 'acks', 'in'])}:{shard}")


@pytest.mark.parametrize("seed", range(3))
def test_a_storm_of_faults_over_a_real_server_changes_no_result(server: Server, seed: int) -> None:
    storm(server, seed, 120)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 130))
def test_a_long_storm_of_faults_over_a_real_server_changes_no_result(server: Server, seed: int) -> None:
    storm(server, seed, 500)
