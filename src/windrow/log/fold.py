"""Fold the log into counts. This is the one place that decides what counts as a request, a capture, a page, a document.

`Tally` holds the counts that every reader wants: the live display adds reports to one while the crawl runs, and
`Totals` makes one from a log. Other folds (`Hosts` here, `Accounts` in accounts.py) take part in the same pass.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from windrow import orders, urls
from windrow.log import following, reader
from windrow.log.following import START, Fold, Watch
from windrow.log.format import Head, Line
from windrow.records import Controls, Entry, Kind, Report

PAUSE = 60.0  # seconds between two commits that count as crawling at most: a crawl does not age while it is stopped

_PAGE = Kind.PAGE  # looking a member up in its enum costs as much as the rest of a count


class Tally(msgspec.Struct):
    """Reports in numbers."""

    seen: int = 0  # URLs admitted
    finished: dict[str, int] = {}  # URLs, by the reason of their last visit
    earlier: dict[str, int] = {}  # visits that were followed by another one, by reason: with `finished`, all visits
    due: int = 0  # finished URLs that are to be visited again
    retried: dict[str, int] = {}  # attempts that failed and put the URL back into its queue, by reason
    refused: dict[str, int] = {}  # links not admitted, by rule
    requests: int = 0  # of every kind: pages, well-known files, soft-404 probes
    captures: int = 0  # requests with an answer, which is archived
    pages: int = 0  # URLs answered with a 2xx status: what --max-pages counts
    documents: int = 0  # pages with text in the corpus
    downloaded: int = 0  # bytes
    clean: int = 0  # bytes of main text
    kept: int = 0  # bytes of text that reached the corpus
    tokens: int = 0  # words of this text: what --max-tokens counts
    truncated: dict[str, int] = {}  # captures that are not complete, by what ended them: "length", "time", "disconnect"

    def add(self, entry: Entry) -> None:
        report = entry.report
        history = report.task.history if report.task.again else None
        self.count(report, report.reason.value, report.task.kind, len(entry.admitted))
        self._refuse(entry.refused)
        if report.final and (entry.due or history is not None):
            self._visit(history.reason.value if history is not None else "", entry.due)

    def add_line(self, line: Line) -> None:
        self.count(line, line.reason, line.kind, len(line.admitted))
        self._refuse(line.refused)
        if line.final and (line.due or line.history):
            self._visit(line.history[1] if line.history else "", line.due)

    def count(self, report: Report | Line, reason: str, kind: Kind, admitted: int) -> None:
        """Count a report, or its line in the log: both have these fields, but not the three that are passed."""
        if kind is _PAGE:  # other kinds of task are requests, but no URLs of the crawl
            self.seen += admitted
            counts = self.finished if report.final else self.retried
            counts[reason] = counts.get(reason, 0) + 1
            self.pages += report.final and 200 <= report.status < 300
            self.documents += report.kept > 0
        self.requests += report.seconds > 0 or report.status > 0
        self.captures += report.place is not None
        self.downloaded += report.downloaded
        self.clean += report.clean
        self.kept += report.kept
        self.tokens += report.tokens
        if report.truncated:
            self.truncated[report.truncated] = self.truncated.get(report.truncated, 0) + 1

    def _visit(self, before: str, due: int) -> None:
        """Count a visit beside others of its URL. `before`: how the one before ended; "" if it is the first."""
        self.due += (due > 0) - bool(before)
        if before:
            self.earlier[before] = self.earlier.get(before, 0) + 1
            self.reopen({before: 1})

    def reopen(self, reopened: dict[str, int]) -> None:
        """Take URLs that wait again off the counts of those that finished."""
        for reason, count in reopened.items():
            left = self.finished.get(reason, 0) - count
            if left:
                self.finished[reason] = left
            else:
                self.finished.pop(reason, None)

    def join(self, other: "Tally") -> None:
        """Add the counts of another crawl, or of another shard of the same crawl."""
        for name in self.__struct_fields__:
            own, more = getattr(self, name), getattr(other, name)
            if isinstance(own, dict):
                for key, count in more.items():
                    own[key] = own.get(key, 0) + count
            else:
                setattr(self, name, own + more)

    def _refuse(self, refused: dict[str, int]) -> None:
        for rule, links in refused.items():
            self.refused[rule] = self.refused.get(rule, 0) + links


class Totals(msgspec.Struct):
    """A whole log in numbers."""

    reads: ClassVar = (
        *("kind", "reason", "final", "status", "seconds", "place", "truncated", "admitted", "refused"),
        *("downloaded", "clean", "kept", "tokens", "history", "due"),
    )

    tally: Tally = msgspec.field(default_factory=Tally)
    frames: int = 0
    in_flight: int = 0  # URLs requested and not yet committed at the last frame
    offline: float = 0.0  # epoch seconds since which no host had answered at the last frame; 0: the network worked
    lengths: dict[str, int] = {}  # committed bytes, by file
    first: float = 0.0  # epoch seconds
    last: float = 0.0
    seconds: float = 0.0  # of crawling
    controls: Controls = Controls()  # what orders have changed
    notes: list[str] = []  # parts of the log that could not be read

    def add(self, head: Head, lines: Sequence[Line]) -> None:
        if self.frames:
            self.seconds += crawling(self.last, head.time)
        else:
            self.first = head.time
        self.frames, self.last, self.in_flight, self.offline = head.frame, head.time, head.in_flight, head.offline
        self.lengths.update(head.lengths)
        self.tally.seen += len(head.seeds)
        for order in head.orders:
            self.controls = orders.apply(self.controls, order)
            self.tally.reopen(order.reopened)
        for line in lines:
            self.tally.add_line(line)

    def join(self, other: "Totals", name: str) -> None:
        """Add what the log of another shard of the same crawl says, which runs at the same time."""
        self.tally.join(other.tally)
        self.first = min(self.first or other.first, other.first or self.first)
        self.last, self.seconds = max(self.last, other.last), max(self.seconds, other.seconds)
        self.frames += other.frames
        self.notes += [f"shard {name}: {note}" for note in other.notes]


def crawling(last: float, now: float) -> float:
    """Return the seconds of crawling between two commits."""
    return min(max(now - last, 0.0), PAUSE)


class Hosts(msgspec.Struct):
    """The hosts (with their ports) of all admitted URLs."""

    reads: ClassVar = ("admitted",)

    names: set[str] = set()

    def add(self, head: Head, lines: Sequence[Line]) -> None:
        self.names.update([urls.authority_of(seed.url) for seed in head.seeds])
        self.names.update([link.url.split("/", 3)[2] for line in lines for link in line.admitted])


def fold(directory: Path, *folds: Fold, watch: Watch | None = None) -> Totals:
    """Return the counts of a crawl, from its log alone, and give the other folds their part of the same pass."""
    totals = Totals()
    sizes = reader.sizes(reader.home(directory))
    position = following.follow(directory, START, totals, *folds, watch=watch)
    assert position is not None, "every log has its start"
    rests = {name: size for name, size in sizes.items() if name >= position.file}
    if position.file in rests:
        rests[position.file] -= position.offset
    totals.notes = [*position.notes, *following.left_out(rests)]
    return totals
