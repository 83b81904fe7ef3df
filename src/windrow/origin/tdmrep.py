"""/.well-known/tdmrep.json: what an origin reserves of text and data mining.

The format is the W3C TDM Reservation Protocol, final report of 10 May 2024: a JSON array of rules, each with a
location, a reservation (0 or 1) and optionally the URL of a policy. `condense` keeps the rules as a small text, which
the frontier stores in the origin's record; `parse` turns that text into a matcher. Locations are written and matched
like paths in robots.txt. The first rule in the file that matches counts ("the most specific match is the first in
sequence"). Matching never backtracks.
"""

import functools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from windrow.origin import robots
from windrow.records import Capture, Failure, FileState, OriginFile, Signal

PATH = "/.well-known/tdmrep.json"
LIMIT = 512_000  # bytes of a file that are read, as many as of a robots.txt; a longer file is not valid JSON when cut
RULES = 1000  # rules kept per file
SIZE = 64_000  # characters kept per file
POLICY = 2000  # characters kept of the URL of a policy

_MARK = b"\xef\xbb\xbf"


class Reservation(NamedTuple):
    """The statement about one path."""

    reservation: str  # "1": mining is reserved, "0": it is not
    policy: str = ""  # a URL


def read(before: OriginFile | None, answer: Capture | Failure) -> OriginFile:
    """Return what the response to a request for the file means.

    An origin that does not answer is asked once more. After that it counts as an origin without the file: unlike an
    unavailable robots.txt, an unavailable tdmrep.json closes nothing.
    """
    if _is_unanswered(answer):
        again = before is None or before.state is not FileState.UNANSWERED
        return OriginFile(FileState.UNANSWERED if again else FileState.ABSENT)
    assert isinstance(answer, Capture)
    if not 200 <= answer.status < 300 or answer.encoded or answer.truncated or len(answer.body) > LIMIT:
        return OriginFile(FileState.ABSENT)
    text = condense(answer.body, answer.task.url.text)
    return OriginFile(FileState.PRESENT, text) if text else OriginFile(FileState.ABSENT)


def _is_unanswered(answer: Capture | Failure) -> bool:
    if isinstance(answer, Failure):
        return True
    return answer.status == 429 or answer.status >= 500 or answer.truncated in ("time", "disconnect")


def signals(text: str, path: str) -> tuple[Signal, ...]:
    """Return what a condensed file says about the use of a path, with its query."""
    reserved = parse(text).find(path)
    if reserved is None:
        return ()
    said = Signal("tdmrep.json", "tdm-reservation", reserved.reservation, "tdm-reservation")
    if not reserved.policy.startswith(("http://", "https://", "/")):
        return (said,)
    return said, Signal("tdmrep.json", "tdm-policy", reserved.policy[:POLICY], "tdm-policy")


def condense(body: bytes, base: str) -> str:
    """Return the rules of a file as lines "RESERVATION LOCATION [POLICY]"; policies are resolved against `base`."""
    try:
        rules = msgspec.json.decode(body.removeprefix(_MARK))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    lines: dict[str, None] = {}
    size = 0
    # A single rule without the brackets of the array is a mistake, but its meaning is clear.
    for line in _lines(rules if isinstance(rules, list) else [rules], base):
        size += 0 if line in lines else len(line) + 1
        if size > SIZE or len(lines) == RULES:
            break
        lines[line] = None
    return "\n".join(lines)


def _lines(rules: Iterable[object], base: str) -> Iterator[str]:
    """Yield the rules that keep to the protocol; others are ignored."""
    for rule in rules:
        location = rule.get("location") if isinstance(rule, dict) else None
        if not isinstance(rule, dict) or not isinstance(location, str) or not location.startswith(("/", "*")):
            continue
        said = rule.get("tdm-reservation")
        number = said.strip() if isinstance(said, str) else str(said) if type(said) is int else ""
        if number in ("0", "1") and len(location) <= robots.LINK:
            policy = rule.get("tdm-policy")
            link = robots.absolute(policy, base) if isinstance(policy, str) else ""
            yield f"{number} {robots.pattern(location)} {link}".rstrip()


class Reservations:
    """The rules of a file as a matcher for many paths."""

    __slots__ = ("_escapes", "_rules")

    def __init__(self, text: str) -> None:
        rows = [line.split(" ") for line in text.split("\n")] if text else []
        self._rules = [(robots.Location(pattern), Reservation(number, *policy)) for number, pattern, *policy in rows]
        self._escapes = "%" in text

    def find(self, path: str) -> Reservation | None:
        """Return the statement about a path, with its query; None if the file has none."""
        path = robots.canonical(path) if self._escapes or "%" in path else path
        for location, said in self._rules:
            if location.fits(path):
                return said
        return None


@functools.lru_cache(1024)
def parse(text: str) -> Reservations:
    """Return a matcher for a text that `condense` wrote."""
    return Reservations(text)
