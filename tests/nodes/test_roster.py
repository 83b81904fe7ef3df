"""What a node knows of jobs: it puts back what Redis has lost, and leaves alone what an operator has removed."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.redisserver import needs_redis, serve
from windrow.nodes import copies
from windrow.nodes.copies import LocalJob
from windrow.nodes.node import ClusterNode, NodeOptions
from windrow.nodes.quota import Capacity
from windrow.nodes.redis import job
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.registry import JobSpec, Registry
from windrow.nodes.redis.state import JobState
from windrow.nodes.redis.wire import RedisTransport
from windrow.nodes.roster import Roster
from windrow.records import LimitCounts
from windrow.shards import messages
from windrow.shards.messages import Standing

pytestmark = needs_redis


@pytest.mark.parametrize(
    ("removed", "kind", "text"),
    [(False, "put-back", "was put back"), (True, "note", "an operator has removed")],
)
def test_a_job_that_is_gone_is_put_back_unless_it_was_removed(
    removed: bool, kind: str, text: str, tmp_path: Path
) -> None:
    noted: list[tuple[str, str, str]] = []

    def note(kind: str, text: str, job: str = "", shard: int = -1) -> None:
        noted.append((kind, text, job))

    async def main(url: str) -> bool:
        registry = Registry(RedisClient(url))
        roster = Roster(
            registry, tmp_path, "home", lambda kind, text, job="", shard=-1: noted.append((kind, text, job))
        )
        try:
            await registry.create(job.make("news", 2, "digest", 1.0), JobSpec("", "http://a.example/\n"))
            await roster.refresh(())
            assert not noted
            await (registry.forget("news") if removed else registry.client.run(("FLUSHALL",)))
            for _ in range(3):
                await roster.refresh(())
            return "news" in await registry.jobs()
        finally:
            await registry.client.close()

    with serve() as server:
        present = asyncio.run(main(server.url))
    assert present is not removed
    ((found, said, name),) = noted
    assert found == kind and text in said and name == "news"


def test_a_limit_counts_the_last_word_of_every_shard_also_when_redis_has_lost_it(tmp_path: Path) -> None:
    noted: list[tuple[str, str]] = []

    async def main(url: str) -> tuple[Roster, list[JobState]]:
        registry = Registry(RedisClient(url))
        roster = Roster(registry, tmp_path, "home", lambda kind, text, job="", shard=-1: noted.append((kind, text)))

        async def say(shard: int, pages: int) -> JobState:
            standing = messages.encode(Standing(1, made=LimitCounts(pages)))
            await registry.client.run(("HSET", "windrow:{news}:board", shard, standing))
            await roster.refresh(())
            return (await registry.jobs())["news"]

        try:
            await registry.create(
                job.make("news", 2, "digest", 1.0), JobSpec("", "http://a.example/\n"), {"pages": 100}
            )
            states = [await say(0, 60), await say(1, 30)]
            await registry.client.run(("FLUSHALL",))  # and shard 0 is on a node that is away: it does not say it again
            states += [await say(1, 39), await say(1, 40)]
            await registry.limit("news", {"pages": 200})
            return roster, [*states, await say(1, 41)]
        finally:
            await registry.client.close()

    with serve() as server:
        roster, states = asyncio.run(main(server.url))
    assert [(state.wanted, state.limit) for state in states[:4]] == [("run", "")] * 3 + [("stop", "pages")]
    assert (states[4].wanted, states[4].limits) == ("run", {"pages": 200}) and roster.runs("news")
    assert [text for kind, text in noted if kind == "limit"] == [
        "the job has reached its limit of 100 pages (100) and is stopped"
    ]
    assert copies.read(tmp_path)["news"].state == states[4], "the data directory has it too"


@pytest.mark.parametrize("damage", ["removed", "unwritable"])
def test_files_of_a_job_that_cannot_be_used_are_named_once_and_other_jobs_go_on(damage: str, tmp_path: Path) -> None:
    noted: list[tuple[str, str]] = []

    async def main(url: str) -> list[set[str]]:
        registry = Registry(RedisClient(url))
        roster = Roster(registry, tmp_path, "home", lambda kind, text, job="", shard=-1: noted.append((job, text)))
        try:
            for name in ("news", "other"):
                await registry.create(job.make(name, 2, "digest", 1.0), JobSpec("", "http://a.example/\n"))
            await roster.refresh(())
            seen = [set(roster.views)]
            if damage == "removed":
                shutil.rmtree(tmp_path / "news")
                await registry.client.run(("FLUSHALL",))
            else:
                (tmp_path / "news" / copies.ORDERS).mkdir()
                await registry.order("news", "add", "http://b.example/")
            for _ in range(3):
                await roster.refresh(())
            return [*seen, set(roster.views)]
        finally:
            await registry.client.close()

    with serve() as server:
        before, after = asyncio.run(main(server.url))
    assert before == {"news", "other"}
    assert after == ({"other"} if damage == "removed" else before), "what runs continues while a disk is full"
    assert [text.partition(":")[0] for name, text in noted if name == "news"] == ["its files here cannot be used"]
    assert not any("cannot be used" in text for name, text in noted if name == "other")


@pytest.mark.parametrize(("shards", "reads"), [(2, 64), (32, 64), (64, 32), (1024, 2)])
def test_the_standings_of_many_shards_are_read_as_rarely_as_they_change(
    shards: int, reads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = RedisTransport.standings
    found: list[int] = []

    async def counted(self: RedisTransport) -> dict[int, Standing]:
        found.append(len(standings := await read(self)))
        return standings

    async def main(url: str) -> None:
        registry = Registry(RedisClient(url))
        roster = Roster(registry, tmp_path, "home", lambda kind, text, job="", shard=-1: None)
        try:
            await registry.create(job.make("news", shards, "digest", 1.0), JobSpec("", "http://a.example/\n"))
            await registry.client.run(("HSET", "windrow:{news}:board", 0, messages.encode(Standing(1))))
            await roster.refresh(())
            assert set(roster.views["news"].standings) == {0}, "the first look is at once"
            found.clear()
            for _ in range(64):
                await registry.settle("news", 1, f"home{len(found)}", 5)
                await roster.refresh(())
                assert roster.views["news"].homes == await registry.homes("news"), "homes are never old"
                assert set(roster.views["news"].standings) == {0}
        finally:
            await registry.client.close()

    monkeypatch.setattr(RedisTransport, "standings", counted)
    with serve() as server:
        asyncio.run(main(server.url))
    assert found == [1] * reads


def test_a_node_starts_no_shard_of_many_after_the_end_although_it_looks_rarely(tmp_path: Path) -> None:
    shards = 1024

    async def main(url: str) -> list[list[int]]:
        options = NodeOptions(url, tmp_path, "one", Capacity(8, 8), lost_after=600.0)
        node = ClusterNode(options, lambda event: None)
        registry, taken = node._registry, []

        async def take(local: LocalJob, shards: Sequence[int], home: str, beside: int) -> None:
            taken.append(list(shards))

        node._holdings.take = take  # type: ignore[method-assign]
        try:
            await registry.create(job.make("news", shards, "digest", 1.0), JobSpec("", "http://a.example/\n"))
            await node._roster.refresh(())
            await node._take([("news", 5), ("news", 6)], 8, 8)
            over = messages.encode(Standing(1, idle=True, ended=(1,) * shards))
            words = [word for shard in range(shards) for word in (shard, over)]
            await registry.client.run(("HSET", "windrow:{news}:board", *words))
            await node._roster.refresh(())
            await node._take([("news", 5), ("news", 6)], 8, 8)
        finally:
            await registry.client.close()
        return taken

    with serve() as server:
        first, *later = asyncio.run(main(server.url))
    assert sorted(first) == [5, 6]
    assert later == [[]]
