"""What all commands of `windrow cluster` need: the address of the Redis server, and a connection to it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from windrow.cli.crawl.shards import REDIS, load_nodes
from windrow.config import ConfigError

Job = Annotated[str, typer.Argument(help="The name of the job.", metavar="JOB")]
RedisUrl = Annotated[
    str,
    typer.Option("--redis", help="The Redis or Valkey server of the cluster.", metavar="URL", envvar=REDIS),
]


def within(url: str, act: Callable[[Any], Awaitable[Any]]) -> Any:
    """Run something with the registry of a server; ConfigError if the server cannot be used."""
    clients, registries = load_nodes("redis.client"), load_nodes("redis.registry")
    from windrow.shards.transport import Unavailable

    if not url:
        raise ConfigError(f"say where the Redis server of the cluster is: --redis redis://HOST:6379, or {REDIS}")

    async def main() -> Any:
        client = clients.RedisClient(url)
        try:
            await client.check()
            return await act(registries.Registry(client))
        except Unavailable as error:
            raise ConfigError(f"{error}; run the same command again") from None
        finally:
            await client.close()

    return asyncio.run(main())
