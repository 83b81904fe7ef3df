"""When a finished URL is due again.

A policy returns the time of the next visit from what all visits have shown, including the one that has just ended. The
frontier keeps the history and the time; the log keeps both, so a replay asks no policy.
"""

from collections.abc import Callable

import msgspec

from windrow import fingerprints
from windrow.records import History, Reason, Report

Policy = Callable[[History, Report], float]  # epoch seconds of the next visit; 0: never

MOST_ETAG = 255  # bytes; a longer one is not kept


def never(history: History, report: Report) -> float:
    """Visit every URL once."""
    return 0.0


def after(history: History, report: Report) -> History:
    """Return the history with the visit that this report ends."""
    visits = history.visits + 1
    same = report.reason is Reason.NOT_MODIFIED
    if not (same or (200 <= report.status < 300 and report.digest)):
        return msgspec.structs.replace(history, visits=visits, reason=report.reason, attempt=0)
    time, digest = int(report.time), history.digest if same else fingerprints.of_payload(report.digest)
    changed = history.fetches > 0 and digest != history.digest
    return History(
        visits=visits,
        reason=report.reason,
        fetches=history.fetches + 1,
        changes=history.changes + changed,
        first=history.first or time,
        last=time,
        unchanged=history.unchanged + (0 if changed or not history.fetches else max(0, time - history.last)),
        digest=digest,
        etag=(report.etag if len(report.etag.encode()) <= MOST_ETAG else "") or (history.etag if same else ""),
        modified=report.modified or (history.modified if same else 0),
    )
