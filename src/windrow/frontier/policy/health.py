"""What an outcome says of its host: how long it rests, how fast it may be asked, whether it is closed."""

from windrow import config
from windrow.data import Kind, Reason, Report
from windrow.frontier.policy import retry
from windrow.frontier.store.base import CODES, Host

FAR = 86400.0  # seconds: no host rests longer, whatever it says or the clock does


def delay(host: Host, fetch: config.Fetch) -> float:
    """Seconds between two requests to a host."""
    return max(fetch.delay, host.delay, host.pace)


def rested(host: Host, now: float) -> float:
    """When a host has had its rest. One that lies further ahead than any host may rest is a clock that jumped."""
    return host.until if host.until <= now + FAR else now


def due(host: Host, last: float, now: float, fetch: config.Fetch) -> float:
    """When a host may be called that was last asked then (0: never): after its delay and after its rest, both of which may grow."""
    return max(last + delay(host, fetch) if last else 0.0, rested(host, now))


def judge(host: Host, report: Report, fetch: config.Fetch) -> None:
    """Takes an outcome into the host's row."""
    reason = report.reason
    if reason is Reason.OK and not (host.errors or host.failures or host.pace):
        return  # as nearly always
    if host.closed or not _asked(report):
        return
    rule = retry.TABLE.get(reason, retry.FINAL)
    host.errors = host.errors + 1 if rule.pauses else 0
    host.failures = host.failures + 1 if rule.counts else 0
    host.pace = retry.pace(reason, host.pace, max(fetch.delay, host.delay), fetch)
    if rule.pauses:
        rest = max(report.time + retry.pause(reason, host.errors, delay(host, fetch), fetch), report.until)
        host.until = max(rested(host, report.time), min(rest, report.time + FAR))
    closed = retry.closes(reason, host.failures, fetch)
    if closed is not None:
        host.closed = CODES[closed]


def _asked(report: Report) -> bool:
    """Whether the outcome says anything of the host: a name that resolves and a page that robots.txt closed do not."""
    if report.reason in retry.UNASKED:
        return False
    if report.task.kind is Kind.RESOLVE:
        return report.reason is not Reason.OK
    return report.task.kind is Kind.ROBOTS or report.reason is not Reason.ROBOTS_UNREACHABLE
