"""`windrow node`: nodes that come, leave, die and stop find what one crawl finds, each URL once, politely."""

import os
import random
import shutil
import signal
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests import crashing, truth
from tests.nodes.nodes import JOB, Nodes, job_of
from tests.redisserver import Server, needs_redis
from tests.world import World
from windrow.nodes import copies

pytestmark = needs_redis
DELAY, IP_DELAY = 0.03, 0.01
SLOW = "fetch.delay=1.5"  # until a test has done what it does; then an order lets the job finish
OPTIONS = (f"fetch.delay={DELAY}", f"fetch.ip_delay={IP_DELAY}")


def all_alive(nodes: Nodes, *names: str) -> set[int]:
    """Return the shards that have a process."""
    return {shard for name in names for shard in nodes.shard_processes(name)}


def texts(nodes: Nodes, name: str) -> str:
    return "\n".join(note.get("text", "") for note in nodes.notes(name))


def test_two_nodes_share_the_shards_and_one_finishes_those_of_the_other_that_is_killed(
    tmp_path: Path, server: Server
) -> None:
    with (
        World(seed=80, pages=40, hosts=8, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 2, *OPTIONS, SLOW) as nodes,
    ):
        nodes.start("one")
        nodes.start("two", "--until-done")
        nodes.until(lambda: len(nodes.shard_processes("one")) == len(nodes.shard_processes("two")) == 1)
        nodes.until(lambda: nodes.finished() > 1)
        nodes.kill("one")
        nodes.expire_leases()
        nodes.forget_node("one")
        nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        assert nodes.wait("two")["why"] == "done"
        nodes.assert_whole()
        truth.assert_polite(world, DELAY, IP_DELAY)


@pytest.mark.long
def test_nodes_come_and_leave_and_die_and_the_job_is_finished(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=81, pages=80, hosts=10, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 3, *OPTIONS, SLOW) as nodes,
    ):
        nodes.start("one")
        nodes.until(lambda: all_alive(nodes, "one") == {0, 1, 2} and nodes.finished() > 3)
        nodes.start("two")
        nodes.until(lambda: nodes.shard_processes("two"))  # given back by the first, cleanly
        nodes.until(lambda: all_alive(nodes, "one", "two") == {0, 1, 2})
        nodes.start("three", "--until-done")
        nodes.processes["one"].send_signal(signal.SIGINT)
        assert nodes.wait("one")["why"] == "stopped"
        nodes.until(lambda: all_alive(nodes, "two", "three") == {0, 1, 2} and nodes.shard_processes("three"))
        nodes.kill("two")
        nodes.expire_leases()
        nodes.forget_node("two")
        nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        assert nodes.wait("three")["why"] == "done"
        nodes.assert_whole()
        truth.assert_polite(world, DELAY, IP_DELAY)
        assert set(nodes.ask(lambda registry: registry.homes(JOB)).values()) == {copies.home(nodes.data)}
        assert "killed" not in nodes.told() and nodes.errors("one") == ""


@pytest.mark.long
def test_a_node_that_loses_the_shared_disk_leaves_its_shards_to_another(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=89, pages=40, hosts=8, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 2, *OPTIONS, SLOW) as nodes,
    ):
        nodes.data.mkdir()
        mounted = tmp_path / "mounted"
        mounted.symlink_to(nodes.data)
        nodes.start("one", data=mounted)
        nodes.start("two", "--until-done")
        nodes.until(lambda: len(nodes.shard_processes("one")) == len(nodes.shard_processes("two")) == 1)
        nodes.until(lambda: nodes.finished() > 1)
        mounted.unlink()
        mounted.mkdir()  # as a mount point without its disk
        os.kill(next(iter(nodes.shard_processes("one").values())), signal.SIGKILL)
        nodes.until(lambda: len(nodes.shard_processes("two")) == 2)
        nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        assert nodes.wait("two")["why"] == "done"
        nodes.assert_whole()
        truth.assert_polite(world, DELAY, IP_DELAY)
        assert "is its disk mounted?" in texts(nodes, "one") and "begins again" not in nodes.told()


