"""The documents of shards reach a storage while they are crawled, whichever process is killed."""

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.jobs.store import crawls
from tests.jobs.store.crawls import GrowingCrawl, sample
from tests.nodes.nodes import JOB, job_of
from tests.nodes.process.test_supervisor import OPTIONS, crawled, start
from tests.nodes.test_node import DELAY, SLOW
from tests.nodes.test_storms import Storm
from tests.redisserver import needs_redis, serve
from tests.world import World
from windrow.config import ConfigError
from windrow.nodes.process import child as process
from windrow.nodes.process import storing
from windrow.nodes.process.storing import ShardStoring

pytestmark = needs_redis
PATIENCE = 120.0  # seconds


def stored(database: Path) -> dict[str, str]:
    """Return the crawl of each document that a database has, by its id."""
    with contextlib.closing(sqlite3.connect(database, timeout=60)) as client:
        try:
            rows = client.execute("SELECT id, crawl FROM windrow_documents").fetchall()
        except sqlite3.OperationalError:  # there is no table yet
            return {}
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def kept(places: Collection[Path], job: str) -> dict[str, str]:
    """Return the shard of each document in the corpora of shards, by its id."""
    return {
        document["id"]: f"{job}/{place.name}"
        for place in places
        if (place / "corpus").exists()
        for document in truth.documents(place)
    }


def storing_processes(parent: int) -> list[int]:
    """Return the processes that store, of a process that has started them."""
    found = []
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        with contextlib.suppress(OSError):
            if b"--held" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0"):
                found.append(int(child))
    return found


async def until(reached: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


@contextlib.contextmanager
def two_shards(place: Path):  # type: ignore[no-untyped-def]
    job = crawls.divided(place / "news", 2)
    with crawls.shard(job, 0) as one, crawls.shard(job, 1, first=100) as two:
        yield one, two


def without_waits(notes: list[str]) -> list[str]:
    """Return the notes of a process on a machine that is never slow."""
    return [note for note in notes if not note.startswith("the last documents are being stored")]


def commit(shard: GrowingCrawl) -> None:
    shard.commit([sample(shard.pages)])


def test_shards_are_stored_while_they_are_held_and_given_back_ones_up_to_their_end(tmp_path: Path) -> None:
    database, notes = tmp_path / "corpus.db", list[str]()

    async def main() -> None:
        with two_shards(tmp_path) as (one, two):
            async with storing.storing(f"sqlite:///{database}", False, notes.append) as keeper:
                commit(one)
                keeper.hold([one.directory])
                await until(lambda: len(stored(database)) == 1)
                commit(one)
                commit(two)
                keeper.hold([two.directory])
                await until(lambda: len(stored(database)) == 3)
                (child,) = storing_processes(os.getpid())
                os.kill(child, signal.SIGTERM)  # as a service manager does; the end of the pipe is what counts
                commit(two)
            assert not keeper.failed

    asyncio.run(main())
    assert sorted(stored(database).values()) == ["news/000", "news/000", "news/001", "news/001"]
    assert without_waits(notes) == []


def test_a_process_that_is_killed_is_started_again_and_finds_what_was_given_back_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "PAUSE", 0.05)
    database, notes = tmp_path / "corpus.db", list[str]()

    async def main() -> None:
        with two_shards(tmp_path) as (one, two):
            async with storing.storing(f"sqlite:///{database}", True, notes.append) as keeper:
                commit(one)
                keeper.hold([one.directory])
                await until(lambda: len(stored(database)) == 1)
                (child,) = storing_processes(os.getpid())
                os.kill(child, signal.SIGSTOP)
                commit(one)
                commit(two)
                keeper.hold([two.directory])
                os.kill(child, signal.SIGKILL)
                await until(lambda: len(stored(database)) == 3)
                (child,) = storing_processes(os.getpid())
                os.kill(child, signal.SIGSTOP)
                commit(two)
                asyncio.get_running_loop().call_later(0.2, os.kill, child, signal.SIGKILL)
            assert not keeper.failed

    asyncio.run(main())
    assert len(stored(database)) == 4
    died = "the process that stores documents has died (exit code -9); it is started again"
    assert without_waits(notes) == [died] * 2


