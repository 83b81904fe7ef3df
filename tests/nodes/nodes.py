"""Nodes as processes of their own, for tests: a Redis server, a job of a small world, and data directories."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tests import crashing, truth, waiting
from tests.redisserver import Server
from tests.world import World
from windrow import config
from windrow.nodes import limits
from windrow.nodes.redis import job
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.registry import JobSpec, Registry

JOB = "test"
_T = TypeVar("_T")


class Nodes:
    """The nodes of one job."""

    def __init__(self, place: Path, server: Server, world: World, shards: int, *options: str) -> None:
        self.server, self.world, self.shards = server, world, shards
        self.data = place / "data"
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self._starts: Counter[str] = Counter()
        self._files = place / "notes"
        self._files.mkdir(parents=True)
        made = truth.prepare(place / "made", world, f"fetch.hosts_file={place / 'made' / 'hosts'}", *options)
        text, seeds = (made / "crawl.toml").read_text(), (made / "seeds.txt").read_text()
        self.record = job.make(JOB, shards, "0", time.time())
        goals = limits.of(config.load(made / "crawl.toml").crawl)
        self.ask(lambda registry: registry.create(self.record, JobSpec(text, seeds), goals))

    def ask(self, act: Callable[[Registry], Any]) -> Any:
        """Ask the registry something, on a connection of its own."""

        async def main() -> Any:
            client = RedisClient(self.server.url)
            try:
                return await act(Registry(client))
            finally:
                await client.close()

        return asyncio.run(main())

    def key(self, name: str) -> str:
        return f"windrow:{{{JOB}}}:{name}"

    def hush_is_over(self) -> None:
        """Let leases be taken at once, although this server has just begun."""
        self.server.command("SET", self.key("lease-era"), self.run_id())
        self.server.command("DEL", self.key("lease-hush"))

    def run_id(self) -> str:
        lines = self.server.command("INFO", "server").decode().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("run_id:"))

    def expire_leases(self) -> None:
        """Do what ten seconds do to the leases of the dead."""
        for shard in range(self.shards):
            self.server.command("DEL", self.key(f"lease:{shard}"))

    def forget_node(self, name: str) -> None:
        """Do what ten seconds do to the sign of life of a node."""
        self.server.command("ZINCRBY", "windrow:beats", "-10001", name)

    def start(
        self, name: str, *arguments: str, data: Path | None = None, machine: Sequence[str] = ()
    ) -> "subprocess.Popen[str]":
        """Start a node. `machine`: words before its command that give it a machine of its own."""
        environment = {**os.environ, "PYTHONPATH": f"{crashing.ROOT}:{crashing.ROOT / 'src'}"}
        command = [*machine, sys.executable, "-m", "windrow.cli", "node", "--redis", self.server.url, "--name", name]
        command += ["--json", "--dir", str(data or self.data), *arguments]
        with (self._files / f"{name}.out").open("a") as out, (self._files / f"{name}.err").open("a") as err:
            process = subprocess.Popen(command, cwd=crashing.ROOT, env=environment, stdout=out, stderr=err, text=True)
        self.processes[name] = process
        self._starts[name] += 1
        return process

    def has_joined(self, name: str) -> bool:
        """Return whether a node that was started has joined, or has ended."""
        joined = sum(note.get("kind") == "joined" for note in self.notes(name))
        return self.processes[name].poll() is not None or joined == self._starts[name]

    def notes(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self._files / f"{name}.out").read_text().splitlines()]

    def errors(self, name: str) -> str:
        return (self._files / f"{name}.err").read_text()

    def told(self) -> str:
        """Return everything that the nodes have said, for the message of a test that fails."""
        return "\n".join(path.read_text()[-3000:] for path in sorted(self._files.iterdir()))

    def shard_processes(self, name: str) -> dict[int, int]:
        """Return the processes of the shards that a node runs, by their shard."""
        pid = self.processes[name].pid
        found = {}
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")
                if "shard" in words:
                    found[int(Path(words[words.index("shard") + 1]).name)] = int(child)
        return found

    def until(self, reached: Callable[[], Any], seconds: float = 100.0) -> None:
        waiting.until(reached, seconds, self.told)

    def directories(self, *data: Path) -> list[Path]:
        return [path for one in (data or (self.data,)) for path in sorted((one / JOB / "shards").glob("*"))]

    def finished(self, *data: Path) -> int:
        found = [truth.committed(one) for one in self.directories(*data) if (one / "log").exists()]
        return sum(sum(ends.values()) for ends in found)

    def wait(self, name: str, seconds: float = 150.0) -> dict[str, Any]:
        """Wait for the end of a node; return what it says of that."""
        process = self.processes[name]
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(self.told()) from None
        assert code == 0, self.told()
        return self.notes(name)[-1]

    def kill(self, name: str) -> None:
        """Kill a node and all processes that it has started, as a machine that loses power does."""
        for pid in [self.processes[name].pid, *self.shard_processes(name).values()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.processes[name].wait()

    def archived(self, *data: Path) -> Counter[str]:
        """Return how often each page is in an archive."""
        places = self.directories(*data)
        return Counter(record.url for one in places for record in truth.archive(one) if record.type == "response")

    def assert_whole(self, *data: Path) -> None:
        """Check that every page of the world is in one archive, once, and that every URL has ended once."""
        places = self.directories(*data)
        found = self.archived(*data)
        assert max(found.values()) == 1
        assert {url for url in found if not self.world.graph.trapped(url)} == self.world.expected.must_have
        ends = sum((truth.committed(one) for one in places), Counter[str]())
        assert set(ends.values()) == {1}, "every URL ends once"
        expected = self.world.expected
        assert ends.keys() >= expected.must_have | expected.redirects | expected.missing

    def end(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for name, process in self.processes.items():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill(name)


@contextlib.contextmanager
def job_of(place: Path, server: Server, world: World, shards: int, *options: str) -> Iterator[Nodes]:
    nodes = Nodes(place, server, world, shards, *options)
    try:
        yield nodes
    finally:
        nodes.end()
