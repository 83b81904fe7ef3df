"""A reader of a hash that changes fetches what has changed, and knows all of it, whatever was lost."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from tests.redisserver import Server, each_redis
from windrow.nodes.redis import changes
from windrow.nodes.redis.changes import ChangingHash
from windrow.nodes.redis.client import RedisClient

pytestmark = each_redis
KEY = "windrow:{test}:things"


class Counted(RedisClient):
    """A connection that counts the fields that it was sent."""

    fields = 0

    async def call(self, name: str, *rest: object) -> object:  # type: ignore[override]
        answer = await super().call(name, *rest)  # type: ignore[arg-type]
        if name == "changes":
            self.fields += len(answer[4]) // 2
        return answer


def reader(client: RedisClient) -> ChangingHash[str, int]:
    return ChangingHash(client, KEY, lambda name, data: (name.decode(), int(data)) if data.isdigit() else None)


def run(server: Server, act: Callable[[Counted, Counted], Awaitable[None]]) -> None:
    async def main() -> None:
        clients = Counted(server.url), Counted(server.url)
        try:
            await act(*clients)
        finally:
            for client in clients:
                await client.close()

    asyncio.run(main())


def test_a_field_is_read_once_for_each_time_that_it_changes(server: Server) -> None:
    async def act(writer: Counted, client: Counted) -> None:
        found = reader(client)
        await changes.write(writer, KEY, *[word for number in range(100) for word in (f"f{number}", number)])
        assert await found.look() == {f"f{number}": number for number in range(100)}
        assert client.fields == 100
        await changes.write(writer, KEY, "f1", 1, "f2", 22, "new", 5)
        assert await found.look() == await reader(writer).look()
        assert found.entries["f2"] == 22 and client.fields == 102, "f1 is as it was"
        await changes.write(writer, KEY, "f3", "")
        assert "f3" not in await found.look() and client.fields == 103
        for _ in range(5):
            await found.look()
        assert client.fields == 103

    run(server, act)


@pytest.mark.parametrize("loss", ["flush", "restart", "old copy", "hash", "changes"])
def test_a_loss_is_noticed(server: Server, loss: str) -> None:
    async def act(writer: Counted, client: Counted) -> None:
        found = reader(client)
        await changes.write(writer, KEY, "a", 1, "b", 2)
        await found.look()
        server.command("SAVE")
        await changes.write(writer, KEY, "a", 3)
        await found.look()
        if loss in ("flush", "hash", "changes"):
            server.command(*{"flush": ["FLUSHALL"], "hash": ["DEL", KEY], "changes": ["DEL", f"{KEY}-changes"]}[loss])
        else:
            if loss == "restart":
                server.command("FLUSHALL")
                server.command("SAVE")
            server.restart()
            await writer.close()
            await client.close()
        await found.look()
        await changes.write(writer, KEY, "c", 4)
        await found.look()
        assert await found.look() == await reader(writer).look()
        expected = {"old copy": {"a": 1, "b": 2, "c": 4}, "changes": {"a": 3, "b": 2, "c": 4}}
        assert found.entries == expected.get(loss, {"c": 4})

    run(server, act)


def test_what_no_windrow_wrote_is_left_out_and_read_without_a_note(server: Server) -> None:
    async def act(writer: Counted, client: Counted) -> None:
        found = reader(client)
        await writer.run(("HSET", KEY, "a", "1", "odd", "junk"))
        assert await found.look() == {"a": 1}
        await changes.write(writer, KEY, "b", 2)
        assert await found.look() == {"a": 1, "b": 2}
        await writer.run(("HSET", KEY, "c", "3"))
        await found.look()
        assert await found.look() == {"a": 1, "b": 2, "c": 3}, "the length shows it"

    run(server, act)


def test_readers_that_look_now_and_then_know_what_one_knows_that_reads_all(server: Server) -> None:
    chance = random.Random(3)

    async def act(writer: Counted, client: Counted) -> None:
        readers = [reader(client) for _ in range(4)]
        for step in range(300):
            words = [word for _ in range(3) for word in (f"f{chance.randrange(20)}", chance.choice(["", 1, 2, 3]))]
            await changes.write(writer, KEY, *words)
            if chance.random() < 0.02:
                server.command("FLUSHALL")
            one = chance.choice(readers)
            assert await one.look() == await reader(writer).look(), f"at step {step}"

    run(server, act)
