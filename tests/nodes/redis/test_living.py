"""A node sees who is alive, what each of them says now, and who has vanished."""

import asyncio

from tests.redisserver import Server, needs_redis, serve
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.living import LivingNodes
from windrow.nodes.redis.registry import NodeRecord, Registry

pytestmark = needs_redis


def node(name: str, *shards: int) -> NodeRecord:
    running = {"news": list(shards)}
    return NodeRecord(name=name, host="h", pid=1, version="1.0", home="x", slots=4, most=8, running=running)


def test_a_node_sees_the_others_as_they_are_now() -> None:
    async def main(server: Server) -> None:
        registry, other = Registry(RedisClient(server.url)), Registry(RedisClient(server.url))
        living = LivingNodes(other)

        async def seen() -> dict[str, list[int]]:
            return {one.name: one.running["news"] for one in await living.look()}

        assert await seen() == {}
        await registry.beat(node("b", 1))
        await registry.beat(node("a"))
        assert await seen() == {"a": [], "b": [1]}
        await registry.beat(node("b", 1, 2))
        assert await seen() == {"a": [], "b": [1, 2]}
        server.command("ZINCRBY", "windrow:beats", "-10001", "b")  # as if it had given no sign of life for so long
        assert await seen() == {"a": []}
        await registry.beat(node("b", 1, 2))
        assert await seen() == {"a": [], "b": [1, 2]}
        await registry.leave("a")
        assert await seen() == {"b": [1, 2]}
        server.command("HSET", "windrow:nodes", "odd", "{}")  # another version, whose record cannot be read
        server.command("ZADD", "windrow:beats", "9999999999999", "odd")
        assert await seen() == {"b": [1, 2]}
        server.command("FLUSHALL")
        assert await seen() == {}
        await registry.beat(node("c", 3))
        assert await seen() == {"c": [3]}
        for one in (registry, other):
            await one.client.close()

    with serve() as running:
        asyncio.run(main(running))


def test_a_node_that_vanished_a_day_ago_is_removed() -> None:
    async def main(server: Server) -> None:
        registry = Registry(RedisClient(server.url))
        living = LivingNodes(registry)
        await registry.beat(node("a"))
        await registry.beat(node("b"))
        server.command("ZINCRBY", "windrow:beats", "-86000000", "b")
        await living.look()
        assert {one.name for one in await registry.nodes(gone=True)} == {"a", "b"}
        server.command("ZINCRBY", "windrow:beats", "-500000", "b")
        await living.look()
        assert server.command("HKEYS", "windrow:nodes") == b"*1\r\n$1\r\na\r\n"
        assert [one.name for one in await living.look()] == ["a"]
        await registry.client.close()

    with serve() as running:
        asyncio.run(main(running))


def test_a_record_is_not_written_again_for_a_clock_that_runs_like_before() -> None:
    async def main(server: Server) -> None:
        registry = Registry(RedisClient(server.url))
        for _ in range(5):
            await registry.beat(node("a", 1))
        assert server.command("ZCARD", "windrow:nodes-changes") == b":2\r\n"
        first = server.command("ZSCORE", "windrow:nodes-changes", "a")
        await registry.beat(node("a", 1))
        assert server.command("ZSCORE", "windrow:nodes-changes", "a") == first
        await registry.beat(node("a", 2))
        assert server.command("ZSCORE", "windrow:nodes-changes", "a") != first
        await registry.client.close()

    with serve() as running:
        asyncio.run(main(running))
