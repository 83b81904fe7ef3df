"""Compare schedulers of Scrapy under one spider on the `medium` web: CPU per page, and the ratio to Scrapy's own.

    python benchmarks/schedulers.py [--pages N] [--only NAME…] [--rounds N] [--web DIR] [--json]

The spider follows links and does nothing else. CPU is the user and system time of the spider and of every process that
it started; that of the Redis server is a column of its own. Pages are the answers with status 200 in the log of the
web server, except robots.txt. `windrow` and `fifo+archive` also write WARC files, `windrow+text` a corpus too.
"""

import argparse
import contextlib
import dataclasses
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawl import Web, measure, web

ADDON = {"windrow.scrapy.Addon": 0}
AOF = ("--appendonly", "yes", "--save", "")


@dataclasses.dataclass(frozen=True)
class Row:
    scheduler: str
    pages: int
    cpu_ms_per_page: float
    redis_ms_per_page: float
    pages_per_cpu_second: float  # of spider and server together
    pages_per_second: float
    survives_kill: str


def settings(name: str, site: Web, output: Path, redis: str) -> dict[str, Any]:
    options: dict[str, Any] = {"fetch.delay": 0.0, "fetch.ip_delay": 0.0, "fetch.allow_private": True}
    options |= {"fetch.hosts_file": str(site.hosts), "scope.tlds": ["test"], "identity.contact": "http://localhost/"}
    text = {"WINDROW_DIR": str(output / "crawl"), "WINDROW_OPTIONS": options}
    ours = {**text, "WINDROW_OPTIONS": {**options, "extract.extractor": "none"}}
    fifo = {"ADDONS": ADDON, "WINDROW_ORDER": "fifo", "WINDROW_REDIS": redis, "WINDROW_JOB": "benchmark"}
    variants: dict[str, dict[str, Any]] = {
        "scrapy": {},
        "jobdir": {"JOBDIR": str(output / "job")},
        "scrapy-redis": {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.FifoQueue",
            "SCHEDULER_PERSIST": True,
            "REDIS_URL": redis,
        },
        "fifo": fifo,
        "fifo+archive": {**fifo, **ours},
        "windrow": {"ADDONS": ADDON, **ours},
        "windrow+text": {"ADDONS": ADDON, **text},
    }
    return variants[name]


NAMES = {  # whether a kill -9 of the spider loses requests
    "scrapy": "no",
    "jobdir": "no",
    "scrapy-redis": "without those in flight",
    "fifo": "yes",
    "fifo+archive": "yes",
    "windrow": "yes",
    "windrow+text": "yes",
}


def spider(order: dict[str, Any]) -> None:
    """Run the spider; in a process of its own."""
    import scrapy
    import scrapy_spider as peer
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    class Links(scrapy.Spider):
        name = "links"
        start_urls = Path(order["seeds"]).read_text("utf-8").split()
        extractor = LinkExtractor(allow_domains=["test"])

        def parse(self, response: Any) -> Iterator[Any]:
            if isinstance(response, scrapy.http.HtmlResponse):
                for link in self.extractor.extract_links(response):
                    if not link.nofollow:
                        yield scrapy.Request(link.url)

    with open(order["hosts"], encoding="utf-8") as lines:
        peer.HostsMiddleware.hosts = dict(line.split() for line in lines)
    shared = {**peer.SETTINGS, "REMOTE_CONTROL_ENABLED": False, "CLOSESPIDER_PAGECOUNT": order["pages"]}
    if "JOBDIR" not in order["settings"]:
        del shared["SCHEDULER_DISK_QUEUE"]
    process = CrawlerProcess({**shared, "DOWNLOADER_MIDDLEWARES": {peer.HostsMiddleware: 50}, **order["settings"]})
    process.crawl(Links)
    process.start()


