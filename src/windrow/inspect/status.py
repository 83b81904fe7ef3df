"""The state of a crawl in numbers, for people and programs.

It comes from the log alone, so it holds for a running crawl, a stopped one, and one whose frontier store is lost.
"""

import fcntl
import math
import os
import platform
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from windrow import log, orders, takedown
from windrow.log import Hosts, Removals, Totals
from windrow.records import Controls


class Status(msgspec.Struct):
    """The counts at the last commit. seen = waiting + in_flight + all of finished."""

    running: bool
    seen: int  # URLs admitted
    waiting: int
    in_flight: int  # requested and not yet committed
    finished: dict[str, int]  # by the reason of their last visit
    retried: dict[str, int]  # failed attempts, by reason
    refused: dict[str, int]  # links not admitted, by rule
    hosts: int
    requests: int  # this and the next three: see log.Tally
    captures: int
    pages: int
    documents: int
    downloaded: int  # bytes
    clean: int  # bytes of main text found
    kept: int  # bytes of text in the corpus
    tokens: int  # words of text in the corpus
    truncated: dict[str, int]  # captures that are not complete, by what ended them
    listed: int  # documents on the takedown list that are not purged
    purged: int  # pages removed by `windrow purge`
    bytes: dict[str, int]  # committed, by directory: the archive's three, corpus, seen
    frames: int
    first: float  # epoch seconds of the first commit
    last: float
    offline: float = 0.0  # epoch seconds since which the running crawl waits for the network; 0: it does not
    controls: Controls = Controls()  # what orders have changed: a pause, blocked names, options
    orders_waiting: int = 0  # files in orders/ that were not taken yet
    earlier: dict[str, int] = {}  # visits that were followed by another one, by reason: with `finished`, all visits
    due: int = 0  # finished URLs that are to be visited again


def status(directory: Path, watch: log.Watch | None = None) -> Status:
    """Return the counts of a crawl, running or not. watch: gets the bytes of the log that were read."""
    view = log.View(directory, "status", *folds(directory))
    return of(directory, *view.read(watch))


def folds(directory: Path) -> tuple[Totals, Hosts, Removals]:
    """Return what has to be counted for a status."""
    return Totals(), Hosts(), Removals(takedown.of(directory))


def of(directory: Path, totals: Totals, hosts: Hosts, removals: Removals) -> Status:
    """Return the status of a crawl whose log has these counts."""
    tally = totals.tally
    running = is_running(directory)
    left = tally.seen - sum(tally.finished.values())
    in_flight = min(totals.in_flight, left) if running else 0
    return Status(
        running=running,
        seen=tally.seen,
        waiting=left - in_flight,
        in_flight=in_flight,
        finished=_by_size(tally.finished),
        retried=_by_size(tally.retried),
        refused=_by_size(tally.refused),
        hosts=len(hosts.names),
        requests=tally.requests,
        captures=tally.captures,
        pages=tally.pages,
        documents=tally.documents,
        downloaded=tally.downloaded,
        clean=tally.clean,
        kept=tally.kept,
        tokens=tally.tokens,
        truncated=_by_size(tally.truncated),
        listed=len(removals.listed),
        purged=len(removals.purged),
        bytes=by_directory(totals.lengths),
        frames=totals.frames,
        first=totals.first,
        last=totals.last,
        offline=totals.offline if running and totals.last >= _start(directory) else 0.0,
        controls=msgspec.structs.replace(totals.controls, recent=()),  # of no use to a reader
        orders_waiting=sum(1 for _ in (directory / orders.DIRECTORY).glob("*.json")),
        earlier=_by_size(tally.earlier),
        due=tally.due,
    )


def total(parts: Sequence[Status]) -> Status:
    """Return the counts of several crawls together, as of the shards of one."""
    if len(parts) == 1:
        return parts[0]
    sums: dict[str, Any] = {}
    for field in msgspec.structs.fields(Status):
        values = [getattr(part, field.name) for part in parts]
        if field.name in ("running", "first", "last", "offline"):
            sums[field.name] = min(filter(None, values), default=0.0) if field.name == "first" else max(values)
        elif isinstance(values[0], dict):
            sums[field.name] = _by_size(sum(map(Counter, values), Counter()))
        elif isinstance(values[0], int):
            sums[field.name] = sum(values)
    return Status(**sums, controls=_common([part.controls for part in parts]))


def _common(parts: Sequence[Controls]) -> Controls:
    """Return what orders have changed in all of them, and what any of them blocks: its hosts are in one shard each."""
    pauses = [part.paused for part in parts]
    blocked = dict.fromkeys(name for part in parts for name in part.blocked)
    options = [option for option in parts[0].options.items() if all(option in part.options.items() for part in parts)]
    return Controls(paused=max(pauses) if all(pauses) else 0.0, blocked=tuple(blocked), options=dict(options))


def by_directory(lengths: dict[str, int]) -> dict[str, int]:
    """Return the bytes of files by the directory that they are in."""
    sums: dict[str, int] = {}
    for name, length in lengths.items():
        directory = name.partition("/")[0]
        sums[directory] = sums.get(directory, 0) + length
    return sums


def is_running(directory: Path) -> bool:
    """Return whether a process holds the crawl's lock."""
    try:
        handle = os.open(directory / "lock", os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _start(directory: Path) -> float:
    """Return when the process that holds the lock wrote it: a frame from before says nothing of that process.

    A process takes the lock first and writes it then. In between, the file names a process that has ended, or is empty,
    perhaps still with its old time. The name is read before the time: it may be written meanwhile, and the time must
    not be older than the name.
    """
    path = directory / "lock"
    pid, _, node = path.read_text(errors="replace").partition(" on ")
    time = path.stat().st_mtime
    if not pid or (node == platform.node() and pid.isdecimal() and not process_exists(int(pid))):
        return math.inf
    return time


def process_exists(pid: int) -> bool:
    """Return whether this machine has a process of this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        pass
    return True


def _by_size(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
