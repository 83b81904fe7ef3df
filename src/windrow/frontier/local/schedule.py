"""Which open host is next: due times by host and by address, kept in memory for the hosts being worked on.

A seat with work is in one of two heaps. Until it is due it stands in the heap of times. Once due it stands in the heap of those ready,
by their key and then in the order they came; but where its address is known it stands in line there, and the address is in the heap for
all its hosts. So an address that many hosts share costs no more than any other, and none of its hosts is passed over.

An entry of a heap counts only while its seat or address still carries its number: to take one out, the number is forgotten.
Nothing here outlives the process. After a restart every host and every address waits its delay once more.
"""

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable
from typing import Literal

from windrow.data import Kind, Robots, Task
from windrow.frontier.store.base import LOW_YIELD, Host

ADDRESSES = 50_000  # remembered before those that are due and free are forgotten

State = Literal["idle", "waiting", "ready", "leased", "gone"]


class Group:
    """An open registered domain."""

    __slots__ = ("cursor", "name", "pages", "retiring", "seats")

    def __init__(self, name: str, retiring: bool) -> None:
        self.name = name
        self.seats: dict[str, Seat] = {}
        self.pages = 0  # served since it was opened
        self.cursor = 0  # ticket of the last of its hosts that was looked at
        self.retiring = retiring  # its seats do what cannot wait, then close


class Seat:
    """An open host."""

    __slots__ = (
        "address", "address_until", "entry", "errands", "group", "hand", "host", "key", "last",
        "learnt", "lease", "pending", "place", "rank", "robots", "shut", "state", "trial", "unasked",
    )  # fmt: skip

    def __init__(self, host: Host, group: Group, last: float) -> None:
        self.host = host
        self.group = group
        self.last = last  # epoch seconds when it may last have been asked, 0: not that we know
        self.state: State = "idle"
        self.entry = 0
        self.rank = 255  # of its first page
        self.key = 0.0  # its place among those that are due, least first, as it was when it became due
        self.address = ""
        self.address_until = 0.0
        self.place: Place | None = None  # held while the seat is leased
        self.hand: dict[int, int] = {}  # url key -> reference, for the tasks leased and not yet settled
        self.robots: dict[str, Robots] = {}
        self.learnt: set[str] = set()  # origins whose rules were just fetched: they serve once, however short they live
        self.unasked = False  # it may have pages of a closed origin, which end without a request and need not wait
        self.errands: deque[Task] = deque()  # files of other origins that were moved here
        self.pending: dict[str, Kind] = {}  # own origins one of whose files was moved and is awaited, and which
        self.lease = 0
        self.shut = 0  # code of the reason for which it ends with its domain
        self.trial = False  # it is out, or its pages are, though others are better

    @property
    def ending(self) -> int:
        """The reason, as a code, for which its tasks are to end without a request; 0 where they are not. Errands to a host that gives
        too little text are for others and go on."""
        host = self.host
        if host.closed and host.closed != LOW_YIELD:
            return host.closed
        return (host.closed or self.shut) if host.waiting > len(self.hand) else 0


class Place:
    """An address."""

    __slots__ = ("due", "entry", "held", "line")

    def __init__(self, due: float) -> None:
        self.due = due
        self.held = False
        self.entry = 0
        self.line: list[tuple[float, int, Seat]] = []  # its ready seats, a heap


def ip(address: str) -> str:
    """The address without the port a hosts file may have given it."""
    if address.startswith("["):
        return address[1 : address.index("]")]
    return address.partition(":")[0] if address.count(":") == 1 else address


def by_rank(seat: Seat) -> float:
    return seat.rank


