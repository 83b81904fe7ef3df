"""The CPU time of metrics: counting a report, against the counters of prometheus_client, and a scrape.

    python benchmarks/metrics.py

Both count the same of each report: a request by kind and class of status, its duration in a histogram, and a document
with its bytes by language. Nothing else is paid per page; a crawl that is not scraped computes nothing more.
"""

import asyncio
import itertools
import math
import tempfile
import time
import timeit
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Histogram

from windrow import metrics, urls
from windrow.log import Meter
from windrow.metrics import Family, endpoint
from windrow.metrics.families import SECONDS
from windrow.records import Kind, Reason, Report, Task

SHARDS = 64


def reports() -> list[Report]:
    """Return a page with text, a page without, and a failure, in the proportion 1:2:1."""
    found = urls.parse("http://www.example.org/page")
    assert found is not None
    task = Task(found)
    kept = Report(1, task, reason=Reason.OK, detail="", time=0.0, seconds=0.31, status=200, kept=1500, language="ces")
    dropped = Report(2, task, reason=Reason.QUALITY, detail="", time=0.0, seconds=0.07, status=200)
    failed = Report(3, task, reason=Reason.TIMEOUT, detail="", time=0.0, seconds=30.0)
    return [kept, dropped, dropped, failed]


def peer() -> Callable[[Report], None]:
    registry = CollectorRegistry()
    requests = Counter("requests", "r", ["kind", "status_class"], registry=registry)
    durations = Histogram("duration_seconds", "d", buckets=SECONDS, registry=registry)
    documents = Counter("documents", "d", ["language"], registry=registry)
    kept = Counter("kept_bytes", "k", ["language"], registry=registry)
    kinds = {kind: kind.name.lower() for kind in Kind}

    def count(report: Report) -> None:
        status = f"{report.status // 100}xx" if report.status else "none"
        requests.labels(kinds[report.task.kind], status).inc()
        durations.observe(report.seconds)
        if report.kept:
            documents.labels(report.language).inc()
            kept.labels(report.language).inc(report.kept)

    return count


def best(work: Callable[[], object], number: int) -> float:
    """Return the least CPU time of a call, in microseconds."""
    return min(timeit.repeat(work, timer=time.process_time, number=number, repeat=9)) / number * 1e6


def main() -> None:
    mixed = reports()
    meter = Meter()
    count = peer()

    def ours() -> None:
        for report in mixed:
            meter.add_report(report)

    def theirs() -> None:
        for report in mixed:
            count(report)

    own, other = best(ours, 20_000) / len(mixed), best(theirs, 20_000) / len(mixed)
    print(f"count a report:      {own:6.2f} µs   prometheus_client {other:6.2f} µs   ratio {other / own:.1f}")
    one = list(meter.families())
    print(f"write these metrics: {best(lambda: metrics.text(meter.families()), 500):6.0f} µs")
    shards = [metrics.labelled(one, {"crawl": "c", "shard": f"{number:03}"}) for number in range(SHARDS)]
    lines = len(list(itertools.chain.from_iterable(family.samples for family in metrics.joined(shards))))
    joined = best(lambda: metrics.text(metrics.joined(shards)), 5) / 1000
    print(f"join {SHARDS} shards ({lines:,} samples): {joined:.1f} ms")
    print(f"ask a process over its socket, both sides:   {asyncio.run(asked(one)):.0f} µs")


async def asked(families: list[Family]) -> float:
    """Return the CPU time of one request from a supervisor to a shard, in microseconds, for both of them."""

    async def collect() -> list[Family]:
        return families

    with tempfile.TemporaryDirectory() as made:
        path = f"{made}/socket"
        async with endpoint.serve(path, collect):
            least = math.inf
            for _ in range(9):
                began = time.process_time()
                for _ in range(100):
                    assert await endpoint.ask(path) == families
                least = min(least, (time.process_time() - began) / 100)
    return least * 1e6


if __name__ == "__main__":
    main()
