"""Jobs, orders, homes and nodes in Redis: all of it may vanish, and nodes put back what they know."""

import contextlib
import random
import time

import msgspec
import pytest

from tests.nodes.redis.calls import with_client
from tests.nodes.redis.calls import with_registry as run
from tests.redisserver import Server, needs_redis
from windrow.config import ConfigError
from windrow.nodes.redis import job
from windrow.nodes.redis.leases import ShardLeases
from windrow.nodes.redis.order import ClusterOrder
from windrow.nodes.redis.registry import EVENTS, JobSpec, NodeRecord, Registry
from windrow.nodes.redis.state import JobState

pytestmark = needs_redis
RECORD = job.make("news", 4, "digest", 1.5)
SPEC = JobSpec("[identity]\n", "http://a.example/\n")
NODE = NodeRecord("one", "host", pid=7, version="1", home="h", slots=2, most=2, running={"news": [0, 3]}, started=5.0)


def create(server: Server) -> None:
    run(server, lambda registry: registry.create(RECORD, SPEC))


def test_a_job_is_created_once_and_read_as_it_was_written(server: Server) -> None:
    before = run(server, lambda registry: registry.now())
    create(server)
    found = run(server, lambda registry: registry.job("news"))
    state = found[2]
    assert found == (RECORD, SPEC, JobState("run", state.version)) and 0 <= state.version / 1000 - before + 0.001 < 60
    assert run(server, lambda registry: registry.jobs()) == {"news": state}
    other = job.make("news", 8, "digest", 2.5)
    with pytest.raises(ConfigError, match=r"there is a job 'news' at .* already"):
        run(server, lambda registry: registry.create(other, JobSpec("x", "y")))
    assert run(server, lambda registry: registry.job("news")) == found


def test_a_job_that_no_node_runs_is_not_listed_for_them(server: Server) -> None:
    run(server, lambda registry: job.put_back(registry.client, RECORD))
    assert run(server, lambda registry: registry.jobs()) == {}
    with pytest.raises(ConfigError, match="windrow crawl --shards runs it"):
        run(server, lambda registry: registry.job("news"))


def test_what_was_lost_is_put_back_with_the_latest_state_whatever_the_order_of_the_nodes(server: Server) -> None:
    create(server)
    old = run(server, lambda registry: registry.change("news", "pause"))
    new = run(server, lambda registry: registry.change("news", "stop"))
    assert 1 < old.version < new.version
    first = run(server, lambda registry: registry.order("news", "add", "http://b.example/"))
    second = run(server, lambda registry: registry.order("news", "add", "http://c.example/"))
    server.command("FLUSHALL")

    async def restore(registry: Registry) -> list[JobState]:
        states = [await registry.put_back(RECORD, SPEC, new, [second])]
        states.append(await registry.put_back(RECORD, SPEC, old, [first]))
        return states

    assert run(server, restore) == [new, new]
    assert run(server, lambda registry: registry.job("news")) == (RECORD, SPEC, new)
    assert run(server, lambda registry: registry.orders("news")) == [first, second]


def test_a_change_after_a_loss_is_later_than_every_copy_that_a_node_puts_back(server: Server) -> None:
    create(server)
    before = run(server, lambda registry: registry.change("news", "pause"))
    server.command("FLUSHALL")
    run(server, lambda registry: registry.put_back(RECORD, SPEC, JobState("run", 1)))
    after = run(server, lambda registry: registry.change("news", "stop"))
    assert run(server, lambda registry: registry.put_back(RECORD, SPEC, before)) == after


def test_no_order_is_given_until_all_nodes_had_time_to_put_theirs_back(server: Server) -> None:
    create(server)
    run(server, lambda registry: registry.put_back(RECORD, SPEC, JobState("run", 1)))
    known = run(server, lambda registry: registry.order("news", "add", "http://b.example/"))
    server.command("FLUSHALL")
    run(server, lambda registry: registry.put_back(RECORD, SPEC, JobState("run", 1)))
    with pytest.raises(ConfigError, match="emptied a moment ago"):
        run(server, lambda registry: registry.order("news", "add", "http://c.example/"))
    assert 0 < int(server.command("PTTL", "windrow:{news}:order-hush")[1:]) <= 10_000
    run(server, lambda registry: registry.put_back(RECORD, SPEC, JobState("run", 1), [known]))
    server.command("DEL", "windrow:{news}:order-hush")
    later = run(server, lambda registry: registry.order("news", "add", "http://c.example/"))
    assert run(server, lambda registry: registry.orders("news", known.number)) == [later]


