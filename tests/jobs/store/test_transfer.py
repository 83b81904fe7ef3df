"""`windrow store` as a process: following a crawl, kills at every step, the command line."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.jobs.store.conftest import KINDS, Kind, rename_as_hdfs
from tests.jobs.store.crawls import GrowingCrawl, growing, sample
from tests.jobs.store.test_storages import expected, store, texts
from windrow import cli
from windrow.config import ConfigError
from windrow.jobs.store import feed
from windrow.jobs.store import transfer as job
from windrow.jobs.store.part import alone


@pytest.fixture
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    return KINDS["directory"](request, tmp_path)


class Followed:
    """A crawl that commits one page while `windrow store` sleeps, on a clock that only these sleeps move."""

    def __init__(self, crawl: GrowingCrawl, running: Callable[[float], bool]) -> None:
        self.crawl = crawl
        self.now = 0.0
        self._running = running

    def commit(self) -> None:
        self.crawl.commit([sample(self.crawl.pages)])

    def store(self, target: str) -> job.StoreSummary:
        options = job.StoreOptions(directory=self.crawl.directory, target=target, follow=True)
        context = job.StoreContext(
            running=lambda: self._running(self.now),
            watch=lambda count: None,
            note=lambda text: None,
            clock=lambda: self.now,
            sleep=self._sleep,
        )
        return job.run(options, context)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds
        self.commit()


def test_a_crawl_is_followed_to_its_end(sqlite: Kind, tmp_path: Path) -> None:
    def running(now: float) -> bool:
        if crawl.frames == 5:  # the last frame is committed while this is asked
            followed.commit()
            return False
        return True

    with growing(tmp_path / "mycrawl") as crawl:
        followed = Followed(crawl, running)
        assert followed.store(sqlite.url).documents == 6
    assert texts(sqlite) == expected(6)


def test_files_are_written_once_per_minute_of_a_crawl_that_is_followed(directory: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl") as crawl:
        Followed(crawl, lambda now: now < 150).store(directory.url)
    assert texts(directory) == expected(150)
    names = sorted(path.name for path in Path(directory.url, "mycrawl", "documents").iterdir())
    assert [name.partition("-")[0] for name in names] == ["0000000001", "0000000061", "0000000121"]
    assert len({name.partition("-")[2] for name in names}) == 1, "of one writer"


@pytest.mark.parametrize("renamed", [True, False], ids=["a directory here", "renames as on HDFS"])
def test_a_kill_at_every_step_of_writing_files_loses_and_repeats_nothing(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, renamed: bool
) -> None:
    monkeypatch.setattr(feed, "ROWS", 3)
    if not renamed:
        rename_as_hdfs(monkeypatch)
    kills = 0
    while True:
        folder = tmp_path / str(kills)
        target = KINDS["directory"](request, folder)
        with growing(folder / "mycrawl", frames=2) as crawl:
            store(crawl.directory, target.url)
            crawl.purge(sample(4).url)
            crawl.commit([sample(6), sample(7)])
            (crawl.directory / "takedown.txt").write_text(f"{sample(2).url}\n")
            killed = dies_at(
                kills,
                crawl.directory,
                target.url,
                lambda event, values, url=target.url: bool(values) and str(values[0]).startswith(url),
            )
            crawl.commit([sample(8)])
            store(crawl.directory, target.url)
            assert texts(target) == expected(9, 2, 4)
        if not killed:
            break
        kills += 1
    assert kills > 25


def dies_at(step: int, crawl: Path, target: str, counts: Callable[[str, tuple[object, ...]], bool]) -> bool:
    """Store in a child process, which is killed before the event of this number that counts; return whether it was."""
    child = os.fork()
    if not child:
        left = step

        def hook(event: str, values: tuple[object, ...]) -> None:
            nonlocal left
            if counts(event, values):
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1

        try:
            sys.addaudithook(hook)
            store(crawl, target)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_two_processes_do_not_store_a_crawl_in_one_place(sqlite: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=1) as crawl:
        options = job.StoreOptions(directory=crawl.directory, target=sqlite.url)
        with alone(options), pytest.raises(ConfigError, match="another process stores"):
            store(crawl.directory, sqlite.url)
        store(crawl.directory, sqlite.url)


def test_a_server_that_stays_away_ends_the_command_with_one_sentence(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS["mongo-wire"](request, tmp_path)
    server = kind.server
    assert server is not None
    monkeypatch.setattr("windrow.jobs.store.mongodb._TIMEOUT", 100)
    monkeypatch.setattr(feed, "ROWS", 3)
    pauses: list[float] = []
    with growing(tmp_path / "mycrawl", frames=2) as crawl:
        options = job.StoreOptions(directory=crawl.directory, target=kind.url)
        context = job.StoreContext(
            running=lambda: False, watch=lambda count: server.kill(), note=lambda text: None, sleep=pauses.append
        )
        with pytest.raises(ConfigError, match=r"cannot be opened: .*; check that the server runs"):
            job.run(options, context)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 15.0]
    assert texts(kind) == expected(3)


def test_the_command_prints_for_people_and_for_programs(sqlite: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=2) as crawl:
        (crawl.directory / "takedown.txt").write_text("nobody.example.org\n")
        run = CliRunner().invoke(cli.app, ["store", str(crawl.directory), "--to", sqlite.url, "--captures"])
        assert run.output == f"{sqlite.url}: 6 documents, 6 captures of mycrawl stored, up to frame 2 of its log\n"
        (crawl.directory / "takedown.txt").write_text("h1.example.org\n")
        again = CliRunner().invoke(cli.app, ["store", str(crawl.directory), "--to", sqlite.url, "--captures", "--json"])
        assert json.loads(again.output) == {
            "target": sqlite.url,
            "crawl": "mycrawl",
            "documents": 0,
            "captures": 0,
            "removed": 1,
            "frame": 2,
        }


def test_a_directory_without_a_crawl_is_refused(sqlite: Kind, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no crawl"):
        store(tmp_path, sqlite.url)
    assert not (tmp_path / "corpus.db").exists()
