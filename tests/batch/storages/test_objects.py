"""Files of several writers, and servers that speak the language of S3 in their own way."""

import random
from pathlib import Path
from typing import Any

import fsspec
import pytest

from tests.batch.storages.conftest import KINDS
from tests.batch.storages.crawls import growing, sample
from tests.batch.storages.test_storages import expected, store, texts
from tests.batch.storages.test_two import Writer
from windrow.batch.storages import feed as feeds
from windrow.batch.storages import objects
from windrow.batch.storages.objects import ObjectStorage
from windrow.batch.storages.protocol import StorageBatch, StoragePosition, StorageTaken


class Refusal(Exception):
    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


class S3Server:
    """A file system in memory with the conditional writes of S3. `trouble`: what comes back for the next of them."""

    protocol = "s3"

    def __init__(self) -> None:
        self._inner: Any = fsspec.filesystem("memory", skip_instance_cache=True)
        self._inner.store = {}
        self.trouble: list[str] = []
        self.conditions = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def info(self, path: str) -> dict[str, Any]:
        return {**self._inner.info(path), "ETag": str(hash(self._inner.cat_file(path)))}

    def pipe_file(self, path: str, data: bytes, **conditions: str) -> dict[str, str]:
        if conditions:
            self.conditions += 1
            trouble = self.trouble.pop(0) if self.trouble else ""
            if trouble == "NotImplemented":
                raise OSError(trouble) from Refusal(trouble)
            found = str(hash(self._inner.cat_file(path))) if self._inner.exists(path) else ""
            if trouble != "lost" and conditions.get("IfMatch", "") != found:
                raise OSError("PreconditionFailed") from Refusal("PreconditionFailed")
            if trouble == "lost":
                self._inner.pipe_file(path, data)
                raise OSError("PreconditionFailed") from Refusal("PreconditionFailed")
        self._inner.pipe_file(path, data)
        return {"ETag": str(hash(data))}


def opened(system: S3Server) -> ObjectStorage:
    storage = ObjectStorage(system, "/bucket/corpora", "s3://bucket/corpora")
    storage.check()
    return storage


def batch(frame: int) -> StorageBatch:
    position = StoragePosition(crawl="news/000", first=1.0, frame=frame)
    return StorageBatch((), (), frozenset(), frame, position)


def frame(storage: ObjectStorage) -> int:
    found = storage.position("news/000")
    return found.frame if found is not None else 0


def test_of_two_writers_that_have_compared_the_server_accepts_one() -> None:
    """Both have found the position in place; a server with conditions decides when it is replaced."""
    system = S3Server()
    one, two = opened(system), opened(system)
    assert frame(one) == frame(two) == 0
    two._own = lambda crawl: two._known[crawl]  # type: ignore[method-assign] - it has looked before the other one wrote
    one.write(batch(1))
    with pytest.raises(StorageTaken):
        two.write(batch(2))
    assert frame(opened(system)) == 1
    one.write(batch(2))
    assert frame(opened(system)) == 2


def test_a_position_that_was_written_although_its_answer_was_lost_counts() -> None:
    """The client repeats the request, and the repeated one finds what the first one wrote."""
    system = S3Server()
    storage = opened(system)
    assert frame(storage) == 0
    system.trouble = ["lost"]
    storage.write(batch(1))
    storage.write(batch(2))
    assert frame(storage) == 2


def test_a_server_without_conditional_writes_is_compared_with_first() -> None:
    system = S3Server()
    one, two = opened(system), opened(system)
    assert frame(one) == frame(two) == 0
    system.trouble = ["NotImplemented"]
    one.write(batch(1))
    one.write(batch(2))
    assert system.conditions == 1
    with pytest.raises(StorageTaken):
        two.write(batch(1))
    assert frame(opened(system)) == 2


@pytest.mark.parametrize("seed", range(4))
def test_writers_come_and_die_at_any_time_on_a_file_system_with_the_renames_of_hdfs(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(objects, "_RENAMED", ())
    kind = KINDS["directory"](request, tmp_path)
    chance = random.Random(seed)
    writers: list[Writer] = []
    with growing(tmp_path / "mycrawl", frames=1, each=1) as crawl:
        for _ in range(40):
            crawl.commit([sample(crawl.pages)])
            monkeypatch.setattr(feeds, "ROWS", chance.randint(1, 4))
            writers.append(Writer(kind, crawl))
            writer = chance.choice(writers)
            try:
                if writer.left and chance.random() < 0.3:
                    writers.remove(writer)
                    writer.die()
                elif writer.left:
                    writer.write()
            except StorageTaken:
                writers = [one for one in writers if one is not writer]
        store(crawl.directory, kind.url, captures=True)
        assert texts(kind) == expected(crawl.pages)
