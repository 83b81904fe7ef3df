"""The frontier of one machine: leases and settles over a shelf that remembers."""

import errno
import itertools
import math
from collections.abc import Iterable, Sequence

import msgspec

from windrow import config, urls
from windrow.data import Counts, Fate, Frame, Kind, Ledger, Reason, Report, Robots, Task, Turn, Url
from windrow.frontier.local import admission
from windrow.frontier.local.admission import Admission, Ranks
from windrow.frontier.local.backlog import Line
from windrow.frontier.local.leases import MOST, Turns, next_errand
from windrow.frontier.local.ledgers import Ledgers
from windrow.frontier.local.rows import Rows
from windrow.frontier.local.schedule import Group, Schedule, Seat, by_rank
from windrow.frontier.policy import budget, health, retry, steer
from windrow.frontier.store.base import CODES, REASONS, Host, Meta, Shelf, fate

LONG_REST = 60.0  # seconds of rest for which a host gives its seat to one that waits
STALE = 30 * 86400.0  # seconds a robots.txt is used where it cannot be fetched again
_CHUNK = 100  # tasks admitted at a time
_MARGIN = 256  # writes of the shelf that stay possible for the turns that are out, whatever the disk
_WRITES = (
    4  # of the shelf, for a new task: its key, its place in the queue, its host's and its domain's place in the line
)


