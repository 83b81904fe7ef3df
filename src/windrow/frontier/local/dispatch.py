"""Which open host gets the next lease, and where a host goes afterwards.

Hosts are ordered by expected yield if the crawl steers by yield, otherwise by the rank of their first page. With
steering, a host that is not good gets a small lease, as a trial, and only `frontier.explore` trials run at a time.
"""

import math
from collections.abc import Collection, Sequence

from windrow import config
from windrow.frontier.local.backlog import Backlog
from windrow.frontier.local.gate import Gate
from windrow.frontier.local.hosts import OpenDomain, OpenHost
from windrow.frontier.local.leases import MOST, Leases, next_errand
from windrow.frontier.local.ledgers import Ledgers
from windrow.frontier.local.schedule import Schedule
from windrow.frontier.local.values import SCOUT, Values
from windrow.frontier.policy import health, steer
from windrow.records import Kind, Lease, Task

LARGE = 1000  # pages of a crawl before which nothing is given up: a small one requests everything
LOOK = 100  # pages, and a twentieth of all, after which what is left is estimated again
SAMPLE = 4096  # links from which it is estimated
_BUCKET = 1e6  # more than any yield
SCOUTS = 0.5  # pages of the bucket of scouts per page, while the first bucket has links: they find other sites
BEGIN = 200  # pages of a crawl before which there are none of these
LONG_REST = 60.0  # seconds of rest for which a host is closed in favour of one that waits


