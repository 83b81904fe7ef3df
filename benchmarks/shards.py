"""A crawl in shards against the same crawl in one process, on the `medium` web without delays.

    python benchmarks/shards.py [--shards 2,4] [--text] [--rounds 2] [--web DIR]

Prints per run: pages, CPU time per page of everything that the command starts (Redis included, the web server not), and
pages per second. Rounds alternate, because the machine may be busy; the ratio is that of the least CPU times.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from crawl import Web, web


class Run(msgspec.Struct):
    pages: int
    cpu: float  # seconds
    seconds: float


def crawl(site: Web, directory: Path, shards: int, text: bool) -> Run:
    base = [sys.executable, "-m", "windrow.cli"]
    settings = {
        "fetch.delay": "0",
        "fetch.ip_delay": "0",
        "fetch.allow_private": "true",
        "fetch.hosts_file": f'"{site.hosts}"',
        "scope.tlds": '["test"]',
        "frontier.give_up": "0",
        **({} if text else {"extract.extractor": "none"}),
    }
    given = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    init = [*base, "init", str(directory), "--seeds", str(site.seeds), "--contact", "http://localhost/", *given]
    subprocess.run(init, check=True, stdout=subprocess.DEVNULL)
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    divided = ["--shards", str(shards)] if shards else []
    subprocess.run([*base, "crawl", str(directory), *divided], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds = time.monotonic() - began
    status = subprocess.run([*base, "status", str(directory), "--json"], check=True, capture_output=True)
    return Run(int(msgspec.json.decode(status.stdout)["pages"]), cpu, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", default="2,4", help="numbers of shards, with commas (default 2,4)")
    parser.add_argument("--text", action="store_true", help="with text (default: only the archive)")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--web", type=Path, help="directory to unpack the web in (0.5 GB), reused when it is there")
    parser.add_argument("--port", type=int, default=8393)
    given = parser.parse_args()
    numbers = [0, *map(int, given.shards.split(","))]
    best: dict[int, float] = {}
    with tempfile.TemporaryDirectory(prefix="windrow-shards-") as made:
        os.chmod(made, 0o755)  # nginx started by root reads as nobody
        with web((given.web or Path(made, "web")).absolute(), given.port) as site:
            for turn in range(given.rounds):
                for number in numbers:
                    run = crawl(site, Path(made, f"{turn}-{number}"), number, given.text)
                    cost = 1000 * run.cpu / run.pages
                    best[number] = min(cost, best.get(number, cost))
                    name = f"{number} shards" if number else "one process"
                    print(
                        f"{name:12} {run.pages:7,} pages {cost:7.2f} ms of CPU each {run.pages / run.seconds:7,.0f}/s"
                    )
    for number in numbers[1:]:
        print(f"{number} shards : one process = {best[number] / best[0]:.2f}")


if __name__ == "__main__":
    main()
