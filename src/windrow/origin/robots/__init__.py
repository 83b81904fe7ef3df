"""robots.txt: what a site asks of crawlers, and whether a path may be requested (RFC 9309; details in docs/robots.md).

A file passes through three steps. `condense` reduces it to the group that applies to us, as a short canonical text; the
frontier stores that text. `parse` turns the text into a `Ruleset`, which answers for any number of paths. `learn`
decides what an answer to a request for /robots.txt, or a missing answer, means for the origin.

The module `parse` reads text, `match` finds the rule that decides, `policy` interprets answers; `windrow.urls.patterns`
matches single patterns. No part backtracks: the time grows linearly with the size of the input, however hostile its
author.
"""

from windrow.origin.robots.match import Location, Ruleset
from windrow.origin.robots.parse import DAY, HOUR, LIMIT, LINK, LINKS, SIGNALS, absolute, condense, parse
from windrow.origin.robots.policy import STALE, learn
from windrow.urls.patterns import canonical
from windrow.urls.patterns import canonical_pattern as pattern

__all__ = [
    "DAY",
    "HOUR",
    "LIMIT",
    "LINK",
    "LINKS",
    "SIGNALS",
    "STALE",
    "Location",
    "Ruleset",
    "absolute",
    "canonical",
    "condense",
    "learn",
    "parse",
    "pattern",
]
