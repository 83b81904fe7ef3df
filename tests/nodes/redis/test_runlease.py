"""One `windrow crawl` at a time runs a job, also if its directory was copied."""

import os
from pathlib import Path

import msgspec
import pytest

from tests.nodes.redis.calls import with_client as run
from tests.redisserver import Server, needs_redis
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.runlease import RunHolder, RunLease

pytestmark = needs_redis


def left(server: Server, **changes: object) -> None:
    """Leave the lease of a process of this machine, or of another one."""
    holder = msgspec.structs.replace(RunHolder("1", os.uname().nodename, os.getpid(), "/crawl"), **changes)
    server.command("SET", "windrow:{news}:run", msgspec.json.encode(holder).decode(), "PX", "60000")


def test_a_job_has_one_holder_until_it_gives_the_job_up(server: Server, tmp_path: Path) -> None:
    async def main(client: RedisClient) -> None:
        one, two = RunLease(client, "news", tmp_path / "a"), RunLease(client, "news", tmp_path / "b")
        assert await one.take() is None and await one.take() is None
        holder = await two.take()
        assert holder is not None and holder.directory == str(tmp_path / "a") and holder.pid == os.getpid()
        await two.give()
        assert await two.take() == holder, "it gives up only what it has"
        await one.give()
        assert await two.take() is None and await one.take() is not None

    run(server, main)


def test_a_lease_is_renewed_expires_and_is_put_back(server: Server, tmp_path: Path) -> None:
    async def main(client: RedisClient) -> None:
        lease = RunLease(client, "news", tmp_path)
        await lease.take()
        server.command("PEXPIRE", "windrow:{news}:run", "500")
        await lease.take()
        assert int(server.command("PTTL", "windrow:{news}:run")[1:]) > 5000
        server.command("FLUSHALL")
        assert await lease.take() is None
        assert server.command("EXISTS", "windrow:{news}:run") == b":1\r\n"

    run(server, main)


@pytest.mark.parametrize(
    ("changes", "taken"), [({}, False), ({"pid": 1 << 30}, True), ({"pid": 1 << 30, "host": "another"}, False)]
)
def test_the_lease_of_a_process_that_was_killed_here_is_taken_at_once(
    changes: dict[str, object], taken: bool, server: Server, tmp_path: Path
) -> None:
    left(server, **changes)
    holder = run(server, lambda client: RunLease(client, "news", tmp_path).take())
    assert (holder is None) is taken


def test_what_another_program_left_is_no_take(server: Server, tmp_path: Path) -> None:
    server.command("SET", "windrow:{news}:run", "nonsense")
    assert run(server, lambda client: RunLease(client, "news", tmp_path).take()) is None
    assert int(server.command("PTTL", "windrow:{news}:run")[1:]) > 0
