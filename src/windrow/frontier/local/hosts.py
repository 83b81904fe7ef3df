"""Open domains, open hosts and address slots: the crawl works on these now. They do not outlive the process."""

import math
from collections import deque
from typing import Literal

from windrow.frontier.store.rows import BLOCKED, LOW_YIELD, HostRow
from windrow.records import Origin, Task

State = Literal["idle", "waiting", "ready", "leased", "gone"]


class AddressSlot:
    """An address. At most one host holds it at a time."""

    __slots__ = ("address", "due", "entry", "held", "hosts", "last", "ours")

    def __init__(self, address: str, due: float) -> None:
        self.address = address
        self.due = due
        self.held = False
        self.ours = False  # no other shard may use it; only if there are several
        self.last = 0.0  # epoch seconds when the last request ended since it is ours; 0: there was none
        self.entry = 0  # number of its entry in a heap of the schedule; 0: none
        self.hosts: list[tuple[float, int, OpenHost]] = []  # its ready hosts, a heap


class OpenDomain:
    """An open registered domain."""

    __slots__ = ("cursor", "hosts", "leaving", "name", "pages")

    def __init__(self, name: str, leaving: bool) -> None:
        self.name = name
        self.hosts: dict[str, OpenHost] = {}
        self.pages = 0  # leased since the domain was opened
        self.cursor = 0  # position in its backlog of the last host that was looked at
        self.leaving = leaving  # its hosts do what cannot wait, then they are closed


class OpenHost:
    """An open host."""

    __slots__ = (
        "address", "address_until", "awaited", "blocked", "domain", "due", "ends_pages", "entry", "errands",
        "in_flight", "key", "last", "learnt", "looked", "origins", "rank", "retired", "revisits", "row", "slot",
        "state", "taken", "token", "trial",
    )  # fmt: skip

    def __init__(self, row: HostRow, domain: OpenDomain, last: float) -> None:
        self.row = row
        self.domain = domain
        self.last = last  # epoch seconds when its last request may have ended; 0: no request is known
        self.state: State = "idle"
        self.entry = 0  # number of its entry in a heap of the schedule; 0: none
        self.rank = 255  # of its first page
        self.taken = 255  # rank of the first page that is in flight
        self.looked = -1  # pages of the host when the ranks of its next links were computed
        self.key = 0.0  # its order among the ready hosts, least first, as it was when the host became ready
        self.address = ""
        self.address_until = 0.0
        self.slot: AddressSlot | None = None  # held while the host is leased
        self.in_flight: dict[int, int] = {}  # URL key -> reference, for pages that are leased and not yet acknowledged
        self.revisits = 0  # of these, pages that were visited before
        self.due = math.inf  # epoch seconds from which on another page is to be visited again
        self.origins: dict[str, Origin] = {}
        self.learnt: set[str] = set()  # origins with a new record, which serves once, however soon it expires
        self.ends_pages = False  # it may have pages of a closed origin, which end without a request and need not wait
        self.errands: deque[Task] = deque()  # files of other origins that were moved to this host
        self.awaited: dict[str, str] = {}  # own origins that wait for a file that was moved: its name
        self.token = 0
        self.retired = 0  # code of the reason why it ends with its domain
        self.blocked = False  # an order blocks its name
        self.trial = False  # it is leased, or its pages are in flight, although other hosts are better

    @property
    def ending(self) -> int:
        """The code of the reason why its tasks end without a request; 0 if they do not.

        A host with low yield still serves errands, because other origins need them.
        """
        row = self.row
        if self.blocked:
            return BLOCKED
        if row.closed and row.closed != LOW_YIELD:
            return row.closed
        return (row.closed or self.retired) if self.has_more else 0

    @property
    def has_more(self) -> bool:
        """Whether pages wait for their first visit that are not in flight."""
        return self.row.waiting > len(self.in_flight) - self.revisits

    @property
    def work(self) -> float:
        """The epoch seconds from which on it has a page to request; infinity: it has none. A closed host visits no page
        again, and the pages keep the reasons with which they ended."""
        if self.has_more:
            return 0.0
        return math.inf if self.blocked or self.row.closed or self.retired else self.due

    def land(self, task: Task) -> int:
        """Take a page out of flight; return its reference, 0 if it was not in flight."""
        ref = self.in_flight.pop(task.url.key, 0)
        self.revisits -= ref > 0 and task.again
        return ref
