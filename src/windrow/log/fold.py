"""Counts over the reports of a log: while a crawl runs, and from its files."""

from pathlib import Path

import msgspec

from windrow.data import Entry, Kind, Report
from windrow.log import format, reader
from windrow.log.format import Line


class Tally(msgspec.Struct):
    """Reports folded into counts: while a crawl runs, and from its log."""

    seen: int = 0  # URLs admitted
    finished: dict[str, int] = {}
    retried: dict[str, int] = {}  # tries that failed and went back to the queue
    refused: dict[str, int] = {}  # links not admitted, by rule
    requests: int = 0
    archived: int = 0  # captures
    downloaded: int = 0  # bytes
    clean: int = 0  # bytes of main text
    kept: int = 0  # bytes of text that reached the corpus

    def add(self, entry: Entry) -> None:
        report = entry.report
        self._count(report.reason.value, report.final, report.task.kind, len(entry.admitted))
        self._weigh(report)
        _sum(self.refused, entry.refused)

    def add_line(self, line: Line) -> None:
        self._count(line.reason.value, line.final, line.kind, len(line.admitted))
        self._weigh(line)
        _sum(self.refused, line.refused)

    def _count(self, reason: str, final: bool, kind: int, found: int) -> None:
        if kind == Kind.PAGE:
            self.seen += found
            counts = self.finished if final else self.retried
            counts[reason] = counts.get(reason, 0) + 1

    def _weigh(self, told: "Report | Line") -> None:
        self.requests += told.seconds > 0 or told.status > 0
        self.downloaded += told.downloaded
        self.archived += told.place is not None
        self.clean += told.clean
        self.kept += told.kept


def _sum(total: dict[str, int], counts: dict[str, int]) -> None:
    for rule, count in counts.items():
        total[rule] = total.get(rule, 0) + count


class Totals(msgspec.Struct):
    """A whole log, folded."""

    tally: Tally
    frames: int = 0
    in_flight: int = 0
    lengths: dict[str, int] = {}
    first: float = 0.0  # epoch seconds
    last: float = 0.0
    hosts: int = 0  # with an admitted URL


def fold(directory: Path) -> Totals:
    """Return the counts of a crawl, from its log alone and without making records: some 8 µs per page."""
    totals = Totals(Tally())
    hosts: set[str] = set()
    for head, lines, _ in reader.raw_frames(directory):
        totals.frames, totals.in_flight, totals.last = head.frame, head.in_flight, head.time
        totals.first = totals.first or head.time
        totals.lengths.update(head.lengths)
        totals.tally.seen += len(head.seeds)
        hosts.update(_authority(seed.url) for seed in head.seeds)
        for text in lines:
            line = format.line(text)
            totals.tally.add_line(line)
            hosts.update([_authority(found.url) for found in line.admitted])
    totals.hosts = len(hosts)
    return totals


def _authority(text: str) -> str:
    return text.split("/", 3)[2]
