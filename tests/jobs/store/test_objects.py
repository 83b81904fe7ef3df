"""Files of several writers, and servers that speak the language of S3 in their own way."""

import errno
import itertools
import os
import random
import time
from pathlib import Path
from typing import Any

import fsspec
import pytest

from tests.hdfs import Hdfs
from tests.jobs.store.conftest import FILES, KINDS, QUICK, Kind, rename_as_hdfs
from tests.jobs.store.crawls import growing, sample
from tests.jobs.store.test_storages import expected, store, texts
from tests.jobs.store.test_transfer import dies_at
from tests.jobs.store.test_two import Writer
from windrow.io import storage as addresses
from windrow.jobs import store as storages
from windrow.jobs.store import feed as feeds
from windrow.jobs.store import transfer as job
from windrow.jobs.store.objects import ObjectStorage
from windrow.jobs.store.protocol import StorageBatch, StorageLost, StoragePosition, StorageTaken


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

    def pipe_file(self, path: str, data: bytes, IfNoneMatch: str = "") -> None:
        if IfNoneMatch:
            self.conditions += 1
            trouble = self.trouble.pop(0) if self.trouble else ""
            if trouble == "NotImplemented":
                raise OSError(trouble) from Refusal(trouble)
            taken = self._inner.exists(path)
            if trouble == "lost":
                self._inner.pipe_file(path, data)
            if trouble == "lost" or taken:
                raise OSError("PreconditionFailed") from Refusal("PreconditionFailed")
        self._inner.pipe_file(path, data)


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


@pytest.fixture(params=[name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in FILES])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    """Each kind that stores files."""
    return KINDS[request.param](request, tmp_path)


def late(kind: Kind) -> Any:
    """Return a storage of a process that is stopped after it has compared the position, and goes on later."""
    storage: Any = storages.open(kind.url, False)
    storage.position("news/000")
    storage._own = lambda crawl: storage._known[crawl]
    return storage


def frame_of(kind: Kind) -> int:
    found = storages.open(kind.url, False).position("news/000")
    return found.frame if found is not None else 0


@pytest.mark.parametrize("others", [1, 2, 30])
def test_of_two_writers_that_have_compared_one_succeeds(files: Kind, others: int) -> None:
    """Also if the other one has written so often that the file after the known position was removed again."""
    two, one = late(files), storages.open(files.url, False)
    assert one.position("news/000") is None
    for number in range(others):
        one.write(batch(number + 1))
    with pytest.raises(StorageTaken):
        two.write(batch(99))
    assert frame_of(files) == others
    one.write(batch(others + 1))
    assert frame_of(files) == others + 1


def test_of_two_writers_that_write_at_the_same_time_one_succeeds(files: Kind) -> None:
    """Both have compared, and both have written their file under its first name."""
    two, one = late(files), storages.open(files.url, False)
    one.position("news/000")
    create = two._folder._create

    def interrupted(*given: Any) -> bool:
        one.write(batch(1))
        return bool(create(*given))

    two._folder._create = interrupted
    with pytest.raises(StorageTaken):
        two.write(batch(99))
    assert frame_of(files) == 1


