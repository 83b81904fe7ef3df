"""/.well-known/tdmrep.json: what an origin reserves of text and data mining (W3C TDM Reservation Protocol, final report of 10 May 2024).

A JSON array of rules, each a location, a reservation (0 or 1) and perhaps the URL of a policy. Like robots.txt it is read three times:
`condense` keeps what counts as a small text, which the frontier stores beside the origin's robots rules; `parse` makes of that text a
matcher; `verdict` says what any answer, or none, means for the origin. Locations are written and matched as paths in robots.txt are; the
first rule in the file that fits counts ("the most specific match is the first in sequence"). Nothing here backtracks.
"""

import functools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from windrow.data import AGAIN, Capture, Failure, Robots
from windrow.origin import robots

PATH = "/.well-known/tdmrep.json"
LIMIT = 512_000  # octets of a file that are read, as many as of a robots.txt; one that is longer cannot be read, and says nothing
RULES = 1000  # kept of one file
SIZE = 64_000  # characters kept of one file
NONE = "-"  # in place of rules: the origin was asked and says nothing

_MARK = b"\xef\xbb\xbf"


class Reservation(NamedTuple):
    """What is said of a path."""

    reservation: str  # "1": mining is reserved, "0": it is not
    policy: str = ""  # a URL


def condense(body: bytes, base: str) -> str:
    """The rules of a file as lines "RESERVATION LOCATION [POLICY]"; NONE where it has none. Policies are resolved against `base`."""
    try:
        found = msgspec.json.decode(body.removeprefix(_MARK))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return NONE
    # A lone rule without its brackets is a mistake, but no doubt about what is meant.
    lines: dict[str, None] = {}
    size = 0
    for line in _lines(found if isinstance(found, list) else [found], base):
        size += 0 if line in lines else len(line) + 1
        if size > SIZE or len(lines) == RULES:
            break
        lines[line] = None
    return "\n".join(lines) or NONE


def _lines(rules: Iterable[object], base: str) -> Iterator[str]:
    """Those that keep to the protocol: whatever does not is as if it were not there."""
    for rule in rules:
        location = rule.get("location") if isinstance(rule, dict) else None
        if not isinstance(rule, dict) or not isinstance(location, str) or not location.startswith(("/", "*")):
            continue
        said = rule.get("tdm-reservation")
        number = said.strip() if isinstance(said, str) else str(said) if type(said) is int else ""
        if number in ("0", "1") and len(location) <= robots.LINK:
            policy = rule.get("tdm-policy")
            yield f"{number} {robots.pattern(location)} {robots.absolute(policy, base) if isinstance(policy, str) else ''}".rstrip()


class Reservations:
    """The rules of a file, ready to be asked about many paths."""

    __slots__ = ("_escapes", "_rules")

    def __init__(self, text: str) -> None:
        rows = [] if text in ("", NONE, AGAIN) else [line.split(" ") for line in text.split("\n")]
        self._rules = [(robots.Location(location), Reservation(number, *policy)) for number, location, *policy in rows]
        self._escapes = "%" in text

    def find(self, path: str) -> Reservation | None:
        """What is said of a path, with its query; None where nothing is."""
        path = robots.canonical(path) if self._escapes or "%" in path else path
        for location, said in self._rules:
            if location.fits(path):
                return said
        return None


@functools.lru_cache(1024)
def parse(text: str) -> Reservations:
    """A matcher of what `condense` wrote."""
    return Reservations(text)


def told(entry: Robots) -> str:
    """The rules that are known of an origin; "" where it says nothing, did not answer, or was not asked."""
    return "" if entry.tdm in (NONE, AGAIN) else entry.tdm


def verdict(entry: Robots, answer: Capture | Failure) -> Robots:
    """What is known of an origin, with what the answer to a request for its file, or the lack of one, means.

    A redirect is followed by the caller; one that is given up is handed in as it is. An origin that does not answer is asked once more;
    then it is one without a file: unlike a robots.txt that cannot be had, it closes nothing.
    """
    text = _reading(answer)
    return msgspec.structs.replace(entry, tdm=NONE if text == AGAIN == entry.tdm else text)


def _reading(answer: Capture | Failure) -> str:
    if (
        isinstance(answer, Failure)
        or answer.status == 429
        or answer.status >= 500
        or answer.truncated in ("time", "disconnect")
    ):
        return AGAIN
    if not 200 <= answer.status < 300 or answer.encoded or answer.truncated or len(answer.body) > LIMIT:
        return NONE
    return condense(answer.body, answer.task.url.text)
