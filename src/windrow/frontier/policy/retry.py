"""What a failure means for its URL and for its host: a table, and the pauses that follow from it."""

import msgspec

from windrow import config
from windrow.data import Reason


class Rule(msgspec.Struct, frozen=True):
    tries: int  # tries after the first
    pauses: bool  # the host is left alone for a while, longer with each error in a row
    counts: bool  # counts towards closing the host
    longest: float = 86400.0  # seconds, a shorter limit to the pause than fetch.max_backoff


FINAL = Rule(0, pauses=False, counts=False)

TABLE: dict[Reason, Rule] = {
    Reason.THROTTLED: Rule(20, pauses=True, counts=False),  # the host works and asks for time: it gets it
    Reason.SERVER_ERROR: Rule(8, pauses=True, counts=False),
    Reason.TIMEOUT: Rule(3, pauses=True, counts=True),
    Reason.CONNECT: Rule(4, pauses=True, counts=True),
    Reason.DISCONNECT: Rule(3, pauses=True, counts=True),
    Reason.DNS: Rule(4, pauses=True, counts=True),
    Reason.NO_SUCH_HOST: Rule(1, pauses=True, counts=True),
    Reason.TLS: Rule(1, pauses=True, counts=True),
    Reason.PROTOCOL: Rule(1, pauses=True, counts=False),
    Reason.ROBOTS_UNREACHABLE: Rule(4, pauses=True, counts=False),
    Reason.FORBIDDEN: Rule(
        0, pauses=True, counts=False, longest=60.0
    ),  # a host that refuses us again and again is asked less often
}

# Reasons that no request stands behind: they say nothing of the host's health.
UNASKED = frozenset({Reason.ROBOTS, Reason.HOST_DEAD, Reason.LOW_YIELD, Reason.OUT_OF_SCOPE})


def again(reason: Reason, attempt: int) -> bool:
    """Whether a task that ended so on this attempt (0 is the first) goes back to its queue."""
    return attempt < TABLE.get(reason, FINAL).tries


def pauses(reason: Reason) -> bool:
    """Whether a host that gave this outcome is left alone for a while."""
    return TABLE.get(reason, FINAL).pauses


def pause(reason: Reason, errors: int, delay: float, fetch: config.Fetch) -> float:
    """Seconds a host rests after this many errors in a row, the present one included."""
    rule = TABLE.get(reason, FINAL)
    if errors < 1 or not rule.pauses:
        return 0.0
    return min(max(delay, fetch.backoff) * 2.0 ** min(errors - 1, 30), fetch.max_backoff, rule.longest)


def closes(reason: Reason, failures: int, fetch: config.Fetch) -> Reason | None:
    """The reason under which a host is closed after this many failures in a row, the present one included."""
    if reason is Reason.NO_SUCH_HOST:
        return reason if failures > TABLE[reason].tries else None
    if reason is Reason.BLOCKED_ADDRESS:
        return reason
    return Reason.HOST_DEAD if TABLE.get(reason, FINAL).counts and failures >= fetch.host_failures else None


def pace(reason: Reason, pace: float, delay: float, fetch: config.Fetch) -> float:
    """Seconds between requests that a host bears: doubled when it asks for time, back towards the delay while all is well."""
    if reason is Reason.THROTTLED:
        return min(2.0 * max(pace, delay, fetch.backoff / 16), fetch.max_crawl_delay)
    return pace * 0.98 if pace > delay else 0.0
