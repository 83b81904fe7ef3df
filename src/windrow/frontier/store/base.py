"""What a frontier remembers, and the narrow interface of the places that remember it.

A shelf stores and finds; it decides nothing. Two exist: `memory` (dictionaries, the reference) and `lmdb`.
"""

from collections.abc import Container
from typing import Protocol

import msgspec

from windrow.data import Fate, Reason, Robots, Task
from windrow.frontier.policy.steer import Account

REASONS = tuple(Reason)
CODES = {reason: code for code, reason in enumerate(REASONS, 1)}  # 0 is "waiting"
LOW_YIELD = CODES[Reason.LOW_YIELD]


# Rows are many and most of their fields are at rest: what is at its default is not stored, and names are one letter.
_HOST = {
    "id": "i",
    "name": "n",
    "domain": "m",
    "ticket": "t",
    "urls": "u",
    "waiting": "w",
    "errors": "e",
    "failures": "f",
    "robots_tries": "r",
    "pace": "p",
    "delay": "d",
    "until": "l",
    "closed": "c",
    "shapes": "s",
    "pages": "a",
    "downloaded": "b",
    "kept": "k",
    "clean": "x",
    "primary": "y",
    "yields": "z",
    "segments": "g",
    "cut": "v",
}
_DOMAIN = {
    "id": "i",
    "name": "n",
    "ticket": "t",
    "hosts": "h",
    "listed": "l",
    "urls": "u",
    "pages": "p",
    "downloaded": "d",
    "kept": "k",
    "clean": "e",
    "primary": "r",
    "yields": "y",
    "closed": "c",
}


class Segment(msgspec.Struct, array_like=True):
    """The account of a part of a host."""

    pages: int = 0
    downloaded: int = 0
    kept: int = 0
    clean: int = 0
    primary: int = 0
    yields: int = 0
    closed: bool = False


class Host(msgspec.Struct, omit_defaults=True, rename=_HOST):
    """One host's row. Mutable: the frontier holds the rows it works on and writes them back in bulk."""

    id: int
    name: str = ""
    domain: str = ""
    ticket: int = 0  # place in the line of its domain's hosts; 0: not in it, no URL waits
    urls: int = 0  # admitted
    waiting: int = 0  # in the queue, those in hand included
    errors: int = 0  # in a row, any
    failures: int = 0  # in a row, of the kind that closes a host
    robots_tries: int = 0
    pace: float = 0.0  # seconds between requests it has shown to bear, where that is more than the delay
    delay: float = 0.0  # Crawl-delay of its robots.txt, seconds
    until: float = 0.0  # epoch seconds before which it is not called
    closed: int = 0  # code of the reason
    shapes: dict[int, int] = {}  # the page shapes seen most, and how often
    pages: int = 0  # its account, as a domain's
    downloaded: int = 0
    kept: int = 0
    clean: int = 0
    primary: int = 0
    yields: int = 0
    segments: dict[str, Segment] = {}  # by first path element, see budget.segment
    cut: int = 0  # how many of them are closed


class Domain(msgspec.Struct, omit_defaults=True, rename=_DOMAIN):
    id: int
    name: str = ""
    ticket: int = 0
    hosts: int = 0  # with admitted URLs
    listed: int = 0  # hosts with URLs waiting
    urls: int = 0
    pages: int = 0  # requests that were answered
    downloaded: int = 0  # bytes
    kept: int = 0
    clean: int = 0
    primary: int = 0
    yields: int = 0  # of its pages, summed, in millionths
    closed: int = 0  # code of the reason


class Meta(msgspec.Struct):
    """What a checkpoint says of itself."""

    version: int = 1
    frame: int = 0  # the last frame of the log that the store holds
    seq: int = 0
    ticket: int = 0
    rows: int = 0  # the last number given to a host or a domain
    hosts: int = 0  # with admitted URLs
    domains: int = 0
    listed: int = 0  # hosts with URLs waiting
    waiting: int = 0
    finished: dict[str, int] = {}
    refused: dict[str, int] = {}
    account: Account = msgspec.field(default_factory=Account)
    files: dict[str, int] = {}  # committed length of every archive file
    log: tuple[str, int] = ("", 0)  # where the log goes on after that frame


class Shelf(Protocol):
    fresh: bool  # made just now: no crawl was here before

    def meta(self) -> Meta: ...
    def load_host(self, name: str) -> Host | None: ...
    def save_host(self, host: Host) -> None: ...
    def load_domain(self, name: str) -> Domain | None: ...
    def save_domain(self, domain: Domain) -> None: ...

    def add(self, host: int, task: Task, via: int) -> int: ...  # reference of the new entry, 0 if the URL was known
    def requeue(self, host: int, task: Task, ref: int) -> int: ...  # to the back of its rank, as the task now is
    def finish(self, host: int, task: Task, ref: int, code: int, frame: int) -> None: ...
    def look(self, host: int, key: int) -> tuple[int, int, int] | None: ...  # ref, code, frame
    def read(self, ref: int, host: Host) -> Task: ...
    def head(
        self, host: int, skip: Container[int], most: int
    ) -> list[tuple[int, int]]: ...  # rank and reference, in order

    def list_host(self, domain: int, ticket: int, name: str) -> None: ...
    def unlist_host(self, domain: int, ticket: int) -> None: ...
    def next_host(self, domain: int, after: int) -> tuple[int, str] | None: ...
    def list_domain(self, ticket: int, name: str) -> None: ...
    def unlist_domain(self, ticket: int) -> None: ...
    def next_domain(self, after: int) -> tuple[int, str] | None: ...

    def robots(self, origin: str) -> Robots | None: ...
    def save_robots(self, robots: Robots) -> None: ...
    def claim(self, digest: int, key: int) -> int: ...

    def reserve(self, writes: int) -> None: ...  # before so many: raises OSError where the disk has no room for them
    def crowded(self) -> bool: ...  # a checkpoint should come soon
    def checkpoint(self, meta: Meta) -> None: ...
    def close(self) -> None: ...


def fate(task: Task, code: int, frame: int, closed: int) -> Fate:
    """A URL's fate from what its row and its host's row say."""
    if code:
        return Fate("finished", task, REASONS[code - 1], frame)
    return Fate("waiting", task, REASONS[closed - 1] if closed else None)