def test_limits_are_a_part_of_the_state_and_come_back_with_it(server: Server) -> None:
    run(server, lambda registry: registry.create(RECORD, SPEC, {"tokens": 10**7, "seconds": 2.5}))
    made = run(server, lambda registry: registry.jobs())["news"]
    assert made.limits == {"tokens": 10**7, "seconds": 2.5} and made.limit == ""
    changed = run(server, lambda registry: registry.limit("news", {"seconds": 0, "pages": 3}))
    assert (changed.wanted, changed.limits) == ("run", {"tokens": 10**7, "pages": 3})
    server.command("FLUSHALL")
    assert run(server, lambda registry: registry.put_back(RECORD, SPEC, changed)) == changed
    assert run(server, lambda registry: registry.put_back(RECORD, SPEC, made)) == changed, "the later one holds"
    assert run(server, lambda registry: registry.jobs())["news"] == changed


def test_a_limit_that_was_reached_stops_the_job_unless_its_state_has_changed(server: Server) -> None:
    run(server, lambda registry: registry.create(RECORD, SPEC, {"tokens": 5, "pages": 9}))
    made = run(server, lambda registry: registry.jobs())["news"]
    later = run(server, lambda registry: registry.limit("news", {"tokens": 50}))
    assert run(server, lambda registry: registry.reached("news", "tokens", made.version)) is None
    assert run(server, lambda registry: registry.jobs())["news"] == later
    stopped = run(server, lambda registry: registry.reached("news", "tokens", later.version))
    assert (stopped.wanted, stopped.limit, stopped.limits) == ("stop", "tokens", {"tokens": 50, "pages": 9})
    assert run(server, lambda registry: registry.reached("news", "tokens", stopped.version)) is None, "it is stopped"
    other = run(server, lambda registry: registry.limit("news", {"pages": 10}))
    assert (other.wanted, other.limit) == ("stop", "tokens"), "another limit than the one that was reached"
    again = run(server, lambda registry: registry.limit("news", {"tokens": 0}))
    assert (again.wanted, again.limit, again.limits) == ("run", "", {"pages": 10})
    run(server, lambda registry: registry.change("news", "stop"))
    assert run(server, lambda registry: registry.limit("news", {"pages": 99})).wanted == "stop", (
        "an operator stopped it"
    )


def test_the_time_of_a_job_counts_while_it_is_not_stopped(server: Server) -> None:
    create(server)

    def began(seconds: int) -> None:
        """Let the present state be older."""
        state = run(server, lambda registry: registry.jobs())["news"]
        server.command("HSET", "windrow:{news}:state", "version", str(state.version - 1000 * seconds))

    def counted() -> float:
        state = run(server, lambda registry: registry.jobs())["news"]
        return float(state.seconds(run(server, lambda registry: registry.now())))

    began(100)
    assert 100 <= counted() < 130
    run(server, lambda registry: registry.change("news", "pause"))
    began(50)
    assert 150 <= counted() < 180, "a pause counts, as it does for one crawl"
    run(server, lambda registry: registry.change("news", "stop"))
    began(5000)
    assert 150 <= counted() < 180, "a stop does not"
    run(server, lambda registry: registry.change("news", "run"))
    assert 150 <= counted() < 200


def test_the_job_of_another_crawl_under_the_same_name_is_not_touched(server: Server) -> None:
    create(server)
    found = run(server, lambda registry: registry.job("news"))
    other = msgspec.structs.replace(RECORD, id="other")
    with pytest.raises(ConfigError, match="is another crawl"):
        run(server, lambda registry: registry.put_back(other, JobSpec("x", "y"), JobState("stop", 9**15), [order(1)]))
    assert run(server, lambda registry: registry.job("news")) == found
    assert run(server, lambda registry: registry.orders("news")) == []


def order(number: int) -> ClusterOrder:
    return ClusterOrder(number, "add", "http://a.example/")


