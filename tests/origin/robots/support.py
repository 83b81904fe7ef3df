"""Helpers of the robots.txt tests."""

from windrow.origin import robots
from windrow.origin.robots import Ruleset

HOME = "http://site.test/robots.txt"


def read(text: str | bytes, agent: str = "windrow") -> Ruleset:
    return robots.parse(robots.condense(text if isinstance(text, bytes) else text.encode(), agent, HOME))


def rules(*lines: str) -> Ruleset:
    return read("\n".join(("User-agent: *", *lines)))
