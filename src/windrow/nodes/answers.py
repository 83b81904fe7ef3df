"""Questions about a URL, to the node that has the directory of its shard.

The question stands in a list of the job. A node that has the shard's directory takes it, reads the log as `windrow why`
does, and leaves the answer under a key that expires.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from windrow import config
from windrow.config import ConfigError
from windrow.inspect import story as stories
from windrow.inspect.story import Story
from windrow.nodes.redis.keys import Keys
from windrow.nodes.redis.registry import Registry
from windrow.shards.transport import Unavailable

LIFE = 120  # seconds for which a question and its answer are kept
POLL = 0.2  # seconds from one look for the answer to the next


class UrlQuestion(msgspec.Struct, frozen=True):
    """What happened to a URL?"""

    id: str
    shard: int
    url: str


class NodeAnswer(msgspec.Struct, frozen=True):
    """What a node found."""

    node: str
    story: Story | None = None
    error: str = ""


async def ask(registry: Registry, job: str, shard: int, url: str, patience: float) -> NodeAnswer | None:
    """Ask what happened to a URL of a shard; None if no node has answered after so many seconds."""
    client, keys = registry.client, Keys(job)
    question = UrlQuestion(secrets.token_hex(8), shard, url)
    data = msgspec.json.encode(question)
    key = keys.of("answers", question.id)
    for answer in await client.run(("RPUSH", keys["questions"], data), ("EXPIRE", keys["questions"], LIFE)):
        client.checked(answer)
    end = time.monotonic() + patience
    while time.monotonic() < end:
        (reply,) = await client.run(("GET", key))
        if client.checked(reply) is not None:
            return msgspec.json.decode(reply, type=NodeAnswer)
        await asyncio.sleep(POLL)
    await client.run(("LREM", keys["questions"], 0, data))
    return None


class Answerer:
    """The side of a node: answers questions about shards whose directories it has, one after the other."""

    def __init__(self, registry: Registry, directory: Path, node: str) -> None:
        self._registry = registry
        self._directory = directory  # with a directory per job
        self._node = node
        self._task: asyncio.Task[None] | None = None

    def look(self, jobs: Iterable[str]) -> None:
        """Look for questions about these jobs, in a task: a log of gigabytes takes its time. Call it at each beat."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._answer_all(list(jobs)))

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _answer_all(self, jobs: Sequence[str]) -> None:
        with contextlib.suppress(Unavailable):  # the next look finds what is still there
            for name in jobs:
                await answer(self._registry, name, self._directory / name, self._node)


async def answer(registry: Registry, job: str, directory: Path, node: str) -> int:
    """Answer the questions about shards whose directories are in that of the job; return how many there were."""
    client, keys = registry.client, Keys(job)
    (questions,) = await client.run(("LRANGE", keys["questions"], 0, 99))
    answered = 0
    for data in client.checked(questions):
        question = _question(data)
        if question is not None and not (directory / "shards" / f"{question.shard:03}" / "log").is_dir():
            continue
        (taken,) = await client.run(("LREM", keys["questions"], 1, data))
        if question is None or not client.checked(taken):  # of another program, or taken by another node
            continue
        said = await asyncio.to_thread(_answer, node, directory / "shards" / f"{question.shard:03}", question.url)
        await client.run(("SET", keys.of("answers", question.id), msgspec.json.encode(said), "EX", LIFE))
        answered += 1
    return answered


def _question(data: bytes) -> UrlQuestion | None:
    try:
        return msgspec.json.decode(data, type=UrlQuestion)
    except ValueError:
        return None


def _answer(node: str, directory: Path, url: str) -> NodeAnswer:
    try:
        return NodeAnswer(node, why(directory, url))
    except (ConfigError, OSError) as error:
        return NodeAnswer(node, error=str(error))


def why(directory: Path, url: str) -> Story:
    """Return the story of a URL from the directory of its shard."""
    path = directory / "crawl.toml"
    options = config.load(path) if path.exists() else config.make((), directory)
    return stories.why(directory, url, options)