def test_the_address_is_neither_in_the_words_nor_in_the_environment_of_the_process(tmp_path: Path) -> None:
    async def main() -> None:
        async with storing.storing(f"sqlite:///{tmp_path}/secret.db", False, print):
            await until(lambda: storing_processes(os.getpid()))
            (child,) = storing_processes(os.getpid())
            for name in ("cmdline", "environ"):
                assert b"secret" not in Path(f"/proc/{child}/{name}").read_bytes()

    asyncio.run(main())


def test_a_wrong_address_is_refused_in_one_sentence_without_its_password() -> None:
    async def main() -> None:
        async with storing.storing("mysql://user:secret@127.0.0.1:9/corpus", False, print):
            raise AssertionError("nothing may begin")

    with pytest.raises(ConfigError, match=r"^mysql://user@127.0.0.1:9/corpus cannot be opened: ") as raised:
        asyncio.run(main())
    assert "secret" not in str(raised.value) and "\n" not in str(raised.value)


def test_a_storage_that_refuses_at_the_end_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []

    async def main() -> ShardStoring:
        with two_shards(tmp_path) as (one, _):
            async with storing.storing(f"sqlite:///{tmp_path}/corpus.db", False, notes.append) as keeper:
                commit(one)
                (path,) = (one.directory / "corpus").rglob("*.gz")
                path.write_bytes(b"")
                keeper.hold([one.directory])
            return keeper

    assert asyncio.run(main()).failed
    assert without_waits(notes)[-1] == "1 shard could not be stored; see above"


def test_a_crawl_with_shards_stores_each_document_once(tmp_path: Path) -> None:
    database = tmp_path / "corpus.db"
    with World(seed=61, pages=60, hosts=8, domains=True, kinds=("absent",)) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *OPTIONS, *truth.TEXT)
        running = start(directory, "--shards", "3", "--store-to", f"sqlite:///{database}", "--store-captures")
        out, err = running.communicate(timeout=280)
    assert running.returncode == 0, err
    assert json.loads(out)["why"] == "done"
    found = kept(crawled(directory), "crawl")
    assert stored(database) == found and len(set(found.values())) == 3
    again = crashing.run(["store", str(directory), "--to", f"sqlite:///{database}", "--captures", "--json"])
    assert again.json["documents"] == again.json["captures"] == 0
    refused = crashing.run(["crawl", str(directory), "--store-to", "sqlite:////nowhere/at/all.db"])
    assert refused.code == 2 and refused.err.startswith("windrow: sqlite:////nowhere/at/all.db cannot be opened: ")


@pytest.mark.long
@pytest.mark.parametrize("seed", [71, 72])
def test_kills_of_shards_of_their_directories_and_of_the_storing_process_leave_each_document_once(
    seed: int, tmp_path: Path
) -> None:
    database = tmp_path / "corpus.db"
    words = ["--shards", "4", "--store-to", f"sqlite:///{database}"]
    with (
        World(seed=seed, pages=500, hosts=12, domains=True, kinds=("absent",)) as world,
        serve() as redis,
    ):
        directory = truth.prepare(tmp_path / "crawl", world, *OPTIONS, *truth.TEXT, "fetch.delay=0.4")
        running = start(directory, *words, "--redis", redis.url)
        storm = Storm(seed, running, directory, redis)
        kills = 0
        try:
            end = time.monotonic() + PATIENCE
            while not (database.exists() and stored(database)) and time.monotonic() < end:
                time.sleep(0.05)
            for _ in range(8):
                storm.rage(len(storm.done) + 2, ("kill", "lose", "lose", "kill redis", "empty"))
                for child in storing_processes(running.pid) if running.poll() is None else []:
                    os.kill(child, signal.SIGKILL)
                    kills += 1
            _, err = running.communicate(timeout=300)
        finally:
            crashing.kill(running)
    assert running.returncode == 0, f"{storm.done} {err}"
    assert kills and "lose" in storm.done
    found = kept(crawled(directory), "crawl")
    assert stored(database) == found and found


