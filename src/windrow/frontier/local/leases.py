"""What is to be done at a host whose turn it is: an address to find, a robots.txt to fetch, pages to ask for, or pages to end."""

import itertools
from collections.abc import Iterable, Sequence

from windrow import config, urls
from windrow.data import AGAIN, Kind, Reason, Robots, Task, Turn, Url
from windrow.frontier.local.schedule import Seat
from windrow.frontier.policy import budget, health, steer
from windrow.frontier.store.base import REASONS, Host, Shelf

MOST = 16  # tasks in one turn, where no delay lies between them
MOST_CLOSED = 256  # where they end without a request
LONG = 0.25  # seconds a turn may hold an address for the sake of several tasks
SHORT_RULES = 4096  # characters of an origin's rules that a seat keeps; longer ones are read from the shelf each time
TDMREP = "/.well-known/tdmrep.json"


class Turns:
    def __init__(self, shelf: Shelf, fetch: config.Fetch) -> None:
        self._shelf = shelf
        self._fetch = fetch
        self._leases = 0
        self.tdmrep = False  # whether origins are asked for their tdmrep.json

    def make(self, seat: Seat, now: float, most: int = MOST) -> Turn | None:
        """The turn of a seat that is free, of at most so many pages; None where there is nothing to be done."""
        host = seat.host
        if seat.ending:
            return self._closing(seat, REASONS[seat.ending - 1])
        if not seat.errands and host.waiting <= len(seat.hand):
            return None
        due = health.due(host, seat.last, now, self._fetch)
        if due > now or (seat.group.retiring and not seat.errands):
            return self._pages(seat, now, 0) if seat.unasked else None
        if not seat.address or seat.address_until <= now:
            seat.address = ""
            return self._grant(seat, _resolve_task(host))
        if seat.place is None:
            return None  # it was ready for something that needs no address
        if seat.errands:
            return self._errand(seat, now)
        return self._pages(seat, now, most)

    def _errand(self, seat: Seat, now: float) -> Turn | None:
        """What another origin was sent here for. A robots.txt may always be asked for, anything else by the rules of where it lies."""
        task = next_errand(seat)
        if task is None or task.kind is Kind.ROBOTS:
            return self._grant(seat, task) if task is not None else None
        origin = urls.origin(task.url.text)
        rules = self._rules(seat, origin, now)
        if rules is None:
            return self._grant(seat, _file_task(origin, "/robots.txt", Kind.ROBOTS, seat.host))
        return self._grant(seat, task, robots=(*self._asking([task]), rules))

    def _asking(self, tasks: Iterable[Task]) -> tuple[Robots, ...]:
        """What is known of the origins that sent these tasks."""
        found = [self._shelf.robots(task.via) for task in tasks if task.kind is Kind.TDMREP]
        return tuple([rules for rules in found if rules is not None])

    def _closing(self, seat: Seat, reason: Reason) -> Turn | None:
        """A closed host's tasks, to end with the reason."""
        if seat.errands and reason is not Reason.LOW_YIELD:
            return self._grant(seat, *seat.errands, robots=self._asking(seat.errands), closed=reason)
        spots = self._shelf.head(seat.host.id, set(seat.hand.values()), MOST_CLOSED)
        if not spots:
            return None
        tasks = [self._shelf.read(ref, seat.host) for _, ref in spots]
        _take(seat, tasks, spots)
        return self._grant(seat, *tasks, closed=reason)

    def _pages(self, seat: Seat, now: float, most: int) -> Turn | None:
        """The first pages in the queue, or the file they need first; where nothing may be asked (0), only pages of a closed origin.

        They are of much the same rank: when those are done others may be worth more.
        """
        host = seat.host
        room = min(self._room(host), most or MOST)
        spots = self._shelf.head(host.id, set(seat.hand.values()), room + 1)
        tasks = [self._shelf.read(ref, host) for rank, ref in spots[:room] if rank < spots[0][0] + steer.DOUBLE]
        if host.cut and any(budget.is_cut(host.segments, task.url.text) for task in tasks):
            return self._cutting(seat, tasks, spots)
        robots = self._robots(seat, tasks, now)
        if not most:
            robots = list(itertools.takewhile(lambda rules: rules.closed, robots))
        seat.unasked = bool(robots) and robots[0].closed
        if robots:
            tasks = tasks[: len(robots)]
            _take(seat, tasks, spots)
            seat.learnt.clear()
            return self._grant(seat, *tasks, robots=tuple({rules.origin: rules for rules in robots}.values()))
        origin = urls.origin(tasks[0].url.text)
        return None if not most or origin in seat.pending else self._file(seat, origin, now)

    def _file(self, seat: Seat, origin: str, now: float) -> Turn:
        """What has to be known of an origin before its first page: its robots.txt, and then its tdmrep.json."""
        rules = self._rules(seat, origin, now)
        if rules is None:
            return self._grant(seat, _file_task(origin, "/robots.txt", Kind.ROBOTS, seat.host))
        return self._grant(seat, _file_task(origin, TDMREP, Kind.TDMREP, seat.host), robots=(rules,))

    def _cutting(self, seat: Seat, tasks: Sequence[Task], spots: Sequence[tuple[int, int]]) -> Turn:
        """Of these pages those of closed parts of the host, to end with the reason."""
        segments = seat.host.segments
        ended = [place for place, task in enumerate(tasks) if budget.is_cut(segments, task.url.text)]
        _take(seat, [tasks[place] for place in ended], [spots[place] for place in ended])
        seat.rank = next((spot[0] for place, spot in enumerate(spots) if place not in ended), spots[-1][0])
        return self._grant(seat, *[tasks[place] for place in ended], closed=Reason.LOW_YIELD)

    def _room(self, host: Host) -> int:
        """How many tasks a turn holds: several only where they do not hold the address for long."""
        delay = max(health.delay(host, self._fetch), self._fetch.ip_delay)
        return MOST if delay <= 0 else max(1, min(MOST, int(LONG / delay)))

    def _robots(self, seat: Seat, tasks: Sequence[Task], now: float) -> list[Robots]:
        """The rules for each task, up to the first whose origin has to be asked for something first."""
        found = []
        for task in tasks:
            rules = self._rules(seat, urls.origin(task.url.text), now)
            if rules is None or (self.tdmrep and rules.tdm in ("", AGAIN) and not rules.closed):
                break
            found.append(rules)
        return found

    def _rules(self, seat: Seat, origin: str, now: float) -> Robots | None:
        """What is known of an origin; None where its robots.txt has to be fetched."""
        rules = seat.robots.get(origin) or self._shelf.robots(origin)
        # None is kept longer than a day: an end that lies further ahead is a clock that jumped.
        if rules is None or not (now < rules.expires <= now + 2 * health.FAR or origin in seat.learnt):
            return None
        if len(rules.rules) + len(rules.tdm) <= SHORT_RULES:
            seat.robots[origin] = rules
        return rules

    def _grant(self, seat: Seat, *tasks: Task, robots: tuple[Robots, ...] = (), closed: Reason | None = None) -> Turn:
        self._leases += 1
        seat.lease = self._leases
        delay = max(health.delay(seat.host, self._fetch), self._fetch.ip_delay)
        return Turn(seat.host.name, "" if closed else seat.address, tasks, delay, robots, seat.lease, closed)


def next_errand(seat: Seat) -> Task | None:
    """The first errand that can be run: a tdmrep.json has to wait while the robots.txt of where it lies was moved and is awaited."""
    for task in seat.errands:
        if task.kind is Kind.ROBOTS or seat.pending.get(urls.origin(task.url.text)) is not Kind.ROBOTS:
            return task
    return None


def _take(seat: Seat, tasks: Sequence[Task], spots: Sequence[tuple[int, int]]) -> None:
    """Pages go into hand; the seat's rank is that of the first that stays."""
    for task, (_, ref) in zip(tasks, spots, strict=False):
        seat.hand[task.url.key] = ref
    seat.rank = spots[len(tasks)][0] if len(tasks) < len(spots) else 255


def _resolve_task(host: Host) -> Task:
    return Task(Url(f"http://{host.name}/", host.name, host.domain, 0), kind=Kind.RESOLVE)


def _file_task(origin: str, path: str, kind: Kind, host: Host) -> Task:
    text = origin + path
    return Task(Url(text, host.name, host.domain, urls.key(text)), kind=kind, priority=0)