@pytest.mark.long
def test_a_file_that_another_process_takes_for_that_of_a_dead_one_does_not_count_as_written(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """It asks for the position while the file is there under its first name only."""
    kind = KINDS["webhdfs"](request, tmp_path)
    with growing(tmp_path / "mycrawl", frames=1) as crawl:
        one: Any = Writer(kind, crawl)
        inner = one.storage._folder._system

        class Interrupted:
            def __getattr__(self, name: str) -> Any:
                return getattr(inner, name)

            def pipe_file(self, path: str, data: bytes) -> None:
                inner.pipe_file(path, data)
                storages.open(kind.url, True).position("mycrawl")

        one.storage._folder._system = Interrupted()
        with pytest.raises(StorageLost, match="cannot be renamed"):
            one.write()
        store(crawl.directory, kind.url, captures=True)
    assert texts(kind) == expected(3)


def test_the_rows_of_a_position_from_which_another_process_has_continued_stay(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Its writer is stopped before it looks whether it is the last one, and is refused."""
    kind = KINDS["directory"](request, tmp_path)
    with growing(tmp_path / "mycrawl", frames=1) as crawl:
        one: Any = Writer(kind, crawl)
        look = one.storage._numbers

        def stopped(*given: Any) -> list[int]:
            one.storage._numbers = look
            crawl.commit([sample(3)])
            Writer(kind, crawl).write()
            return list(look(*given))

        one.storage._numbers = stopped
        with pytest.raises(StorageTaken):
            one.write()
        assert texts(kind) == expected(4)
        store(crawl.directory, kind.url, captures=True)
    assert texts(kind) == expected(4)


def test_a_file_system_without_hard_links_is_compared_with_first(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, target: str) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    kind = KINDS["directory"](request, tmp_path)
    one, two = storages.open(kind.url, False), storages.open(kind.url, False)
    assert one.position("news/000") is two.position("news/000") is None
    for number in range(20):
        one.write(batch(number + 1))
    with pytest.raises(StorageTaken):
        two.write(batch(99))
    assert frame_of(kind) == 20
    left = sorted(path.name for path in Path(kind.url, "news", "000", "positions").iterdir())
    assert left == [f"{number:010}.json" for number in range(13, 21)]


def test_a_position_of_an_older_version_is_continued_from(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """It was one file that was replaced."""
    kind = KINDS["directory"](request, tmp_path)
    folder = Path(kind.url, "mycrawl")
    with growing(tmp_path / "mycrawl", frames=2) as crawl:
        store(crawl.directory, kind.url)
        (position,) = (folder / "positions").iterdir()
        position.rename(folder / "position.json")
        crawl.commit([sample(6)])
        assert store(crawl.directory, kind.url).documents == 1
    assert texts(kind) == expected(7)
    assert not (folder / "position.json").exists()


@pytest.mark.long
def test_a_kill_before_every_request_to_hdfs_loses_and_repeats_nothing(
    request: pytest.FixtureRequest, hdfs: Hdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "ROWS", 3)
    for step in itertools.count():
        folder = tmp_path / str(step)
        kind = KINDS["webhdfs"](request, folder)
        with growing(folder / "mycrawl", frames=1) as crawl:
            store(crawl.directory, kind.url)
            crawl.purge(sample(1).url)
            crawl.commit([sample(3)])
            killed = dies_at(step, crawl.directory, kind.url, lambda event, values: event == "http.client.send")
            crawl.commit([sample(4)])
            store(crawl.directory, kind.url)
            assert texts(kind) == expected(5, 1)
        assert not [path for path in paths(kind) if path.endswith((".new", ".ready"))]
        if not killed:
            break
    assert step > 60


def paths(kind: Kind) -> list[str]:
    system, folder = addresses.filesystem(kind.url)
    return [str(path) for path in system.find(folder)]


@pytest.mark.long
def test_a_namenode_that_is_in_safe_mode_after_its_restart_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "ROWS", 3)
    server = Hdfs(safe_mode=5)
    states: list[bool] = []

    def watch(count: int) -> None:
        if count == 3:
            server.kill()
            server.start()

    def sleep(seconds: float) -> None:
        states.append(server.is_safe())
        while len(states) > 1 and server.is_safe():
            time.sleep(0.1)

    try:
        while server.is_safe():
            time.sleep(0.1)
        with growing(tmp_path / "mycrawl", frames=3) as crawl:
            options = job.StoreOptions(directory=crawl.directory, target=f"{server.url}/corpora")
            context = job.StoreContext(running=lambda: False, watch=watch, note=lambda text: None, sleep=sleep)
            assert job.run(options, context).documents == 9
            assert store(crawl.directory, options.target).documents == 0
    finally:
        server.close()
    assert len(states) >= 2 and states[0], "it has refused a write, and its folder could be read"


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
    rename_as_hdfs(monkeypatch)
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
