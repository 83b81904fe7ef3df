"""Measure what it costs that a finished URL may be due again: a store of finished URLs, without and with it.

    python benchmarks/revisits.py                    20 million URLs of 200,000 hosts: 10 minutes and 6 GB of disk
    python benchmarks/revisits.py --urls 2000000
    python benchmarks/revisits.py --log              bytes of the log per visit
    python benchmarks/revisits.py --posterior        how much the history of a URL knows of its rate of change

The store is that of LMDB, through its own verbs. 2,000 hosts are worked on at a time. Of every 20 new URLs 85 % are on
one of these, and as many URLs are finished. Making the URLs is not counted. At the end all URLs are finished, and some
are visited again: leased in the order of their times, and finished once more.
"""

import argparse
import array
import json
import math
import random
import shutil
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.frontier import CHECKPOINT, HOSTS, HOT, LINKS, START, Web, anonymous, disk
from windrow import log
from windrow.frontier.policy import revisit
from windrow.frontier.store.lmdb import LmdbStore
from windrow.frontier.store.rows import CODES, DueUrl, HostRow, Meta
from windrow.records import Entry, Frame, History, Place, Reason, Report, Task

OK = CODES[Reason.OK]
DAY = 86400
VISITED = 200_000  # URLs that are visited again at the end
RATES = [1e-4, *[2.0**power for power in range(-6, 3)]]  # changes per cycle, as in a posterior


class Filled:
    """A store of finished URLs. `again`: they are due again."""

    def __init__(self, directory: Path, again: bool) -> None:
        self.store = LmdbStore(directory)
        self.directory = directory
        self.web = Web(0.85)
        self.rng = random.Random(7)
        self.again = again
        self.cpu = 0.0
        self.finished = 0
        self.hosts: dict[int, deque[tuple[Task, int]]] = {}  # waiting URLs with their references
        self.pending: deque[int] = deque()  # hosts, one entry per waiting URL, in the order of discovery

    def fill(self, count: int) -> None:
        added = 0
        while added < count:
            tasks = []
            for _ in range(LINKS):
                hot = self.web.hot[self.rng.randrange(HOT)]
                if self.rng.random() < 0.01:
                    self.web.hot[self.rng.randrange(HOT)] = self.rng.randrange(HOSTS)
                host = hot if self.rng.random() < 0.85 else self.rng.randrange(HOSTS)
                tasks.append((host, self.web.new(host)))
            self._admit(tasks)
            added += len(tasks)
            self._finish(len(tasks))
            if added % CHECKPOINT < LINKS:
                self._checkpoint()
        self._checkpoint()

    def _admit(self, tasks: Sequence[tuple[int, Task]]) -> None:
        start = time.process_time()
        refs = [self.store.add(host + 1, task, 0) for host, task in tasks]
        self.cpu += time.process_time() - start
        for (host, task), ref in zip(tasks, refs, strict=True):
            self.hosts.setdefault(host, deque()).append((task, ref))
            self.pending.append(host)

    def _finish(self, count: int) -> None:
        ended = []
        for _ in range(count):
            host = self.pending.popleft()
            task, ref = self.hosts[host].popleft()
            if not self.hosts[host]:
                del self.hosts[host]
            ended.append((host + 1, task, ref, self._due(task, ref) if self.again else None))
        start = time.process_time()
        for host, task, ref, due in ended:
            self.store.finish(host, task, ref, OK, due)
        self.cpu += time.process_time() - start
        self.finished += count

    def _due(self, task: Task, ref: int) -> DueUrl:
        """Return the entry of a URL after its first visit. Three of four pages have validators."""
        now = int(START) + self.finished // 100
        some = self.rng.random() < 0.75
        history = History(
            visits=1,
            fetches=1,
            first=now,
            last=now,
            digest=task.url.key,
            etag=f'"{self.rng.getrandbits(80):020x}"' if some else "",  # 22 bytes, as of nginx with gzip
            modified=now - 1000 if some else 0,
        )
        return DueUrl(now + DAY * self.rng.randint(1, 64), ref, history)

    def _checkpoint(self) -> None:
        start = time.process_time()
        self.store.checkpoint(Meta())
        self.cpu += time.process_time() - start

    def revisit(self, count: int) -> float:
        """Visit URLs again, host by host in the order of their times; return the CPU of a visit in microseconds."""
        rows = [
            HostRow(host + 1, self.web.task(host, 1).url.host, f"site{host >> 1}.org") for host in self.web.hot[:500]
        ]
        done, cpu, now = 0, 0.0, int(START) + 400 * DAY
        while done < count:
            row = rows[self.rng.randrange(len(rows))]
            start = time.process_time()
            due = self.store.due(row.id, (), 16)
            tasks = [self.store.read(url.ref, row) for url in due]
            cpu += time.process_time() - start
            for task, url in zip(tasks, due, strict=True):
                report = Report(0, task, Reason.NOT_MODIFIED, "", now, status=304)
                start = time.process_time()
                history = revisit.after(url.history, report)
                again = Task(task.url, priority=task.priority, history=url.history)
                self.store.finish(
                    row.id, again, url.ref, CODES[Reason.NOT_MODIFIED], DueUrl(now + DAY, url.ref, history)
                )
                cpu += time.process_time() - start
            done += len(due)
            now += 1
        return cpu / done * 1e6


