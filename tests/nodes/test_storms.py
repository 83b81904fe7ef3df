"""Everything that can go wrong with shards on real machines, again and again: the crawl finds what one crawl finds."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import crashing, netns, truth
from tests.nodes.process.test_supervisor import assert_whole, children, crawled, start
from tests.redisserver import Server, needs_redis, serve
from tests.shared import shared
from tests.world import World
from windrow import config

pytestmark = needs_redis
DELAY, IP_DELAY = 0.03, 0.01
OPTIONS = (f"fetch.delay={DELAY}", f"fetch.ip_delay={IP_DELAY}")
FAULTS = ("kill", "kill", "kill redis", "kill redis", "empty", "stop", "stop redis", "full", "lose", "cut")
SHARDS = 4


class Cable:
    """A namespace of the network with a Redis server in it, and the cable to it, which can be pulled. Needs root."""

    def __init__(self) -> None:
        self._number = os.getpid() % 10000
        self._name, self._device = f"windrow-redis{self._number}", f"wq{self._number}"
        taken = subprocess.run(["ip", "-brief", "address"], check=True, capture_output=True, text=True).stdout
        nets = (f"10.213.{(self._number + more) % 250}" for more in range(250))
        self._net = next(net for net in nets if f" {net}." not in taken)  # a test that was killed leaves its own
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://{self._net}.1:6379"

    def _ip(self, *words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)

    def __enter__(self) -> "Cable":
        self._ip("netns", "add", self._name)
        self._ip("link", "add", f"{self._device}a", "type", "veth", "peer", f"{self._device}b", "netns", self._name)
        self._ip("addr", "add", f"{self._net}.2/30", "dev", f"{self._device}a")
        self._ip("link", "set", f"{self._device}a", "up")
        self._ip("-n", self._name, "addr", "add", f"{self._net}.1/30", "dev", f"{self._device}b")
        self.join()
        self.restart()
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._ip("netns", "del", self._name)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def restart(self) -> None:
        self.kill()
        options = ["--bind", f"{self._net}.1", "--protected-mode", "no", "--save", "", "--dir", "/tmp"]
        command = ["ip", "netns", "exec", self._name, "redis-server", *options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def command(self, *words: str) -> bytes:
        made = subprocess.run(["redis-cli", "-u", self.url, *words], capture_output=True, timeout=20)
        return made.stdout

    def cut(self) -> None:
        self._ip("-n", self._name, "link", "set", f"{self._device}b", "down")

    def join(self) -> None:
        self._ip("-n", self._name, "link", "set", f"{self._device}b", "up")


@contextlib.contextmanager
def stopped(send: Callable[[signal.Signals], None], seconds: float) -> Iterator[None]:
    send(signal.SIGSTOP)
    try:
        time.sleep(seconds)
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            send(signal.SIGCONT)


class Storm:
    """Faults against a running crawl in shards, drawn at random."""

    def __init__(self, seed: int, crawl: "subprocess.Popen[str]", directory: Path, redis: Server | Cable) -> None:
        self.chance = random.Random(seed)
        self.crawl, self.directory, self.redis = crawl, directory, redis
        self.done: list[str] = []

    def rage(self, count: int, faults: tuple[str, ...]) -> None:
        """Do so many of these faults once the shards are there, or fewer if the crawl ends before."""
        while self.crawl.poll() is None and len(children(self.crawl.pid)["shard"]) < SHARDS:
            time.sleep(0.05)
        while self.crawl.poll() is None and len(self.done) < count:
            time.sleep(self.chance.uniform(0.4, 1.6))
            fault = self.chance.choice(faults)
            with contextlib.suppress(ProcessLookupError):
                self._do(fault)
                self.done.append(fault)

    def _do(self, fault: str) -> None:
        redis = self.redis
        if fault in ("kill", "stop", "lose"):
            self._hurt(fault)
        elif fault == "kill redis":
            redis.restart()
        elif fault == "empty":
            redis.command("FLUSHALL")
        elif fault == "stop redis":
            with stopped(redis.signal, self.chance.uniform(1.0, 6.5)):
                pass
        elif fault == "full":
            redis.command("CONFIG", "SET", "maxmemory", "1")
            time.sleep(self.chance.uniform(0.5, 3.0))
            redis.command("CONFIG", "SET", "maxmemory", "0")
        elif isinstance(redis, Cable):
            redis.cut()
            time.sleep(self.chance.uniform(1.0, 7.0))
            redis.join()

    def _hurt(self, fault: str) -> None:
        """Kill or stop a shard, or kill it and remove what it had done."""
        living = children(self.crawl.pid)["shard"]
        if not living:
            return
        pid = self.chance.choice(living)
        if fault == "stop":
            with stopped(lambda number: os.kill(pid, number), self.chance.uniform(1.0, 5.0)):
                return
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        place = Path(words[words.index("shard") + 1])
        os.kill(pid, signal.SIGKILL)
        if fault == "lose":
            while Path(f"/proc/{pid}").exists():
                time.sleep(0.01)
            for name in ("log", "state", "archive", "corpus", "robotstxt"):
                shutil.rmtree(place / name, ignore_errors=True)


@pytest.mark.parametrize(
    ("seed", "count", "faults"),
    [
        (80, 5, ("kill", "empty", "full", "lose")),
        *(pytest.param(seed, 40, FAULTS, marks=pytest.mark.long) for seed in range(81, 91)),
    ],
)
def test_a_storm_of_faults_changes_nothing_of_what_is_found(
    seed: int, count: int, faults: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINDROW_SKEW", str(seed))
    cable = "cut" in faults and netns.possible()
    with (
        World(seed=seed, pages=60 + 25 * count, hosts=12, domains=True, kinds=("absent",)) as world,
        Cable() if cable else serve() as redis,
    ):
        directory = truth.prepare(tmp_path / "crawl", world, *OPTIONS, *truth.TEXT)
        skewed = Path(__file__).with_name("skewed")
        process = start(directory, "--shards", str(SHARDS), "--redis", redis.url, path=skewed)
        storm = Storm(seed, process, directory, redis)
        try:
            storm.rage(count, tuple(fault for fault in faults if fault != "cut" or cable))
            out, err = process.communicate(timeout=300)
        finally:
            crashing.kill(process)
        assert process.returncode == 0, f"{storm.done} {err}"
        assert json.loads(out)["why"] == "done", storm.done
        assert storm.done, "the crawl has ended before the first fault"
        assert_whole(directory, world)
        truth.assert_polite(world, DELAY, IP_DELAY)
        texts = [document["url"] for one in crawled(directory) for document in truth.documents(one)]
        assert texts and len(texts) == len(set(texts))


REAL = (
    "identity.contact=https://example.org/bot",
    "fetch.delay=0.05",  # so that the crawl outlasts the storm on a fast machine too
    "fetch.ip_delay=0",
    "fetch.allow_private=true",
    "frontier.yield_threshold=off",
    "frontier.give_up=0",
    "frontier.segments=false",
    'scope.tlds=["test"]',
)


def prepared(directory: Path, web: Path) -> Path:
    directory.mkdir()
    (directory / "seeds.txt").write_text((web / "seeds.txt").read_text())
    options = config.make([*REAL, f"fetch.hosts_file={web / 'hosts'}"], directory)
    (directory / "crawl.toml").write_text(config.dump(options, changed=True))
    return directory


@pytest.fixture(scope="module")
def web() -> Iterator[Path]:
    """The shared web of 120 hosts, served by nginx."""
    serving, site = shared("web/serve"), Path(tempfile.mkdtemp(prefix="windrow-storm-"))
    os.chmod(site, 0o755)  # nginx started by root reads as nobody
    subprocess.run([str(serving), "start", "medium", str(site), "8377"], check=True, capture_output=True)
    try:
        yield site
    finally:
        subprocess.run([str(serving), "stop", str(site)], check=True, capture_output=True)
        shutil.rmtree(site, ignore_errors=True)  # the server may still remove its pid file


@pytest.fixture(scope="module")
def alone(web: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What a single crawl of that web finishes."""
    directory = prepared(tmp_path_factory.mktemp("real") / "alone", web)
    process = start(directory)
    try:
        process.communicate(timeout=1500)
    finally:
        crashing.kill(process)
    assert process.returncode == 0
    found = truth.committed(directory)
    shutil.rmtree(directory)
    return set(found)


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx")
@pytest.mark.parametrize("seed", range(91, 101))
def test_a_storm_over_a_real_web_with_text_finds_what_a_single_crawl_finds(
    seed: int, web: Path, alone: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINDROW_SKEW", str(seed))
    cable = netns.possible()
    with Cable() if cable else serve() as redis:
        directory = prepared(tmp_path / "shards", web)
        skewed = Path(__file__).with_name("skewed")
        process = start(directory, "--shards", str(SHARDS), "--redis", redis.url, path=skewed)
        storm = Storm(seed, process, directory, redis)
        try:
            storm.rage(40, FAULTS if cable else FAULTS[:-1])
            _, err = process.communicate(timeout=1500)
        finally:
            crashing.kill(process)
        assert process.returncode == 0, f"{storm.done} {err}"
    found = sum((truth.committed(one) for one in crawled(directory)), Counter[str]())
    assert len(storm.done) > 20 and set(found.values()) == {1}, storm.done
    assert found.keys() == alone
    texts = [document["url"] for one in crawled(directory) for document in truth.documents(one)]
    assert texts and len(texts) == len(set(texts))
    shutil.rmtree(directory)  # 500 MB
