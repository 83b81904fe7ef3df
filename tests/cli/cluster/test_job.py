"""`windrow cluster`: jobs are created, seen and steered through Redis. Nodes are calls of the registry here."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests import crashing, truth
from tests.nodes.redis.calls import with_registry as run
from tests.redisserver import Server, needs_redis
from tests.world import World
from windrow import cli, sharding, urls
from windrow.config import ConfigError
from windrow.nodes import events
from windrow.nodes.answers import Answerer
from windrow.nodes.redis.leases import ShardLeases
from windrow.nodes.redis.registry import NodeRecord, Registry
from windrow.nodes.redis.state import JobState
from windrow.records import LimitCounts, Reason
from windrow.shards import messages
from windrow.shards.messages import Standing

pytestmark = needs_redis
TOML = '[identity]\ncontact = "https://example.org/bot"\n\n[scope]\ntlds = ["example"]\n'


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A directory with crawl.toml and seeds.txt."""
    (tmp_path / "crawl.toml").write_text(TOML)
    (tmp_path / "seeds.txt").write_text("http://a.example/\nhttp://b.example/  # a comment\nhttp://c.test/\n")
    return tmp_path


def windrow(server: Server, *words: str) -> crashing.Result:
    """Run a command in this process: a new one would import Redis's library each time."""
    done = CliRunner().invoke(cli.app, ["cluster", *words, "--redis", server.url])
    if isinstance(done.exception, ConfigError):
        return crashing.Result(2, done.stdout, f"{done.stderr}windrow: {done.exception}\n", [])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return crashing.Result(done.exit_code, done.stdout, done.stderr, [])


def create(server: Server, crawl: Path, *words: str) -> crashing.Result:
    done = windrow(server, "create", "news", "--config", str(crawl), "--shards", "4", *words)
    assert done.code == 0, done.err
    return done


def node(name: str, running: dict[str, list[int]], **fields: Any) -> NodeRecord:
    known: dict[str, Any] = {"host": "h", "pid": 1, "version": "9.9", "home": f"home-{name}", "slots": 2, "most": 2}
    return NodeRecord(**{"name": name, "running": running, **known, **fields})


def announce(server: Server, standings: dict[int, Standing], *nodes: NodeRecord) -> None:
    async def act(registry: Registry) -> None:
        for record in nodes:
            await registry.beat(record)
        for shard, standing in standings.items():
            await registry.client.run(("HSET", "windrow:{news}:board", shard, messages.encode(standing)))

    run(server, act)


def status(server: Server) -> Any:
    return windrow(server, "status", "news", "--json").json