def measure(count: int, again: bool, home: Path | None) -> dict[str, float]:
    directory = Path(tempfile.mkdtemp(prefix="windrow-revisits-", dir=home))
    try:
        before = anonymous()
        filled = Filled(directory, again)
        filled.fill(count)
        made = array.array("Q", [len(each) for each in filled.hosts.values()])
        row = {
            "urls": filled.finished,
            "waiting": sum(made),
            "cpu_us": filled.cpu / filled.finished * 1e6,
            "disk_bytes": disk(directory) / filled.finished,
            "private_bytes": (anonymous() - before) / filled.finished,
            "visit_us": filled.revisit(VISITED) if again else 0.0,
        }
        filled.store.close()
        return row
    finally:
        shutil.rmtree(directory)


def log_bytes() -> dict[str, float]:
    """Return the bytes of the log per visit, compressed, with 256 visits per commit and one new link per page."""
    web = Web(0.85)
    web.seeds()
    pages = web.pages(256)
    sizes = {}
    for kind in ("visited once", "first visit", "second visit", "not modified"):
        rng = random.Random(3)
        frame = Frame(1, START, tuple(_entry(page, kind, rng) for page in pages), {})
        sizes[kind] = len(log.encode(frame)) / len(pages)
    return sizes


def _entry(page: Report, kind: str, rng: random.Random) -> Entry:
    """Return the entry of a page, with fields as they are in a crawl."""
    digest = "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(32))
    place = Place("warc/WINDROW-n0-20261115104421-00001.warc.gz", rng.randrange(1 << 30), rng.randrange(9000))
    text = {"text": rng.getrandbits(64), "language": "deu", "clean": rng.randrange(9999)}
    validators = {"etag": f'"{rng.getrandbits(80):020x}"', "modified": int(START) - rng.randrange(10**7)}
    seconds, due = round(rng.random(), 3), int(START) + rng.randrange(10**6)
    if kind == "not modified":
        changes: dict[str, object] = {
            "reason": Reason.NOT_MODIFIED,
            "status": 304,
            "downloaded": 173,
            "kept": 0,
            "shape": 0,
        }
    else:
        changes = {"digest": digest, "place": place, **text, **(validators if kind != "visited once" else {})}
    if kind in ("second visit", "not modified"):
        changes["task"] = msgspec.structs.replace(page.task, history=History(visits=1))
    report = msgspec.structs.replace(page, links=(), seconds=seconds, **changes)
    return Entry(report, page.links[:1], due=0 if kind == "visited once" else due)


def posterior() -> dict[str, dict[str, float]]:
    """Return how far a posterior from the history is from the exact one, as the ratio of the expected rates."""
    rng = random.Random(5)
    found: dict[str, dict[str, float]] = {}
    for kind in ("adaptive", "irregular"):
        errors: dict[str, list[float]] = {"first, last, fetches, changes": [], "and the sum of unchanged intervals": []}
        for _ in range(4000):
            gaps = _gaps(rng, kind)
            exact = _rate([_likelihood(gaps, rate) for rate in RATES])
            total, still = sum(gap for gap, _ in gaps), sum(gap for gap, changed in gaps if not changed)
            changes, count = sum(changed for _, changed in gaps), len(gaps)
            mean = total / count
            four = [_likelihood([(mean, index < changes) for index in range(count)], rate) for rate in RATES]
            each = (total - still) / changes if changes else 0.0
            five = [_likelihood([(still, False), *[(each, True)] * changes], rate) for rate in RATES]
            for name, logs in zip(errors, (four, five), strict=True):
                errors[name].append(abs(math.log(_rate(logs) / exact)))
        found[kind] = {name: math.exp(sorted(each)[len(each) * 95 // 100]) for name, each in errors.items()}
    return found


def _gaps(rng: random.Random, kind: str) -> list[tuple[float, bool]]:
    """Return the intervals between the visits to a page, and whether it had changed."""
    rate, gap, gaps = rng.choice(RATES), 1.0, []
    for _ in range(rng.randint(2, 20)):
        gap = gap if kind == "adaptive" else rng.lognormvariate(0.0, 1.0)
        changed = rng.random() < -math.expm1(-rate * gap)
        gaps.append((gap, changed))
        gap = max(0.1, gap * 0.5) if changed else min(60.0, gap * 1.5)
    return gaps


def _likelihood(gaps: Sequence[tuple[float, bool]], rate: float) -> float:
    return sum(math.log(-math.expm1(-rate * gap)) if changed else -rate * gap for gap, changed in gaps)


def _rate(logs: Sequence[float]) -> float:
    weights = [math.exp(each - max(logs)) for each in logs]
    return sum(weight * rate for weight, rate in zip(weights, RATES, strict=True)) / sum(weights)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=20_000_000, help="number of URLs (default 20,000,000)")
    parser.add_argument("--directory", type=Path, help="where to make the stores (default: the temporary directory)")
    parser.add_argument("--log", action="store_true")
    parser.add_argument("--posterior", action="store_true")
    given = parser.parse_args(arguments)
    if given.log or given.posterior:
        print(json.dumps(log_bytes() if given.log else posterior(), indent=2))
        return
    rows = {name: measure(given.urls, name == "on", given.directory) for name in ("off", "on")}
    for name, row in rows.items():
        print(name, json.dumps({key: round(value, 2) for key, value in row.items()}), file=sys.stderr, flush=True)
    off, on = rows["off"], rows["on"]
    more = f"{on['disk_bytes'] - off['disk_bytes']:.1f} bytes and {on['cpu_us'] - off['cpu_us']:.2f} µs"
    print(
        f"a finished URL takes {off['disk_bytes']:.1f} bytes and {off['cpu_us']:.2f} µs, {more} more if it is due again"
    )
    print(f"a further visit takes {on['visit_us']:.1f} µs")


if __name__ == "__main__":
    main()
