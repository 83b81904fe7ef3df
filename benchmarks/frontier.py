"""Fill the LMDB frontier with millions of URLs through its public verbs; print what a URL costs, first and last.

    python benchmarks/frontier.py                  20 million URLs of 200,000 hosts: about 5 minutes and 5 GB of disk
    python benchmarks/frontier.py --scatter        every link leads to a random host: the worst case
    python benchmarks/frontier.py --urls 1000000 --json

2,000 hosts are being worked on. Each report on a page of one of them has 20 new links, 85 % of them to its own host. A
checkpoint follows every 200,000 URLs. Making the URLs is not counted. Then a crawl continues over the filled frontier:
it leases hosts, and the report on each page has 33 links, one of which is new.
"""

import argparse
import array
import asyncio
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from windrow import frontier, urls
from windrow.config import Config, FetchOptions
from windrow.config import FrontierOptions as Options
from windrow.frontier import DurableFrontier
from windrow.records import Frame, Kind, Lease, Origin, Reason, Report, Task, Url

HOSTS = 200_000
HOT = 2_000
LINKS = 20
CHECKPOINT = 200_000  # URLs
MARKS = (1, 2, 5, 10, 15, 20)  # millions
START = 1_700_000_000.0


class Web:
    """URLs of hosts by number, with counts per host of the URLs made and of the pages reported."""

    def __init__(self, local: float) -> None:
        self._rng = random.Random(1)
        self._local = local
        self.made = array.array("I", bytes(4 * HOSTS))
        self.reported = array.array("I", bytes(4 * HOSTS))
        self.hot = [self._rng.randrange(HOSTS) for _ in range(HOT)]

    def task(self, host: int, number: int, via: str = "") -> Task:
        domain = f"site{host >> 1}.org"
        name = f"{('www', 'blog')[host & 1]}.{domain}"
        text = f"https://{name}/section/{number % 17}/article-{number}.html"
        return Task(Url(text, name, domain, urls.key(text)), depth=3, via=via)

    def new(self, host: int, via: str = "") -> Task:
        self.made[host] += 1
        return self.task(host, self.made[host], via)

    def seeds(self) -> list[Task]:
        """Return a first page for each hot host that has none to be reported."""
        return [self.new(host) for host in dict.fromkeys(self.hot) if self.made[host] == self.reported[host]]

    def pages(self, count: int) -> list[Report]:
        return [self._page() for _ in range(count)]

    def _page(self) -> Report:
        rng = self._rng
        place = rng.randrange(HOT)
        host = self.hot[place]
        while self.made[host] == self.reported[host]:
            place = rng.randrange(HOT)
            host = self.hot[place]
        if rng.random() < 0.01:
            self.hot[place] = rng.randrange(HOSTS)
        self.reported[host] += 1
        page = self.task(host, self.reported[host])
        found = [
            self.new(host if rng.random() < self._local else rng.randrange(HOSTS), page.url.text) for _ in range(LINKS)
        ]
        return Report(
            0,
            page,
            Reason.OK,
            "",
            START,
            status=200,
            downloaded=20_000,
            kept=4_000,
            shape=rng.randrange(1 << 32),
            links=tuple(found),
        )


