"""The container image, built from the Containerfile and run: two containers crawl one job.

No registry of images is needed: its base image is made of Debian's packages here, by debootstrap. buildah builds and
runs without a daemon. Containers share the network of this machine, and so its loopback addresses.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import truth
from tests.deploy.test_containers import DEPLOY, ROOT, documents
from tests.redisserver import needs_redis, serve
from tests.waiting import until
from tests.world import World

BASE = ("python3", "python3-dev", "python3-pip", "python-is-python3", "ca-certificates")  # as Docker's image has them
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
JOB, SHARDS, USER = "mycrawl", 2, 10001
DELAY, IP_DELAY = 0.5, 0.01  # seconds; slow enough that both containers run a shard before the job is done

pytestmark = [
    pytest.mark.long,
    needs_redis,
    pytest.mark.skipif(
        os.geteuid() != 0 or not shutil.which("buildah") or not shutil.which("debootstrap"),
        reason="needs root, buildah and debootstrap, which Debian has",
    ),
]


class Images:
    """A store of images of its own, and the containers that were made of them."""

    def __init__(self, place: Path) -> None:
        self._words = ["buildah", "--storage-driver", "vfs", "--root", f"{place}/store", "--runroot", f"{place}/run"]

    def do(self, *words: str) -> str:
        done = subprocess.run([*self._words, *words], cwd=ROOT, capture_output=True, text=True, timeout=1800)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.strip()

    def running(self, container: str, volumes: list[str], *command: str) -> list[str]:
        """Return the command that runs another one in a container."""
        mounts = [word for volume in volumes for word in ("--volume", volume)]
        return [*self._words, "run", "--isolation", "chroot", *mounts, container, "--", *command]


def base(images: Images, place: Path) -> None:
    """Make what the Containerfile begins with, under the name that it has there."""
    (name,) = set(re.findall(r"^FROM (\S+)", (DEPLOY / "Containerfile").read_text(), re.MULTILINE))
    release = name.rpartition("-")[2]
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={','.join(BASE)}", release, str(place)],
        capture_output=True,
        text=True,
        timeout=900,
    )
    if done.returncode:
        pytest.skip(f"debootstrap cannot make a base image: {done.stdout[-300:]}{done.stderr[-300:]}")
    for refusal in place.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        refusal.unlink()
    shutil.copy(CERTIFICATES, place / CERTIFICATES.relative_to("/"))
    (place / "etc/pip.conf").write_text(f"[global]\ncert = {CERTIFICATES}\n")
    container = images.do("from", "scratch")
    images.do("copy", "--quiet", container, str(place), "/")
    images.do("commit", "--quiet", "--rm", container, name)
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    place = tmp_path_factory.mktemp("images")
    made = Images(place)
    base(made, place / "base")
    file = str(DEPLOY / "Containerfile")
    made.do(
        "bud", "--quiet", "--isolation", "chroot", "--pull-never", "--format", "docker", "-t", "windrow", "-f", file
    )
    try:
        yield made
    finally:
        made.do("rm", "--all")
        shutil.rmtree(place)


def service(name: str, url: str) -> list[str]:
    """Return the command of a service in the Compose file, with another Redis server."""
    (compose,) = documents(DEPLOY / "compose.yaml")
    words: list[str] = compose["services"][name]["command"]
    return [url if word.startswith("redis://") else word for word in words]


class Container:
    """One process in a container of the image."""

    def __init__(self, images: Images, volumes: list[str], *command: str) -> None:
        name = images.do("from", "--pull-never", "localhost/windrow")
        image = json.loads(images.do("inspect", "--type", "image", "localhost/windrow"))["Docker"]["config"]
        words = images.running(name, volumes, *image["Entrypoint"], *command)
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait(self) -> str:
        out, err = self._process.communicate(timeout=120)
        assert self._process.returncode == 0, out + err
        return out + err

    @property
    def inside(self) -> dict[str, int]:
        """Its processes, by the last of their words that say what they are."""
        return {name: pid for pid, name in descendants(self._process.pid)}

    def stop(self) -> str:
        """Send what `docker stop` sends, to the first process."""
        os.kill(self.inside["tini"], signal.SIGTERM)
        return self.wait()

    def end(self) -> None:
        for pid in self.inside.values():
            os.kill(pid, signal.SIGKILL)
        self._process.kill()
        self._process.communicate()


def descendants(pid: int) -> Iterator[tuple[int, str]]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            words = Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")
            name = "tini" if words[0].endswith("tini") else "shard" if "shard" in words else words[0]
            yield child, name
            yield from descendants(child)


@pytest.fixture
def run(images: Images) -> Iterator[Callable[..., Container]]:
    started: list[Container] = []

    def start(volumes: list[str], *command: str) -> Container:
        started.append(Container(images, volumes, *command))
        return started[-1]

    yield start
    for one in started:
        one.end()


def test_the_image_has_all_kernels_and_no_root(run: Callable[..., Container]) -> None:
    assert "not built" not in run([], "--version").wait()
    demo = run([], "demo")
    until(lambda: "tini" in demo.inside)
    assert {os.stat(f"/proc/{demo.inside['tini']}").st_uid} == {USER}
    assert "report/index.html" in demo.wait()


def test_two_containers_crawl_one_job_and_end_cleanly(tmp_path: Path, run: Callable[..., Container]) -> None:
    with World(seed=92, pages=60, hosts=8, domains=True, kinds=("absent",)) as world, serve() as redis:
        crawl, data = prepared(tmp_path / "crawl", world), tmp_path / "data"
        data.mkdir()
        for path in (data, redis.directory, redis.socket):
            os.chown(path, USER, USER)
        url = f"unix:///redis/{redis.socket.name}"
        volumes = [f"{data}:/shared", f"{redis.directory}:/redis", f"{crawl}:/crawl"]
        create = service("create", url)
        create[create.index("--shards") + 1] = str(SHARDS)
        run(volumes, *create).wait()
        node = [word for word in service("node", url) if word != "--log-json"]
        node[node.index("--metrics") + 1] = "127.0.0.1:0"
        node[node.index("--dir") + 1] = "/shared"  # buildah mounts a volume of its own at that of the image
        nodes = [run(volumes, *node) for _ in range(2)]
        until(lambda: all("shard" in one.inside for one in nodes))
        expected = world.expected.must_have | world.expected.redirects | world.expected.missing
        until(lambda: ends(data).keys() >= expected)
        for one in nodes:
            assert "all shards are given back" in one.stop()
        assert set(ends(data).values()) == {1}
        truth.assert_polite(world, DELAY, IP_DELAY)
        assert {path.stat().st_uid for path in data.rglob("*")} == {USER}


def prepared(directory: Path, world: World) -> Path:
    """Make the directory `crawl` of the Compose file for a small world."""
    truth.prepare(directory, world, f"fetch.delay={DELAY}", f"fetch.ip_delay={IP_DELAY}", *truth.TEXT)
    options = directory / "crawl.toml"
    text, here = options.read_text(), str(directory / "hosts")
    assert here in text
    options.write_text(text.replace(here, "/crawl/hosts"))
    return directory


def ends(data: Path) -> Counter[str]:
    """Return how often each URL has ended, over all shards."""
    logs = (data / JOB / "shards").glob("*/log")
    return sum((truth.committed(log.parent) for log in logs), Counter[str]())