class LocalFrontier:
    """Implements `Frontier`, see the package. `now` is the crawl's steady clock, in epoch seconds."""

    def __init__(self, shelf: Shelf, options: config.Config, now: float) -> None:
        self._shelf = shelf
        self._options = options.frontier
        self._fetch = options.fetch
        self._same_pages = options.scope.same_pages
        self._held = False  # hosts that are due were held back when turns were last leased
        self._trials = 0  # seats that are tried though others are better
        self.meta: Meta = shelf.meta()
        self._opened = self._now = self._checked = now
        self._rows = Rows(shelf, self.meta)
        self._ledgers = Ledgers(self._rows, self.meta, options)
        self._steered = self._ledgers.steers
        self._line = Line(shelf, self._rows, self.meta, options)
        self._schedule = Schedule(options.fetch.ip_delay, self._key if self._steered else by_rank)
        self._admission = Admission(shelf, self._rows, self._line, self._ledgers, options.frontier)
        self._refused: dict[str, int] = {}  # of the tasks from outside, which come again at each start
        self._turns = Turns(shelf, options.fetch)
        self._leased = 0  # turns out
        self._in_hand = 0  # pages
        if not shelf.fresh:
            self._wait_once()

    def prefer(self, languages: Iterable[str]) -> None:
        """Links whose URLs name one of these codes go before their like, where the order is by yield."""
        self._admission.named = steer.naming(languages)

    def ask_tdmrep(self, wanted: bool) -> None:
        """Whether each origin is asked for its tdmrep.json before its first page, and again when its robots.txt is."""
        self._turns.tdmrep = wanted

    def _wait_once(self) -> None:
        """After a stop any host and address may have been asked an instant ago: all wait their delay from the start on."""
        self._line.start = self._schedule.start = self._opened

    async def add(self, tasks: Iterable[Task]) -> list[Task]:
        """Admits tasks from outside; returns those that were new."""
        new: list[Task] = []
        tasks = iter(tasks)
        while chunk := list(itertools.islice(tasks, _CHUNK)):
            self._begin(_WRITES * len(chunk))
            new += self._admit(chunk, 0, self._refused)
        return new

    def _admit(
        self, tasks: Iterable[Task], via: int, refused: dict[str, int] | None, ranks: Ranks | None = None
    ) -> list[Task]:
        new, seats = self._admission.admit(tasks, via, refused, ranks)
        for seat in seats:
            self._rest(seat)
            self._lift(seat)
        return new

    def _begin(self, writes: int) -> None:
        """Comes first in an operation: nobody holds a row, and where the disk is full nothing has been changed yet."""
        self._rows.trim(self._line.seats, self._line.groups)
        self._shelf.reserve(writes)

    # Leasing

    async def lease(self, hosts: int, now: float) -> tuple[list[Turn], float | None]:
        """The best turns that may be had now, and when to ask again: infinity after the next settling, None when all is done."""
        self._now = now
        try:
            self._begin(_MARGIN)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            return [], now + 1.0  # while the disk is full nothing new is begun
        self._open()
        turns: list[Turn] = []
        self._held = False
        while len(turns) < hosts and not self._held:
            seat = self._schedule.pop(now)
            if seat is not None:
                turn = self._turn(seat)
                if turn is not None:
                    turns.append(turn)
                    self._leased += 1
                    self._in_hand += len(turn.tasks) if turn.tasks[0].kind is Kind.PAGE else 0
            elif not self._open():  # seats that were closed on the way are for others
                break
        if not turns and not self._line.seats:
            return turns, None
        again = self._schedule.next(now, self._held)
        assert again < math.inf or self._leased or self._in_hand, (
            "hosts are open, none of them is at work and none waits for time"
        )
        return turns, again

    def _turn(self, seat: Seat) -> Turn | None:
        """The turn of the best seat that is due. None where it has nothing to do, or is no longer the best, or is held back."""
        good = True
        if self._steered and (key := self._key(seat)) > -math.inf:
            good = self._ledgers.is_good(-key)
            self._held = not good and self._trials >= self._options.explore
            if self._held or key > seat.key * 0.9:  # worse by a tenth since it was put where it is
                self._schedule.free(seat, 0.0)
                self._schedule.put(seat, 0.0)
                return None
        turn = self._turns.make(seat, self._now, MOST if good and not self._unsure(seat) else steer.TURN)
        if turn is None:
            self._schedule.free(seat, 0.0)
            self._rest(seat)
        elif not good and not seat.trial:
            seat.trial = True
            self._trials += 1
        return turn

    def _unsure(self, seat: Seat) -> bool:
        """Whether little is known of a host: then a few pages of it are asked for at a time, and no more until these have told."""
        return self._steered and (seat.host.pages < steer.FIRST or seat.trial)

    def _key(self, seat: Seat) -> float:
        """A seat's place among those that are due, by the yield to be expected. What cannot wait comes first."""
        if seat.errands or seat.ending or seat.unasked:
            return -math.inf
        return -self._ledgers.expected(seat.host, seat.rank)

    def _open(self) -> bool:
        opened = self._line.fill()
        for seat in opened:
            seat.shut = self._ledgers.shut(seat.host)
            self._schedule.put(seat, 0.0 if seat.ending else self._due(seat))
        return bool(opened)

    def _due(self, seat: Seat) -> float:
        return health.due(seat.host, seat.last, self._now, self._fetch)

    async def release(self, turn: Turn, unused: Sequence[Task], last: float) -> None:
        """Ends a turn. Tasks that were not tried go back; `last` is when the last request ended, 0 where none was made."""
        seat = self._line.seats.get(turn.host)
        if seat is None or seat.lease != turn.lease or seat.state != "leased":
            return
        self._leased -= 1
        self._schedule.free(seat, last)
        for task in unused:
            if task.kind is Kind.PAGE and seat.hand.pop(task.url.key, 0):
                self._in_hand -= 1
                seat.rank = min(seat.rank, task.priority)
        seat.last = max(seat.last, last)
        if turn.robots and turn.tasks[0].kind is Kind.PAGE:
            group = seat.group
            group.pages += len(turn.tasks) - len(unused)
            if not group.retiring and self._line.served(group, self._quantum(seat)):
                self._retire(group)
        self._rest(seat)

    def _quantum(self, seat: Seat) -> float:
        """Pages after which a domain makes room for others: a poor one soon, a good one not while poor ones can."""
        if not self._steered:
            return self._options.quantum
        if not self._ledgers.is_good(-seat.key):  # as it was when it became due
            return min(steer.TURN, self._options.quantum)
        return math.inf if self._held else self._options.quantum

    def _rest(self, seat: Seat) -> None:
        """Puts a free seat where it belongs: back into the schedule, idle until its pages are settled, or closed."""
        if seat.trial and not seat.hand and seat.state != "leased":
            seat.trial = False
            self._trials -= 1
        if seat.state != "idle":
            return
        host = seat.host
        more = host.waiting > len(seat.hand)
        if more and (seat.ending or seat.unasked):
            self._schedule.put(seat, 0.0)
        elif seat.errands and next_errand(seat) is not None:
            self._schedule.put(seat, self._due(seat))
        elif more and not seat.pending and not seat.group.retiring and not self._gives_way(seat):
            if not seat.hand or not self._unsure(seat):
                self._schedule.put(seat, self._due(seat))
        elif not seat.hand and not seat.pending:
            self._close(seat)

    def _lift(self, seat: Seat) -> None:
        """A seat that is due and has become better goes forward. One that has become worse is found out when it is first."""
        if (
            self._steered and seat.state == "ready" and self._key(seat) < 1.1 * seat.key
        ):  # keys are negative: by a tenth
            self._schedule.put(seat, 0.0)

    def _gives_way(self, seat: Seat) -> bool:
        """Whether a host has to rest so long that others should have its seat. Its domain is then retired."""
        if (
            self._due(seat) <= self._now + LONG_REST
            or seat.hand
            or len(seat.group.seats) > 1
            or not self._line.wanted()
        ):
            return False
        self._line.retire(seat.group)
        return True

    def _retire(self, group: Group) -> None:
        """A domain goes to the end of the line. What it has in hand comes home first."""
        self._line.retire(group)
        for seat in list(group.seats.values()):
            busy = seat.hand or seat.errands or seat.pending or seat.ending or seat.unasked
            if seat.state in ("waiting", "ready") and not busy:
                self._close(seat)

    def _close(self, seat: Seat) -> None:
        self._schedule.drop(seat)
        self._line.close(seat, self._due(seat))

    # Settling

    async def settle(self, reports: Sequence[Report], frame: int) -> list[Report]:
        """Takes in what became of tasks. Returns the reports as the log keeps them: with the links that were new."""
        settled = []
        for report in reports:
            self._begin(_writes(report))
            settled.append(self._settle(report, frame, live=True))
        return settled

    async def replay(self, frame: Frame, log: tuple[str, int]) -> None:
        """Takes in a frame of the log again: what it admitted is admitted, whatever the caps say now."""
        if frame.number <= self.meta.frame:
            return
        self._wait_once()
        for start in range(0, len(frame.seeds), _CHUNK):
            self._begin(_WRITES * _CHUNK)
            self._admit(frame.seeds[start : start + _CHUNK], 0, None)
        for report in frame.reports:
            self._begin(_writes(report))
            for digest in claims(report):
                self._shelf.claim(digest, report.task.url.key)
            self._settle(report, frame.number, live=False)
        await self.commit(frame, log)

    def _settle(self, report: Report, frame: int, live: bool) -> Report:
        task = report.task
        host = self._rows.make_host(task.url)
        self._rows.changed_hosts.add(host.name)
        health.judge(host, report, self._fetch)
        seat = self._line.seats.get(host.name)
        if task.kind is Kind.PAGE:
            return self._settle_page(host, seat, report, (frame, live))
        if task.kind in (Kind.ROBOTS, Kind.TDMREP):
            self._settle_file(seat, report, live)
        elif report.robots is not None:
            self._learn(report.robots)
        elif seat is not None and report.address:
            seat.address = report.address
            seat.address_until = report.until
        return report

    def _settle_page(self, host: Host, seat: Seat | None, report: Report, when: tuple[int, bool]) -> Report:
        task = report.task
        frame, live = when
        ref = seat.hand.pop(task.url.key, 0) if seat is not None else 0
        if ref:
            self._in_hand -= 1
        else:
            row = self._shelf.look(host.id, task.url.key)
            if row is None or row[1]:
                return msgspec.structs.replace(report, found=())  # unknown here, or finished before
            ref = row[0]
        if report.final:
            self._finish(host, report, ref, frame)
        else:
            self._shelf.requeue(host.id, msgspec.structs.replace(task, attempt=task.attempt + 1), ref)
        report = self._take_links(host, report, ref, live)
        if not host.waiting and host.ticket:
            self._line.leave(host)
        if seat is not None:
            self._rest(seat)
            if report.kept:
                self._lift(seat)
        return report

    def _finish(self, host: Host, report: Report, ref: int, frame: int) -> None:
        self._shelf.finish(host.id, report.task, ref, CODES[report.reason], frame)
        host.waiting -= 1
        self.meta.waiting -= 1
        name = report.reason.value
        self.meta.finished[name] = self.meta.finished.get(name, 0) + 1

    def _take_links(self, host: Host, report: Report, ref: int, live: bool) -> Report:
        """Enters a page into its domain's ledger and its links into the queues; the report with those that were new."""
        if report.status:
            self._book(host, report)
        found, refused = report.found, dict(report.refused)
        often = admission.count_shape(host.shapes, report.shape) if report.shape and self._same_pages else 0
        if live and found and often > self._same_pages:
            refused["same-pages"] = refused.get("same-pages", 0) + len(found)
            found = ()
        if found:
            found = tuple(self._admit(found, ref, refused if live else None, self._ranks(report) if live else None))
        for rule, count in refused.items():
            self.meta.refused[rule] = self.meta.refused.get(rule, 0) + count
        return msgspec.structs.replace(report, found=found, refused=refused) if live and report.found else report

    def _ranks(self, report: Report) -> Ranks | None:
        ranks = steer.ranks(report) if self._steered else None
        return (report.task.url.host, *ranks) if ranks else None

    def _book(self, host: Host, report: Report) -> None:
        """Enters an answer into the ledgers. URLs of what is closed by that end with the reason, at once where their host is open."""
        before = host.closed
        domain = self._ledgers.enter(host, report)
        own = self._line.seats.get(host.name)
        if domain is not None and (group := self._line.groups.get(domain.name)) is not None:
            for seat in list(group.seats.values()):
                self._shut(seat)
        elif own is not None and (own.shut or host.closed != before):
            self._shut(own)

    def _shut(self, seat: Seat) -> None:
        """A host was closed for its own yield or its domain's, unless it is better than that."""
        seat.shut = self._ledgers.shut(seat.host)
        if seat.ending and seat.state in ("waiting", "ready"):
            self._schedule.put(seat, 0.0)
        elif seat.ending:
            self._rest(seat)

    def _settle_file(self, seat: Seat | None, report: Report, live: bool) -> None:
        """Takes in what robots.txt or tdmrep.json said, or where it was moved."""
        task = report.task
        if seat is not None and task in seat.errands:
            seat.errands.remove(task)
        robots = report.robots
        if robots is None and live:
            for moved in report.found:
                self._run_errand(moved)
            if report.found or task.kind is not Kind.ROBOTS:
                return
            # No answer is no permission.
            origin = task.via or urls.origin(task.url.text)
            robots = Robots(origin, "", report.time, report.time + health.FAR, closed=True)
        if robots is not None:
            self._learn(self._freshest(robots) if task.kind is Kind.TDMREP else robots)

    def _freshest(self, told: Robots) -> Robots:
        """What a tdmrep.json said belongs to the rules it was asked for beside. If these were fetched anew meanwhile, it will be too."""
        known = self._shelf.robots(told.origin)
        return told if known is None or known.fetched == told.fetched else known

    def _run_errand(self, task: Task) -> None:
        """A file was moved: the host that has it is asked for it, first of all, and the origin that wants it waits."""
        asking = urls.parse(task.via + "/")
        asked = self._line.seats.get(asking.host) if asking is not None else None
        if asked is not None:
            asked.pending[task.via] = task.kind
        seat = self._line.seat(self._rows.make_host(task.url))
        seat.errands.append(task)
        seat.rank = 0
        if seat.state in ("waiting", "ready"):
            self._schedule.put(seat, self._due(seat))  # again, by its new rank
        else:
            self._rest(seat)

    def _learn(self, robots: Robots) -> None:
        """Keeps the rules of an origin. While they cannot be had it stays closed: it asks again, then for a day no more."""
        url = urls.parse(robots.origin + "/")
        host = self._rows.make_host(url) if url is not None else None
        if host is None:
            return
        self._rows.changed_hosts.add(host.name)
        host.robots_tries = host.robots_tries + 1 if robots.closed else 0
        seat = self._line.seats.get(host.name)
        if not robots.closed or not retry.again(Reason.ROBOTS_UNREACHABLE, host.robots_tries - 1):
            host.robots_tries = 0
            # Never less than another origin of this host asked for.
            host.delay = max(host.delay, min(robots.delay, self._fetch.max_crawl_delay))
            robots = self._kept(robots)
            self._shelf.save_robots(robots)
            if seat is not None:
                seat.robots.pop(robots.origin, None)
                seat.learnt.add(robots.origin)
                seat.unasked |= robots.closed
        if seat is not None and robots.origin in seat.pending:
            del seat.pending[robots.origin]
            self._rest(seat)

    def _kept(self, robots: Robots) -> Robots:
        """While a robots.txt cannot be had, the copy from before goes on to hold (RFC 9309 §2.4), for a month."""
        before = self._shelf.robots(robots.origin) if robots.closed else None
        if before is None or before.closed or robots.fetched - before.fetched > STALE:
            return robots
        return msgspec.structs.replace(before, expires=robots.expires)

    def reserve(self, report: Report) -> None:
        """Raises OSError where the disk has no room to take in a report and its claims; where it does not, that succeeds, done at once."""
        self._begin(_writes(report))

    async def claim(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        self._begin(len(pairs))
        return [self._shelf.claim(digest, key) for digest, key in pairs]

    # Durability

    async def commit(self, frame: Frame, log: tuple[str, int]) -> None:
        """The log has this frame and goes on at this place."""
        self.meta.frame = frame.number
        self.meta.log = log
        self.meta.files.update(frame.lengths)
        for report in frame.reports:
            self.meta.seq = max(self.meta.seq, report.seq)

    def checkpoint_due(self, now: float) -> bool:
        return now - self._checked >= self._options.checkpoint or self._shelf.crowded()

    async def checkpoint(self, now: float) -> None:
        """Makes durable what was settled. To be called only when all of it is in a frame that was committed."""
        self._rows.save()
        self._shelf.checkpoint(self.meta)
        self._checked = now

    async def close(self) -> None:
        """Ends without a checkpoint."""
        self._shelf.close()

    # Questions

    async def find(self, url: Url) -> Fate | None:
        self._begin(0)
        host = self._rows.host(url.host)
        row = self._shelf.look(host.id, url.key) if host is not None else None
        if host is None or row is None:
            return None
        ref, code, frame = row
        task = self._shelf.read(ref, host)
        seat = self._line.seats.get(host.name)
        if seat is not None and url.key in seat.hand:
            return Fate("in hand", task)
        return fate(task, code, frame, self._ledgers.closed(url))

    def closed(self, url: Url) -> Reason | None:
        """Why a page must not be asked for any more, though it was handed out: a driver asks this before each request."""
        code = self._ledgers.closed(url)
        return REASONS[code - 1] if code else None

    async def ledger(self, domain: str) -> Ledger | None:
        self._begin(0)
        row = self._rows.domain(domain)
        if row is None or not row.urls:
            return None
        closed = REASONS[row.closed - 1] if row.closed else None
        account = (
            row.pages,
            row.downloaded,
            row.kept,
            row.urls,
            row.hosts,
            closed,
            row.clean,
            row.primary,
            row.yields / budget.PAGE,
        )
        return Ledger(row.name, *account)

    async def counts(self) -> Counts:
        seats = self._line.seats.values()
        ready = sum(seat.state == "ready" and not self._schedule.is_held_up(seat) for seat in seats)
        finished = {Reason(name): count for name, count in self.meta.finished.items()}
        refused = dict(self.meta.refused)
        for rule, count in self._refused.items():
            refused[rule] = refused.get(rule, 0) + count
        return Counts(
            seen=self.meta.waiting + sum(finished.values()),
            waiting=self.meta.waiting - self._in_hand,
            in_hand=self._in_hand,
            finished=finished,
            refused=refused,
            hosts=self.meta.hosts,
            domains=self.meta.domains,
            hosts_ready=ready,
            hosts_waiting=sum(seat.state in ("waiting", "ready") for seat in seats) - ready,
            hosts_backlog=max(0, self.meta.listed - len(self._line.seats)),
        )


_DIGITS = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHIJKLMNOPQRSTUV"
)  # of base 32: RFC 4648's to int's


def claims(report: Report) -> tuple[int, ...]:
    """What a page that the judges let pass lays claim to: its payload and its clean text, as 64 bits each."""
    return (int(report.digest[:13].translate(_DIGITS), 32) >> 1, report.text) if report.text else ()


def _writes(report: Report) -> int:
    """How many writes of the shelf a report may need, those of its claims included."""
    pages = len(report.robots.rules) + len(report.robots.tdm) >> 12 if report.robots is not None else 0
    return _MARGIN + _WRITES * len(report.found) + pages
