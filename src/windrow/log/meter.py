"""Counts for metrics that a tally does not have: requests by kind and status, durations, languages, retired domains.

A running crawl counts its reports here, and `windrow status --format prometheus` the lines of the log, with one code.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import msgspec

from windrow import urls
from windrow.log.format import Head, Line
from windrow.metrics import Family, Histogram, by, by_several
from windrow.records import Kind, Reason, Report

CLOSINGS = frozenset(reason.value for reason in (Reason.LOW_YIELD, Reason.HOST_DEAD, Reason.BLOCKED))
KINDS = {kind: kind.name.lower().replace("_", "-") for kind in Kind}


class Meter(msgspec.Struct):
    """A fold over the log, and the counts of a run."""

    reads: ClassVar = ("url", "kind", "reason", "seconds", "status", "kept", "language")

    requests: dict[tuple[Kind, int], int] = {}  # by kind and first digit of the status; 0: no answer
    durations: Histogram = msgspec.field(default_factory=Histogram)
    documents: dict[str, int] = {}  # by language
    kept: dict[str, int] = {}  # bytes, by language
    retired: dict[str, set[str]] = {}  # reason -> domains

    def add(self, head: Head, lines: Sequence[Line]) -> None:
        for line in lines:
            if not self._count(line, line.kind) and line.reason in CLOSINGS and line.kind is Kind.PAGE:
                self._retire(line.reason, urls.domain(urls.host_of(line.url)))

    def add_report(self, report: Report) -> None:
        task = report.task
        if not self._count(report, task.kind) and report.reason.value in CLOSINGS and task.kind is Kind.PAGE:
            self._retire(report.reason.value, task.url.domain)

    def _count(self, report: Report | Line, kind: Kind) -> bool:
        """Count a report, or its line in the log. Return whether it had a request, as `Tally.count` decides it."""
        seconds, status = report.seconds, report.status
        if not (seconds > 0 or status > 0):
            return False
        key = kind, status // 100
        self.requests[key] = self.requests.get(key, 0) + 1
        self.durations.observe(seconds)
        if report.kept > 0:
            self.documents[report.language] = self.documents.get(report.language, 0) + 1
            self.kept[report.language] = self.kept.get(report.language, 0) + report.kept
        return True

    def _retire(self, reason: str, domain: str) -> None:
        self.retired.setdefault(reason, set()).add(domain)

    def families(self) -> Iterable[Family]:
        requests: dict[tuple[str, ...], float] = {
            (KINDS[kind], f"{first}xx" if first else "none"): n for (kind, first), n in self.requests.items()
        }
        yield by_several("windrow_requests_total", requests)
        yield self.durations.family("windrow_request_duration_seconds")
        yield by("windrow_text_kept_bytes_total", self.kept)
        yield by("windrow_documents_total", self.documents)
        yield by("windrow_domains_retired_total", {reason: len(names) for reason, names in self.retired.items()})
