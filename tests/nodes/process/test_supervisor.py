"""`windrow crawl --shards`: all shards on one machine, killed at will, find what one crawl finds."""

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests import crashing, truth
from tests.redisserver import needs_redis, serve
from tests.world import World
from windrow import config
from windrow.config import ConfigError
from windrow.crawler.ending import Ending
from windrow.log import Tally
from windrow.nodes import directories
from windrow.nodes.process import child as process
from windrow.nodes.process import supervisor
from windrow.nodes.process.child import ShardProcess
from windrow.records import Counts

pytestmark = needs_redis
DELAY, IP_DELAY = 0.03, 0.01
OPTIONS = (f"fetch.delay={DELAY}", f"fetch.ip_delay={IP_DELAY}")


def crawled(directory: Path) -> list[Path]:
    return sorted((directory / "shards").iterdir())


def assert_whole(directory: Path, world: World) -> None:
    records = [record for one in crawled(directory) for record in truth.archive(one) if record.type == "response"]
    found = Counter(record.url for record in records)
    assert max(found.values()) == 1
    assert {url for url in found if not world.graph.trapped(url)} == world.expected.must_have
    ends = sum((truth.committed(one) for one in crawled(directory)), Counter[str]())
    assert set(ends.values()) == {1}, "every URL ends once"
    assert ends.keys() >= world.expected.must_have | world.expected.redirects | world.expected.missing


def start(directory: Path, *arguments: str, path: Path = crashing.ROOT) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": f"{path}:{crashing.ROOT / 'src'}"}
    command = [sys.executable, "-m", "windrow.cli", "crawl", str(directory), "--json", *arguments]
    return subprocess.Popen(
        command,
        cwd=crashing.ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that `crashing.kill` ends it
    )


def children(pid: int) -> dict[str, list[int]]:
    """Return the processes that a process has started: the Redis server, and the shards."""
    found: dict[str, list[int]] = {"redis": [], "shard": []}
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        line = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        kind = "shard" if b"shard" in line else "redis" if b"redis" in line[0] or b"valkey" in line[0] else ""
        if kind:
            found[kind].append(int(child))
    return found


def finished(directory: Path) -> int:
    return sum(sum(truth.committed(one).values()) for one in crawled(directory) if (one / "log").exists())


def test_a_crawl_is_divided_counted_as_a_whole_and_continued(tmp_path: Path) -> None:
    with World(seed=61, pages=60, hosts=8, domains=True, kinds=("absent",)) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *OPTIONS)
        process = start(directory, "--shards", "3")
        out, err = process.communicate(timeout=280)
        assert process.returncode == 0, err
        ending: dict[str, Any] = json.loads(out)
        assert ending["why"] == "done" and len(ending["shards"]) == 3
        assert_whole(directory, world)
        truth.assert_polite(world, DELAY, IP_DELAY)
        status = json.loads(crashing.run(["status", str(directory), "--json"]).out)
        truth.assert_reconciled(status)
        assert status["finished"]["ok"] == len({url for one in crawled(directory) for url in truth.pages(one)})
        report = crashing.run(["report", str(directory)])
        assert report.code == 0 and (directory / "report" / "index.html").exists(), report.err
        count = len(world.requests())
        again = crashing.run(["crawl", str(directory)])
        assert again.code == 0 and "nothing is left to crawl" in again.out and "3 shards" in again.out
        assert len(world.requests()) == count
        for arguments, sentence in (
            (["crawl", str(directory), "--shards", "2"], "has 3 shards, and their number cannot change"),
            (["what-if", str(directory)], "is divided into shards"),
            (["shard", str(directory), "--redis", "redis://127.0.0.1:1"], "is divided into shards"),
            (["shard", str(crawled(directory)[0]), "--redis", "redis://127.0.0.1:1"], "no Redis answers"),
            (["shard", str(crawled(directory)[0])], "say where the Redis server"),
        ):
            refused = crashing.run(arguments)
            assert refused.code == 2 and sentence in refused.err, (arguments, refused.err)


