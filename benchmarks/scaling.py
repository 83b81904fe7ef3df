"""One to ten processes on a slow web: shards of Windrow against spiders of Scrapy with scrapy-redis.

    python benchmarks/scaling.py [--processes 1,2,4,6,8,10] [--sites 160] [--pages 25] [--delay 0.1] [--peer PYTHON]

Every answer takes 0.1 seconds, and a process has two connections: so the time is that of waiting, as on the real web,
and more processes help although the machine has few cores. Times are from the first to the last answer, as the web
server sees them; CPU time is that of all processes, without their start (the same number of processes on one site)
and without the server. `share` is the speed-up divided by the number of processes: 1.00 is 1/n of the time.
--peer is a Python that has scrapy and scrapy-redis; without it Windrow is measured alone.
"""

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import slowweb

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.redisserver import Server, serve  # noqa: E402

ANSWER = 0.1  # seconds
CONNECTIONS = 2  # of each process


class Scaled(msgspec.Struct):
    """A run of so many processes."""

    who: str
    processes: int
    pages: int
    requests: int
    seconds: float
    gaps: int  # between two requests to a host
    short: int  # of these, below the delay
    cpu: float  # seconds of the processes
    redis: float  # of the Redis server


class SlowWeb:
    """The web, and the files that say where it is."""

    def __init__(self, work: Path, port: int, sites: int, pages: int, delay: float) -> None:
        self.work, self.delay = work, delay
        self.hosts, self.seeds = work / "hosts", work / "seeds.txt"
        self.hosts.write_text("".join(f"{slowweb.name(n)} {slowweb.address(n)}:{port}\n" for n in range(sites)))
        self.seeds.write_text("".join(f"http://{slowweb.name(n)}/p0\n" for n in range(0, sites, 4)))
        command = [sys.executable, slowweb.__file__, *map(str, (port, sites, pages, ANSWER))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None and self._process.stdout.readline() == "ready\n", "the port is in use"

    def answered(self) -> dict[str, float]:
        """Return what was answered since the last call."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{self.delay}\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def slow_web(work: Path, given: argparse.Namespace) -> Iterator[SlowWeb]:
    web = SlowWeb(work, given.port, given.sites, given.pages, given.delay)
    try:
        yield web
    finally:
        web.stop()


def shards(web: SlowWeb, server: Server, count: int, directory: Path, seeds: Path) -> None:
    """Run a crawl in shards."""
    settings = {
        "fetch.delay": str(web.delay),
        "fetch.ip_delay": "0",
        "fetch.connections": str(CONNECTIONS),
        "fetch.allow_private": "true",
        "fetch.hosts_file": f'"{web.hosts}"',
        "scope.tlds": '["test"]',
        "frontier.give_up": "0",
        "extract.extractor": "none",
    }
    given = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    base = [sys.executable, "-m", "windrow.cli"]
    init = [*base, "init", str(directory), "--seeds", str(seeds), "--contact", "http://localhost/", *given]
    subprocess.run(init, check=True, stdout=subprocess.DEVNULL)
    command = [*base, "crawl", str(directory), "--shards", str(count), "--redis", server.url]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def spiders(web: SlowWeb, server: Server, count: int, python: str, seeds: Path) -> None:
    """Run spiders that share a queue in Redis."""
    for url in seeds.read_text().split():
        server.command("LPUSH", "peer:start_urls", url)
    spider = Path(__file__).with_name("scrapy_redis_spider.py")
    command = [python, str(spider), str(web.hosts), server.url, str(web.delay), str(CONNECTIONS)]
    running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(count)]
    assert not any([process.wait() for process in running]), "a spider has failed"


def measure(web: SlowWeb, who: str, count: int, peer: str, seeds: Path) -> Scaled:
    with serve() as server, tempfile.TemporaryDirectory(dir=web.work) as made:
        web.answered()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if who == "windrow":
            shards(web, server, count, Path(made, "crawl"), seeds)
        else:
            spiders(web, server, count, peer, seeds)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = web.answered()
        fields = dict(line.split(":") for line in server.command("INFO", "cpu").decode().split() if ":" in line)
    return Scaled(
        who=who,
        processes=count,
        pages=int(found["pages"]),
        requests=int(found["requests"]),
        seconds=found["seconds"],
        gaps=int(found["gaps"]),
        short=int(found["short"]),
        cpu=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        redis=float(fields["used_cpu_user"]) + float(fields["used_cpu_sys"]),
    )


def compare(web: SlowWeb, counts: list[int], peer: str) -> list[Scaled]:
    """Run all numbers of processes, Windrow and its peer in turn."""
    none = web.work / "none.txt"
    none.write_text(f"http://{slowweb.name(0)}/nothing\n")
    found = []
    for count in counts:
        for who in ("windrow", "scrapy-redis") if peer else ("windrow",):
            start = measure(web, who, count, peer, none)
            run = measure(web, who, count, peer, web.seeds)
            run.cpu, run.redis = run.cpu - start.cpu, run.redis - start.redis
            found.append(run)
            show(run, found)
    return found


def show(run: Scaled, found: list[Scaled]) -> None:
    base = next(one for one in found if one.who == run.who)
    speed = base.seconds / base.processes / run.seconds * base.processes
    print(
        f"{run.who:12} {run.processes:3} processes {run.pages:6,} pages {run.seconds:7.1f} s "
        f"share {speed * base.processes / run.processes:5.2f}  CPU {1000 * run.cpu / max(1, run.pages):5.2f} ms, "
        f"Redis {1000 * run.redis / max(1, run.pages):6.3f} ms a page  "
        f"gaps below the delay {run.short} of {run.gaps}, twice {run.requests - run.pages}",
        file=sys.stderr,
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", default="1,2,4,6,8,10", help="numbers of processes, with commas")
    parser.add_argument("--sites", type=int, default=160, help="sites, each a domain of its own (default 160)")
    parser.add_argument("--pages", type=int, default=25, help="pages of a site (default 25)")
    parser.add_argument("--delay", type=float, default=0.1, help="seconds between two requests to a host (default 0.1)")
    parser.add_argument("--peer", default="", help="a Python that has scrapy and scrapy-redis")
    parser.add_argument("--port", type=int, default=8491)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="windrow-scaling-") as made, slow_web(Path(made), given) as web:
        found = compare(web, [int(number) for number in given.processes.split(",")], given.peer)
    if given.json:
        print(msgspec.json.encode(found).decode())


if __name__ == "__main__":
    main()
