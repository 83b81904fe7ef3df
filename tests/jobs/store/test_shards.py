"""All shards of a crawl, stored by one process: a position for each, and no shard keeps the others waiting."""

import contextlib
import json
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.jobs.store import crawls
from tests.jobs.store.conftest import Kind
from tests.jobs.store.crawls import GrowingCrawl, sample
from tests.jobs.store.test_storages import expected, texts
from windrow import cli
from windrow.config import ConfigError
from windrow.jobs.store import transfer as job
from windrow.jobs.store.held import HeldShards
from windrow.jobs.store.part import alone

SHARDS = 3


@pytest.fixture
def shards(tmp_path: Path) -> Iterator[list[GrowingCrawl]]:
    """Three shards. Shard n has the pages 100 * n + 1, 100 * n + 2 and so on."""
    made = crawls.divided(tmp_path / "news", SHARDS)
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(crawls.shard(made, number, incarnation=number + 1, first=100 * number))
            for number in range(SHARDS)
        ]


def commit(shard: GrowingCrawl, count: int = 1) -> None:
    for _ in range(count):
        shard.commit([sample(shard.pages)])


def pages(shards: list[GrowingCrawl]) -> dict[str, str]:
    wanted = {number for at, shard in enumerate(shards) for number in range(100 * at, shard.pages)}
    return expected(100 * SHARDS, *(set(range(100 * SHARDS)) - wanted))


class World:
    """Time passes when somebody sleeps, and then something happens."""

    def __init__(self, *steps: Any) -> None:
        self.now, self.notes, self.steps = 0.0, list[str](), list(steps)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.steps.pop(0)()

    def run(self, target: str, held: Any, directory: Path, **options: Any) -> job.DividedSummary:
        context = job.StoreContext(
            running=lambda: bool(self.steps),
            watch=lambda count: None,
            note=self.notes.append,
            clock=lambda: self.now,
            sleep=self.sleep,
        )
        given = job.StoreOptions(directory=directory, target=target, follow=bool(self.steps), **options)
        return job.run_all(given, context, held)


def places(shards: Collection[GrowingCrawl]) -> list[Path]:
    return [shard.directory for shard in shards]


def test_all_shards_are_stored_each_under_its_number(kind: Kind, shards: list[GrowingCrawl], tmp_path: Path) -> None:
    for number, shard in enumerate(shards):
        commit(shard, number)
    summary = World().run(kind.url, lambda: places(shards), tmp_path, captures=True)
    assert texts(kind) == pages(shards)
    assert [(one.crawl, one.documents, one.frame) for one in summary.shards] == [
        ("news/000", 0, 0),
        ("news/001", 1, 1),
        ("news/002", 2, 2),
    ]
    assert (summary.documents, summary.captures) == (3, 3)
    assert sorted((row["crawl"], int(row["seq"])) for row in kind.rows("captures")) == [
        ("news/001", 101),
        ("news/002", 201),
        ("news/002", 202),
    ]
    commit(shards[0])
    assert World().run(kind.url, lambda: places(shards), tmp_path, captures=True).documents == 1
    assert texts(kind) == pages(shards)


def test_shards_that_come_and_go_are_stored_up_to_their_end(
    sqlite: Kind, shards: list[GrowingCrawl], tmp_path: Path
) -> None:
    one, two, three = shards
    held = [one.directory]

    def move() -> None:
        """The first shard is given back, with a frame that is not stored yet; the second one is taken."""
        commit(one, 2)
        commit(two)
        held[:] = [two.directory]

    def later() -> None:
        commit(one)  # by a process elsewhere
        commit(two)

    World(lambda: commit(one), move, later, lambda: commit(two)).run(sqlite.url, lambda: held, tmp_path)
    found = texts(sqlite)
    assert found.keys() == pages(shards).keys() - expected(4, 0, 1, 2).keys()
    commit(three)
    World().run(sqlite.url, lambda: places(shards), tmp_path)
    assert texts(sqlite) == pages(shards)


def test_a_shard_that_cannot_be_stored_is_named_and_does_not_keep_the_others_waiting(
    sqlite: Kind, shards: list[GrowingCrawl], tmp_path: Path
) -> None:
    for shard in shards:
        commit(shard)
    (path,) = (shards[1].directory / "corpus").rglob("*.gz")
    data = path.read_bytes()
    path.write_bytes(data[:-8] + bytes(8))
    world = World(*[lambda: commit(shards[2])] * 20)
    with pytest.raises(ConfigError, match="1 shard could not be stored; see above"):
        world.run(sqlite.url, lambda: places(shards), tmp_path)
    assert len(world.notes) == 1 and "001/corpus" in world.notes[0], "it is said once"
    assert texts(sqlite).keys() == pages(shards).keys() - pages([GrowingCrawlOf(0), shards[1]]).keys()
    path.write_bytes(data)
    World().run(sqlite.url, lambda: places(shards), tmp_path)
    assert texts(sqlite) == pages(shards)


