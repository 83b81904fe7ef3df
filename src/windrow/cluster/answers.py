"""Questions about a URL, to the node that has the directory of its shard.

The question stands in a list of the job. A node that has the shard's directory takes it, reads the log as `windrow why`
does, and leaves the answer under a key that expires.
"""

import asyncio
import secrets
import time
from pathlib import Path

import msgspec

from windrow import config
from windrow.cluster.redis.keys import Keys
from windrow.cluster.redis.registry import Registry
from windrow.config import ConfigError
from windrow.crawl import story as stories
from windrow.crawl.story import Story

LIFE = 120  # seconds for which a question and its answer are kept
POLL = 0.2  # seconds from one look for the answer to the next


class Question(msgspec.Struct, frozen=True):
    """What happened to a URL?"""

    id: str
    shard: int
    url: str


class Answer(msgspec.Struct, frozen=True):
    """What a node found."""

    node: str
    story: Story | None = None
    error: str = ""


async def ask(registry: Registry, job: str, shard: int, url: str, patience: float) -> Answer | None:
    """Ask what happened to a URL of a shard; None if no node has answered after so many seconds."""
    client, keys = registry.client, Keys(job)
    question = Question(secrets.token_hex(8), shard, url)
    data = msgspec.json.encode(question)
    key = keys.of("answers", question.id)
    for answer in await client.run(("RPUSH", keys["questions"], data), ("EXPIRE", keys["questions"], LIFE)):
        client.checked(answer)
    end = time.monotonic() + patience
    while time.monotonic() < end:
        (found,) = await client.run(("GET", key))
        if client.checked(found) is not None:
            return msgspec.json.decode(found, type=Answer)
        await asyncio.sleep(POLL)
    await client.run(("LREM", keys["questions"], 0, data))
    return None


async def answer(registry: Registry, job: str, directory: Path, node: str) -> int:
    """Answer the questions about shards whose directories are here (DIR/JOB); return how many there were.

    A node calls this at each beat, as a task of its own: a log of gigabytes takes its time.
    """
    client, keys = registry.client, Keys(job)
    (found,) = await client.run(("LRANGE", keys["questions"], 0, 99))
    answered = 0
    for data in client.checked(found):
        try:
            question = msgspec.json.decode(data, type=Question)
        except msgspec.MsgspecError:
            await client.run(("LREM", keys["questions"], 0, data))
            continue
        place = directory / "shards" / f"{question.shard:03}"
        if not (place / "log").is_dir():
            continue
        (taken,) = await client.run(("LREM", keys["questions"], 1, data))
        if client.checked(taken):  # else another node has taken it
            said = await asyncio.to_thread(_answer, node, place, question.url)
            key = keys.of("answers", question.id)
            await client.run(("SET", key, msgspec.json.encode(said), "EX", LIFE))
            answered += 1
    return answered


def _answer(node: str, place: Path, url: str) -> Answer:
    try:
        return Answer(node, why(place, url))
    except (ConfigError, OSError) as error:
        return Answer(node, error=str(error))


def why(place: Path, url: str) -> Story:
    """Return the story of a URL from the directory of its shard."""
    path = place / "crawl.toml"
    options = config.load(path) if path.exists() else config.make((), place)
    return stories.why(place, url, options)
