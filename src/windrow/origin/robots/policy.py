"""Decide what the answer to a request for /robots.txt, or a missing answer, means for the origin (RFC 9309 §2.3)."""

import re

import msgspec

from windrow.config import Config, FetchOptions
from windrow.origin.robots.parse import DAY, HOUR, condense, parse, read
from windrow.records import Access, Capture, Failure, Origin, Reason

STALE = 30 * DAY  # seconds for which a copy is used while the file cannot be fetched again

_MAX_AGE = re.compile(r"max-age\s*=\s*\"?([0-9]{1,9})")


def learn(origin: str, record: Origin | None, answer: Capture | Failure, config: Config) -> Origin:
    """Return what is known of an origin after the answer to a request for its robots.txt, or without an answer.

    `record` is the one so far. While robots.txt is unavailable, these rules stay in force until `STALE` seconds
    after they were fetched (RFC 9309 §2.4). Without such a copy the origin is closed. The caller follows redirects. It
    passes a redirect that it gave up unchanged, or as a Failure that says so.
    """
    rules = _reading(answer, config.fetch, config.identity.name)
    expires = answer.time + _life(answer, rules is None, config.fetch)
    if rules is not None:
        delay = parse(rules).delay or 0.0 if rules else 0.0
        return Origin(name=origin, stamp=answer.time, fetched=answer.time, expires=expires, delay=delay, rules=rules)
    if record is not None and record.access is not Access.CLOSED and answer.time - record.fetched <= STALE:
        return msgspec.structs.replace(record, access=Access.STALE, expires=expires, stamp=answer.time)
    return Origin(name=origin, stamp=answer.time, fetched=answer.time, expires=expires, access=Access.CLOSED)


def _reading(answer: Capture | Failure, config: FetchOptions, agent: str) -> str | None:
    """Return condensed rules; "" if everything is allowed, None if nothing is."""
    if isinstance(answer, Failure):
        return "" if answer.reason in (Reason.REDIRECTS, Reason.BAD_REDIRECT) else None
    if 200 <= answer.status < 300:
        return _success(answer, config, agent)
    if _forbidden(answer, config) or answer.status == 429:
        return None
    return "" if 300 <= answer.status < 500 else None


def _forbidden(answer: Capture | Failure, config: FetchOptions) -> bool:
    return isinstance(answer, Capture) and config.forbidden_robots_closes and answer.status in (401, 403)


def _success(answer: Capture, config: FetchOptions, agent: str) -> str | None:
    if answer.encoded or answer.truncated not in ("", "length"):
        return None  # the missing part may contain rules
    limit = min(config.robots_max_bytes, len(answer.body)) if answer.truncated else config.robots_max_bytes
    # A web page with status 200: the site has no robots.txt. With status 202: a bot check that we did not pass.
    if answer.status != 200 and answer.body.strip() and not read(answer.body, limit):
        return None
    return condense(answer.body, agent, answer.task.url.text, limit)


def _life(answer: Capture | Failure, closed: bool, config: FetchOptions) -> float:
    """Return the seconds for which a verdict is used (§2.4: at most a day)."""
    longest = min(config.robots_ttl, DAY)
    if closed and not _forbidden(answer, config):
        wait = answer.header("retry-after") if isinstance(answer, Capture) else None
        pause = float(wait[:9]) if wait and wait.isascii() and wait.isdigit() else config.max_backoff
        return min(max(pause, config.backoff), longest)
    cache = ",".join(answer.headers("cache-control")).lower() if isinstance(answer, Capture) else ""
    age = _MAX_AGE.search(cache)
    requested = 0.0 if "no-cache" in cache or "no-store" in cache else float(age[1]) if age else longest
    return min(max(requested, HOUR), longest)  # a short Cache-Control causes at most one request per hour
