"""The metrics of a crawl: of one that runs, by its process, and of any crawl, by its log.

The counters of a process begin with the process, as monitoring expects; those of a log count all runs. Gauges are those
of now, or of the last commit.
"""

import os
import resource
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import windrow
from windrow import log, metrics
from windrow.crawler.machine import disk
from windrow.inspect import status as states
from windrow.inspect.status import Status
from windrow.log import Meter, Tally
from windrow.metrics import Family, by, single
from windrow.records import Counts

if TYPE_CHECKING:  # `windrow status` shows metrics too, and needs nothing that runs a crawl
    from windrow.crawler.ending import RunState
    from windrow.crawler.loop import Crawl
    from windrow.crawler.machine.state import Machine

SUBSETS = ("warc", "robotstxt", "diagnostics")  # of the archive


class RunMetrics:
    """The metrics of one run. They exist before the crawl is set up, which may take a while after a crash."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._labels = metrics.labels_of(directory)
        self._meter = Meter()
        self._crawl: Crawl | None = None

        self.count = self._meter.add_report  # call it with every outcome

    def begin(self, crawl: "Crawl") -> None:
        """Say what is to be said of a crawl from now on."""
        self._crawl = crawl

    async def collect(self) -> list[Family]:
        """Return all metrics as they are now."""
        found = [*_general(self._directory, running=True), *_process()]
        if self._crawl is not None:
            state = await self._crawl.progress()
            found += _tally(self._crawl.tally)
            found += self._meter.families()
            found += _now(state)
        return metrics.labelled(found, self._labels)


def recorded(directory: Path, watch: log.Watch | None = None) -> list[Family]:
    """Return the metrics that the log of a crawl has, over all runs."""
    meter = Meter()
    found = states.status(directory, watch, meter)
    families = [*_general(directory, found.running), *_tally(_tally_of(found)), *meter.families()]
    families += [single("windrow_urls_waiting", found.waiting), single("windrow_urls_in_hand", found.in_flight)]
    families += _corpus(found.documents, found.tokens)
    families += _written(found.bytes, found.last, found.frames)
    return metrics.labelled(families, metrics.labels_of(directory))


def _tally_of(found: Status) -> Tally:
    return Tally(
        seen=found.seen,
        finished=found.finished,
        retried=found.retried,
        refused=found.refused,
        downloaded=found.downloaded,
        clean=found.clean,
    )


def _general(directory: Path, running: bool) -> Iterator[Family]:
    yield by("windrow_build_info", {windrow.__version__: 1})
    yield single("windrow_running", int(running))
    yield single("windrow_disk_free_bytes", disk.free_bytes(directory))


def _tally(tally: Tally) -> Iterator[Family]:
    yield single("windrow_urls_seen_total", tally.seen)
    yield by("windrow_urls_finished_total", tally.finished)
    yield by("windrow_attempts_failed_total", tally.retried)
    yield by("windrow_links_refused_total", tally.refused)
    yield single("windrow_downloaded_bytes_total", tally.downloaded)
    yield single("windrow_text_found_bytes_total", tally.clean)


def _now(state: "RunState") -> Iterator[Family]:
    counts = state.counts
    yield single("windrow_urls_waiting", counts.waiting)
    yield single("windrow_urls_in_hand", counts.in_flight)
    yield by("windrow_hosts", _hosts(counts))
    yield from _corpus(counts.documents, counts.tokens)
    if state.machine is not None:
        yield from _machine(state.machine)


def _hosts(counts: Counts) -> dict[str, float]:
    busy = {"ready": counts.hosts_ready, "waiting": counts.hosts_waiting, "backlog": counts.hosts_backlog}
    return {**busy, "other": max(0, counts.hosts - sum(busy.values()))}


def _machine(machine: "Machine") -> Iterator[Family]:
    written = machine.written
    yield by("windrow_workers", machine.workers)
    yield by("windrow_paused", {cause: int(waits) for cause, waits in machine.waits.items()})
    yield written.durations.family("windrow_commit_duration_seconds")
    yield from _written(states.by_directory(written.lengths), written.last, written.durations.count)


def _corpus(documents: int, tokens: int) -> Iterator[Family]:
    yield single("windrow_corpus_documents", documents)
    yield single("windrow_corpus_tokens", tokens)


def _written(lengths: Mapping[str, int], last: float, frames: int) -> Iterator[Family]:
    yield by("windrow_archive_bytes", {subset: lengths[subset] for subset in SUBSETS if subset in lengths})
    if last:
        yield single("windrow_last_commit_timestamp_seconds", last)
    yield single("windrow_frames_total", frames)


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
