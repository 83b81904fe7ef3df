"""The effect of an outcome on its host: how long it rests, how often it gets a request, whether it is closed."""

from windrow import config
from windrow.frontier.policy import retry
from windrow.frontier.store.rows import CODES, HostRow
from windrow.records import Kind, Reason, Report

ROBOTS = "robots"  # the name of robots.txt among the well-known files
FAR = 86400.0  # seconds: no host rests longer, whatever it says or the clock does


def delay(host: HostRow, fetch: config.FetchOptions) -> float:
    """Return the seconds between two requests to a host."""
    return max(fetch.delay, host.delay, host.pace)


def rested(host: HostRow, now: float) -> float:
    """Return when the rest of a host ends. An end later than any host may rest comes from a clock that jumped."""
    return host.until if host.until <= now + FAR else now


def due(host: HostRow, last: float, now: float, fetch: config.FetchOptions) -> float:
    """Return when a host may get its next request: after its delay and after its rest, both of which may grow.

    `last` is the end of its last request, 0 if there was none.
    """
    return max(last + delay(host, fetch) if last else 0.0, rested(host, now))


def judge(host: HostRow, report: Report, fetch: config.FetchOptions) -> None:
    """Enter an outcome into the row of its host."""
    reason = report.reason
    if reason is Reason.OK and not (host.errors or host.failures or host.pace):
        return  # nearly always
    if host.closed or not _concerns_host(report):
        return
    rule = retry.TABLE.get(reason, retry.FINAL)
    lost = _lost(report)
    host.errors = host.errors + 1 if rule.pauses else 0
    if not lost or not host.pages:
        host.failures = host.failures + 1 if rule.counts else 0
    host.lost = (host.lost or report.time) if lost else 0.0
    host.pace = retry.pace(reason, host.pace, max(fetch.delay, host.delay), fetch)
    if rule.pauses:
        rest = max(report.time + retry.pause(reason, host.errors, delay(host, fetch), fetch), report.until)
        host.until = max(rested(host, report.time), min(rest, report.time + FAR))
    closed = _closes(host, report, fetch)
    if closed is not None:
        host.closed = CODES[closed]


def _lost(report: Report) -> bool:
    """Return whether DNS did not find the host, which may be a fault of DNS. A final "no such host" is certain."""
    return report.reason is Reason.DNS or (report.reason is Reason.NO_SUCH_HOST and not report.final)


def _closes(host: HostRow, report: Report, fetch: config.FetchOptions) -> Reason | None:
    """Return the reason for closing a host after this outcome.

    A host that has answered before is not closed for any number of failures of DNS, only after a long time of them.
    """
    if host.lost and host.pages:
        if report.time - host.lost < fetch.lost_host_seconds:
            return None
        return Reason.NO_SUCH_HOST if report.reason is Reason.NO_SUCH_HOST else Reason.HOST_DEAD
    if report.reason is Reason.NO_SUCH_HOST and not report.final:
        return None
    return retry.closes(report.reason, host.failures, fetch)


def _concerns_host(report: Report) -> bool:
    """Return whether the outcome says anything about the host: a resolved name and a closed origin do not."""
    task = report.task
    if report.reason in retry.WITHOUT_REQUEST:
        return False
    if task.kind is Kind.RESOLVE:
        return report.reason is not Reason.OK
    return report.reason is not Reason.ROBOTS_UNREACHABLE or (task.kind is Kind.FILE and task.file == ROBOTS)
