"""The meaning of a failure for its URL and for its host: a table, and the pauses that follow from it."""

import msgspec

from windrow import config
from windrow.records import Reason


class RetryRule(msgspec.Struct, frozen=True):
    """A row of the table."""

    tries: int  # tries after the first
    pauses: bool  # the host gets no request for a while, longer with each error in a row
    counts: bool  # counts towards closing the host
    longest: float = 86400.0  # seconds, a limit to the pause beside fetch.max_backoff


FINAL = RetryRule(0, pauses=False, counts=False)

TABLE: dict[Reason, RetryRule] = {
    Reason.THROTTLED: RetryRule(20, pauses=True, counts=False),  # the host works and wants fewer requests
    Reason.SERVER_ERROR: RetryRule(8, pauses=True, counts=False),
    Reason.TIMEOUT: RetryRule(3, pauses=True, counts=True),
    Reason.CONNECT: RetryRule(4, pauses=True, counts=True),
    Reason.DISCONNECT: RetryRule(3, pauses=True, counts=True),
    Reason.DNS: RetryRule(4, pauses=True, counts=True),
    Reason.NO_SUCH_HOST: RetryRule(1, pauses=True, counts=True),
    Reason.TLS: RetryRule(1, pauses=True, counts=True),
    Reason.PROTOCOL: RetryRule(1, pauses=True, counts=False),
    Reason.ROBOTS_UNREACHABLE: RetryRule(4, pauses=True, counts=False),
    # a host that refuses one request after another gets fewer of them
    Reason.FORBIDDEN: RetryRule(0, pauses=True, counts=False, longest=60.0),
}

ANSWERS = 3  # of DNS that a name does not exist, before its host is closed

# Reasons without a request behind them: they say nothing about the health of the host.
WITHOUT_REQUEST = frozenset(
    {Reason.ROBOTS, Reason.HOST_DEAD, Reason.LOW_YIELD, Reason.LOW_VALUE, Reason.OUT_OF_SCOPE, Reason.BLOCKED}
)


def again(reason: Reason, attempt: int) -> bool:
    """Return whether a task that failed for this reason on this attempt (0 is the first) goes back to its queue."""
    return attempt < TABLE.get(reason, FINAL).tries


def pauses(reason: Reason) -> bool:
    """Return whether a host gets no request for a while after this outcome."""
    return TABLE.get(reason, FINAL).pauses


def pause(reason: Reason, errors: int, delay: float, fetch: config.FetchOptions) -> float:
    """Return the seconds that a host rests after this many errors in a row, including the present one."""
    rule = TABLE.get(reason, FINAL)
    if errors < 1 or not rule.pauses:
        return 0.0
    return min(max(delay, fetch.backoff) * 2.0 ** min(errors - 1, 30), fetch.max_backoff, rule.longest)


def doubts(reason: Reason | None, attempt: int) -> bool:
    """Return whether DNS has to say once more that a name does not exist, after so many failures before this one."""
    return reason is Reason.NO_SUCH_HOST and attempt < ANSWERS - 1


def spacing(fetch: config.FetchOptions) -> float:
    """Return the seconds between two of these answers."""
    return fetch.no_such_host_seconds / (ANSWERS - 1)


def closes(reason: Reason, failures: int, fetch: config.FetchOptions) -> Reason | None:
    """Return the reason for closing a host after this many failures in a row, including the present one."""
    if reason is Reason.NO_SUCH_HOST:
        return reason if failures > TABLE[reason].tries else None
    if reason is Reason.BLOCKED_ADDRESS:
        return reason
    return Reason.HOST_DEAD if TABLE.get(reason, FINAL).counts and failures >= fetch.host_failures else None


def pace(reason: Reason, pace: float, delay: float, fetch: config.FetchOptions) -> float:
    """Return the seconds between requests that a host tolerates.

    They double when the host wants fewer requests, and fall back towards the delay while requests succeed.
    """
    if reason is Reason.THROTTLED:
        return min(2.0 * max(pace, delay, fetch.backoff / 16), fetch.max_crawl_delay)
    return pace * 0.98 if pace > delay else 0.0