class Fill:
    """Reports pages until the frontier holds so many URLs, and adds up the costs."""

    def __init__(self, directory: Path, store: DurableFrontier, web: Web) -> None:
        self._directory = directory
        self._store = store
        self._web = web
        self._frame = 0
        self.urls = 0
        self.cpu = 0.0
        self.stalls: list[float] = []  # seconds of each checkpoint
        web.seeds()
        web.pages(500)  # so that the memory of the generator does not count as the frontier's
        web.made, web.reported = array.array("I", bytes(4 * HOSTS)), array.array("I", bytes(4 * HOSTS))
        self._before = anonymous()

    async def until(self, goal: int) -> dict[str, float]:
        """Continue up to so many URLs; return a row of the table: their time and their space."""
        urls_before, cpu_before = self.urls, self.cpu
        self.stalls.clear()
        while self.urls < goal:
            await self._chunk(min(500, (goal - self.urls) // LINKS + 1))
        return {
            "urls": self.urls,
            "cpu_us": (self.cpu - cpu_before) / (self.urls - urls_before) * 1e6,
            "private_bytes": (anonymous() - self._before) / self.urls,
            "disk_bytes": disk(self._directory) / self.urls,
            "checkpoint_seconds": sum(self.stalls) / max(1, len(self.stalls)),
            "checkpoint_worst_seconds": max(self.stalls, default=0.0),
        }

    async def _chunk(self, pages: int) -> None:
        seeds = self._web.seeds()
        start = time.process_time()
        new = len(await self._store.add(seeds))
        self.cpu += time.process_time() - start
        reports = self._web.pages(pages)
        start = time.process_time()
        for report in reports:
            receipt = await self._store.ack([report])
            new += len(receipt.entries[0].admitted)
        self._frame += 1
        await self._store.committed(Frame(self._frame, START, (), {}), ("00000", self._frame))
        self.urls += new
        now = START + self.urls / CHECKPOINT * Options().checkpoint
        if self._store.checkpoint_due(now):
            wall = time.perf_counter()
            await self._store.checkpoint(now)
            self.stalls.append(time.perf_counter() - wall)
        self.cpu += time.process_time() - start


class Crawl:
    """Leases over a filled frontier, in passed time: the cost of a page from lease to ack."""

    def __init__(self, store: DurableFrontier, web: Web) -> None:
        self._store = store
        self._web = web
        self._rng = random.Random(2)
        self._now = START + 1000.0
        self.pages = 0
        self.cpu = 0.0

    async def run(self, pages: int) -> float:
        """Return microseconds of CPU per page. Lookups and robots.txt are done before the measurement."""
        for _ in range(40):
            await self._round()
        self.pages, self.cpu = 0, 0.0
        while self.pages < pages:
            await self._round()
        return self.cpu / self.pages * 1e6

    async def _round(self) -> None:
        self._now += 10.0
        start = time.process_time()
        grant = await self._store.lease(256, self._now)
        self.cpu += time.process_time() - start
        for lease in grant.leases:
            reports = list(self._reports(lease))  # made when they are needed, as a crawl does
            start = time.process_time()
            for report in reports:
                await self._store.ack([report])
            await self._store.release(lease, (), self._now)
            self.cpu += time.process_time() - start
        self.pages += sum(len(lease.tasks) for lease in grant.leases if lease.tasks[0].kind is Kind.PAGE)

    def _reports(self, lease: Lease) -> Iterator[Report]:
        for task in lease.tasks:
            if task.kind is Kind.RESOLVE:
                address = f"10.{self._rng.randrange(256)}.{self._rng.randrange(256)}.{self._rng.randrange(256)}"
                yield Report(0, task, Reason.OK, "", self._now, until=self._now + 1e9, address=address)
            elif task.kind is Kind.FILE:
                origin = Origin(urls.origin(task.url.text), self._now, self._now, self._now + 86400.0)
                yield Report(0, task, Reason.OK, "", self._now, status=200, origin=origin)
            else:
                yield self._page(task)

    def _page(self, task: Task) -> Report:
        """Report a page. Its 32 known links are the same on all pages of its site, like those of a menu."""
        host = int(task.url.domain[4:-4]) * 2 + task.url.host.startswith("blog")
        known = [self._web.task(host, 1 + number % self._web.made[host], task.url.text) for number in range(32)]
        found = (*known, self._web.new(host, task.url.text))
        return Report(
            0,
            task,
            Reason.OK,
            "",
            self._now,
            status=200,
            downloaded=20_000,
            kept=4_000,
            shape=self._rng.randrange(1 << 32),
            links=found,
        )


def anonymous() -> int:
    """Return the bytes of this process's memory that belong to no file."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no Anonymous line in /proc/self/smaps_rollup")


def disk(directory: Path) -> int:
    """Return the bytes of allocated blocks."""
    return sum(path.stat().st_blocks * 512 for path in directory.iterdir())


def opened(directory: Path, delay: float) -> DurableFrontier:
    config = Config(frontier=Options(max_domain_hosts=0), fetch=FetchOptions(delay=delay, ip_delay=0.0))
    return frontier.open(directory, config, START)


async def measure(directory: Path, most: int, scatter: bool) -> dict[str, object]:
    web = Web(0.0 if scatter else 0.85)
    store = opened(directory, 5.0)
    fill = Fill(directory, store, web)
    rows = []
    for goal in [*(mark * 1_000_000 for mark in MARKS if mark * 1_000_000 < most), most]:
        rows.append(await fill.until(goal))
        print_row(rows[-1])
    await store.checkpoint(START)
    pages = {}
    for name, delay in (("one page per lease", 5.0), ("16 pages per lease", 0.0)):
        await store.close()
        store = opened(directory, delay)
        pages[name] = await Crawl(store, web).run(20_000)
    await store.close()
    return {
        "hosts": HOSTS,
        "scatter": scatter,
        "rows": rows,
        "flatness": rows[-1]["cpu_us"] / rows[0]["cpu_us"],
        "page_us": pages,
    }


def print_row(row: dict[str, float]) -> None:
    print(
        f"{row['urls'] / 1e6:8.1f} M {row['cpu_us']:12.2f} {row['private_bytes']:14.1f} {row['disk_bytes']:13.0f} "
        f"{row['checkpoint_seconds']:12.2f} {row['checkpoint_worst_seconds']:8.2f}",
        file=sys.stderr,
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=20_000_000, help="number of URLs (default 20,000,000)")
    parser.add_argument("--scatter", action="store_true", help="all links to random hosts")
    parser.add_argument(
        "--directory", type=Path, help="where to make the state (default: the system's temporary directory)"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args(arguments)
    directory = Path(tempfile.mkdtemp(prefix="windrow-frontier-", dir=given.directory))
    print("    URLs    CPU µs/URL  private B/URL   disk B/URL  checkpoint s    worst", file=sys.stderr)
    try:
        figures = asyncio.run(measure(directory, given.urls, given.scatter))
    finally:
        shutil.rmtree(directory)
    if given.json:
        print(json.dumps(figures))
        return
    print(f"flatness (CPU per URL, last row to first): {figures['flatness']:.2f}")
    for name, cost in dict(figures["page_us"]).items():  # type: ignore[call-overload]
        print(f"a page in a crawl, {name}: {cost:.0f} µs of CPU (lease, ack with 33 links of which 1 is new, release)")


if __name__ == "__main__":
    main()
