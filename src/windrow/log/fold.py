"""Fold the log into counts. This is the one place that decides what counts as a request, a capture, a page, a document.

`Tally` holds the counts that every reader wants: the live display adds reports to one while the crawl runs, and `fold`
makes one from the files. Books (`Hosts` here, `Accounts` in accounts.py) take part in the same pass and count the rest.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from windrow import orders, urls
from windrow.config import ConfigError
from windrow.log import format, reader
from windrow.log.format import AdmittedUrl, Head, Line
from windrow.records import Controls, Entry, Kind, Report

PAUSE = 60.0  # seconds between two commits that count as crawling at most: a crawl does not age while it is stopped

_PAGE = Kind.PAGE  # looking a member up in its enum costs as much as the rest of a count

Watch = Callable[[int], None]  # gets the bytes of the log that were read since the last call


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

    tally: Tally
    frames: int = 0
    in_flight: int = 0  # URLs requested and not yet committed at the last frame
    offline: float = 0.0  # epoch seconds since which no host had answered at the last frame; 0: the network worked
    lengths: dict[str, int] = {}  # committed bytes, by file
    first: float = 0.0  # epoch seconds
    last: float = 0.0
    seconds: float = 0.0  # of crawling
    controls: Controls = Controls()  # what orders have changed
    notes: list[str] = []  # parts of the log that could not be read

    def join(self, other: "Totals", name: str) -> None:
        """Add what the log of another shard of the same crawl says, which runs at the same time."""
        self.tally.join(other.tally)
        self.first = min(self.first or other.first, other.first or self.first)
        self.last, self.seconds = max(self.last, other.last), max(self.seconds, other.seconds)
        self.frames += other.frames
        self.notes += [f"shard {name}: {note}" for note in other.notes]


class Book(Protocol):
    """Counts more than a tally does, in the same pass over the log."""

    reads_scores: bool  # decoding the scores of a page costs as much as its other fields

    def begin(self, head: Head, seconds: float) -> None:
        """Take the head of the next frame; so many seconds of crawling have passed."""

    def add(self, line: Line) -> None: ...


class Hosts:
    """The hosts (with their ports) of all admitted URLs."""

    reads_scores = False

    def __init__(self) -> None:
        self.names: set[str] = set()

    def begin(self, head: Head, seconds: float) -> None:
        self.names.update([urls.authority_of(seed.url) for seed in head.seeds])

    def add(self, line: Line) -> None:
        if line.admitted:
            self.names.update([link.url.split("/", 3)[2] for link in line.admitted])


_FIELDS = (
    "url",
    "embed",
    "status",
    "seconds",
    "downloaded",
    "clean",
    "primary",
    "kept",
    "tokens",
    "language",
    "place",
    "kind",
    "final",
    "refused",
    "truncated",
    "history",
    "due",
)
# `reason` stays text: a log with a reason that this version does not know is counted all the same.
_decode = format.view(*_FIELDS, reason=str, admitted=list[AdmittedUrl])
_decode_scores = format.view(*_FIELDS, "scores", reason=str, admitted=list[AdmittedUrl])


def fold(directory: Path, *books: Book, watch: Watch | None = None) -> Totals:
    """Return the counts of a crawl, from its log alone. It makes no records: some 4 µs per page for a status."""
    home = reader.home(directory)
    totals = Totals(Tally())
    sizes = {name: (home / name).stat().st_size for name in reader.names(home)}
    ends = dict.fromkeys(sizes, 0)
    decode = _decode_scores if any(book.reads_scores for book in books) else _decode
    adders = [totals.tally.add_line, *[book.add for book in books]]
    try:
        for head, lines, (name, end) in reader.raw_frames(home):
            _begin(totals, head)
            for book in books:
                book.begin(head, totals.seconds)
            for text in lines:
                line = decode(text)
                for add in adders:
                    add(line)
            if watch is not None:
                watch(end - ends.get(name, 0))
            ends[name] = end
    except (msgspec.MsgspecError, ValueError, IndexError) as error:  # also: not UTF-8; a URL without a host
        raise ConfigError(f"{home} cannot be read ({error}); it is damaged, or a newer Windrow wrote it") from None
    totals.notes += _left_out(sizes, ends)
    return totals


def _begin(totals: Totals, head: Head) -> None:
    if totals.frames:
        if head.frame != totals.frames + 1:
            totals.notes.append(
                f"frame {head.frame} follows frame {totals.frames}: the frames between them are lost or damaged, "
                "and are not counted"
            )
        totals.seconds += min(max(head.time - totals.last, 0.0), PAUSE)
    else:
        totals.first = head.time
    totals.frames, totals.last, totals.in_flight = head.frame, head.time, head.in_flight
    totals.offline = head.offline
    totals.lengths.update(head.lengths)
    totals.tally.seen += len(head.seeds)
    for order in head.orders:
        totals.controls = orders.apply(totals.controls, order)
        totals.tally.reopen(order.reopened)


def _left_out(sizes: dict[str, int], ends: dict[str, int]) -> list[str]:
    """Return a note per file with bytes behind its last readable frame: a frame cut short, or damage.

    `sizes` were taken before the first byte was read, so frames that a running crawl appends meanwhile are no damage.
    """
    rests = {name: size - ends[name] for name, size in sizes.items()}
    return [
        f"log/{name}: {rest:,} bytes after the last whole frame were left out"
        for name, rest in rests.items()
        if rest > 0
    ]