def test_orders_have_rising_numbers_even_if_one_was_given_by_a_clock_that_is_ahead(server: Server) -> None:
    ahead = order(9 * 10**12)
    run(server, lambda registry: registry.put_back(RECORD, SPEC, JobState("run", 9 * 10**12), [ahead]))
    server.command("DEL", "windrow:{news}:order-hush")
    assert run(server, lambda registry: registry.order("news", "add", "x")).number == ahead.number + 1
    assert run(server, lambda registry: registry.change("news", "stop")).version == 9 * 10**12 + 1


def test_steering_a_job_that_does_not_exist_is_refused_and_writes_nothing(server: Server) -> None:
    for act in (lambda one: one.change("x", "stop"), lambda one: one.order("x", "add", "y")):
        with pytest.raises(ConfigError, match=r"there is no job 'x' at .*; the jobs there are: none"):
            run(server, act)
    assert server.command("DBSIZE") == b":0\r\n"


def test_shards_say_which_orders_they_have_carried_out_and_where_they_are(server: Server) -> None:
    async def act(registry: Registry) -> None:
        await registry.carried_out("news", 3, 7)
        await registry.carried_out("news", 3, 9)
        await registry.carried_out("news", 0, 7)
        await registry.settle("news", 1, "later", 200)
        await registry.settle("news", 1, "earlier", 100)  # put back by a node that had the shard before
        await registry.settle("news", 2, "old")
        await registry.settle("news", 2, "moved")

    run(server, act)
    assert run(server, lambda registry: registry.done("news")) == {3: 9, 0: 7}
    assert run(server, lambda registry: registry.homes("news")) == {1: "later", 2: "moved"}


def last_beat(server: Server, seconds: float) -> None:
    """Let the last sign of life of the node be that old."""
    now = run(server, lambda registry: registry.now())
    server.command("ZADD", "windrow:beats", str(int(1000 * (now - seconds))), "one")


def test_a_node_is_alive_for_ten_seconds_after_its_sign_of_life(server: Server) -> None:
    assert run(server, lambda registry: registry.beat(NODE)) is False
    (found,) = run(server, lambda registry: registry.nodes())
    assert msgspec.structs.replace(found, drift=0.0, seen=0.0) == NODE
    assert abs(found.drift) < 60 and found.seen > 1.7e9
    assert run(server, lambda registry: registry.silent()) == {}
    last_beat(server, 9.0)
    assert [node.name for node in run(server, lambda registry: registry.nodes())] == ["one"]
    last_beat(server, 10.1)
    (seconds,) = run(server, lambda registry: registry.silent()).values()
    assert 10.1 <= seconds < 60
    assert run(server, lambda registry: registry.nodes()) == []
    assert [node.name for node in run(server, lambda registry: registry.nodes(gone=True))] == ["one"]
    run(server, lambda registry: registry.leave("one"))
    assert run(server, lambda registry: registry.nodes(gone=True)) == []