class Dispatcher:
    """Moves hosts between the backlog, the schedule and their leases."""

    def __init__(
        self,
        backlog: Backlog,
        ledgers: Ledgers,
        leases: Leases,
        options: config.Config,
        now: float,
        gate: Gate | None = None,
    ) -> None:
        self._backlog = backlog
        self._ledgers = ledgers
        self._leases = leases
        self._options = options.frontier
        self._fetch = options.fetch
        self._steered = ledgers.steers
        self.schedule = Schedule(options.fetch.ip_delay, self._key, gate)
        self._gated = gate is not None
        self.asked: Collection[Task] = ()  # files that other shards request for origins here
        self._held = False  # ready hosts were held back by the last `lease`
        self._trials = 0  # hosts on trial
        self._look = 0  # pages of the crawl at which what is left is estimated
        self._little = False  # little wanted text is left
        self._scouted = 0  # pages of the bucket of scouts that were leased before those of the first one
        self._now = now

    def configure(self, fetch: config.FetchOptions) -> None:
        """Use these delays from now on: for leases to come, and for the hosts that wait."""
        self._fetch = fetch
        self._leases.configure(fetch)
        self.schedule.set_delay(fetch.ip_delay)
        for host in list(self._backlog.hosts.values()):
            if host.state == "waiting":
                self.reorder(host)

    def wait_once(self, start: float) -> None:
        """Let every host and address wait for its delay: before a restart any of them may have got a request."""
        self._backlog.start = self.schedule.start = start

    # Leasing

    def lease(self, hosts: int, now: float) -> list[Lease]:
        """Return up to so many leases, best first."""
        self._now = now
        if self._backlog.revisiting:
            self._backlog.wake(now)
        self._fill()
        leases: list[Lease] = []
        self._held = False
        while len(leases) < hosts and not self._held:
            host = self.schedule.pop(now)
            if host is not None:
                lease = self._lease(host)
                if lease is not None:
                    leases.append(lease)
            elif not self._fill():  # hosts that were closed on the way make room for others
                break
        return leases

    def next(self, now: float) -> float | None:
        """Return when the next lease is available; infinity: after the next ack; None: nothing is left to do."""
        due = self._backlog.next_due()
        if not self._backlog.hosts:
            return due if due < math.inf else None
        again = self.schedule.next(now, self._held)
        assert again < math.inf or self._is_busy(), "hosts are open, but none is leased, in flight or waiting for time"
        return min(again, due)

    def _is_busy(self) -> bool:
        states = ("leased", "ready") if self._gated else ("leased",)  # a ready host may wait for its address
        return bool(self.asked) or any(host.state in states or host.in_flight for host in self._backlog.hosts.values())

    def _lease(self, host: OpenHost) -> Lease | None:
        """Return the lease of the best host that is due; None if it has no work, is no longer best, or is held back."""
        good = True
        self._leases.rerank(host)
        if self._steered and (key := self._key(host)) > -math.inf:
            good = self._ledgers.is_good(self._yield(host, host.rank))
            if not good and self._is_given_up(host):
                return self._give_up(host)
            fell = key > host.key + 0.1 * abs(host.key)  # by a tenth since the host became ready
            # Only the best host says whether all that are ready have to wait.
            self._held = not fell and ((not good and self._trials >= self._options.explore) or self._comes_later(host))
            if self._held or fell:
                self.schedule.free(host, 0.0)
                self.schedule.put(host, 0.0)
                return None
        lease = self._leases.make(host, self._now, MOST if good and not self._is_new(host) else steer.TRIAL_PAGES)
        if lease is None:
            self.schedule.free(host, 0.0)
            self.put_back(host)
        elif not good and not host.trial:
            host.trial = True
            self._trials += 1
        return lease

    def _is_new(self, host: OpenHost) -> bool:
        """Return whether too little is known of a host: it gets a few pages, and no more until their reports are in."""
        return self._steered and (host.row.pages < steer.FIRST or host.trial)

    def _key(self, host: OpenHost) -> float:
        """Return the order of a host among the ready ones: by expected yield, or by the rank of its first page. A page
        to visit again comes first, and where the crawl is steered other work that cannot wait."""
        if host.due <= self._now:
            return -math.inf
        if not self._steered:
            return host.rank
        if host.errands or host.ending or host.ends_pages:
            return -math.inf
        values = self._ledgers.values
        later = values.bucket(host.rank) * _BUCKET if values is not None else 0.0
        return later - self._ledgers.expected(host.row, host.rank)

    def _yield(self, host: OpenHost, rank: int) -> float:
        return self._ledgers.likely(host.row, rank)

    def _comes_later(self, host: OpenHost) -> bool:
        """Return whether a host has to wait for one with links of a higher bucket, even if that one is not due yet."""
        values = self._ledgers.values
        if values is None or not values.banded:
            return False
        bucket = values.bucket(host.rank)
        soon = self._now + LONG_REST
        if not bucket:
            return False
        for other in self._backlog.hosts.values():
            if other.state == "ready" and not self.schedule.is_held_up(other):
                continue  # it could have been first
            if other.in_flight and values.bucket(other.taken) < bucket:
                break  # its links may be better
            if other.has_more and values.bucket(other.rank) < bucket and not other.ending and self._due(other) <= soon:
                break
        else:
            return False
        if bucket != SCOUT or self._scouted >= SCOUTS * (values.sums.pages - BEGIN):
            return True
        self._scouted += steer.TRIAL_PAGES
        return False

    # The end of a crawl

    def _is_given_up(self, host: OpenHost) -> bool:
        """Return whether the links of a host end, because little wanted text is left behind all that wait."""
        values = self._ledgers.values
        if values is None or not self._options.give_up or values.sums.pages < LARGE:
            return False
        if not values.is_poor(self._yield(host, host.rank)):
            return False
        if values.sums.pages >= self._look:
            self._look = values.sums.pages + max(LOOK, values.sums.pages // 20)
            self._little = self._is_little_left(values)
        return self._little

    def _is_little_left(self, values: Values) -> bool:
        """Return whether few wanted pages are expected behind all links that wait, and no link among them is good."""
        if self._backlog.others_wait():
            return False
        waiting = [host for host in self._backlog.hosts.values() if host.has_more and not host.ending]
        if any(not values.is_poor(self._yield(host, host.rank)) for host in waiting):
            return False
        most = max(4, SAMPLE // max(1, len(waiting)))
        left = sum(self._leases.left(host, values, most) for host in waiting)
        return values.is_little(left, self._options.give_up)

    def _give_up(self, host: OpenHost) -> Lease | None:
        lease = self._leases.give_up(host)
        if lease is None:
            self.schedule.free(host, 0.0)
            self.put_back(host)
        return lease

    def _fill(self) -> bool:
        opened = self._backlog.fill()
        for host in opened:
            host.retired = self._ledgers.retired(host.row)
            self.schedule.put(host, 0.0 if host.ending else self._due(host))
        return bool(opened)

    def _due(self, host: OpenHost) -> float:
        return health.due(host.row, host.last, self._now, self._fetch)

    # Releasing

    def release(self, lease: Lease, unused: Sequence[Task], last: float) -> None:
        """End a lease that is out. Unused tasks go back to the queue."""
        host = self._backlog.hosts[lease.host]
        self.schedule.free(host, last)
        for task in unused:
            if task.kind is not Kind.PAGE or not host.land(task):
                continue
            if task.again:
                host.due = 0.0
            else:
                host.rank = min(host.rank, task.priority)
        host.last = max(host.last, last)
        if lease.closed is None and lease.tasks[0].kind is Kind.PAGE:
            domain = host.domain
            domain.pages += len(lease.tasks) - len(unused)
            if not domain.leaving and self._backlog.had_share(domain, self._quantum(host)):
                self._send_back(domain)
        self.put_back(host)

    def is_out(self, lease: Lease) -> bool:
        """Return whether this lease was not released yet."""
        host = self._backlog.hosts.get(lease.host)
        return host is not None and host.token == lease.token and host.state == "leased"

    def _quantum(self, host: OpenHost) -> float:
        """Return the pages after which a domain makes room for others, by the yield of those that it has just had.

        A poor domain has few; a good one stays while poor ones are open.
        """
        if not self._steered:
            return self._options.quantum
        if not self._ledgers.is_good(self._yield(host, host.taken)):
            return min(steer.TRIAL_PAGES, self._options.quantum)
        return math.inf if self._held else self._options.quantum

    def put_back(self, host: OpenHost) -> None:
        """Put an idle host where it belongs: into the schedule, idle until its pages are acknowledged, or closed."""
        if host.trial and not host.in_flight and host.state != "leased":
            host.trial = False
            self._trials -= 1
        if host.state != "idle":
            return
        if host.has_more and (host.ending or host.ends_pages):
            self.schedule.put(host, 0.0)
        elif host.errands and next_errand(host) is not None:
            self.schedule.put(host, self._due(host))
        elif (
            host.work <= self._now + LONG_REST
            and not (host.awaited or host.domain.leaving)
            and not self._makes_room(host)
        ):
            if not host.in_flight or not self._is_new(host):
                self.schedule.put(host, max(self._due(host), host.work))
        elif not host.in_flight and not host.awaited:
            self._close(host)

    def lift(self, host: OpenHost) -> None:
        """Move a ready host forward if it has become better. One that has become worse is noticed when it is first."""
        if self._steered and host.state == "ready" and self._key(host) < host.key - 0.1 * abs(host.key):
            self.schedule.put(host, 0.0)

    def hurry(self, host: OpenHost) -> None:
        """Reorder a host that got an errand."""
        host.rank = 0
        if host.state in ("waiting", "ready"):
            self.schedule.put(host, self._due(host))
        else:
            self.put_back(host)

    def reorder(self, host: OpenHost) -> None:
        """Put an open host where it belongs after its work, its due time or its closing has changed."""
        host.retired = self._ledgers.retired(host.row)
        if host.state in ("waiting", "ready"):
            self.schedule.put(host, 0.0 if host.ending or host.ends_pages else self._due(host))
        else:
            self.put_back(host)

    def retire(self, host: OpenHost) -> None:
        """Look again whether a host is closed, for its own yield or its domain's; its pages then end at once."""
        host.retired = self._ledgers.retired(host.row)
        if host.ending and host.state in ("waiting", "ready"):
            self.schedule.put(host, 0.0)
        elif host.ending:
            self.put_back(host)

    def _makes_room(self, host: OpenHost) -> bool:
        """Return whether a host rests so long that others should be opened instead. Its domain then leaves."""
        if self._due(host) <= self._now + LONG_REST or host.in_flight:
            return False
        if len(host.domain.hosts) > 1 or not self._backlog.others_wait():
            return False
        self._backlog.stop_opening(host.domain)
        return True

    def _send_back(self, domain: OpenDomain) -> None:
        """Move a domain to the end of the backlog once its in-flight tasks are done."""
        self._backlog.stop_opening(domain)
        for host in list(domain.hosts.values()):
            busy = host.in_flight or host.errands or host.awaited or host.ending or host.ends_pages
            if host.state in ("waiting", "ready") and not busy:
                self._close(host)

    def _close(self, host: OpenHost) -> None:
        self.schedule.drop(host)
        if host.row.position and not host.row.waiting:
            self._backlog.settle(host.row, self._now, closed=host.due < math.inf and host.work == math.inf)
        self._backlog.close(host, self._due(host))

    # Counting

    def ready(self) -> int:
        """Return how many open hosts are due and can have their address."""
        hosts = self._backlog.hosts.values()
        return sum(host.state == "ready" and not self.schedule.is_held_up(host) for host in hosts)

    def scheduled(self) -> int:
        """Return how many open hosts are due or wait until they are."""
        return sum(host.state in ("waiting", "ready") for host in self._backlog.hosts.values())

    def in_flight(self) -> int:
        """Return how many pages are leased for their first visit and not yet acknowledged."""
        return sum(len(host.in_flight) - host.revisits for host in self._backlog.hosts.values())
