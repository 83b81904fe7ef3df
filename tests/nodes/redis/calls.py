"""Calls to a Redis server from tests that have no event loop: each with a connection of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.redisserver import Server
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.registry import Registry


def with_client(server: Server, act: Callable[[RedisClient], Awaitable[Any]]) -> Any:
    async def within() -> Any:
        client = RedisClient(server.url)
        try:
            return await act(client)
        finally:
            await client.close()

    return asyncio.run(within())


def with_registry(server: Server, act: Callable[[Registry], Awaitable[Any]]) -> Any:
    return with_client(server, lambda client: act(Registry(client)))