@pytest.mark.long
def test_a_crawl_that_is_killed_has_stored_what_its_shards_committed(tmp_path: Path) -> None:
    """The shards end cleanly, and the process that stores after them."""
    database = tmp_path / "corpus.db"
    with World(seed=73, pages=500, hosts=12, domains=True, kinds=("absent",)) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *OPTIONS, *truth.TEXT)
        running = start(directory, "--shards", "3", "--store-to", f"sqlite:///{database}")
        end = time.monotonic() + PATIENCE
        while len(stored(database) if database.exists() else ()) < 20 and time.monotonic() < end:
            time.sleep(0.05)
        (child,) = storing_processes(running.pid)
        running.kill()
        running.communicate()
        end = time.monotonic() + PATIENCE
        while Path(f"/proc/{child}").exists():
            assert time.monotonic() < end
            time.sleep(0.05)
    found = kept(crawled(directory), "crawl")
    assert stored(database) == found and len(found) >= 20


@pytest.mark.long
def test_shards_that_move_between_nodes_are_stored_once(tmp_path: Path) -> None:
    """Three nodes share a data directory and a storage. One comes late, one is killed with all its processes, one
    leaves."""
    database = tmp_path / "corpus.db"
    words = ("--store-to", f"sqlite:///{database}", "--until-done")
    with (
        serve() as server,
        World(seed=74, pages=80, hosts=10, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 3, *OPTIONS, *truth.TEXT, SLOW) as nodes,
    ):
        nodes.start("one", *words)
        nodes.until(lambda: len(nodes.shard_processes("one")) == 3 and nodes.finished() > 3)
        nodes.start("two", *words)
        nodes.until(lambda: nodes.shard_processes("two"))  # given back by the first, cleanly
        nodes.start("three", *words)
        nodes.until(lambda: nodes.shard_processes("three"))
        nodes.until(lambda: len(stored(database)) > 3)
        for child in storing_processes(nodes.processes["two"].pid):
            os.kill(child, signal.SIGKILL)
        nodes.kill("two")
        nodes.expire_leases()
        nodes.forget_node("two")
        nodes.processes["one"].send_signal(signal.SIGTERM)
        assert nodes.wait("one")["why"] == "stopped"
        nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        assert nodes.wait("three")["why"] == "done"
        nodes.assert_whole()
        found = kept(nodes.directories(), JOB)
        assert stored(database) == found and len(found) > 40


@pytest.mark.long
def test_a_shard_that_begins_again_on_another_node_leaves_no_document_of_its_lost_directory(tmp_path: Path) -> None:
    database, lost, here = tmp_path / "corpus.db", tmp_path / "lost", tmp_path / "here"
    words = ("--slots", "2", "--store-to", f"sqlite:///{database}", "--until-done")
    with (
        serve() as server,
        World(seed=75, pages=80, hosts=8, domains=True, kinds=("absent",)) as world,
        job_of(tmp_path, server, world, 2, *OPTIONS, *truth.TEXT, SLOW) as nodes,
    ):
        nodes.start("lost", "--slots", "1", *words[2:], data=lost)
        nodes.start("kept", "--lost-after", "1", *words, data=here)
        nodes.until(lambda: len({*stored(database).values()}) == 2)
        for child in storing_processes(nodes.processes["lost"].pid):
            os.kill(child, signal.SIGKILL)
        nodes.kill("lost")
        before = [own for own, crawl in stored(database).items() if crawl == f"{JOB}/{nodes.directories(lost)[0].name}"]
        nodes.expire_leases()
        nodes.forget_node("lost")
        nodes.ask(lambda registry: registry.order(JOB, "set", f"fetch.delay={DELAY}"))
        assert nodes.wait("kept")["why"] == "done"
        found = kept(nodes.directories(here), JOB)
        assert stored(database) == found
        assert len(set(found.values())) == 2 and before and not found.keys() & set(before)
        nodes.start("lost", *words, data=lost)  # it comes back too late
        assert nodes.wait("lost")["why"] == "done"
        assert stored(database) == found
