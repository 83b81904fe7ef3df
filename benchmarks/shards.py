"""A crawl in shards against the same crawl in one process, on the `medium` web without delays.

    python benchmarks/shards.py [--shards 2,4] [--text] [--rounds 3] [--web DIR] [--json]
    python benchmarks/shards.py --set fetch.ip_delay=0.0025 --same-address    every host at one address
    python benchmarks/shards.py --down                                        one shard is down for a whole crawl

Prints per run the CPU time per page, in ms: of the processes that crawl, of their workers, of Redis (as it counts it),
and the peak of Redis's memory. The start is not a part of it: it is measured with crawls of the seeds alone by as many
shards, so that each of them and its worker has had something to do, and subtracted. Rounds alternate, because the
machine may be busy; the ratio is that of the least CPU times.

With --down one shard is not started; the others crawl until they rest. Only Redis's memory is of interest then.
"""

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import psutil
from crawl import Web, web

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.redisserver import Server, serve  # noqa: E402
from windrow import config  # noqa: E402
from windrow.nodes import directories  # noqa: E402

COMMAND = [sys.executable, "-m", "windrow.cli"]
ADDRESS = "127.0.0.1"  # with --same-address: the only one at which the server knows every host by its name


class Given(msgspec.Struct, frozen=True):
    """What all runs have in common."""

    site: Web
    hosts: Path
    settings: dict[str, str]


class Spent(msgspec.Struct):
    """CPU seconds and pages of one run."""

    pages: int
    crawl: float
    workers: float
    redis: float
    seconds: float
    redis_bytes: int  # the peak

    @property
    def total(self) -> float:
        return self.crawl + self.workers + self.redis


def make(given: Given, directory: Path, **settings: str) -> None:
    words = [word for key, value in {**given.settings, **settings}.items() for word in ("--set", f"{key}={value}")]
    init = [
        *COMMAND,
        "init",
        str(directory),
        "--seeds",
        str(given.site.seeds),
        "--contact",
        "http://localhost/",
        *words,
    ]
    subprocess.run(init, check=True, stdout=subprocess.DEVNULL)