def test_a_job_is_created_with_checked_options_and_its_seeds(server: Server, crawl: Path) -> None:
    done = create(server, crawl, "--set", "fetch.delay=3")
    assert "news: created with 3 seeds and 4 shards" in done.out
    assert "1 of 3 seeds is refused by [scope]: http://c.test/" in done.err
    record, spec, state = run(server, lambda registry: registry.job("news"))
    assert (record.shards, state) == (4, JobState("run", state.version))
    assert spec.seeds == "http://a.example/\nhttp://b.example/\nhttp://c.test/\n"
    assert 'tlds = ["example"]' in spec.options and "delay = 3.0" in spec.options and "seeds" not in spec.options


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["create", "n/a", "--config", "crawl.toml"], "'n/a' is no name of a job"),
        (["create", "x", "--config", "crawl.toml", "--shards", "0"], "0 shards cannot be used"),
        (["create", "x", "--config", "no.toml"], "there is no "),
        (["create", "x", "--config", "/"], "there is no /crawl.toml; 'windrow init' writes one"),
        (["create", "x", "--config", "crawl.toml", "--seeds", "no.txt"], "there is no seed list"),
        (["create", "x", "--config", "crawl.toml", "--seeds", "empty.txt"], "holds no URL"),
        (["create", "x", "--config", "crawl.toml", "--seeds", "out.txt"], "every seed in"),
        (["create", "x", "--config", "crawl.toml", "--set", "identity.contact="], "no contact is set and the seed"),
        (["create", "x", "--config", "crawl.toml", "--max-tokens", "many"], "--max-tokens 'many' is not a number"),
        (["create", "x", "--config", "crawl.toml", "--set", "crawl.max_pages=5Q"], "crawl.max_pages '5Q' is not a"),
        (["set", "x", "crawl.max_tokens=5"], "there is no job 'x'"),
        (["set", "x", "crawl.max_tokens=-5M"], "crawl.max_tokens '-5M' is not a number"),
        (["create", "x", "--config", "crawl.toml", "--set", "fetch.dely=5"], "did you mean 'fetch.delay'"),
        (["create", "x", "--config", "crawl.toml", "--set", "focus.model=m.arpa"], "relative to crawl.toml"),
        (["create", "x", "--config", "own.toml"], "relative to crawl.toml"),
        (["create", "x", "--config", "crawl.toml", "--set", "focus.model=/no/m.arpa"], "/no/m.arpa"),
        (["status", "x"], "the jobs there are: none; make one with: windrow cluster create"),
        (["pause", "x"], "there is no job 'x'"),
        (["resume", "x"], "there is no job 'x'"),
        (["stop", "x"], "there is no job 'x'"),
        (["add", "x", "http://a.example/"], "there is no job 'x'"),
        (["set", "x", "fetch.delay=3"], "there is no job 'x'"),
        (["block", "x", "a.example"], "there is no job 'x'"),
        (["block", "x", "http://a.example/"], "'http://a.example/'"),
        (["retry", "x", "--reason", "timout"], "did you mean 'timeout'"),
        (["retry", "x", "--reason", "ok"], "is not requested again"),
        (["set", "x", "crawl.node=3"], "cannot change while a crawl runs"),
        (["why", "x", "http://a.example/"], "there is no job 'x'"),
        (["why", "x", "nonsense"], "is not an http or https URL"),
        (["logs", "x"], "there is no job 'x'"),
        (["forget", "x", "--yes"], "there is no job 'x'"),
        (["drain", "x"], "there is no node 'x'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence_and_nothing_is_written(
    server: Server, crawl: Path, words: list[str], sentence: str
) -> None:
    (crawl / "empty.txt").write_text("# nothing\n")
    (crawl / "out.txt").write_text("http://c.test/\n")
    (crawl / "mine.py").write_text("def judge(capture): ...\n")
    (crawl / "own.toml").write_text(TOML + '[extract]\nextractor = "mine:judge"\n')
    done = windrow(server, *[str(crawl / word) if word.endswith((".toml", ".txt")) else word for word in words])
    assert done.code == 2 and sentence in done.err, done.err
    assert done.err.startswith("windrow: ") and done.err.count("\n") == 1 and done.out == ""
    assert server.command("DBSIZE") == b":0\r\n"


def test_a_job_has_limits_which_are_shown_and_changed(server: Server, crawl: Path) -> None:
    done = create(server, crawl, "--max-tokens", "10M", "--set", "crawl.max_documents=3K", "--max-seconds", "7200")
    assert "4 shards, until 3,000 documents or 10,000,000 tokens or 2 h 0 min; nodes take" in done.out
    announce(
        server,
        {0: Standing(1, made=LimitCounts(9, documents=7, tokens=700)), 1: Standing(1, made=LimitCounts(1, tokens=300))},
    )
    found = status(server)
    assert found["limits"] == {"documents": 3000, "tokens": 10**7, "seconds": 7200.0} and found["limit"] == ""
    assert (found["pages"], found["tokens"]) == (10, 1000) and 0 <= found["seconds"] < 600
    shown = windrow(server, "status", "news").out
    assert "Limits of all shards together" in shown and "1,000  of 10,000,000 tokens" in shown
    changed = windrow(server, "set", "news", "crawl.max_tokens=20M", "crawl.max_seconds=0")
    assert "news: running; limits of all shards together: 3,000 documents, 20,000,000 tokens" in changed.out
    assert windrow(server, "set", "news", "crawl.max_documents=", "crawl.max_tokens=", "--json").json["order"] is None
    assert status(server)["limits"] == {"documents": 3000, "tokens": 10**7}, "those of crawl.toml and create"
    both = windrow(server, "set", "news", "crawl.max_pages=5", "fetch.delay=7", "--wait", "0")
    assert "10,000,000 tokens, 5 pages" in both.out and "news: fetch.delay=7; 0 shards" in both.out
    (order,) = run(server, lambda registry: registry.orders("news"))
    assert order.content == "fetch.delay=7\n", "limits are no orders"


