"""The metrics of a crawl that runs, by its process; `inspect.metrics` has those of any crawl, by its log.

The counters of a process begin with the process, as monitoring expects. Gauges are those of now.
"""

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from windrow import metrics
from windrow.crawler.ending import RunState
from windrow.crawler.loop import Crawl
from windrow.crawler.machine.state import Machine
from windrow.inspect import metrics as measured
from windrow.inspect import status as states
from windrow.log import Meter
from windrow.metrics import Family, by, single
from windrow.records import Counts


class RunMetrics:
    """The metrics of one run. They exist before the crawl is set up, which may take a while after a crash."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._labels = metrics.labels_of(directory)
        self._meter = Meter()
        self._crawl: Crawl | None = None

        self.count = self._meter.add_report  # call it with every outcome

    def begin(self, crawl: Crawl) -> None:
        """Say the state of a crawl from now on."""
        self._crawl = crawl

    async def collect(self) -> list[Family]:
        """Return all metrics as they are now."""
        families = [*measured.general(self._directory, running=True), *_process()]
        if self._crawl is not None:
            state = await self._crawl.progress()
            families += measured.tally(self._crawl.tally)
            families += self._meter.families()
            families += _now(state)
        return metrics.labelled(families, self._labels)


def _now(state: RunState) -> Iterator[Family]:
    counts = state.counts
    yield single("windrow_urls_waiting", counts.waiting)
    yield single("windrow_urls_in_hand", counts.in_flight)
    yield by("windrow_hosts", _hosts(counts))
    yield from measured.corpus(counts.documents, counts.tokens)
    if state.machine is not None:
        yield from _machine(state.machine)


def _hosts(counts: Counts) -> dict[str, float]:
    busy = {"ready": counts.hosts_ready, "waiting": counts.hosts_waiting, "backlog": counts.hosts_backlog}
    return {**busy, "other": max(0, counts.hosts - sum(busy.values()))}


def _machine(machine: Machine) -> Iterator[Family]:
    written = machine.written
    yield by("windrow_workers", machine.workers)
    yield by("windrow_paused", {cause: int(waits) for cause, waits in machine.waits.items()})
    yield written.durations.family("windrow_commit_duration_seconds")
    yield from measured.written(states.by_directory(written.lengths), written.last, written.durations.count)


def _process() -> Iterator[Family]:
    """Yield what the operating system says about this process; only Linux says all of it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    yield single("process_cpu_seconds_total", used.ru_utime + used.ru_stime)
    yield single("process_start_time_seconds", _STARTED)
    if (own := Path("/proc/self")).exists():
        pages = int((own / "statm").read_text().split()[1])
        yield single("process_resident_memory_bytes", pages * resource.getpagesize())
        yield single("process_open_fds", sum(1 for _ in os.scandir(own / "fd")) - 1)  # without that of the listing


_STARTED = time.time() - time.process_time()
