"""How a run of a crawl ends: the limits of its time and of its corpus, and the record of its end."""

import math

import msgspec

from windrow.config import CrawlOptions
from windrow.crawler.machine.state import Machine
from windrow.log import Tally
from windrow.records import Counts, LimitCounts
from windrow.units import count

LIMITS = ("pages", "tokens", "documents")  # of a crawl as a whole, all shards together


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


class Sums:
    """What counts towards the limits of a crawl. `tally`: of this run, which changes."""

    def __init__(self, tally: Tally) -> None:
        self.before = Counts()  # what earlier runs have made
        self.elsewhere = LimitCounts()  # what the other shards have made
        self.tally = tally

    def own(self) -> LimitCounts:
        """Return what this crawl has made, without the other shards."""
        before, tally = self.before, self.tally
        return LimitCounts(
            tally.pages, documents=before.documents + tally.documents, tokens=before.tokens + tally.tokens
        )

    def reached(self, limits: CrawlOptions, seconds: float) -> str:
        """Return which limit a run has reached after so many seconds; "" if none.

        Time counts from the start of the run. The corpus counts over all runs and all shards. Requests in flight are
        recorded all the same, so a corpus exceeds its target by at most the text of `crawl.in_flight` pages, and with
        shards by what the others have made since they last said how much they have.
        """
        own, elsewhere = self.own(), self.elsewhere
        if 0 < limits.max_seconds <= seconds:
            return "seconds"
        if 0 < limits.max_tokens <= own.tokens + elsewhere.tokens:
            return "tokens"
        return "documents" if 0 < limits.max_documents <= own.documents + elsewhere.documents else ""


def left(limits: CrawlOptions, seconds: float) -> float:
    """Return the seconds that are left to a run after so many."""
    return limits.max_seconds - seconds if limits.max_seconds else math.inf


def goal(limits: CrawlOptions, counts: Counts) -> str:
    """Return how much of its target the corpus has; "" without a target."""
    parts = [(counts.tokens, limits.max_tokens, "token"), (counts.documents, limits.max_documents, "document")]
    return ", ".join(f"{have:,} of {count(wanted, thing)}" for have, wanted, thing in parts if wanted)