def test_a_limit_that_was_reached_is_shown_and_raised(server: Server, crawl: Path) -> None:
    create(server, crawl, "--max-tokens", "1000")
    state = run(server, lambda registry: registry.jobs())["news"]
    run(server, lambda registry: registry.reached("news", "tokens", state.version))
    found = status(server)
    assert (found["state"], found["limit"]) == ("limit", "tokens")
    assert found["each"][0]["why"] == "the job has reached its limit of 1,000 tokens"
    assert "limit reached" in windrow(server, "jobs").out
    refused = windrow(server, "resume", "news")
    assert refused.code == 2 and "windrow cluster set news crawl.max_tokens=2000" in refused.err
    announce(server, {0: Standing(1, made=LimitCounts(tokens=4000)), 1: Standing(1, made=LimitCounts(tokens=500))})
    assert "windrow cluster set news crawl.max_tokens=9000" in windrow(server, "resume", "news").err
    assert "news: running; limits" in windrow(server, "set", "news", "crawl.max_tokens=2000").out
    assert status(server)["state"] == "waiting"


def test_finished_urls_are_counted_by_reason_over_all_shards(server: Server, crawl: Path) -> None:
    create(server, crawl)
    board = {
        0: Standing(1, finished=12, reasons=messages.by_position({Reason.OK: 9, Reason.ROBOTS: 3, Reason.TLS: 0})),
        1: Standing(1, finished=5, reasons={**messages.by_position({Reason.ROBOTS: 1}), 250: 4}),
    }
    announce(server, board)
    assert status(server)["reasons"] == {"ok": 9, "robots": 4, "reason 250": 4}
    shown = windrow(server, "status", "news").out
    assert "Finished URLs, by reason" in shown and "robots" in shown and "24 %" in shown


def test_a_file_with_an_absolute_path_is_taken_and_named_for_every_node(server: Server, crawl: Path) -> None:
    (crawl / "stop.txt").write_text("a\nb\n")
    done = create(server, crawl, "--set", f"paragraphs.stoplist={crawl}/stop.txt")
    assert f"every node must have these files, under the same paths: {crawl}/stop.txt" in done.err


def test_a_name_is_taken_only_once(server: Server, crawl: Path) -> None:
    create(server, crawl)
    before = run(server, lambda registry: registry.job("news"))
    again = windrow(server, "create", "news", "--config", str(crawl / "crawl.toml"))
    assert again.code == 2 and "there is a job 'news'" in again.err
    assert run(server, lambda registry: registry.job("news")) == before


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "say where the Redis server of the cluster is"),
        ("redis://127.0.0.1:1", "no Redis answers at 127.0.0.1:1"),
        ("http://x", "is not the URL of a Redis server"),
    ],
)
def test_a_server_that_cannot_be_used_is_refused(url: str, sentence: str) -> None:
    done = crashing.run(["cluster", "jobs", "--redis", url])
    assert done.code == 2 and sentence in done.err and done.err.count("\n") == 1


def test_jobs_and_status_show_what_shards_announced_and_which_node_runs_them(server: Server, crawl: Path) -> None:
    assert "no jobs" in windrow(server, "jobs").out and "no nodes" in windrow(server, "nodes").out
    create(server, crawl)
    assert status(server)["state"] == "waiting"
    assert "0-3: no node is alive" in windrow(server, "status", "news").out
    board = {
        0: Standing(1, waiting=5, finished=10, rate=2.0, made=LimitCounts(pages=9, documents=7, tokens=700)),
        1: Standing(1, idle=True, finished=3),
    }
    announce(server, board, node("one", {"news": [0, 1]}))
    found = status(server)
    assert (found["state"], found["running"], found["begun"], found["nodes"]) == ("running", 2, 2, ["one"])
    assert (found["waiting"], found["finished"], found["rate"]) == (5, 13, 2.0)
    assert (found["documents"], found["tokens"]) == (7, 700)
    full = "the nodes that may run it have no room for more shards"
    assert [shard["why"] for shard in found["each"][2:]] == [full] * 2
    text = windrow(server, "status", "news", "--shards").out
    assert "news: running; 2 of 4 shards run on one" in text and "at work" in text
    (listed,) = windrow(server, "jobs", "--json").json
    assert listed["finished"] == 13 and "each" not in listed
    assert "news" in windrow(server, "jobs").out


