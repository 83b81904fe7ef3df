"""Decide what the answer to a request for /robots.txt, or a missing answer, means for the origin (RFC 9309 §2.3)."""

import re

from windrow.config import Fetch
from windrow.data import Capture, Failure, Reason, Robots
from windrow.origin.robots.parse import DAY, HOUR, condense, parse, read

_MAX_AGE = re.compile(r"max-age\s*=\s*\"?([0-9]{1,9})")


def verdict(origin: str, answer: Capture | Failure, config: Fetch, agent: str) -> Robots:
    """Return what the answer, or its lack, means for the origin whose robots.txt was requested.

    The caller follows redirects. It passes a redirect that it gave up unchanged, or as a Failure that says so.
    """
    rules = _reading(answer, config, agent)
    life = _life(answer, rules is None, config)
    delay = parse(rules).delay or 0.0 if rules else 0.0
    return Robots(origin, rules or "", answer.time, answer.time + life, closed=rules is None, delay=delay)


def _reading(answer: Capture | Failure, config: Fetch, agent: str) -> str | None:
    """Return condensed rules; "" if everything is allowed, None if nothing is."""
    if isinstance(answer, Failure):
        return "" if answer.reason in (Reason.REDIRECTS, Reason.BAD_REDIRECT) else None
    if 200 <= answer.status < 300:
        return _success(answer, config, agent)
    if _forbidden(answer, config) or answer.status == 429:
        return None
    return "" if 300 <= answer.status < 500 else None


def _forbidden(answer: Capture | Failure, config: Fetch) -> bool:
    return isinstance(answer, Capture) and config.forbidden_robots_closes and answer.status in (401, 403)


def _success(answer: Capture, config: Fetch, agent: str) -> str | None:
    if answer.encoded or answer.truncated not in ("", "length"):
        return None  # the missing part may contain rules
    limit = min(config.robots_max_bytes, len(answer.body)) if answer.truncated else config.robots_max_bytes
    # A web page with status 200: the site has no robots.txt. With status 202: a bot check that we did not pass.
    if answer.status != 200 and answer.body.strip() and not read(answer.body, limit):
        return None
    return condense(answer.body, agent, answer.task.url.text, limit)


def _life(answer: Capture | Failure, closed: bool, config: Fetch) -> float:
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
