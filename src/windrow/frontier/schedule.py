"""Which open host is next: due times by host and by address, kept in memory for the hosts being worked on.

Nothing here outlives the process. After a restart every host waits its delay once more.
"""

import heapq
from collections import deque
from typing import Literal

from windrow.data import Robots, Task
from windrow.frontier.shelf import Host

State = Literal["idle", "waiting", "ready", "parked", "leased"]


class Seat:
    """An open host."""

    __slots__ = ("address", "address_until", "due", "errands", "hand", "host", "lease", "pending", "rank", "retiring", "robots", "state")

    def __init__(self, host: Host, due: float) -> None:
        self.host = host
        self.due = due
        self.state: State = "idle"
        self.rank = 255
        self.address = ""
        self.address_until = 0.0
        self.hand: dict[int, int] = {}  # url key -> reference, for the tasks leased and not yet settled
        self.robots: dict[str, Robots] = {}
        self.errands: deque[Task] = deque()  # robots.txt files of other hosts that were moved here
        self.pending: set[str] = set()  # origins whose robots.txt was moved to another host and is awaited
        self.lease = 0
        self.retiring = False


class _Address:
    __slots__ = ("due", "held", "parked", "wakes")

    def __init__(self, due: float) -> None:
        self.due = due
        self.held = False
        self.parked: deque[Seat] = deque()
        self.wakes = False  # stands in the heap


def ip(address: str) -> str:
    """The address without the port a hosts file may have given it."""
    if address.startswith("["):
        return address[1 : address.index("]")]
    return address.partition(":")[0] if address.count(":") == 1 else address


class Schedule:
    def __init__(self, start: float, ip_delay: float) -> None:
        self._start = start  # when the crawl went on after a stop, 0 for a new one: addresses may have been asked just before
        self._ip_delay = ip_delay
        self._heap: list[tuple[float, int, Seat | _Address]] = []
        self._ready: list[tuple[int, int, Seat]] = []
        self._addresses: dict[str, _Address] = {}
        self._count = 0  # keeps heap entries apart and equal ones in order

    def put(self, seat: Seat, now: float) -> None:
        """The seat has work: it becomes ready when it is due."""
        self._count += 1
        if seat.due <= now:
            seat.state = "ready"
            heapq.heappush(self._ready, (seat.rank, self._count, seat))
        else:
            seat.state = "waiting"
            heapq.heappush(self._heap, (seat.due, self._count, seat))

    def pop(self, now: float) -> Seat | None:
        """The best seat that may be leased now: due, and its address due and unheld."""
        self._wake(now)
        while self._ready:
            seat = heapq.heappop(self._ready)[2]
            if seat.state != "ready":
                continue
            if not seat.address or seat.host.closed:
                return seat
            place = self._place(seat)
            if not place.held and place.due <= now:
                return seat
            seat.state = "parked"
            place.parked.append(seat)
            self._wake_later(place)
        return None

    def take(self, seat: Seat) -> None:
        seat.state = "leased"
        if seat.address and not seat.host.closed:
            self._place(seat).held = True

    def free(self, seat: Seat, last: float) -> None:
        """The turn is over; `last` is when its last request ended, 0 where none was made."""
        seat.state = "idle"
        if seat.address:
            place = self._place(seat)
            place.held = False
            if last:
                place.due = max(place.due, last + self._ip_delay)
            self._wake_later(place)

    def next(self) -> float:
        """When something becomes due; infinity where nothing waits for time."""
        while self._heap:
            time, _, entry = self._heap[0]
            if isinstance(entry, _Address) or (entry.state == "waiting" and entry.due == time):
                return time
            heapq.heappop(self._heap)
        return float("inf")

    def counts(self) -> tuple[int, int]:
        """Seats that are ready, and seats that wait for their time or their address."""
        ready = sum(1 for _, _, seat in self._ready if seat.state == "ready")
        waiting = sum(1 for _, _, entry in self._heap if isinstance(entry, Seat) and entry.state == "waiting")
        return ready, waiting + sum(len(place.parked) for place in self._addresses.values())

    def _place(self, seat: Seat) -> _Address:
        key = ip(seat.address)
        place = self._addresses.get(key)
        if place is None:
            if len(self._addresses) > 50_000:
                self._forget()
            place = self._addresses[key] = _Address(self._start + self._ip_delay)
        return place

    def _forget(self) -> None:
        latest = max(place.due for place in self._addresses.values()) - 10 * self._ip_delay
        self._addresses = {
            key: place for key, place in self._addresses.items() if place.held or place.parked or place.wakes or place.due > latest
        }

    def _wake_later(self, place: _Address) -> None:
        if place.parked and not place.held and not place.wakes:
            place.wakes = True
            self._count += 1
            heapq.heappush(self._heap, (place.due, self._count, place))

    def _wake(self, now: float) -> None:
        while self._heap and self._heap[0][0] <= now:
            time, _, entry = heapq.heappop(self._heap)
            if isinstance(entry, _Address):
                entry.wakes = False
                if entry.parked and not entry.held:
                    self.put(entry.parked.popleft(), now)
                    # Another host may take its place should this one turn out to have nothing to do.
                    if entry.parked:
                        entry.due = max(entry.due, now + self._ip_delay)
                        self._wake_later(entry)
            elif entry.state == "waiting" and entry.due == time:
                self.put(entry, now)
