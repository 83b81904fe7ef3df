"""The right to send requests to a host, and what its origins say in their well-known files."""

import enum

import msgspec

from windrow.records.task import Reason, Task


class FileState(enum.Enum):
    """The result of requesting a well-known file."""

    PRESENT = "present"  # the file says something
    ABSENT = "absent"  # the origin has no such file, or the file says nothing
    UNANSWERED = "unanswered"  # no usable response: request it once more


class OriginFile(msgspec.Struct, frozen=True, gc=False):
    """A well-known file of an origin, condensed by the module that reads it."""

    state: FileState
    text: str = ""


class Access(enum.Enum):
    """Whether an origin may be requested."""

    OPEN = "open"  # its robots.txt is known: the rules decide
    STALE = "stale"  # its robots.txt is unavailable now; an earlier copy stays in force (RFC 9309 §2.4)
    CLOSED = "closed"  # its robots.txt is unavailable and no copy exists: no request is allowed


class Origin(msgspec.Struct, frozen=True):
    """Everything an origin says in its well-known files."""

    name: str  # scheme://host[:port]
    stamp: float  # epoch seconds when this record was made; each report names the stamp it was requested under
    fetched: float  # epoch seconds when robots.txt was fetched
    expires: float  # epoch seconds
    access: Access = Access.OPEN
    delay: float = 0.0  # Crawl-delay, seconds
    rules: str = ""  # robots.txt condensed to the group for this crawler, see origin/robots; "" allows everything
    files: dict[str, OriginFile] = {}  # the other well-known files requested so far, by name


class Lease(msgspec.Struct, frozen=True):
    """The right to send requests to one host at its address until the lease is released."""

    host: str
    address: str  # "ip", or "ip:port" or "[ip6]:port" if the hosts file names a port; "" for a RESOLVE task
    tasks: tuple[Task, ...]
    delay: float  # seconds between two requests
    origins: tuple[Origin, ...]  # the origins of these tasks
    token: int
    closed: Reason | None = None  # the host is closed: these tasks end with this reason and without a request


class Closing(msgspec.Struct, frozen=True):
    """A change of which tasks of a leased host may still be requested."""

    host: str
    reason: Reason | None  # for all its tasks; None: the host is open (again)
    closed_parts: frozenset[str] = frozenset()  # its parts that are closed for low yield, see frontier/policy/budget.py
    open_parts: frozenset[str] = frozenset()  # its other parts with a ledger


class Grant(msgspec.Struct, frozen=True):
    """The answer to a request for leases."""

    leases: tuple[Lease, ...]  # best first
    again: float | None  # epoch seconds when to ask again; infinity: after the next ack; None: the crawl is done
    closings: tuple[Closing, ...] = ()  # since the last reply of the frontier
