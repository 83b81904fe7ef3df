"""One to ten processes on a slow web: shards of Windrow against spiders of Scrapy with scrapy-redis.

    python benchmarks/scaling.py [--processes 1,2,4,6,8,10] [--sites 160] [--pages 25] [--delay 0.1] [--peer PYTHON]

Every answer takes 0.1 seconds, and a process has two connections: so the time is that of waiting, as on the real web,
and more processes help although the machine has few cores. Times are from the first to the last answer, as the web
server sees them; CPU time is that of all processes, without their start (the same number of processes on one site)
and without the server. `share` is the speed-up divided by the number of processes: 1.00 is 1/n of the time.
--peer is a Python that has scrapy, scrapy-redis and warcio; without it Windrow is measured alone.
--draw FILE.svg plots the time of n processes divided by that of one, beside 1/n; a FILE.png needs resvg-py. With
--figures FILE, which has the output of --json, nothing is measured.
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
from windrow.inspect.report import axes, svg  # noqa: E402
from windrow.inspect.report.axes import Axis  # noqa: E402
from windrow.inspect.report.plots import BOTTOM, LEFT, RIGHT, TOP, legend  # noqa: E402
from windrow.inspect.report.scene import Dot, Polyline, Scene, Text, series  # noqa: E402

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


def ratios(found: list[Scaled], who: str) -> list[tuple[int, float]]:
    """Return the time of each number of processes divided by that of one. If one was not measured, that is taken as
    the time of the fewest, times their number."""
    runs = sorted((run for run in found if run.who == who), key=lambda run: run.processes)
    return [(run.processes, run.seconds / runs[0].seconds / runs[0].processes) for run in runs]


def plot(found: list[Scaled]) -> Scene:
    """Plot the time of n processes divided by that of one, beside 1/n."""
    scene = Scene("scaling", "Time of n processes, divided by that of one", caption="")
    most = max(run.processes for run in found)
    x = Axis("processes", 1.0, high=float(most), start=LEFT, end=scene.width - RIGHT, show=lambda value: f"{value:g}")
    y = Axis("time / time of one", 0.0, high=1.0, start=scene.height - BOTTOM, end=TOP, show=lambda value: f"{value:g}")
    axes.frame(scene, x, y)
    ideal = [1 + step * (most - 1) / 100 for step in range(101)]
    scene.items.append(Polyline(tuple((x.at(n), y.at(1 / n)) for n in ideal), "muted", 1.2, dashed=True))
    scene.items.append(Text(x.at(most), y.at(1 / most) + 18, text="1/n", anchor="end"))
    names = list(dict.fromkeys(run.who for run in found))
    for number, who in enumerate(names):
        points = [(x.at(count), y.at(ratio)) for count, ratio in ratios(found, who)]
        scene.items.append(Polyline(tuple(points), series(number), 2.0))
        scene.items += [Dot(left, height, radius=3.6, role=series(number)) for left, height in points]
    legend(scene, [(who, series(number)) for number, who in enumerate(names)])
    return scene


def draw(found: list[Scaled], path: Path) -> None:
    drawn = svg.file(plot(found))
    path.write_bytes(svg.png(drawn) if path.suffix == ".png" else drawn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", default="1,2,4,6,8,10", help="numbers of processes, with commas")
    parser.add_argument("--sites", type=int, default=160, help="sites, each a domain of its own (default 160)")
    parser.add_argument("--pages", type=int, default=25, help="pages of a site (default 25)")
    parser.add_argument("--delay", type=float, default=0.1, help="seconds between two requests to a host (default 0.1)")
    parser.add_argument("--peer", default="", help="a Python that has scrapy, scrapy-redis and warcio")
    parser.add_argument("--port", type=int, default=8491)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="plot the figures, as .svg or .png")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="plot these, which --json has printed")
    given = parser.parse_args()
    if given.peer and subprocess.run([given.peer, "-c", "import scrapy_redis, warcio"]).returncode:
        sys.exit(f"install what the peer needs: {given.peer} -m pip install scrapy scrapy-redis warcio")
    if given.figures:
        found = msgspec.json.decode(given.figures.read_bytes(), type=list[Scaled])
    else:
        with tempfile.TemporaryDirectory(prefix="windrow-scaling-") as made, slow_web(Path(made), given) as web:
            found = compare(web, [int(number) for number in given.processes.split(",")], given.peer)
    if given.json:
        print(msgspec.json.encode(found).decode())
    if given.draw:
        draw(found, given.draw)


if __name__ == "__main__":
    main()
