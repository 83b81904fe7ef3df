"""Nodes with the same id of a data directory: one directory, or a copy of it."""

import asyncio
from pathlib import Path

import msgspec
import pytest

import windrow
from tests.redisserver import Server, needs_redis, serve
from windrow.config import ConfigError
from windrow.nodes import copies, sharing
from windrow.nodes.node import ClusterNode, NodeOptions
from windrow.nodes.quota import Capacity
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.registry import NodeRecord, Registry


def node(name: str, home: str) -> NodeRecord:
    return NodeRecord(
        name=name, host=f"host-{name}", pid=7, version=windrow.__version__, home=home, slots=1, most=1, started=5.0
    )


def test_a_node_is_a_stranger_as_long_as_its_sign_is_not_in_the_directory(tmp_path: Path) -> None:
    home = copies.home(tmp_path)
    own, other, elsewhere = node("own", home), node("other", home), node("elsewhere", "another")
    assert sharing.strangers(tmp_path, own, [own, other, elsewhere]) == [other]
    sharing.sign(tmp_path, msgspec.structs.replace(other, started=4.0))  # of its last run, which the copy has too
    assert sharing.strangers(tmp_path, own, [other]) == [other]
    sharing.sign(tmp_path, other)
    assert sharing.strangers(tmp_path, own, [other]) == []
    sharing.remove(tmp_path, other)
    assert sharing.strangers(tmp_path, own, [other]) == [other]
    assert sharing.strangers(tmp_path, own, [msgspec.structs.replace(other, version="0")]) == []


def joined(server: Server, directory: Path, other: NodeRecord) -> None:
    """Let another node be alive, and run one for its first look."""

    async def main() -> None:
        client = RedisClient(server.url)
        await Registry(client).beat(other)
        await client.close()
        made = ClusterNode(NodeOptions(server.url, directory, "new", Capacity(1, 1), lost_after=60.0), print)
        await made.run(lambda places: made.stop())

    asyncio.run(main())


@needs_redis
def test_a_node_with_a_copy_of_the_directory_of_another_takes_no_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "SEEN", 0.0)
    other = node("first", copies.home(tmp_path))
    with serve() as server:
        with pytest.raises(ConfigError, match="of node 'first' on host-first, but is another one"):
            joined(server, tmp_path, other)
        assert not list(tmp_path.glob("*.here"))
        sharing.sign(tmp_path, other)
        joined(server, tmp_path, other)
