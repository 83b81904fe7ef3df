"""The limits of a job count all its shards and all their processes: nodes stop it, and a higher limit continues it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth
from tests.nodes.nodes import JOB, Nodes, job_of
from tests.redisserver import Server, needs_redis
from tests.world import World
from windrow import config
from windrow.config import CrawlOptions
from windrow.nodes import limits
from windrow.records import LimitCounts
from windrow.shards.messages import Standing


def test_the_first_limit_that_is_reached_has_a_name() -> None:
    made = LimitCounts(pages=10, documents=5, tokens=700)
    assert limits.reached({}, made, 1e9) == ""
    assert limits.reached({"pages": 11, "documents": 6, "tokens": 701, "seconds": 5.0}, made, 4.9) == ""
    assert limits.reached({"pages": 11, "tokens": 700}, made, 0.0) == "tokens"
    assert limits.reached({"documents": 5, "tokens": 700}, made, 0.0) == "documents"
    assert limits.reached({"seconds": 5.0}, made, 5.0) == "seconds"


def test_options_have_limits_and_shards_get_none_of_them() -> None:
    options = CrawlOptions(max_pages=3, max_tokens=9, max_seconds=1.5)
    assert limits.of(options) == {"pages": 3, "tokens": 9, "seconds": 1.5}
    assert limits.of(limits.without(options)) == {}


def test_a_setting_without_a_value_is_that_of_the_job_and_0_is_none() -> None:
    job = config.make(["crawl.max_tokens=70"], Path())
    settings = ["crawl.max_tokens=", "crawl.max_pages=", "crawl.max_documents=5", "crawl.max_seconds=0"]
    assert limits.changed(settings, job) == {"tokens": 70, "pages": 0, "documents": 5, "seconds": 0}


def test_limits_are_shown_in_words() -> None:
    assert limits.describe("tokens", 10**7) == "10,000,000 tokens" and limits.describe("pages", 1) == "1 page"
    assert limits.describe("seconds", 7200) == "2 h 0 min"
    made = limits.sum_of([Standing(1, made=LimitCounts(4, tokens=7)), Standing(1, made=LimitCounts(1000, documents=2))])
    assert made == LimitCounts(1004, documents=2, tokens=7) and limits.progress("pages", made, 0.0) == "1,004"


def cluster(nodes: Nodes, *words: str) -> crashing.Result:
    return crashing.run(["cluster", *words, "--redis", nodes.server.url])


def status(nodes: Nodes) -> dict[str, Any]:
    found: dict[str, Any] = cluster(nodes, "status", JOB, "--json").json
    return found


def logged(nodes: Nodes) -> dict[str, Any]:
    """Return the counts of all shards, from their logs."""
    found: dict[str, Any] = json.loads(crashing.run(["status", str(nodes.data / JOB), "--json"]).out)
    return found


def kinds(nodes: Nodes, name: str) -> list[str]:
    return [note["kind"] for note in nodes.notes(name) if "kind" in note]


@needs_redis
def test_a_job_ends_at_its_limit_stays_so_and_continues_with_a_higher_one(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=86, pages=40, hosts=6, domains=True, kinds=()) as world,
        job_of(tmp_path, server, world, 2, "fetch.delay=0.3", "crawl.max_documents=10", *truth.TEXT) as nodes,
    ):
        nodes.start("one", "--until-done")
        assert nodes.wait("one")["why"] == "done"
        found, log = status(nodes), logged(nodes)
        assert (found["state"], found["limit"], found["limits"]) == ("limit", "documents", {"documents": 10})
        assert 10 <= log["documents"] < len(world.expected.must_have)
        announced = {name: found[name] for name in ("documents", "tokens", "pages", "waiting")}
        assert announced == {name: log[name] for name in announced}, "the last word of each shard"
        assert found["reasons"] == log["finished"]
        assert kinds(nodes, "one").count("limit") == 1 and "died" not in kinds(nodes, "one")
        shown = cluster(nodes, "status", JOB).out
        assert f"{JOB}: limit reached; 0 of 2 shards run" in shown and "of 10 documents; the job was stopped" in shown
        assert f"windrow cluster set {JOB} crawl.max_documents=N" in shown

        refused = cluster(nodes, "resume", JOB)
        more = 2 * log["documents"]  # a job with many documents in flight has more than its limit
        assert refused.code == 2 and f"windrow cluster set {JOB} crawl.max_documents={more}" in refused.err
        assert cluster(nodes, "set", JOB, "crawl.max_documents=0", "fetch.delay=0.02", "--wait", "0").code == 0
        nodes.start("two", "--until-done")
        nodes.wait("two")
        assert status(nodes)["state"] == "done"
        nodes.assert_whole()


@needs_redis
@pytest.mark.long
def test_the_count_survives_nodes_that_are_killed_and_an_empty_redis(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=87, pages=400, hosts=10, domains=True, kinds=()) as world,
        job_of(tmp_path, server, world, 2, "fetch.delay=0.4", "crawl.max_pages=120") as nodes,
    ):
        nodes.start("one")
        nodes.until(lambda: nodes.finished() >= 100)
        nodes.kill("one")
        server.command("FLUSHALL")
        before = logged(nodes)["pages"]
        assert 60 <= before < 120
        nodes.start("one", "--until-done")
        nodes.until(lambda: server.command("EXISTS", nodes.key("job")) == b":1\r\n")
        nodes.hush_is_over()
        nodes.wait("one")
        assert status(nodes)["limit"] == "pages"
        assert 120 <= logged(nodes)["pages"] < 120 + before, "and not counted from the restart"

        server.command("FLUSHALL")  # now nothing announces what was made, but the node remembers that it was enough
        sent = len(world.requests())
        nodes.start("two", "--until-done")
        nodes.wait("two")
        assert status(nodes)["state"] == "limit" and len(world.requests()) == sent
        assert "started" not in kinds(nodes, "two")


@needs_redis
@pytest.mark.long
def test_a_job_ends_after_its_time(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=88, pages=60, hosts=4, domains=True, kinds=()) as world,
        job_of(tmp_path, server, world, 1, "fetch.delay=2", "crawl.max_seconds=3600") as nodes,
    ):
        nodes.start("one", "--until-done")
        nodes.until(lambda: nodes.finished() > 1)
        state = nodes.ask(lambda registry: registry.jobs())[JOB]
        server.command("HSET", nodes.key("state"), "ran", "3600000", "version", str(state.version + 1))
        nodes.wait("one")
        found = status(nodes)
        assert (found["state"], found["limit"]) == ("limit", "seconds") and found["seconds"] >= 3600
        assert nodes.finished() < len(world.expected.must_have)


@needs_redis
@pytest.mark.long
def test_an_operator_who_raises_the_limit_in_time_is_not_overruled(tmp_path: Path, server: Server) -> None:
    with (
        World(seed=89, pages=30, hosts=4, domains=True, kinds=()) as world,
        job_of(tmp_path, server, world, 2, "fetch.delay=0.3", "crawl.max_pages=1000") as nodes,
    ):
        nodes.start("one", "--until-done")
        nodes.until(lambda: nodes.finished() > 1)
        assert cluster(nodes, "set", JOB, "crawl.max_pages=10").code == 0
        nodes.until(lambda: status(nodes)["limit"] == "pages")
        lifted = cluster(nodes, "set", JOB, "crawl.max_pages=", "--json").json
        assert lifted["state"]["limits"] == {"pages": 1000} and lifted["state"]["wanted"] == "run"
        nodes.start("two", "--until-done")  # the first may have ended already
        nodes.wait("two")
        assert status(nodes)["state"] == "done"
        nodes.assert_whole()