def test_the_lease_of_a_shard_is_a_sign_of_life(server: Server, crawl: Path) -> None:
    create(server, crawl)

    async def take(registry: Registry) -> list[int]:
        leases = ShardLeases(registry.client, "news", "two")
        return await leases.take([3])

    assert run(server, take) == [3]
    server.command("PEXPIRE", "windrow:{news}:lease:3", "4000")
    shard = status(server)["each"][3]
    assert shard["running"] and shard["node"] == "two" and 5.9 <= shard["seen"] < 10


@pytest.mark.parametrize(
    ("homes", "nodes", "why"),
    [
        ({}, [node("one", {})], "a node takes it soon"),
        ({2: "home-one"}, [node("one", {}, draining=True)], "drained: one"),
        ({2: "lost"}, [node("one", {})], "no node alive has its data directory (id lost)"),
        (
            {2: "home-two"},
            [node("one", {}), node("two", {})],
            "its data directory is that of node two on h, silent for",
        ),
        ({}, [node("one", {}, refused={"news": "no room in DIR"})], "node one says: no room in DIR"),
        ({}, [node("one", {}, refused={"news": "no"}), node("three", {})], "a node takes it soon"),
    ],
)
def test_a_shard_that_runs_nowhere_says_why(
    server: Server, crawl: Path, homes: dict[int, str], nodes: list[NodeRecord], why: str
) -> None:
    create(server, crawl)
    announce(server, {}, *nodes)
    server.command("ZINCRBY", "windrow:beats", "-10001", "two")  # it has vanished
    for shard, home in homes.items():
        run(server, lambda registry, shard=shard, home=home: registry.settle("news", shard, home))
    assert status(server)["each"][2]["why"].startswith(why)


def test_a_shard_that_waits_for_a_node_which_has_left_names_that_node(server: Server, crawl: Path) -> None:
    create(server, crawl)
    announce(server, {}, node("one", {}), node("two", {}))
    run(server, lambda registry: registry.settle("news", 2, "home-two"))
    run(server, lambda registry: registry.leave("two"))
    why = status(server)["each"][2]["why"]
    assert why.startswith("its data directory is that of node two on h, which left ") and why.endswith("start it again")
    assert [one["name"] for one in windrow(server, "nodes", "--json").json] == ["one"]
    assert "there is no node 'two'" in windrow(server, "drain", "two").err


def test_shards_of_a_paused_job_are_shown_as_paused(server: Server, crawl: Path) -> None:
    create(server, crawl)
    announce(server, {0: Standing(1, waiting=5)}, node("one", {"news": [0, 1]}))
    assert windrow(server, "pause", "news").code == 0
    shown = windrow(server, "status", "news", "--shards").out
    assert shown.count("paused") == 4 and "at work" not in shown


def test_the_table_of_shards_fits_a_screen_and_the_reasons_stand_below_it(server: Server, crawl: Path) -> None:
    create(server, crawl, "--shards", "32")
    standings = {shard: Standing(1, waiting=12_345_678, finished=12_345_678, rate=1234.5) for shard in range(32)}
    announce(server, standings, node("crawler-17", {"news": [0, 1]}), node("two", {}))
    for shard in range(2, 30):
        run(server, lambda registry, shard=shard: registry.settle("news", shard, "home-two"))
    run(server, lambda registry: registry.leave("two"))
    shown = windrow(server, "status", "news", "--shards").out.splitlines()
    rows = [line for line in shown if line.strip()[:1].isdigit() and ": " not in line]
    assert len(rows) == 32 and max(map(len, rows)) <= 80 and sum("not running" in row for row in rows) == 30
    (reason,) = [line for line in shown if "its data directory is that of node two" in line]
    assert reason.startswith("  2-29: ")