def test_a_node_that_vanished_a_day_ago_is_not_listed_any_more(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    run(server, lambda registry: registry.beat(NODE))
    last_beat(server, 10.1)
    monkeypatch.setattr("windrow.nodes.redis.registry.REMEMBERED", -1.0)
    assert run(server, lambda registry: registry.nodes(gone=True)) == []
    assert server.command("HLEN", "windrow:nodes") == b":0\r\n"


def test_the_difference_of_the_clocks_is_in_the_record_of_a_node(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady = time.time
    monkeypatch.setattr("windrow.nodes.redis.registry.time.time", lambda: steady() + 3600.0)
    run(server, lambda registry: registry.beat(NODE))
    monkeypatch.undo()
    (found,) = run(server, lambda registry: registry.nodes())
    assert 3590 < found.drift < 3610 and abs(found.seen - steady()) < 60


def test_a_node_learns_that_it_shall_drain_and_that_it_may_work_again(server: Server) -> None:
    run(server, lambda registry: registry.beat(NODE))
    run(server, lambda registry: registry.drain("one"))
    assert run(server, lambda registry: registry.beat(NODE)) is True
    run(server, lambda registry: registry.leave("one"))
    assert run(server, lambda registry: registry.beat(NODE)) is True, "it starts again and is still drained"
    run(server, lambda registry: registry.drain("one", on=False))
    assert run(server, lambda registry: registry.beat(NODE)) is False


def test_a_drain_survives_the_loss_of_redis_and_an_end_of_the_node_is_none(server: Server) -> None:
    async def act(registry: Registry) -> list[bool]:
        leaving = msgspec.structs.replace(NODE, draining=True)
        answers = [await registry.beat(leaving)]
        await registry.client.run(("FLUSHALL",))
        answers.append(await registry.beat(leaving))
        await registry.drain("one")
        answers.append(await registry.beat(NODE))
        await registry.client.run(("FLUSHALL",))
        answers.append(await registry.beat(NODE))
        await registry.drain("one", on=False)
        return [*answers, await registry.beat(NODE)]

    assert run(server, act) == [False, False, True, True, False]


def test_an_unknown_node_is_named_with_those_that_there_are(server: Server) -> None:
    run(server, lambda registry: registry.beat(NODE))
    with pytest.raises(ConfigError, match=r"no node 'two' at .*; the nodes there are: one"):
        run(server, lambda registry: registry.drain("two"))


def test_events_are_read_from_the_latest_and_onwards(server: Server) -> None:
    async def act(registry: Registry) -> None:
        for number in range(5):
            await registry.event("news", {"what": "started", "shard": number})
        latest = await registry.events("news", count=2)
        assert [event["shard"] for _, event in latest] == [3, 4]
        assert await registry.events("news", latest[-1][0]) == []
        await registry.event("news", {"what": "ended"})
        assert [event["what"] for _, event in await registry.events("news", latest[-1][0])] == ["ended"]

    run(server, act)


def test_the_log_of_events_is_capped(server: Server) -> None:
    async def act(registry: Registry) -> None:
        await registry.client.run(*[("XADD", "windrow:{news}:events", "*", "event", "{}")] * (EVENTS + 500))
        await registry.event("news", {"n": 1})

    run(server, act)
    assert int(server.command("XLEN", "windrow:{news}:events")[1:]) < EVENTS + 200


def test_forgetting_a_job_removes_its_keys_only_and_nodes_do_not_put_it_back(server: Server) -> None:
    other = job.make("news2", 1, "", 1.0)
    create(server)
    run(server, lambda registry: registry.create(other, SPEC))
    run(server, lambda registry: registry.event("news", {"what": "started"}))
    run(server, lambda registry: registry.beat(NODE))
    assert run(server, lambda registry: registry.forget("news")) == 5
    assert run(server, lambda registry: registry.jobs()).keys() == {"news2"}
    assert run(server, lambda registry: registry.put_back(RECORD, SPEC, JobState("run", 5))) == JobState("forget", 6)
    assert server.command("EXISTS", "windrow:{news}:job") == b":0\r\n"
    assert [node.name for node in run(server, lambda registry: registry.nodes())] == ["one"]
    again = job.make("news", 4, "digest", 2.0)
    run(server, lambda registry: registry.create(again, SPEC))
    assert run(server, lambda registry: registry.job("news"))[0] == again


def test_a_node_of_another_version_whose_record_cannot_be_read_is_left_out(server: Server) -> None:
    run(server, lambda registry: registry.beat(NODE))
    server.command("HSET", "windrow:nodes", "odd", "{}")
    server.command("ZADD", "windrow:beats", "9999999999999", "odd")
    assert [node.name for node in run(server, lambda registry: registry.nodes())] == ["one"]


class Copy:
    """What one node keeps of the job in its files, with one shard, which remembers the last order it carried out."""

    def __init__(self) -> None:
        self.state = JobState("run", 1)
        self.orders: dict[int, ClusterOrder] = {}
        self.carried_out: list[int] = []

    async def round(self, registry: Registry) -> None:
        """Put back, learn, carry out; as a node does within seconds."""
        self.state = await registry.put_back(RECORD, SPEC, self.state, self.orders.values())
        self.orders |= {order.number: order for order in await registry.orders("news")}
        last = max(self.carried_out, default=0)
        self.carried_out += [number for number in sorted(self.orders) if number > last]


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_lost_every_node_carries_out_each_known_order_once_and_the_latest_state_holds(
    server: Server, seed: int
) -> None:
    chance = random.Random(seed)
    known: set[int] = set()  # orders that a node has seen
    latest = JobState("run", 1)

    async def act(registry: Registry) -> JobState:
        nonlocal latest
        await registry.create(RECORD, SPEC)
        nodes = [Copy() for _ in range(4)]
        for _ in range(60):
            match chance.randrange(4):
                case 0:
                    await registry.client.run(("FLUSHALL",))
                    back = chance.sample(nodes, len(nodes))
                    for early in range(chance.randrange(1, len(nodes) + 1)):
                        await back[early].round(registry)
                        with contextlib.suppress(ConfigError):  # refused: another node may know more
                            await registry.order("news", "add", "too early")
                    for node in back:  # the hush is longer than that
                        await node.round(registry)
                    await registry.client.run(("DEL", "windrow:{news}:order-hush"))
                case 1:
                    order = await registry.order("news", "add", "http://a.example/")
                    known.add(order.number)
                    await chance.choice(nodes).round(registry)
                case 2:
                    latest = await registry.change("news", chance.choice(["run", "pause", "stop"]))
                    await chance.choice(nodes).round(registry)
                case _:
                    await chance.choice(nodes).round(registry)
        for node in nodes:
            await node.round(registry)
            assert set(node.carried_out) >= known, "no order is skipped"
            assert sorted(set(node.carried_out)) == node.carried_out, "in their order, each once"
            assert node.state == latest
        return (await registry.job("news"))[2]

    assert run(server, act) == latest


def test_values_of_another_program_are_left_out_and_do_not_end_a_node(server: Server) -> None:
    create(server)
    order = run(server, lambda registry: registry.order("news", "add", "http://b.example/"))
    run(server, lambda registry: registry.carried_out("news", 1, order.number))
    run(server, lambda registry: registry.settle("news", 1, "h1", 5))
    for key in ("orders", "orders-done", "homes", "fences"):
        for field, value in (("x", "1"), (str(order.number + 1), "{"), ("2", "junk"), ("3", "\xff")):
            server.command("HSET", f"windrow:{{news}}:{key}", field, value)
    server.command("XADD", "windrow:{news}:events", "*", "event", "{")
    assert run(server, lambda registry: registry.orders("news")) == [order]
    assert run(server, lambda registry: registry.done("news")) == {1: order.number}
    assert run(server, lambda registry: registry.homes("news")) == {1: "h1"}
    assert [event for _, event in run(server, lambda registry: registry.events("news"))] == [{"event": "{"}]
    leases = with_client(server, lambda client: ShardLeases(client, "news", "one").latest([1, 2, 3]))
    assert leases == {1: 0, 2: 0, 3: 0}
    assert run(server, lambda registry: registry.order("news", "add", "http://c.example/")).number > order.number + 1


@pytest.mark.parametrize(
    ("field", "value"), [("version", "junk"), ("version", ""), ("limit:pages", "junk"), ("ran", "x"), ("wanted", "")]
)
def test_a_damaged_state_of_a_job_is_replaced_by_the_copy_of_a_node(field: str, value: str, server: Server) -> None:
    run(server, lambda registry: registry.create(RECORD, SPEC, {"pages": 3}))
    state = run(server, lambda registry: registry.jobs())["news"]
    server.command("HSET", "windrow:{news}:state", field, value)
    assert run(server, lambda registry: registry.jobs()) == {}
    with pytest.raises(ConfigError, match="'news'"):
        run(server, lambda registry: registry.job("news"))
    assert run(server, lambda registry: registry.put_back(RECORD, SPEC, state)) == state
    assert run(server, lambda registry: registry.jobs()) == {"news": state}


def test_a_limit_of_a_job_that_is_gone_stops_nothing(server: Server) -> None:
    run(server, lambda registry: registry.create(RECORD, SPEC, {"pages": 3}))
    version = run(server, lambda registry: registry.jobs())["news"].version
    server.command("FLUSHALL")
    assert run(server, lambda registry: registry.reached("news", "pages", version)) is None
    with pytest.raises(ConfigError, match="there is no job 'news'"):
        run(server, lambda registry: registry.change("news", "stop"))