@pytest.mark.long
def test_a_shard_whose_data_directory_is_gone_for_good_is_fed_again(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=82, pages=80, hosts=8, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 2, *OPTIONS, SLOW) as nodes,
    ):
        here, there = tmp_path / "here", tmp_path / "there"
        nodes.start("lost", "--slots", "1", data=there)
        nodes.start("kept", "--slots", "2", "--lost-after", "1", "--until-done", data=here)
        nodes.until(lambda: nodes.finished(here) > 2 and nodes.finished(there) > 2)
        assert len(nodes.directories(here)) == len(nodes.directories(there)) == 1
        nodes.kill("lost")
        nodes.expire_leases()
        nodes.forget_node("lost")
        nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        assert nodes.wait("kept")["why"] == "done"
        nodes.assert_whole(here)
        assert "it begins again here" in texts(nodes, "kept")
        nodes.start("lost", "--until-done", data=there)  # it comes back too late
        assert nodes.wait("lost")["why"] == "done"
        assert not nodes.directories(there) and len(list((there / JOB / "aside").iterdir())) == 1
        nodes.assert_whole(here)


def test_orders_and_pauses_reach_every_shard_once_and_survive_an_empty_redis(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=83, pages=60, hosts=8, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 2, *OPTIONS, SLOW) as nodes,
    ):
        nodes.start("one", "--until-done")
        nodes.until(lambda: nodes.finished() > 3)
        nodes.ask(lambda registry: registry.change(JOB, "pause"))
        nodes.until(lambda: paused(nodes))
        sent = len(world.requests())
        added = "\n".join(sorted(world.expected.must_have)[:20])
        nodes.ask(lambda registry: registry.order(JOB, "add", added))
        last = nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        nodes.until(
            lambda: len(copies.read(nodes.data)[JOB].orders) == 2
        )  # an order that no node has seen would be lost
        server.command("FLUSHALL")
        nodes.until(lambda: server.command("EXISTS", nodes.key("job")) == b":1\r\n")
        nodes.hush_is_over()
        nodes.until(lambda: nodes.ask(lambda registry: registry.done(JOB)) == {0: last.number, 1: last.number})
        assert len(world.requests()) == sent, "a paused job sends nothing"
        _, spec, state = nodes.ask(lambda registry: registry.job(JOB))
        assert state.wanted == "pause" and spec.seeds == (tmp_path / "made" / "seeds.txt").read_text()
        nodes.ask(lambda registry: registry.change(JOB, "run"))
        assert nodes.wait("one")["why"] == "done"
        nodes.assert_whole()
        truth.assert_polite(world, DELAY, IP_DELAY)
        for place in nodes.directories():
            given = Counter(order["verb"] for head, *_ in truth.frames(place) for order in head.get("orders", ()))
            assert given["set"] == 1 and given["add"] <= 1 and given["pause"] == given["resume"] == 1


@pytest.mark.long
def test_a_blocked_domain_gets_no_request_until_it_is_unblocked_also_after_the_end(
    tmp_path: Path, server: Server
) -> None:
    with (
        World(seed=86, pages=60, hosts=8, domains=True, kinds=()) as world,
        job_of(tmp_path, server, world, 2, *OPTIONS, SLOW) as nodes,
    ):
        nodes.start("one", "--until-done")
        nodes.until(lambda: nodes.finished() > 3)
        nodes.ask(lambda registry: registry.change(JOB, "pause"))
        nodes.until(lambda: paused(nodes))
        known = {urlsplit(url).hostname for url in nodes.archived()}
        left = [urlsplit(url).hostname for url in world.expected.must_have - nodes.archived().keys()]
        ((host, _),) = Counter(one for one in left if one in known).most_common(1)
        sent = requests_of(world, host)
        nodes.ask(lambda registry: registry.order(JOB, "block", host))
        nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        nodes.ask(lambda registry: registry.change(JOB, "run"))
        assert nodes.wait("one")["why"] == "done"
        assert requests_of(world, host) == sent
        nodes.ask(lambda registry: registry.order(JOB, "unblock", host))
        nodes.start("two", "--until-done")
        assert nodes.wait("two")["why"] == "done"
        assert requests_of(world, host) > sent, "its URLs that waited at the block wait again"
        lost = world.expected.must_have - nodes.archived().keys()
        assert {urlsplit(url).hostname for url in lost} <= {host}, "links to a blocked name are refused, not kept"
        assert set(nodes.archived().values()) == {1}
        truth.assert_polite(world, DELAY, IP_DELAY)


def requests_of(world: World, host: str | None) -> int:
    return sum(request.host == host for request in world.requests())


def paused(nodes: Nodes) -> bool:
    """Return whether all shards have carried out a pause, and every request has its answer in the log."""
    heads = [truth.frames(place)[-1][0] for place in nodes.directories()]
    verbs = [
        [order["verb"] for head, *_ in truth.frames(place) for order in head.get("orders", ())]
        for place in nodes.directories()
    ]
    return all("pause" in given for given in verbs) and not any(head.get("in_flight", 0) for head in heads)