def test_a_shard_that_has_ended_has_no_rate_until_it_speaks_again(server: Server, crawl: Path) -> None:
    create(server, crawl)
    announce(server, {0: Standing(7, ended=(7, 1, 1, 1), rate=900.0)}, node("one", {"news": [0]}))
    assert status(server)["rate"] == 0.0


def test_the_end_of_a_job_is_seen_until_a_shard_starts_again(server: Server, crawl: Path) -> None:
    create(server, crawl)
    board = {shard: Standing(7, idle=True, ended=(7, 7, 7, 7)) for shard in range(4)}
    announce(server, board)
    assert status(server)["state"] == "done"
    assert status(server)["each"][0]["why"] == "the job is done"
    announce(server, {2: Standing(8)})
    assert status(server)["state"] == "waiting"


def test_a_job_is_paused_stopped_and_resumed(server: Server, crawl: Path) -> None:
    create(server, crawl)
    versions = []
    for command, wanted, state in (("pause", "pause", "paused"), ("stop", "stop", "stopped"), ("resume", "run", "")):
        assert windrow(server, command, "news").code == 0
        found = run(server, lambda registry: registry.jobs())["news"]
        versions.append(found.version)
        assert found.wanted == wanted and status(server)["state"] == (state or "waiting")
    assert versions == sorted(set(versions))


def test_a_stop_waits_until_no_shard_runs(server: Server, crawl: Path) -> None:
    create(server, crawl)
    announce(server, {}, node("one", {"news": [0, 1]}))
    late = windrow(server, "stop", "news", "--wait", "0.1")
    assert late.code == 1 and "these shards still run after 0.1 seconds: 0-1" in late.err
    announce(server, {}, node("one", {}))
    done = windrow(server, "stop", "news", "--wait", "60")
    assert done.code == 0 and "news: stopped; no shard runs" in done.out


def test_a_job_that_windrow_crawl_runs_is_shown_and_not_steered(server: Server, crawl: Path) -> None:
    create(server, crawl)
    server.command("DEL", "windrow:{news}:spec", "windrow:{news}:state")
    assert status(server)["state"] == "crawl"
    done = windrow(server, "stop", "news")
    assert done.code == 2 and "windrow crawl --shards runs it" in done.err
    assert server.command("EXISTS", "windrow:{news}:state") == b":0\r\n"


def test_seeds_are_given_as_an_order_and_shards_that_have_not_taken_it_are_named(server: Server, crawl: Path) -> None:
    create(server, crawl)
    announce(server, {}, node("one", {"news": [0, 1]}))
    done = windrow(server, "add", "news", "http://d.example/", "http://x.test/", "--wait", "0")
    assert done.code == 0 and "1 seed given; 0 shards of 4 took the order" in done.out
    assert "refuses http://x.test/" in done.err
    assert "shards that run: 0-1" in done.err and "shards that do not run: 2-3" in done.err
    (order,) = run(server, lambda registry: registry.orders("news"))
    assert (order.kind, order.content) == ("add", "http://d.example/\n")


def test_names_are_blocked_and_reasons_tried_again_by_orders(server: Server, crawl: Path) -> None:
    create(server, crawl)
    for words, said, kept in (
        (
            ("block", "news", "D.example", "b.example"),
            "blocked: d.example, b.example",
            ("block", "d.example\nb.example\n", ()),
        ),
        (("unblock", "news", "d.example"), "unblocked: d.example", ("unblock", "d.example\n", ())),
        (
            ("retry", "news", "--reason", "timeout,dns", "--host", "b.example"),
            "retry of timeout, dns on b.example",
            ("retry", "timeout\ndns\n", ("b.example",)),
        ),
    ):
        done = windrow(server, *words, "--wait", "0")
        assert done.code == 0 and f"news: {said}; 0 shards of 4 took the order" in done.out
        last = run(server, lambda registry: registry.orders("news"))[-1]
        assert (last.kind, last.content, last.hosts) == kept
    assert windrow(server, "retry", "news", "--reason", "dns", "--wait", "0", "--json").json["order"]["kind"] == "retry"


