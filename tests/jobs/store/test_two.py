"""Two processes that store the same crawl at the same time, as two nodes do while a shard moves: one contract for every
kind of storage."""

import contextlib
import random
import shutil
from pathlib import Path

import pytest

from tests.jobs.store import crawls
from tests.jobs.store.conftest import FILES, Kind
from tests.jobs.store.crawls import GrowingCrawl, growing, sample
from tests.jobs.store.test_storages import Killed, expected, store, texts
from windrow.config import ConfigError
from windrow.jobs import store as storages
from windrow.jobs.store import feed as feeds
from windrow.jobs.store.feed import Feed
from windrow.jobs.store.protocol import Storage, StorageBatch, StorageTaken

ROUNDS = 60


class Writer:
    """A process that stores a crawl step by step. It may be stopped between any two of them."""

    def __init__(self, kind: Kind, crawl: GrowingCrawl) -> None:
        self.storage: Storage = storages.open(kind.url, True)
        self._feed = Feed(crawl.directory, captures=True)
        found = self.storage.position(self._feed.name)
        self._position = self._feed.resume(found) if found is not None else self._feed.start()
        self._batches = self._read()

    def _read(self) -> list[StorageBatch]:
        assert self._position is not None
        return list(self._feed.batches(self._position, lambda url: False))

    @property
    def left(self) -> int:
        return len(self._batches)

    def write(self) -> None:
        """Write the next batch, as it was read some time ago."""
        batch = self._batches.pop(0)
        self.storage.write(batch)
        self._position = batch.position

    def die(self) -> None:
        """End after the rows of the next batch are written, and before its position is."""

        def advance(*given: object) -> None:
            raise Killed

        self.storage._advance = advance  # type: ignore[attr-defined]
        with pytest.raises(Killed):
            self.write()


def numbers(kind: Kind) -> list[int]:
    return sorted(int(row["seq"]) - 1 for row in kind.rows("captures"))


