"""Tell an outage of our own network from hosts that are gone. Pure: time and the results of checks are passed in.

A failure of the network says nothing of its cause. So it is held: neither counted nor forgotten. An answer to a request
that was sent after the failure shows that the network works, and the failure counts. If no such answer comes, the
network is checked at hosts that have answered before. If one of them can be reached, the failures count. If none can,
the crawl is offline: everything held is pardoned, and so is every failure until a check succeeds.

Names and hosts are judged apart: DNS can be gone while connections to known addresses still work.
"""

import enum
import itertools
import math

PATIENCE = 1.0  # seconds for which a failure waits for an answer of another host before the network is checked
SPACING = 5.0  # seconds between two rounds of checks while the network works
SHORTEST, LONGEST = 1.0, 60.0  # seconds between two rounds while offline: doubled after each


class Way(enum.Enum):
    """What a request needs of the network."""

    NAMES = "names"  # a look-up in DNS
    HOSTS = "hosts"  # a connection


class Detector:
    """The state of the network, as far as the crawl can know it.

    `most` is the time offline, in seconds, after which failures count again; `few` is the same if too few hosts have
    answered to tell an outage from hosts that are gone; 0 is no limit.
    """

    def __init__(self, few: float, most: float) -> None:
        self._few = few
        self._most = most
        self.alert = False  # there is something to decide: an answer matters
        self.since = 0.0  # epoch seconds of the first failure of the outage; 0: online
        self.due = math.inf  # epoch seconds of the next round of checks
        self.resigned: set[Way] = set()  # what was away for too long: failures count until something answers
        self._declared = 0.0  # epoch seconds when the outage was noticed
        self._ended = 0.0  # epoch seconds since which the network works again: older requests fell into the outage
        self._down: set[Way] = set()  # in the outage: what has not worked since
        self._held: dict[int, tuple[Way, float]] = {}  # token -> way and end of the failure
        self._tokens = itertools.count(1)
        self._earliest = 0.0  # epoch seconds before which no round starts while online
        self._interval = SHORTEST

    def verdict(self, way: Way, start: float) -> bool | None:
        """Return whether the failure of a request sent at `start` counts against its host; None: hold it."""
        if self.since or start < self._ended:
            return False
        return True if way in self.resigned else None

    def hold(self, way: Way, time: float) -> int:
        """Hold a failure that ended at this time; return its token."""
        token = next(self._tokens)
        self._held[token] = (way, time)
        self.alert = True
        self.due = min(self.due, max(time + PATIENCE, self._earliest))
        return token

    def drop(self, token: int) -> None:
        """Forget a failure that nobody waits for any more."""
        self._held.pop(token, None)
        self._settle()

    def wanted(self) -> frozenset[Way]:
        """Return what a round of checks has to find out."""
        return frozenset(self._down or {way for way, _ in self._held.values()})

    def answered(self, way: Way, start: float) -> dict[int, bool]:
        """Take in an answer to a request sent at `start`; return what it decides: token -> whether it counts."""
        self.resigned.discard(way)
        decided: dict[int, bool] = {}
        if self.since:
            if start >= self._declared:
                self._down.discard(way)
            if not self._down:
                self.since, self._ended = 0.0, start
        else:
            decided = {token: True for token, (how, time) in self._held.items() if how is way and time <= start}
        return self._decide(decided)

    def checked(self, proven: frozenset[Way], start: float, certain: bool, now: float) -> dict[int, bool]:
        """Take in a round of checks, from `start` to now: what works, and whether hosts enough were asked to be sure.

        Return what it decides: token -> whether the failure counts.
        """
        decided: dict[int, bool] = {}
        for way in proven:
            decided |= self.answered(way, start)
        self._earliest = now + SPACING
        missed = [failure for failure in self._held.values() if failure[1] <= start]
        if self.since:
            self._wait_on(certain, now)
        elif missed:
            self.since = min(time for _, time in missed)
            self._declared = now
            self._down = {way for way, _ in missed}
            self._interval = SHORTEST
            self.due = now + SHORTEST
            decided |= self._decide(dict.fromkeys(self._held, False))
        elif self._held:
            self.due = self._earliest
        return self._decide(decided)

    def _wait_on(self, certain: bool, now: float) -> None:
        limits = [limit for limit in (self._most, 0.0 if certain else self._few) if limit]
        if limits and now - self.since >= min(limits):
            self.since = 0.0
            self.resigned, self._down = self._down, set()
        self._interval = min(2 * self._interval, LONGEST)
        self.due = now + self._interval

    def _decide(self, decided: dict[int, bool]) -> dict[int, bool]:
        for token in decided:
            self._held.pop(token, None)
        self._settle()
        return decided

    def _settle(self) -> None:
        if not self._held and not self.since:
            self.due = math.inf
        self.alert = bool(self._held or self.since or self.resigned)
