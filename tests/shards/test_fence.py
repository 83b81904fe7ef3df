"""A process that was replaced writes nothing that counts, even where the lock of the directory does not hold."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.redisserver import Server, needs_redis
from tests.waiting import until
from tests.world import World
from windrow import config, log
from windrow.archive import names
from windrow.nodes import directories
from windrow.nodes.directories import ShardRecord
from windrow.nodes.process.child import REFUSED, TAKEN
from windrow.nodes.redis import job
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.leases import ShardLeases
from windrow.shards import fence
from windrow.shards.fence import Fence, ShardTaken

OPTIONS = ("fetch.delay=0.01", "fetch.ip_delay=0", "crawl.commit_pages=4", *truth.TEXT)


def test_the_latest_number_holds_and_a_clean_end_is_remembered(tmp_path: Path) -> None:
    assert fence.claim(tmp_path, 5, "one") is None
    fence.check(tmp_path, 5)
    before = fence.claim(tmp_path, 7, "two")
    assert before == Fence(5, "one", fence.machine()) and not before.may_be_alive
    with pytest.raises(ShardTaken, match="taken by two"):
        fence.check(tmp_path, 5)
    with pytest.raises(ShardTaken, match="taken by two"):
        fence.claim(tmp_path, 6, "one")
    fence.end(tmp_path, 5)
    assert fence.read(tmp_path) == Fence(7, "two", fence.machine())
    fence.end(tmp_path, 7)
    assert fence.read(tmp_path) == Fence(7, "two", fence.machine(), ended=True)


def test_a_process_of_another_machine_may_be_alive_until_it_has_ended() -> None:
    assert Fence(1, "one", "elsewhere").may_be_alive
    assert not Fence(1, "one", "elsewhere", ended=True).may_be_alive


@pytest.mark.parametrize("damaged", [b"{", b"", b"null", b'{"number": 1, "holder": "\xff", "machine": "m"}'])
def test_a_damaged_fence_is_that_of_an_unknown_process(damaged: bytes, tmp_path: Path) -> None:
    (tmp_path / fence.FILE).write_bytes(damaged)
    found = fence.read(tmp_path)
    assert found is not None and found.may_be_alive
    with pytest.raises(ShardTaken):
        fence.check(tmp_path, 1)


class OneShard:
    """The only shard of a job, and processes that run it without a lock."""

    def __init__(self, place: Path, server: Server, world: World) -> None:
        made = truth.prepare(place / "made", world, f"fetch.hosts_file={place / 'made' / 'hosts'}", *OPTIONS)
        record = ShardRecord(job.make("test", 1, "0", time.time()), 0)
        self.directory = directories.prepare_shard(made, record, config.load(made / "crawl.toml"), 1)
        self.server = server
        self.take("first")
        server.command("DEL", "windrow:{test}:lease-hush")

    def take(self, holder: str) -> int:
        """Take the lease, whoever has it; return its number, 0 while it is too early."""

        async def main() -> int:
            client = RedisClient(self.server.url)
            leases = ShardLeases(client, "test", holder)
            try:
                return leases.held[0].fence if await leases.take([0]) else 0
            finally:
                await client.close()

        self.server.command("DEL", "windrow:{test}:lease:0")
        return asyncio.run(main())

    def start(self, machine: str, place: str = "never", count: int = 0) -> "subprocess.Popen[str]":
        number = self.take(machine)
        command = [sys.executable, "-m", "tests.nodes.zombie", machine, place, str(count), "shard"]
        command += [str(self.directory), "--redis", self.server.url, "--lease", f"{machine}:{number}", "--json"]
        environment = {**os.environ, "PYTHONPATH": f"{crashing.ROOT}:{crashing.ROOT / 'src'}"}
        return subprocess.Popen(
            command, cwd=crashing.ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def frames(self) -> int:
        return sum(1 for _ in log.frames(self.directory / "log"))


def is_stopped(process: "subprocess.Popen[str]") -> bool:
    assert process.poll() is None, process.communicate()
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@needs_redis
@pytest.mark.parametrize(
    ("place", "count", "meanwhile"),
    [
        ("append", 6, True),
        *(pytest.param(place, count, while_it_runs, marks=pytest.mark.long)
          for place in ("append", "flush") for count in (1, 2, 9) for while_it_runs in (True, False)),
    ],
)  # fmt: skip
def test_the_frame_of_a_replaced_process_never_becomes_part_of_the_log(
    place: str, count: int, meanwhile: bool, tmp_path: Path, server: Server
) -> None:
    with World(seed=91, pages=60, hosts=6, domains=True, kinds=("absent",)) as world:
        shard = OneShard(tmp_path, server, world)
        zombie = shard.start("a", place, count)
        try:
            until(lambda: is_stopped(zombie))
            committed = shard.frames()
            heir = shard.start("b")
            try:
                if meanwhile:
                    until(lambda: shard.frames() > committed + 2)
                    os.kill(zombie.pid, signal.SIGCONT)
                    _, err = zombie.communicate(timeout=60)
                    assert zombie.returncode == TAKEN, err
                _, err = heir.communicate(timeout=100)
                assert heir.returncode == 0, err
                assert "the frontier is built again from the log" in err
            finally:
                crashing.kill(heir)
            if not meanwhile:
                os.kill(zombie.pid, signal.SIGCONT)
                _, err = zombie.communicate(timeout=60)
                assert zombie.returncode == TAKEN, err
                assert "has the lease of shard 0" in err or "was taken by b" in err, "by the lease or by the fence"
        finally:
            crashing.kill(zombie)
        numbers = [frame.number for frame, _ in log.frames(shard.directory / "log")]
        assert numbers == list(range(1, len(numbers) + 1))
        counted = Counter(
            entry.report.task.url.text
            for frame, _ in log.frames(shard.directory / "log")
            for entry in frame.entries
            if entry.report.final and entry.report.task.kind == truth.PAGE
        )
        assert set(counted.values()) == {1}, "every URL ends once, as the log is read"
        again = shard.start("c")  # cuts what the zombie wrote
        _, err = again.communicate(timeout=100)
        assert again.returncode == 0, err
        truth.assert_whole(shard.directory, world)
        truth.assert_corpus(shard.directory)


@needs_redis
def test_a_replaced_process_that_cannot_write_says_that_it_was_replaced(tmp_path: Path, server: Server) -> None:
    with World(seed=91, pages=20, hosts=2, domains=True, kinds=("absent",)) as world:
        shard = OneShard(tmp_path, server, world)
        zombie = shard.start("a", "append", 1)
        try:
            until(lambda: is_stopped(zombie))
            fence.claim(shard.directory, 1 << 50, "b")  # the lease still seems to be valid
            for subset in names.SUBSETS:
                shutil.rmtree(shard.directory / subset, ignore_errors=True)
                (shard.directory / subset).write_bytes(b"")  # where the process wants to create a file
            os.kill(zombie.pid, signal.SIGCONT)
            _, err = zombie.communicate(timeout=60)
        finally:
            crashing.kill(zombie)
    assert zombie.returncode == TAKEN, err


@needs_redis
def test_a_process_that_is_refused_before_it_has_begun_says_why(tmp_path: Path, server: Server) -> None:
    with World(seed=91, pages=5, hosts=2, domains=True, kinds=("absent",)) as world:
        shard = OneShard(tmp_path, server, world)
        assert fence.claim(shard.directory, 1, "before") is None
        (shard.directory / "seeds.txt").unlink()
        refused = shard.start("b")
        _, err = refused.communicate(timeout=60)
    assert refused.returncode == REFUSED and "seeds.txt" in err and "was taken" not in err