class GrowingCrawlOf:
    """A shard without pages, for `pages`."""

    def __init__(self, count: int) -> None:
        self.pages = count


def test_a_shard_that_another_process_stores_is_taken_over_when_that_ends(
    sqlite: Kind, shards: list[GrowingCrawl], tmp_path: Path
) -> None:
    for shard in shards:
        commit(shard)
    other = contextlib.ExitStack()
    other.enter_context(alone(job.StoreOptions(directory=shards[1].directory, target=sqlite.url)))
    world = World(lambda: commit(shards[0]), other.close, *[lambda: None] * 6)
    world.run(sqlite.url, lambda: places(shards), tmp_path)
    assert texts(sqlite) == pages(shards)
    assert [note.partition(" in ")[0] for note in world.notes] == [f"another process stores {shards[1].directory}"]
    with (
        alone(job.StoreOptions(directory=shards[1].directory, target=sqlite.url)),
        pytest.raises(ConfigError, match="1 shard could not be stored; see above"),
    ):
        World().run(sqlite.url, lambda: places(shards), tmp_path)


def test_the_command_stores_all_shards_of_a_directory(sqlite: Kind, shards: list[GrowingCrawl], tmp_path: Path) -> None:
    for shard in shards:
        commit(shard, 2)
    words = ["store", str(tmp_path / "news"), "--to", sqlite.url]
    done = CliRunner().invoke(cli.app, words)
    assert (done.exit_code, done.stdout) == (0, f"{sqlite.url}: 6 documents of news stored, 3 shards\n")
    commit(shards[2])
    again = json.loads(CliRunner().invoke(cli.app, [*words, "--json"]).stdout)
    assert (again["documents"], again["removed"]) == (1, 0)
    assert [(one["crawl"], one["frame"]) for one in again["shards"]] == [
        ("news/000", 2),
        ("news/001", 2),
        ("news/002", 3),
    ]
    alone_too = CliRunner().invoke(cli.app, ["store", str(shards[2].directory), "--to", sqlite.url, "--json"])
    assert (json.loads(alone_too.stdout)["crawl"], json.loads(alone_too.stdout)["documents"]) == ("news/002", 0)
    assert texts(sqlite) == pages(shards)
    named = CliRunner().invoke(cli.app, [*words, "--name", "other"])
    assert named.stdout.endswith("7 documents of other stored, 3 shards\n")


def test_what_is_held_comes_line_by_line_and_what_is_stored_once_is_named_once(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    running = [one]
    lines = [json.dumps({"held": [str(one), str(tmp_path / "gone")], "once": [str(two)]})]
    held = HeldShards(lines, lambda place: place in running)
    held.wait()
    assert held() == {one, two}
    assert held() == {one}
    assert held.running()
    running.clear()
    assert not held.running()


@pytest.mark.parametrize("cut", ['{"held": ["/a', '{"held": ["\udcff"]}'])
def test_a_line_that_a_kill_has_cut_is_the_last_one_and_the_shards_before_it_are_still_held(
    cut: str, tmp_path: Path
) -> None:
    held = HeldShards([json.dumps({"held": [str(tmp_path)]}), cut], lambda place: False)
    held.wait()
    assert held() == {tmp_path}
    assert not held.running(), "nobody is left who could say more"


def test_a_shard_whose_directory_is_lost_while_it_is_followed_is_stored_from_its_new_log(
    sqlite: Kind, shards: list[GrowingCrawl], tmp_path: Path
) -> None:
    """The new log is shorter than the old one, and stays so."""
    commit(shards[0], 6)

    def lose() -> None:
        for name in ("log", "corpus"):
            shutil.rmtree(shards[0].directory / name)

    def begin() -> None:
        with crawls.shard(tmp_path / "news", 0, incarnation=9, first=50) as begun:
            commit(begun)

    world = World(lose, begin, lambda: None)
    world.run(sqlite.url, lambda: places(shards[:1]), tmp_path)
    assert texts(sqlite) == expected(51, *range(50))
    assert len(world.notes) == 1 and "news/000 has a new log" in world.notes[0]
