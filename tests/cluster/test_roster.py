"""What a node knows of jobs: it puts back what Redis has lost, and leaves alone what an operator has removed."""

import asyncio
from pathlib import Path

import pytest

from tests.redisserver import needs_redis, serve
from windrow.cluster.redis import job
from windrow.cluster.redis.client import RedisClient
from windrow.cluster.redis.registry import JobSpec, Registry
from windrow.cluster.roster import Roster

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