class Schedule:
    def __init__(self, ip_delay: float, key: Callable[[Seat], float] = by_rank) -> None:
        self.start = (
            0.0  # epoch seconds when the crawl went on after a stop: any address may have been asked just before
        )
        self._ip_delay = ip_delay
        self._key = key
        self._now = 0.0
        self._times: list[tuple[float, int, Seat | Place]] = []
        self._ready: list[tuple[float, int, Seat | Place]] = []
        self._places: dict[str, Place] = {}
        self._limit = ADDRESSES
        self._numbers = itertools.count(1)

    def put(self, seat: Seat, due: float) -> None:
        """The seat has work, from this time on."""
        if due <= self._now:
            self._arrive(seat)
        else:
            seat.state = "waiting"
            self._wait(seat, due)

    def pop(self, now: float) -> Seat | None:
        """The best seat that may be leased now, host and address both due and unheld. It holds both until it is freed."""
        self._wake(now)
        while self._ready:
            _, number, entry = heapq.heappop(self._ready)
            if entry.entry != number:
                continue
            entry.entry = 0
            seat = self._first(entry) if isinstance(entry, Place) else entry
            if seat is not None:
                seat.state = "leased"
                return seat
        return None

    def free(self, seat: Seat, last: float) -> None:
        """The turn is over; `last` is when its last request ended, 0 where none was made."""
        seat.state = "idle"
        place, seat.place = seat.place, None
        if place is not None:
            place.held = False
            if last:
                place.due = max(place.due, last + self._ip_delay)
            self._offer(place)

    def drop(self, seat: Seat) -> None:
        """The seat is closed: whatever entry it has is void."""
        seat.state = "gone"
        seat.entry = 0

    def next(self, now: float, held: bool = False) -> float:
        """When a seat may be leased next; infinity where none waits for time. `held`: those that are ready are held back."""
        while self._ready and not held:
            _, number, entry = self._ready[0]
            if entry.entry == number:
                return now
            heapq.heappop(self._ready)
        while self._times:
            time, number, entry = self._times[0]
            if entry.entry == number:
                return time
            heapq.heappop(self._times)
        return math.inf

    def is_held_up(self, seat: Seat) -> bool:
        """Whether a ready seat has to wait for its address."""
        place = self._places.get(ip(seat.address)) if seat.address else None
        return place is not None and (place.held or place.due > self._now)

    def _wake(self, now: float) -> None:
        self._now = now
        times = self._times
        while times and times[0][0] <= now:
            _, number, entry = heapq.heappop(times)
            if entry.entry != number:
                continue
            entry.entry = 0
            if isinstance(entry, Place):
                self._offer(entry)
            else:
                self._arrive(entry)

    def _arrive(self, seat: Seat) -> None:
        """A seat is due: it joins those ready, or the line at its address. Pages that end without a request need no address."""
        seat.state = "ready"
        seat.key = self._key(seat)
        seat.entry = number = next(self._numbers)
        if not seat.address or seat.ending:
            heapq.heappush(self._ready, (seat.key, number, seat))
            return
        place = self._place(ip(seat.address))
        heapq.heappush(place.line, (seat.key, number, seat))
        if not place.entry or place.line[0][1] == number:
            self._offer(place)

    def _offer(self, place: Place) -> None:
        """An address that is free and has seats in line joins those ready, as its first seat would, or waits until it is due."""
        if place.held or not place.line:
            return
        if place.due > self._now:
            self._wait(place, place.due)
        else:
            place.entry = next(self._numbers)
            heapq.heappush(self._ready, (place.line[0][0], place.entry, place))

    def _first(self, place: Place) -> Seat | None:
        """Takes the first seat in line at a free address, and the address with it."""
        while place.line:
            _, number, seat = heapq.heappop(place.line)
            if seat.entry == number:
                seat.entry = 0
                seat.place = place
                place.held = True
                return seat
        return None

    def _wait(self, entry: Seat | Place, due: float) -> None:
        entry.entry = next(self._numbers)
        heapq.heappush(self._times, (due, entry.entry, entry))

    def _place(self, key: str) -> Place:
        place = self._places.get(key)
        if place is None:
            if len(self._places) >= self._limit:
                self._forget()
            place = self._places[key] = Place(self.start + self._ip_delay if self.start else 0.0)
        return place

    def _forget(self) -> None:
        self._places = {
            key: place
            for key, place in self._places.items()
            if place.held or place.line or place.entry or place.due > self._now
        }
        self._limit = max(ADDRESSES, 2 * len(self._places))