def test_an_order_that_all_shards_took_is_awaited(server: Server, crawl: Path) -> None:
    create(server, crawl)
    announce(server, {}, node("one", {"news": [0, 1, 2]}))
    ended = threading.Event()

    async def obey(registry: Registry) -> None:
        while not ended.is_set():
            for order in await registry.orders("news"):
                for shard in range(3):
                    await registry.carried_out("news", shard, order.number)
            await asyncio.sleep(0.02)

    thread = threading.Thread(target=run, args=(server, obey))
    thread.start()
    try:
        done = windrow(server, "set", "news", "fetch.delay=7", "--wait", "60", "--json")
    finally:
        ended.set()
        thread.join()
    assert done.json["order"]["kind"] == "set" and done.json["order"]["content"] == "fetch.delay=7\n"
    assert (done.json["taken"], done.json["running"], done.json["absent"]) == (3, [], [3])


def test_nodes_are_listed_with_warnings_about_versions_and_clocks(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce(server, {}, node("one", {"news": [0, 1]}, started=1.0))
    monkeypatch.setattr("windrow.nodes.redis.registry.time.time", lambda: 1_000_000.0)
    announce(server, {}, node("two", {}, version="8"))
    announce(server, {}, node("gone", {"news": [2, 3]}))
    monkeypatch.undo()
    server.command("ZINCRBY", "windrow:beats", "-10001", "gone")
    done = windrow(server, "nodes")
    assert "silent for" in done.out and done.out.count("alive") == 2
    held = {line.split()[0]: line.split()[3] for line in done.out.splitlines()}
    assert held == {"node": "shards", "one": "2", "two": "0", "gone": "-"}, "others may have its shards by now"
    assert "node two runs Windrow 8" in done.err and "the clock of node two is" in done.err
    assert "node gone" not in done.err and "clock of node one" not in done.err
    assert {one["name"] for one in windrow(server, "nodes", "--json").json} == {"one", "two", "gone"}


def test_a_node_is_drained_and_works_again(server: Server) -> None:
    announce(server, {}, node("one", {}))
    assert windrow(server, "drain", "one").code == 0
    assert run(server, lambda registry: registry.beat(node("one", {}))) is True
    assert windrow(server, "drain", "one", "--undo").code == 0
    assert run(server, lambda registry: registry.beat(node("one", {}))) is False


def test_events_are_shown_for_people_and_programs(server: Server, crawl: Path) -> None:
    create(server, crawl)
    assert "there are no events of news yet" in windrow(server, "logs", "news").err
    assert windrow(server, "logs", "news", "--json") == crashing.Result(0, "", "", [])

    async def act(registry: Registry) -> None:
        await events.publish(registry, events.make("one", "started", "process 17 \x1b[31m", shard=3, job="news"))
        await events.publish(registry, events.make("two", "joined", "4 slots", job="news"))
        await registry.event("news", {"time": 5.0, "node": "three", "text": "a note", "shard": 2})
        await registry.event("news", {"other": "version"})

    run(server, act)
    text = windrow(server, "logs", "news").out
    assert "one  shard 3  started: process 17 ?[31m" in text and "two  joined: 4 slots" in text
    assert "three  shard 2  a note" in text and "{'other': 'version'}" in text
    (line,) = windrow(server, "logs", "news", "--node", "two", "--json").out.splitlines()
    assert json.loads(line)["kind"] == "joined"
    nobody = windrow(server, "logs", "news", "--node", "nobody")
    assert nobody.out == "" and "node nobody has no part in the last 4 events of news" in nobody.err


def test_events_are_followed_while_redis_starts_again(server: Server, crawl: Path) -> None:
    create(server, crawl)
    environment = {**os.environ, "PYTHONPATH": str(crashing.ROOT / "src")}
    command = [sys.executable, "-m", "windrow.cli", "cluster", "logs", "news", "-f", "--json", "--redis", server.url]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    try:
        for text in ("first", "second", "third"):
            event = events.make("one", "note", text, "news")
            run(server, lambda registry, event=event: events.publish(registry, event))
            assert json.loads(process.stdout.readline())["text"] == text
            if text == "second":
                server.restart()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0 and process.stderr.read() == ""
    finally:
        process.kill()
        process.communicate()


def test_a_job_is_forgotten_only_while_no_node_runs_it(server: Server, crawl: Path) -> None:
    create(server, crawl)
    server.command("SET", "other", "1")
    assert "add --yes" in windrow(server, "forget", "news").err
    announce(server, {}, node("one", {"news": [0]}))
    refused = windrow(server, "forget", "news", "--yes")
    assert refused.code == 2 and "is run by one; stop it first" in refused.err
    assert status(server)["running"] == 1
    announce(server, {}, node("one", {}))
    done = windrow(server, "forget", "news", "--yes")
    assert done.code == 0 and "the directories of its shards stay" in done.out
    assert run(server, lambda registry: registry.jobs()) == {}
    assert server.command("EXISTS", "other", "windrow:nodes", "windrow:beats") == b":3\r\n"


def test_a_job_that_nodes_run_is_forgotten_by_force_after_they_ended_it(server: Server, crawl: Path) -> None:
    create(server, crawl)
    announce(server, {}, node("one", {"news": [0]}))

    async def obey(registry: Registry) -> None:
        while (await registry.jobs())["news"].wanted != "forget":
            await asyncio.sleep(0.02)
        await registry.beat(node("one", {}))

    thread = threading.Thread(target=run, args=(server, obey))
    thread.start()
    done = windrow(server, "forget", "news", "--yes", "--force", "--json")
    thread.join()
    assert done.json["nodes"] == [] and run(server, lambda registry: registry.jobs()) == {}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A crawl, and a URL that it has read."""
    with World(seed=62, pages=10, hosts=2, kinds=()) as world:
        directory = truth.prepare(tmp_path_factory.mktemp("why") / "crawl", world)
        assert crashing.run(["crawl", str(directory)]).code == 0
        return directory, sorted(truth.pages(directory))[0]


def shard_in(directory: Path, crawled: tuple[Path, str], count: int) -> int:
    """Put a crawl where a node would have the shard of its URL; return the number of the shard."""
    url = urls.parse(crawled[1])
    assert url is not None
    shard = sharding.shard_of(url.domain, count)
    (directory / "shards").mkdir(parents=True)
    (directory / "shards" / f"{shard:03}").symlink_to(crawled[0])
    return shard


def test_why_reads_a_directory_that_is_here(
    server: Server, crawl: Path, crawled: tuple[Path, str], tmp_path: Path
) -> None:
    create(server, crawl)
    shard = shard_in(tmp_path / "data" / "news", crawled, 4)
    done = windrow(server, "why", "news", crawled[1], "--dir", str(tmp_path / "data"))
    assert done.code == 0 and f"belongs to shard {shard} of 4, which does not run: no node is alive" in done.out
    assert done.out.splitlines()[-1] == "finished: ok"


def test_why_is_answered_by_the_node_that_has_the_shard(
    server: Server, crawl: Path, crawled: tuple[Path, str], tmp_path: Path
) -> None:
    create(server, crawl)
    shard = shard_in(tmp_path / "news", crawled, 4)
    announce(server, {}, node("one", {"news": [shard]}))
    ended = threading.Event()

    async def serve_questions(registry: Registry) -> None:
        nodes = [Answerer(registry, tmp_path / "elsewhere", "two"), Answerer(registry, tmp_path, "one")]
        await registry.client.run(("RPUSH", "windrow:{news}:questions", "of another program"))
        while not ended.is_set():
            for one in nodes:
                one.look(["news", "other"])
            await asyncio.sleep(0.05)
        for one in nodes:
            await one.close()

    thread = threading.Thread(target=run, args=(server, serve_questions))
    thread.start()
    try:
        done = windrow(server, "why", "news", crawled[1], "--json")
    finally:
        ended.set()
        thread.join()
    assert done.json["shard"] == shard and done.json["node"] == "one" and done.json["story"]["state"] == "finished"
    direct = crashing.run(["why", str(crawled[0]), crawled[1], "--json"]).json
    assert done.json["story"] == direct
    assert server.command("EXISTS", "windrow:{news}:questions") == b":0\r\n"


def test_a_question_that_nobody_answers_is_taken_back(server: Server, crawl: Path) -> None:
    create(server, crawl)
    done = windrow(server, "why", "news", "http://a.example/", "--wait", "0.3")
    assert done.code == 2 and "no node has answered after 0.3 seconds" in done.err
    assert server.command("EXISTS", "windrow:{news}:questions") == b":0\r\n"
