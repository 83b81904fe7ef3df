"""A shard has one holder; leases of the dead expire, and those of the living survive the loss of Redis."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.redisserver import Server, needs_redis, serve
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.leases import MARGIN, SECONDS, ShardLeases
from windrow.shards.transport import Unavailable

pytestmark = needs_redis
WALL = 1_800_000_000.0


class Nodes:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.now = 0.0
        self.wall = WALL
        self.runner = asyncio.Runner()
        self.clients: list[RedisClient] = []

    def node(self, name: str) -> ShardLeases:
        client = RedisClient(self.server.url)
        self.clients.append(client)
        return ShardLeases(client, "test", name, lambda: self.now, lambda: self.wall)

    def take(self, node: ShardLeases, *shards: int) -> list[int]:
        return self.runner.run(node.take(shards))

    def hush_is_over(self) -> None:
        self.server.command("DEL", "windrow:{test}:lease-hush")

    def expire(self, shard: int) -> None:
        self.server.command("DEL", f"windrow:{{test}}:lease:{shard}")


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    with serve() as server:
        made = Nodes(server)
        made.take(made.node("first"), 99)
        made.hush_is_over()
        yield made
        for client in made.clients:
            made.runner.run(client.close())
        made.runner.close()


def test_a_shard_has_one_holder(nodes: Nodes) -> None:
    one, two = nodes.node("one"), nodes.node("two")
    assert nodes.take(one, 0, 1) == [0, 1]
    assert nodes.take(two, 1, 2) == [2]
    assert one.holds(0) and not two.holds(1)
    nodes.runner.run(one.give([1]))
    assert nodes.take(two, 1) == [1] and not one.holds(1)


def test_a_lease_is_relied_on_only_until_shortly_before_its_end(nodes: Nodes) -> None:
    one = nodes.node("one")
    nodes.take(one, 0)
    nodes.now += SECONDS - MARGIN - 0.1
    assert one.holds(0)
    assert nodes.runner.run(one.renew()) == []
    nodes.now += SECONDS - MARGIN - 0.1
    assert one.holds(0)
    nodes.now += 0.1
    assert not one.holds(0)


def test_the_server_lets_a_lease_expire(nodes: Nodes) -> None:
    nodes.take(nodes.node("one"), 0)
    left = nodes.server.command("PTTL", "windrow:{test}:lease:0")
    assert 0 < int(left[1:]) <= 1000 * SECONDS


def test_fencing_numbers_rise_even_if_the_clock_goes_back_and_the_holder_learns_that_it_was_replaced(
    nodes: Nodes,
) -> None:
    one, two = nodes.node("one"), nodes.node("two")
    nodes.take(one, 0)
    nodes.expire(0)
    nodes.wall -= 3600.0
    assert nodes.take(two, 0) == [0]
    assert one.held[0].fence == WALL * 1000 and two.held[0].fence == WALL * 1000 + 1
    assert nodes.runner.run(one.renew()) == [0] and not one.holds(0)
    assert nodes.runner.run(two.renew()) == []


def test_a_node_that_starts_again_under_its_name_gets_its_leases_at_once_with_a_higher_number(nodes: Nodes) -> None:
    before, after = nodes.node("one"), nodes.node("one")
    nodes.take(before, 0)
    assert nodes.take(after, 0) == [0] and after.held[0].fence > before.held[0].fence
    assert nodes.runner.run(before.renew()) == [0]


def test_after_a_loss_holders_put_theirs_back_and_nobody_takes_meanwhile(nodes: Nodes) -> None:
    one, two = nodes.node("one"), nodes.node("two")
    nodes.take(one, 0)
    nodes.server.command("FLUSHALL")
    assert nodes.take(two, 0, 1) == []
    assert nodes.runner.run(one.renew()) == []
    nodes.hush_is_over()
    assert nodes.take(two, 0, 1) == [1]


def test_an_old_copy_of_the_data_does_not_bring_an_old_holder_back(nodes: Nodes) -> None:
    one, two = nodes.node("one"), nodes.node("two")
    nodes.take(one, 0)
    nodes.server.command("SAVE")
    nodes.expire(0)
    nodes.take(two, 0)
    nodes.server.restart()
    for node in (one, two):
        with pytest.raises(Unavailable):
            nodes.runner.run(node.renew())
    assert nodes.runner.run(two.renew()) == []
    assert nodes.runner.run(one.renew()) == [0]


def test_giving_what_was_lost_does_not_take_it_from_the_new_holder(nodes: Nodes) -> None:
    one, two = nodes.node("one"), nodes.node("two")
    nodes.take(one, 0)
    nodes.expire(0)
    nodes.take(two, 0)
    nodes.runner.run(one.give([0]))
    assert nodes.runner.run(two.renew()) == []


def test_a_holder_that_was_stopped_while_others_came_and_left_does_not_get_its_lease_back(nodes: Nodes) -> None:
    one, two = nodes.node("one"), nodes.node("two")
    nodes.take(one, 0)
    nodes.expire(0)
    nodes.take(two, 0)
    nodes.runner.run(two.give([0]))
    assert nodes.runner.run(one.renew()) == [0] and not one.holds(0)
    assert nodes.take(one, 0) == [0]


def test_a_new_fencing_number_is_above_the_one_that_the_directory_knows(nodes: Nodes) -> None:
    one = nodes.node("one")
    known = int(WALL * 1000) + 5000
    assert nodes.runner.run(one.take([0], {0: known})) == [0]
    assert one.held[0].fence == known + 1


def test_the_process_of_a_shard_relies_on_the_lease_of_its_node_after_the_first_renewal(nodes: Nodes) -> None:
    node, process = nodes.node("one"), nodes.node("one")
    nodes.take(node, 0)
    process.adopt(0, node.held[0].fence)
    assert not process.holds(0)
    assert nodes.runner.run(process.renew()) == [] and process.holds(0)
    assert nodes.runner.run(node.latest([0, 1])) == {0: node.held[0].fence, 1: 0}


def test_a_lease_may_be_given_back_while_a_renewal_learns_that_it_was_lost(nodes: Nodes) -> None:
    """A node renews the lease of a young process; the process has seen that it was replaced, and ends meanwhile."""
    one, two = nodes.node("one"), nodes.node("two")
    nodes.take(one, 0, 1)
    nodes.expire(0)
    assert nodes.take(two, 0) == [0]

    async def both() -> list[int]:
        renewal = asyncio.create_task(one.renew())
        await asyncio.sleep(0)  # its call is sent
        await one.give([0])
        return await renewal

    assert nodes.runner.run(both()) == [0]
    assert list(one.held) == [1] and two.holds(0)


def test_a_lease_that_another_program_has_overwritten_is_put_back_by_its_holder(nodes: Nodes) -> None:
    one, two = nodes.node("one"), nodes.node("two")
    nodes.take(one, 0)
    nodes.server.command("SET", "windrow:{test}:lease:0", "junk")
    nodes.server.command("HSET", "windrow:{test}:fences", "0", "junk")
    assert nodes.runner.run(one.renew()) == []
    assert nodes.take(two, 0) == [] and one.holds(0)