def test_the_limits_of_a_crawl_count_all_shards_and_the_next_run_continues(tmp_path: Path) -> None:
    def crawl(*arguments: str) -> tuple[str, int]:
        process = start(directory, *arguments)
        out, err = process.communicate(timeout=280)
        assert process.returncode == 0, err
        ending = json.loads(out)
        return ending["why"], sum(shard["tally"]["pages"] for shard in ending["shards"])

    with World(seed=65, pages=200, hosts=12, domains=True, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.2", *truth.TEXT)
        first = crawl("--shards", "2", "--max-pages", "25")
        assert first[0] == "pages" and 25 <= first[1] < 150
        documents = json.loads(crashing.run(["status", str(directory), "--json"]).out)["documents"]
        why, _ = crawl("--max-documents", str(documents + 10))
        assert why == "documents"
        status = json.loads(crashing.run(["status", str(directory), "--json"]).out)
        assert documents + 10 <= status["documents"] < documents + 120
        assert crawl("--max-tokens", "10") == ("tokens", 0), "the corpus of earlier runs counts"


def test_a_directory_that_was_crawled_without_shards_is_not_divided(tmp_path: Path) -> None:
    with World(seed=62, pages=10, hosts=2, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world)
        assert crashing.run(["crawl", str(directory), "--max-pages", "2"]).code == 0
        refused = crashing.run(["crawl", str(directory), "--shards", "2"])
        assert refused.code == 2 and "was crawled without shards" in refused.err


def test_without_a_redis_server_nothing_is_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with World(seed=62, pages=3, hosts=1, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world)
        before = sorted(directory.iterdir())
        process = start(directory, "--shards", "2")
        _, err = process.communicate(timeout=100)
    assert process.returncode == 2 and "there is no redis-server here" in err
    assert sorted(directory.iterdir()) == before


def test_ctrl_c_stops_all_shards_cleanly_and_none_is_left(tmp_path: Path) -> None:
    with World(seed=63, pages=120, hosts=9, domains=True, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.1")
        process = start(directory, "--shards", "3")
        while not (directory / "shards").exists() or finished(directory) < 10:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        started = children(process.pid)
        assert len(started["shard"]) == 3 and len(started["redis"]) == 1
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        assert json.loads(out)["why"] == "stopped"
        assert not any(Path(f"/proc/{pid}").exists() for pids in started.values() for pid in pids)
        assert crashing.run(["crawl", str(directory), "--set", "fetch.delay=0.01"]).code == 0
        assert_whole(directory, world)


def test_a_copy_of_a_crawl_directory_is_not_crawled_beside_it(tmp_path: Path) -> None:
    """Both would request every host, and no shard would see the end."""
    with World(seed=63, pages=120, hosts=9, domains=True, kinds=()) as world, serve() as server:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=3")
        process = start(directory, "--shards", "2", "--redis", server.url)
        while not (directory / "shards").exists() or finished(directory) < 10:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        copied = Path(shutil.copytree(directory, tmp_path / "copy", ignore=shutil.ignore_patterns("lock", "*.lock")))
        before = finished(copied)
        refused = crashing.run(["crawl", str(copied), "--redis", server.url])
        assert refused.code == 2 and "has the same job as" in refused.err, refused
        assert finished(copied) == before
        crashing.kill(process)
        while crashing.run(["status", str(directory), "--json"]).json["running"]:  # its shards end cleanly
            time.sleep(0.1)
        words = ["crawl", str(directory), "--redis", server.url, "--set", "fetch.delay=0.01"]
        assert crashing.run(words).code == 0
        assert_whole(directory, world)


def test_shards_whose_supervisor_is_killed_finish_their_requests(tmp_path: Path) -> None:
    with World(seed=67, pages=120, hosts=9, domains=True, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.1", *truth.TEXT)
        process = start(directory, "--shards", "2")
        while not (directory / "shards").exists() or finished(directory) < 10:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        shards = children(process.pid)["shard"]
        process.kill()
        process.communicate()
        while any(Path(f"/proc/{pid}").exists() for pid in shards):
            time.sleep(0.02)
        logged = set().union(*(truth.committed(one) for one in crawled(directory)))
        assert logged >= {url for url in world.requested() if not url.endswith("/tdmrep.json")}
        assert crashing.run(["crawl", str(directory), "--set", "fetch.delay=0.01"]).code == 0
        assert_whole(directory, world)


def test_ctrl_c_before_the_shards_are_ready_stops_them_all_the_same(tmp_path: Path) -> None:
    with World(seed=63, pages=120, hosts=9, domains=True, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, "fetch.delay=0.1")
        process = start(directory, "--shards", "3")
        while len(children(process.pid)["shard"]) < 2:  # the last is being started, none has read its options
            assert process.poll() is None, process.communicate()
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        assert json.loads(out)["why"] == "stopped"
        assert finished(directory) < 20


@pytest.mark.parametrize(
    ("seed", "shards", "deaths"), [(64, 3, 4), *(pytest.param(n, 4, 40, marks=pytest.mark.long) for n in range(70, 80))]
)
def test_shards_and_redis_may_be_killed_again_and_again(seed: int, shards: int, deaths: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    pages = 60 + 25 * deaths
    with World(seed=seed, pages=pages, hosts=12, domains=True, kinds=("absent",)) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *OPTIONS, *truth.TEXT)
        process = start(directory, "--shards", str(shards))
        killed = 0
        try:
            while process.poll() is None and killed < deaths:
                time.sleep(draw.uniform(0.5, 2.0))
                living = children(process.pid)
                pids = living["redis"] if killed % 2 and living["redis"] else living["shard"]
                if pids:
                    os.kill(draw.choice(pids), signal.SIGKILL)
                    killed += 1
            out, err = process.communicate(timeout=300)
        finally:
            crashing.kill(process)
        assert process.returncode == 0, err
        assert json.loads(out)["why"] == "done" and killed
        assert_whole(directory, world)
        truth.assert_polite(world, DELAY, IP_DELAY)
        texts = Counter(document["url"] for one in crawled(directory) for document in truth.documents(one))
        assert texts and set(texts.values()) == {1}
        exported = crashing.run(["export", str(directory), "--format", "jsonl", "-o", str(tmp_path / "all.jsonl")])
        assert exported.code == 0, exported.err
        urls = [json.loads(line)["metadata"]["url"] for line in (tmp_path / "all.jsonl").read_text().splitlines()]
        assert urls and set(urls) <= texts.keys() and len(urls) == len(set(urls))


@pytest.mark.parametrize(("grows", "started"), [(0, 2), (supervisor.PROGRESS, 3)])
def test_a_shard_that_dies_again_and_again_without_progress_ends_the_crawl(
    grows: int, started: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with World(seed=65, pages=3, hosts=1, domains=True, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world)
    (place,) = directories.prepare(directory, config.load(directory / "crawl.toml"), 1)
    (place / "log").mkdir()
    lives = 0

    async def die(place: Path, url: str, arguments: list[str], note: Callable[[str], None]) -> ShardProcess:
        nonlocal lives
        lives += 1
        with (place / "log" / "0").open("ab") as written:
            written.write(bytes(grows if lives < 3 else 0))
        command = [sys.executable, "-c", "raise SystemExit(7)"]
        return ShardProcess(await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE), note)

    monkeypatch.setattr(process, "start", die)
    monkeypatch.setattr(supervisor, "DEATHS", 2)
    monkeypatch.setattr(process, "PAUSE", 0.01)
    notes: list[str] = []
    with pytest.raises(ConfigError, match="shard 0 could not be run"):
        asyncio.run(supervisor.Supervisor(directory, "", [], notes.append).run())
    assert lives == started and notes == ["shard 0 has died (exit code 7); it is started again"] * started


def test_a_shard_that_redis_does_not_answer_at_its_start_is_tried_as_long_as_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shard that has died while Redis is away must not end a crawl whose other shards wait for Redis."""
    with World(seed=66, pages=12, hosts=3, domains=True, kinds=()) as world, serve() as redis:
        directory = truth.prepare(tmp_path / "crawl", world)
        directories.prepare(directory, config.load(directory / "crawl.toml"), 1)
        begin = process.start

        async def lose(place: Path, url: str, words: list[str], say: Callable[[str], None]) -> ShardProcess:
            if not notes:
                redis.kill()
            return await begin(place, url, words, say)

        monkeypatch.setattr(process, "start", lose)
        monkeypatch.setattr(supervisor, "DEATHS", 1)
        monkeypatch.setattr(process, "PATIENCE", 0.2)
        monkeypatch.setattr(process, "PAUSE", 0.01)
        notes: list[str] = []

        def note(text: str) -> None:
            notes.append(text)
            if len(notes) == 2:
                redis.start()

        made = supervisor.Supervisor(directory, redis.url, ["--set", "identity.contact=x@example.org"], note)
        assert asyncio.run(made.run()).why == "done"
        assert all("does not answer" in text for text in notes[:2]), notes
        assert not any("has died" in text for text in notes)
        assert_whole(directory, world)


class Acting:
    """Stands in for the processes of shards: each prints an ending, the first one of shard 2 not before it is told."""

    def __init__(self, last_words: str) -> None:
        """`last_words`: of the first process of shard 2."""
        self.lives: list[int] = []
        self.told = asyncio.Event()
        self._last_words = last_words
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, place: Path, url: str, words: list[str], note: Callable[[str], None]) -> ShardProcess:
        number = int(place.name)
        self.lives.append(number)
        waits = number == 2 and self.lives.count(2) == 1
        ending = msgspec.json.encode(Ending("done", 1.0, Tally(pages=2, finished={"ok": 2}), Counts())).decode()
        act = self._last_words if waits and self._last_words else f"print({ending!r})"
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", f"import sys; sys.stdin.read(); {act}", stdin=PIPE, stdout=PIPE, stderr=PIPE
        )
        assert child.stdin is not None
        if waits:
            self._tasks.append(asyncio.create_task(self._tell(child.stdin)))
        else:
            child.stdin.close()
        return ShardProcess(child, note)

    async def _tell(self, input: asyncio.StreamWriter) -> None:
        await self.told.wait()
        input.close()


@pytest.fixture
def divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with World(seed=65, pages=3, hosts=1, domains=True, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world)
    directories.prepare(directory, config.load(directory / "crawl.toml"), 3)
    monkeypatch.setattr(process, "PAUSE", 0.01)
    return directory


def test_if_no_host_has_ever_answered_shards_without_a_url_do_not_wait_for_ever(
    divided: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = msgspec.json.encode(Ending("offline", 1.0, Tally(), Counts())).decode()

    async def act(place: Path, url: str, words: list[str], note: Callable[[str], None]) -> ShardProcess:
        program = f"print({ending!r})" if place.name == "002" else "import time; time.sleep(600)"
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", program),
            stdout=PIPE,
            stderr=PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell in the background ignores it
        )
        return ShardProcess(child, note)

    monkeypatch.setattr(process, "start", act)
    monkeypatch.setattr(supervisor, "LAST", 0.01)
    found = asyncio.run(asyncio.wait_for(supervisor.Supervisor(divided, "", [], print).run(), 60))
    assert found.why == "offline" and len(found.shards) == 1


async def until(condition: Callable[[], bool], act: asyncio.Event) -> None:
    while not condition():
        await asyncio.sleep(0.01)
    act.set()


def test_shards_that_have_ended_are_started_again_for_one_that_dies(
    divided: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory of the one that dies may be lost, and only the others have its links."""
    acting, notes = Acting("sys.exit(7)"), list[str]()
    monkeypatch.setattr(process, "start", acting.start)

    async def run() -> supervisor.JobEnding:
        made = supervisor.Supervisor(divided, "", [], notes.append)
        telling = asyncio.create_task(until(lambda: made._done == {0, 1}, acting.told))
        found = await made.run()
        await telling
        return found

    found = asyncio.run(run())
    assert Counter(acting.lives) == {0: 2, 1: 2, 2: 2} and found.why == "done"
    assert [shard.tally.pages for shard in found.shards] == [4, 4, 2]
    assert notes[0] == "shard 2 has died (exit code 7); it is started again" and notes[1].endswith("links: 0-1")


def test_shards_that_have_ended_are_started_again_if_one_does_not_see_the_end(
    divided: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis may have been emptied before it looked."""
    acting = Acting("")
    monkeypatch.setattr(process, "start", acting.start)
    monkeypatch.setattr(supervisor, "LATE", 0.3)

    async def run() -> supervisor.JobEnding:
        made = supervisor.Supervisor(divided, "", [], print)
        telling = asyncio.create_task(
            until(lambda: acting.lives.count(0) > 1 and acting.lives.count(1) > 1, acting.told)
        )
        found = await made.run()
        await telling
        return found

    found = asyncio.run(run())
    assert found.why == "done" and acting.lives.count(2) == 1