@contextlib.contextmanager
def redis_server(directory: Path) -> Iterator[str]:
    """Run a server that is no child of this process: `measure` ends and counts all of these."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        sys.exit("there is no redis-server here; Debian has it: redis-server")
    place = directory / "s"
    subprocess.run(
        [program, "--port", "0", "--unixsocket", str(place), "--dir", str(directory), "--daemonize", "yes", *AOF],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            if place.exists():
                break
            time.sleep(0.05)
        yield f"unix://{place}"
    finally:
        command(place, "SHUTDOWN", "NOSAVE")


def command(place: Path, *words: str) -> str:
    import redis

    with redis.Redis(unix_socket_path=str(place)) as client, contextlib.suppress(redis.ConnectionError):
        answer = client.execute_command(*words)
        return json.dumps(answer, default=str)
    return ""


def redis_cpu(place: Path) -> float:
    found = json.loads(command(place, "INFO", "cpu"))
    return float(found["used_cpu_user"]) + float(found["used_cpu_sys"])


def run(name: str, site: Web, output: Path, pages: int, redis: str) -> Row:
    output.mkdir(parents=True)
    place = Path(redis.removeprefix("unix://"))
    command(place, "FLUSHALL")
    order = {"seeds": str(site.seeds), "hosts": str(site.hosts), "pages": pages}
    order["settings"] = settings(name, site, output, redis)  # type: ignore[assignment]
    before = redis_cpu(place)
    began, wall, cpu, _ = measure([sys.executable, __file__, "--spider", json.dumps(order)], output / "output.log")
    server = redis_cpu(place) - before if "redis" in name or "fifo" in name else 0.0
    _, times = site.served(began)
    if not times:
        sys.exit(f"{name} fetched no page; its output:\n{(output / 'output.log').read_text(errors='replace')[-2000:]}")
    return Row(
        scheduler=name,
        pages=len(times),
        cpu_ms_per_page=cpu / len(times) * 1e3,
        redis_ms_per_page=server / len(times) * 1e3,
        pages_per_cpu_second=len(times) / (cpu + server),
        pages_per_second=len(times) / wall,
        survives_kill=NAMES[name],
    )


def best(rows: list[Row]) -> list[Row]:
    """Return of each scheduler the round with the least CPU: the others were disturbed more."""
    found: dict[str, Row] = {}
    for row in rows:
        if row.scheduler not in found or row.pages_per_cpu_second > found[row.scheduler].pages_per_cpu_second:
            found[row.scheduler] = row
    return list(found.values())


def show(rows: list[Row]) -> None:
    first = rows[0].pages_per_cpu_second
    print("| scheduler | pages | CPU ms/page | Redis ms/page | pages per CPU second | ratio | survives kill -9 |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        figures = f"{row.pages} | {row.cpu_ms_per_page:.2f} | {row.redis_ms_per_page:.2f}"
        speed = f"{row.pages_per_cpu_second:.1f} | {row.pages_per_cpu_second / first:.2f}"
        print(f"| {row.scheduler} | {figures} | {speed} | {row.survives_kill} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2000, help="stop after about this many pages")
    parser.add_argument("--only", nargs="+", choices=list(NAMES), default=list(NAMES))
    parser.add_argument("--rounds", type=int, default=1, help="of each scheduler the best round counts")
    parser.add_argument("--web", type=Path, help="directory for the unpacked web, reused if it exists")
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--spider", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.spider:
        return spider(json.loads(options.spider))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    names = [name for name in options.only if name != "scrapy-redis" or importlib.util.find_spec("scrapy_redis")]
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as made:
        os.chmod(made, 0o755)  # nginx started by root reads as nobody
        directory = Path(made)
        with (
            redis_server(directory) as redis,
            web((options.web or directory / "web").absolute(), options.port) as site,
        ):
            rows = [
                run(name, site, directory / f"{name}-{number}", options.pages, redis)
                for number in range(options.rounds)
                for name in names
            ]
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows]))
    else:
        show(best(rows))


if __name__ == "__main__":
    main()