@pytest.mark.long
def test_a_stopped_process_is_replaced_and_sends_nothing_when_it_wakes(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=84, pages=60, hosts=8, domains=True, kinds=()) as world,
        job_of(tmp_path, server, world, 2, *OPTIONS, SLOW) as nodes,
    ):
        nodes.start("one")
        nodes.until(lambda: nodes.finished() > 3)
        hung = [*nodes.shard_processes("one").values(), nodes.processes["one"].pid]  # as a machine that hangs
        for pid in hung:
            os.kill(pid, signal.SIGSTOP)
        nodes.expire_leases()
        nodes.forget_node("one")
        nodes.start("two", "--until-done", "--slots", "2")
        nodes.until(lambda: "is being crawled by process" in texts(nodes, "two"))  # the lock holds on one machine
        nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        for pid in hung:
            os.kill(pid, signal.SIGCONT)
        nodes.until(lambda: "has lost its lease" in texts(nodes, "one"))
        nodes.processes["one"].send_signal(signal.SIGINT)
        nodes.wait("one")
        assert nodes.wait("two")["why"] == "done"
        nodes.assert_whole()
        truth.assert_polite(world, DELAY, IP_DELAY)


def test_what_cannot_work_is_refused_in_one_sentence(tmp_path: Path, server: Server) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "crawl.toml").write_text("")
    base = ["node", "--redis", server.url, "--dir", str(tmp_path / "data")]
    for arguments, sentence in (
        ([*base, "--name", "a:b"], "is no name of a node"),
        ([*base, "--dir", str(tmp_path / "file")], "cannot be used for shards (it is a file)"),
        ([*base, "--redis", "redis://127.0.0.1:1"], "no Redis answers"),
        ([*base, "--slots", "-1"], "give 1 or more"),
        (base[:3], "say where the shards are kept"),
        (["node"], "say where the Redis server"),
        (["shard", str(tmp_path), "--redis", server.url, "--lease", "x"], "write NODE:NUMBER"),
    ):
        refused = crashing.run(arguments, crashing.Plan(directory=str(tmp_path)))
        assert refused.code == 2 and refused.err.startswith("windrow: "), refused.err
        assert sentence in refused.err and refused.err.count("\n") == 1


@pytest.mark.long
def test_a_name_that_a_living_node_has_is_refused(tmp_path: Path, server: Server) -> None:
    with World(seed=85, pages=5, hosts=2, kinds=()) as world, job_of(tmp_path, server, world, 1) as nodes:
        first = nodes.start("busy")
        nodes.until(lambda: nodes.ask(lambda registry: registry.nodes()))
        assert nodes.start("busy").wait(60) == 2
        assert "there is a node 'busy' already" in nodes.errors("busy")
        nodes.processes["busy"] = first


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300, 306))
def test_nodes_shards_and_redis_are_killed_stopped_and_emptied(seed: int, tmp_path: Path, server: Server) -> None:
    draw = random.Random(seed)
    with (
        World(seed=seed, pages=500, hosts=14, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 4, *OPTIONS, *truth.TEXT) as nodes,
    ):
        names = ["one", "two", "three"]
        for name in names:
            nodes.start(name)
        nodes.until(lambda: nodes.finished() > 5)  # a job that no node has read yet would be lost with Redis
        for _ in range(12):
            time.sleep(draw.uniform(1.0, 6.0))
            name = draw.choice(names)
            fault = draw.choice(("node", "shard", "stop", "redis", "flush", "leave"))
            if fault == "node":
                nodes.kill(name)
                nodes.start(name)
            elif fault == "leave":
                nodes.until(lambda name=name: nodes.has_joined(name))  # type: ignore[misc]
                nodes.processes[name].send_signal(signal.SIGINT)
                nodes.wait(name)
                nodes.start(name)
            elif fault == "redis":
                server.restart()
            elif fault == "flush":
                server.command("FLUSHALL")
            elif pids := list(nodes.shard_processes(name).values()):
                pid = draw.choice(pids)
                os.kill(pid, signal.SIGKILL if fault == "shard" else signal.SIGSTOP)
                if fault == "stop":
                    time.sleep(draw.uniform(1.0, 14.0))
                    if Path(f"/proc/{pid}").exists():
                        os.kill(pid, signal.SIGCONT)
        nodes.start("last", "--until-done")
        assert nodes.wait("last", 400)["why"] == "done"
        nodes.assert_whole()
        truth.assert_polite(world, DELAY, IP_DELAY)
        for place in nodes.directories():
            truth.assert_corpus(place)
        shutil.rmtree(tmp_path / "data")
