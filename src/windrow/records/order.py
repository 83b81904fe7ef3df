"""A command of the operator, and what orders have changed."""

import msgspec

from windrow.records.lease import Closing


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command of the operator to a crawl, running or not: the log keeps it in the frame that carried it out.

    An order about many URLs is carried out in parts, one per frame, so that the crawl never stands still. In the log
    each part has the id of the order, and says which URLs it is about and what it changed.
    """

    id: str  # unique, so that an order is carried out once; ids in order of time
    time: float  # when it was given
    verb: str  # "pause", "block", "retry", …: a key of `orders.VERBS`
    values: tuple[str, ...] = ()  # what it is about: hosts, URLs, reasons, or NAME=VALUE
    hosts: tuple[str, ...] = ()  # only these hosts and all below them; empty: all
    start: tuple[str, int] | None = None  # of a part: it covers the URLs behind this host and key; None: from the first
    end: tuple[str, int] | None = None  # of a part: up to and with this host and key; None: the order is complete
    reopened: dict[str, int] = {}  # URLs that wait again, by the reason with which they had ended
    admitted: int = 0  # new seeds
    refused: dict[str, int] = {}  # seeds not admitted, by rule


class Controls(msgspec.Struct, frozen=True):
    """What orders have changed and still holds: a fold over the orders of a log, see `orders.apply`."""

    paused: float = 0.0  # epoch seconds since when; 0: the crawl is not paused
    blocked: tuple[str, ...] = ()  # hosts and domains, with all below them
    options: dict[str, str] = {}  # the values that replace those of crawl.toml, as they were written
    unfinished: Order | None = None  # the last part of an order that has further parts
    recent: tuple[str, ...] = ()  # ids of the last orders: one whose file is still there is not carried out again


class OrderReply(msgspec.Struct, frozen=True):
    """The frontier's answer to an order."""

    order: Order  # with what it changed; `end` says whether there is more to do
    closings: tuple[Closing, ...] = ()  # since the last reply of the frontier
