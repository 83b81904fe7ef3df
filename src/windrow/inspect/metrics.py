"""The metrics of any crawl, by its log: those of all its runs, as of the last commit.

A running crawl serves most of them too, counted since it was started, and what only it knows, see `crawler.metrics`.
"""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import windrow
from windrow import log, metrics
from windrow.inspect import status as states
from windrow.log import Meter, Tally
from windrow.metrics import Family, by, single

SUBSETS = ("warc", "robotstxt", "diagnostics")  # of the archive


def recorded(directory: Path, watch: log.Watch | None = None) -> list[Family]:
    """Return the metrics that the log of a crawl has, over all runs."""
    *folds, meter = log.View(directory, "metrics", *states.folds(directory), Meter()).read(watch)
    status = states.of(directory, *folds)
    families = [*general(directory, status.running), *tally(folds[0].tally), *meter.families()]
    families += [single("windrow_urls_waiting", status.waiting), single("windrow_urls_in_hand", status.in_flight)]
    families += corpus(status.documents, status.tokens)
    families += written(status.bytes, status.last, status.frames)
    return metrics.labelled(families, metrics.labels_of(directory))


def general(directory: Path, running: bool) -> Iterator[Family]:
    yield by("windrow_build_info", {windrow.__version__: 1})
    yield single("windrow_running", int(running))
    yield single("windrow_disk_free_bytes", shutil.disk_usage(directory).free)


def tally(counts: Tally) -> Iterator[Family]:
    yield single("windrow_urls_seen_total", counts.seen)
    yield by("windrow_urls_finished_total", counts.finished)
    yield by("windrow_attempts_failed_total", counts.retried)
    yield by("windrow_links_refused_total", counts.refused)
    yield single("windrow_downloaded_bytes_total", counts.downloaded)
    yield single("windrow_text_found_bytes_total", counts.clean)


def corpus(documents: int, tokens: int) -> Iterator[Family]:
    yield single("windrow_corpus_documents", documents)
    yield single("windrow_corpus_tokens", tokens)


def written(lengths: Mapping[str, int], last: float, frames: int) -> Iterator[Family]:
    """Yield what commits have written: the bytes by directory, the time of the last one, and how many there were."""
    yield by("windrow_archive_bytes", {subset: lengths[subset] for subset in SUBSETS if subset in lengths})
    if last:
        yield single("windrow_last_commit_timestamp_seconds", last)
    yield single("windrow_frames_total", frames)
