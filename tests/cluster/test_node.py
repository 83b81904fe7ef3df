"""`windrow node`: nodes that come, leave, die and stop find what one crawl finds, each URL once, politely."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import truth
from tests.cluster.nodes import job_of
from tests.redisserver import Server, needs_redis, serve
from tests.world import World

pytestmark = needs_redis
DELAY, IP_DELAY = 0.03, 0.01
OPTIONS = (f"fetch.delay={DELAY}", f"fetch.ip_delay={IP_DELAY}")


@pytest.fixture
def server() -> Iterator[Server]:
    with serve() as made:
        yield made


def test_two_nodes_on_one_directory_share_the_shards_and_finish_a_job(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=81, pages=80, hosts=8, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 3, *OPTIONS) as nodes,
    ):
        nodes.start("one", "--until-done")
        nodes.start("two", "--until-done")
        assert nodes.wait("one")["why"] == nodes.wait("two")["why"] == "done"
        nodes.assert_whole()
        truth.assert_polite(world, DELAY, IP_DELAY)
        ran = {
            (note["node"], note["shard"]) for name in ("one", "two") for note in nodes.notes(name) if "shard" in note
        }
        assert {shard for _, shard in ran if shard >= 0} == {0, 1, 2}
        assert {name for name, shard in ran if shard >= 0} == {"one", "two"}
        print(nodes.told())