def test_the_second_of_two_writers_is_refused_and_has_written_nothing(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with growing(tmp_path / "mycrawl", frames=2) as crawl:
        one = Writer(kind, crawl)
        crawl.commit([sample(6)])
        two = Writer(kind, crawl)
        one.write()
        with pytest.raises(StorageTaken, match="another process stores mycrawl in"):
            two.write()
        two.storage.close()
        assert texts(kind) == expected(6)
        three = Writer(kind, crawl)
        three.write()
        assert texts(kind) == expected(7) and numbers(kind) == list(range(7))
        crawl.commit([sample(7)])
        assert store(crawl.directory, kind.url, captures=True).documents == 1
        for late in (one, three):
            with pytest.raises(StorageTaken):
                late.storage.remove("mycrawl", lambda url: True)
            with pytest.raises(StorageTaken):
                late.storage.clear("mycrawl")
            late.storage.close()
    assert texts(kind) == expected(8) and numbers(kind) == list(range(8))


@pytest.mark.parametrize("seed", range(2))
def test_writers_that_come_and_die_at_any_time_leave_each_document_once(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The batches of two writers begin and end at different frames."""
    chance = random.Random(seed)
    writers: list[Writer] = []
    with growing(tmp_path / "mycrawl", frames=1, each=1) as crawl:
        for _ in range(ROUNDS):
            step = chance.random()
            if step < 0.3:
                crawl.commit([sample(crawl.pages + number) for number in range(chance.randint(1, 3))])
            elif step < 0.5 or not writers:
                monkeypatch.setattr(feeds, "ROWS", chance.randint(1, 6))
                writers.append(Writer(kind, crawl))
            elif (writer := chance.choice(writers)).left and step > 0.9:
                with contextlib.suppress(StorageTaken):
                    writer.die()
                writers.remove(writer)
            elif writer.left:
                try:
                    writer.write()
                except StorageTaken:
                    writers.remove(writer)
                    writer.storage.close()
            else:
                writers.remove(writer)  # it ends without a word
        store(crawl.directory, kind.url, captures=True)
        assert texts(kind) == expected(crawl.pages)
        assert numbers(kind) == list(range(crawl.pages))
    for writer in writers:
        writer.storage.close()


def test_a_file_without_a_position_is_gone_before_the_next_writer_writes(kind: Kind, tmp_path: Path) -> None:
    """So a reader of a folder never sees a document twice, whoever was killed; and its writer, if it lives, is too
    late."""
    with growing(tmp_path / "mycrawl", frames=1) as crawl:
        one = Writer(kind, crawl)
        late = Writer(kind, crawl)
        one.die()
        crawl.commit([sample(3)])
        two = Writer(kind, crawl)
        assert kind.name.startswith("mongo") or texts(kind) == {}
        if kind.name in FILES:
            with pytest.raises(StorageTaken):
                late.write()
        two.write()
        assert texts(kind) == expected(4)
        for writer in (one, late, two):
            writer.storage.close()


def test_a_shard_that_was_begun_again_replaces_the_rows_of_its_lost_log(kind: Kind, tmp_path: Path) -> None:
    job = crawls.divided(tmp_path / "news", 2)
    with crawls.shard(job, 0) as other:
        other.commit([sample(0)])
        store(other.directory, kind.url, captures=True)
    with crawls.shard(job, 1, incarnation=5, first=10) as lost:
        lost.commit([sample(number) for number in range(10, 14)])
        store(lost.directory, kind.url, captures=True)
        lost.commit([sample(14)])
        late = Writer(kind, lost)
        assert texts(kind).keys() == expected(15, *range(1, 10), 14).keys()
        shutil.move(lost.directory, tmp_path / "lost")
    with crawls.shard(job, 1, incarnation=7, first=20) as begun:
        assert store(begun.directory, kind.url, captures=True).documents == 0, "it has no frame yet"
        begun.commit([sample(20), sample(21)])
        store(begun.directory, kind.url, captures=True)
        assert texts(kind) == expected(22, *range(1, 20))
        assert numbers(kind) == [0, 20, 21]
        with pytest.raises(StorageTaken):
            late.write()
        late.storage.close()
        begun.commit([sample(22)])
        store(begun.directory, kind.url, captures=True)
        assert texts(kind) == expected(23, *range(1, 20))
    shutil.move(job / "shards" / "001", tmp_path / "begun")
    shutil.move(tmp_path / "lost", job / "shards" / "001")
    with pytest.raises(ConfigError, match="is not news/001 any more: the shard was begun again in another directory"):
        store(job / "shards" / "001", kind.url, captures=True)
    assert texts(kind) == expected(23, *range(1, 20))
    assert {row["crawl"] for row in kind.rows("captures")} == {"news/000", "news/001"}


def test_a_kill_while_the_rows_of_a_lost_log_are_removed_is_made_good(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = crawls.divided(tmp_path / "news", 1)
    with crawls.shard(job, 0, incarnation=5) as lost:
        lost.commit([sample(0)])
        store(lost.directory, kind.url)
    shutil.move(job / "shards" / "000", tmp_path / "lost")
    with crawls.shard(job, 0, incarnation=7, first=10) as begun:
        begun.commit([sample(10)])
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("windrow.jobs.store.part.StoredPart._clear", _half)
            store(begun.directory, kind.url)
        assert store(begun.directory, kind.url).documents == 1
    assert texts(kind) == expected(11, *range(10))


def _half(own: object, storage: Storage, position: object) -> None:
    own._write(storage, position)  # type: ignore[attr-defined]
    raise KeyboardInterrupt


def test_a_shard_of_another_job_of_the_same_name_is_refused(sqlite: Kind, tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two")):
        job = crawls.divided(tmp_path / name / "news", 1, job=name)
        with crawls.shard(job, 0, incarnation=number + 1, first=number) as crawl:
            crawl.commit([sample(number)])
            if name == "one":
                store(crawl.directory, sqlite.url)
                continue
            with pytest.raises(ConfigError, match="another crawl with the name news/000"):
                store(crawl.directory, sqlite.url)
            store(crawl.directory, sqlite.url, name="other")
    assert {row["crawl"] for row in sqlite.rows("documents")} == {"news/000", "other/000"}


def test_a_log_that_was_cut_behind_a_replaced_process_is_stored_again(sqlite: Kind, tmp_path: Path) -> None:
    """The storage has a frame of a process that did not know yet that it was replaced: the next file says so."""
    from windrow import log
    from windrow.records import Frame

    job = crawls.divided(tmp_path / "news", 1)
    with crawls.shard(job, 0, incarnation=5) as crawl:
        crawl.commit([sample(0)])
        (path,) = (crawl.directory / "log").iterdir()
        end = path.stat().st_size
        crawl.commit([sample(1)])
        store(crawl.directory, sqlite.url)
        assert texts(sqlite) == expected(2)
        following = f"{int(path.name[:5]) + 1:05}.jsonl.gz"
        frame = Frame(2, 1009.0, (), {}, incarnation=6, follows=(path.name, end))
        (path.parent / following).write_bytes(log.encode(frame))
        store(crawl.directory, sqlite.url)
    assert texts(sqlite) == expected(1)
