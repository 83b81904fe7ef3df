"""How a run of a crawl ends: the limits of its time and of its corpus, and the record of its end."""

import signal

import msgspec

from windrow.config import CrawlOptions
from windrow.crawl.machine import Machine
from windrow.data import Counts
from windrow.log import Tally
from windrow.units import count

STOPS = (signal.SIGINT, signal.SIGTERM)  # signals that ask for a clean end


class RunState(msgspec.Struct, frozen=True):
    """How far a running crawl is."""

    counts: Counts
    paused: str = ""  # why the crawl pauses; "": it does not
    goal: str = ""  # how much of its target the corpus has; "": there is no target
    machine: Machine | None = None  # None: the crawl has ended


class Ending(msgspec.Struct):
    """How a run of the crawl ended."""

    why: str  # "done", "stopped", "pages", "seconds", "tokens", "documents", "offline"
    seconds: float
    tally: Tally  # of this run
    counts: Counts  # over all runs


def reached(limits: CrawlOptions, seconds: float, before: Counts, tally: Tally) -> str:
    """Return which limit a run has reached after so many seconds; "" if none.

    Time counts from the start of the run. The corpus counts over all runs: `before` is what earlier runs have made,
    `tally` what this one has. Requests in flight are recorded all the same, so a corpus exceeds its target by at most
    the text of `crawl.in_flight` pages.
    """
    if 0 < limits.max_seconds <= seconds:
        return "seconds"
    if 0 < limits.max_tokens <= before.tokens + tally.tokens:
        return "tokens"
    return "documents" if 0 < limits.max_documents <= before.documents + tally.documents else ""


def goal(limits: CrawlOptions, counts: Counts) -> str:
    """Return how much of its target the corpus has; "" without a target."""
    parts = [(counts.tokens, limits.max_tokens, "token"), (counts.documents, limits.max_documents, "document")]
    return ", ".join(f"{have:,} of {count(wanted, thing)}" for have, wanted, thing in parts if wanted)