def crawl(directory: Path, shards: int) -> Spent:
    """Crawl, and return what that took. Workers are seen only while they run, so their last 0.1 seconds are estimated
    as nothing; the sum of all processes but Redis is exact."""
    with serve() as server:
        divided = ["--shards", str(shards), "--redis", server.url] if shards else []
        began, before = time.monotonic(), children()
        process = subprocess.Popen(
            [*COMMAND, "crawl", str(directory), *divided], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        workers: dict[int, float] = {}
        while process.poll() is None:
            watch_workers(process.pid, workers)
            time.sleep(0.1)
        if process.returncode:
            sys.exit(f"the crawl of {directory} has failed; its notes are in {directory}/crawl.log")
        seconds, spent = time.monotonic() - began, children() - before
        redis, peak = (server_cpu(server), server_peak(server)) if shards else (0.0, 0)
    status = subprocess.run([*COMMAND, "status", str(directory), "--json"], check=True, capture_output=True)
    pages, busy = int(msgspec.json.decode(status.stdout)["pages"]), sum(workers.values())
    return Spent(pages, crawl=spent - busy, workers=busy, redis=redis, seconds=seconds, redis_bytes=peak)


def children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def watch_workers(pid: int, found: dict[int, float]) -> None:
    """Note the CPU seconds of all worker processes below a process."""
    try:
        for child in psutil.Process(pid).children(recursive=True):
            if child.pid in found or "windrow.crawler.workers.process" in child.cmdline():
                spent = child.cpu_times()
                found[child.pid] = spent.user + spent.system
    except psutil.NoSuchProcess:
        return


def server_fields(server: Server, section: str) -> dict[str, str]:
    found = server.command("INFO", section).decode()
    return dict(line.split(":", 1) for line in found.split() if ":" in line)


def server_cpu(server: Server) -> float:
    fields = server_fields(server, "cpu")
    return float(fields["used_cpu_user"]) + float(fields["used_cpu_sys"])


def server_peak(server: Server) -> int:
    return int(server_fields(server, "memory")["used_memory_peak"])


def one_down(given: Given, directory: Path, shards: int) -> dict[str, float]:
    """Crawl with all shards but the first until they rest; return how much Redis held."""
    make(given, directory)
    with serve() as server:
        directories.prepare(directory, config.load(directory / "crawl.toml"), shards)
        places = sorted((directory / "shards").iterdir())[1:]
        processes = [
            subprocess.Popen([*COMMAND, "shard", str(place), "--redis", server.url], stdout=subprocess.DEVNULL)
            for place in places
        ]
        try:
            finished = wait_for_rest(places)
            held, peak = int(server_fields(server, "memory")["used_memory"]), server_peak(server)
        finally:
            for process in processes:
                process.send_signal(signal.SIGINT)
            for process in processes:
                process.wait()
    return {"shards": shards, "pages": finished, "redis_bytes": held, "redis_peak_bytes": peak}


def wait_for_rest(places: list[Path], quiet: float = 15.0) -> int:
    """Return the pages of these shards when their logs have not grown for some seconds."""
    last, since = -1, time.monotonic()
    while time.monotonic() - since < quiet:
        time.sleep(1.0)
        size = sum(path.stat().st_size for place in places for path in place.glob("log/*.jsonl.gz"))
        if size != last:
            last, since = size, time.monotonic()
    counts = [subprocess.run([*COMMAND, "status", str(place), "--json"], capture_output=True) for place in places]
    return sum(int(msgspec.json.decode(found.stdout)["pages"]) for found in counts)


def least(runs: list[Spent], starts: list[Spent]) -> dict[str, float]:
    """Return the figures per page of the cheapest run, without the start."""
    run, start = min(runs, key=lambda run: run.total), min(starts, key=lambda run: run.total)
    pages = run.pages - start.pages
    parts = {name: 1000 * (getattr(run, name) - getattr(start, name)) / pages for name in ("crawl", "workers", "redis")}
    return {
        **parts,
        "total": sum(parts.values()),
        "start_seconds": start.total,
        "pages": run.pages,
        "pages_per_second": run.pages / run.seconds,
        "redis_peak_bytes": max(run.redis_bytes for run in runs),
    }


def rounds(given: Given, made: Path, numbers: list[int], count: int) -> dict[int, dict[str, float]]:
    seeds = given.site.seeds.read_text().split()
    only = {"scope.allow": json.dumps([f"^{re.escape(seed)}$" for seed in seeds])}
    runs: dict[int, list[Spent]] = {number: [] for number in numbers}
    starts: dict[int, list[Spent]] = {number: [] for number in numbers}
    for turn in range(count):
        for number in numbers:
            for found, settings in ((starts, only), (runs, {})):
                directory = made / f"{turn}-{number}-{len(settings)}"
                make(given, directory, **settings)
                found[number].append(crawl(directory, number))
            run = least(runs[number][-1:], starts[number][-1:])
            print(f"{name(number):12}", describe(run), file=sys.stderr, flush=True)
    return {number: least(runs[number], starts[number]) for number in numbers}


def name(number: int) -> str:
    return f"{number} shards" if number else "one process"


def describe(figures: dict[str, float]) -> str:
    parts = "  ".join(f"{part} {figures[part]:6.3f}" for part in ("crawl", "workers", "redis", "total"))
    rest = (
        f"{figures['pages']:7,.0f} pages {figures['pages_per_second']:6,.0f}/s  start {figures['start_seconds']:5.2f} s"
    )
    return f"{parts} ms per page  {rest}  Redis {figures['redis_peak_bytes'] / 1e6:.1f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", default="2,4", help="numbers of shards, with commas (default 2,4)")
    parser.add_argument("--text", action="store_true", help="with text (default: only the archive)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--web", type=Path, help="directory to unpack the web in (0.5 GB), reused when it is there")
    parser.add_argument("--port", type=int, default=8393)
    parser.add_argument(
        "--set", action="append", default=[], dest="settings", help="an option of all crawls: KEY=VALUE"
    )
    parser.add_argument("--same-address", action="store_true", help="let all hosts share one address")
    parser.add_argument("--down", action="store_true", help="measure Redis's memory while one shard is down")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    words = parser.parse_args()
    numbers = list(map(int, words.shards.split(",")))
    with tempfile.TemporaryDirectory(prefix="windrow-shards-") as path:
        made = Path(path)
        os.chmod(made, 0o755)  # nginx started by root reads as nobody
        with web((words.web or made / "web").absolute(), words.port) as site:
            given = Given(site, shared(site.hosts, made) if words.same_address else site.hosts, {})
            given = msgspec.structs.replace(given, settings=settings(given.hosts, words))
            if words.down:
                show({number: one_down(given, made / f"down-{number}", number) for number in numbers}, words.json)
            else:
                show(rounds(given, made, [0, *numbers], words.rounds), words.json)


def shared(hosts: Path, made: Path) -> Path:
    """Return a hosts file in which one address serves all hosts."""
    lines = [line.split() for line in hosts.read_text().splitlines() if line.strip() and not line.startswith("#")]
    path = made / "hosts"
    path.write_text("".join(f"{name}\t{ADDRESS}:{place.rpartition(':')[2]}\n" for name, place in lines))
    return path


def settings(hosts: Path, words: argparse.Namespace) -> dict[str, str]:
    fixed = {
        "fetch.delay": "0",
        "fetch.ip_delay": "0",
        "fetch.allow_private": "true",
        "fetch.hosts_file": f'"{hosts}"',
        "scope.tlds": '["test"]',
        "frontier.give_up": "0",
    }
    text = {} if words.text else {"extract.extractor": "none"}
    return {**fixed, **text, **dict(setting.split("=", 1) for setting in words.settings)}


def show(found: dict[int, dict[str, float]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(found))
        return
    for number, figures in found.items():
        if "total" not in figures:
            print(", ".join(f"{part}: {value:,.0f}" for part, value in figures.items()))
            continue
        ratio = f"  = {figures['total'] / found[0]['total']:.2f} x one process" if number else ""
        print(f"{name(number):12}", describe(figures) + ratio)


if __name__ == "__main__":
    main()
