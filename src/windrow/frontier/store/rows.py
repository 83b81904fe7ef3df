"""The rows that a store keeps for the frontier: hosts, domains, parts of hosts, and one row about the store itself."""

import msgspec

from windrow.frontier.policy.steer import CrawlYield
from windrow.records import Controls, Exchanged, Fate, History, Reason, Task

VERSION = 5  # of the layout of a store on disk
READABLE = (4, VERSION)  # version 4 has no URLs that are due again

REASONS = tuple(Reason)
CODES = {reason: code for code, reason in enumerate(REASONS, 1)}  # 0 means "waiting"
LOW_YIELD = CODES[Reason.LOW_YIELD]
BLOCKED = CODES[Reason.BLOCKED]


# There are many rows, and most of their fields have the default value. Defaults are not stored; names have one letter.
_HOST = {
    "id": "i",
    "name": "n",
    "domain": "m",
    "position": "t",
    "urls": "u",
    "waiting": "w",
    "errors": "e",
    "failures": "f",
    "robots_tries": "r",
    "pace": "p",
    "delay": "d",
    "until": "l",
    "lost": "o",
    "closed": "c",
    "shapes": "s",
    "pages": "a",
    "downloaded": "b",
    "kept": "k",
    "clean": "x",
    "primary": "y",
    "yields": "z",
    "parts": "g",
    "closed_parts": "v",
    "ranked": "j",
    "bounds": "0",
    "number": "1",
    "due": "q",
}
_DOMAIN = {
    "id": "i",
    "name": "n",
    "position": "t",
    "hosts": "h",
    "hosts_waiting": "l",
    "urls": "u",
    "pages": "p",
    "downloaded": "d",
    "kept": "k",
    "clean": "e",
    "primary": "r",
    "yields": "y",
    "closed": "c",
}


class PartRow(msgspec.Struct, array_like=True):
    """The account of a part of a host."""

    pages: int = 0
    downloaded: int = 0
    kept: int = 0
    clean: int = 0
    primary: int = 0
    yields: int = 0
    closed: bool = False


class HostRow(msgspec.Struct, omit_defaults=True, rename=_HOST):
    """A host. Rows are mutable: the frontier holds the rows it works on and writes them back in bulk."""

    id: int
    name: str = ""
    domain: str = ""
    position: int = 0  # in the backlog of its domain; 0: not in it, because no URL waits
    urls: int = 0  # admitted
    waiting: int = 0  # in the queue, including those in flight
    errors: int = 0  # of any kind, in a row
    failures: int = 0  # in a row, of the kinds that close a host
    robots_tries: int = 0
    pace: float = 0.0  # seconds between requests that the host tolerates, if that is more than the delay
    delay: float = 0.0  # Crawl-delay of its robots.txt, seconds
    until: float = 0.0  # epoch seconds before which the host gets no request
    lost: float = 0.0  # epoch seconds since which DNS does not find the host; 0: it does
    closed: int = 0  # code of the reason
    shapes: dict[int, int] = {}  # the most frequent page shapes, with their counts
    pages: int = 0  # this and the next five are its account, like that of a domain
    downloaded: int = 0
    kept: int = 0
    clean: int = 0
    primary: int = 0
    yields: int = 0
    parts: dict[str, PartRow] = {}  # by first path element, see budget.segment
    closed_parts: int = 0  # how many of them are closed
    number: int = 0  # in the order of the hosts' first answers
    ranked: int = 0  # pages that it had when the ranks of its queue were computed
    bounds: int = 0  # the boundaries by which they were computed, see Meta
    due: int = 0  # epoch seconds until which it rests, because its URLs that are due again are not yet; 0: it does not


class DomainRow(msgspec.Struct, omit_defaults=True, rename=_DOMAIN):
    """A registered domain."""

    id: int
    name: str = ""
    position: int = 0  # in the backlog of domains; 0: not in it
    hosts: int = 0  # with admitted URLs
    hosts_waiting: int = 0  # with URLs that wait
    urls: int = 0
    pages: int = 0  # responses
    downloaded: int = 0  # bytes
    kept: int = 0
    clean: int = 0
    primary: int = 0
    yields: int = 0  # of its pages, summed, in millionths
    closed: int = 0  # code of the reason


class ValueSums(msgspec.Struct):
    """The pages of the crawl, as far as the value of links is concerned."""

    pages: int = 0  # answered
    downloaded: int = 0  # bytes
    documents: float = 0.0  # pages with wanted text, each by its relevance
    text: int = 0  # bytes of wanted text
    hosts: int = 0  # that have answered
    rich: int = 0  # of these, hosts that gave wanted text
    untried: int = 0  # hosts that a page named, and that have not answered
    latest: list[float] = []  # bytes of wanted text of the latest of these
    scores: dict[int, int] = {}  # pages by their score in a topic crawl, see value.pressed
    scored: int = 0  # all of these
    fitted: list[int] = []  # boundaries of the first two buckets, fitted to these
    given_up: float = 0.0  # bytes of wanted text expected behind links that ended as low-value
    # Pages by the size of an expectation, as a power of two: their number, and what became of them.
    ranked: dict[int, list[float]] = {}  # by the rank of the link: wanted text, in expected pages of their hosts
    wanted: dict[int, list[float]] = {}  # by the text that was expected: wanted text
    behind: dict[int, list[float]] = {}  # by the same: wanted text expected behind their new links
    naming: dict[int, list[float]] = {}  # by the chance of a new host: new hosts


class Meta(msgspec.Struct):
    """What a checkpoint says about the whole store."""

    version: int = VERSION
    frame: int = 0  # the last frame of the log that the store holds
    seq: int = 0
    position: int = 0  # the last position given in a backlog
    rows: int = 0  # the last id given to a host or a domain
    hosts: int = 0  # with admitted URLs
    domains: int = 0
    hosts_waiting: int = 0  # with URLs that wait
    waiting: int = 0  # URLs
    finished: dict[str, int] = {}
    pages: int = 0  # URLs answered with a 2xx status
    documents: int = 0  # pages with text in the corpus
    tokens: int = 0  # words of these
    refused: dict[str, int] = {}
    account: CrawlYield = msgspec.field(default_factory=CrawlYield)
    values: ValueSums = msgspec.field(default_factory=ValueSums)
    bounds: int = 0  # how often the boundaries of the buckets have changed
    files: dict[str, int] = {}  # committed length of every archive file
    log: tuple[str, int] = ("", 0)  # file and offset where the log continues after that frame
    controls: Controls = Controls()  # what orders have changed
    exchanged: Exchanged = Exchanged()  # of a shard: what was exchanged with the others
    due: int = 0  # URLs that are to be visited again
    earlier: dict[str, int] = {}  # visits that were followed by another one, by reason


class DueUrl(msgspec.Struct, frozen=True, gc=False):
    """A finished URL that is to be visited again."""

    at: int  # epoch seconds
    ref: int
    history: History


class Position(msgspec.Struct, frozen=True):
    """How far a store has come: everything up to this frame is in it."""

    frame: int
    seq: int  # the highest sequence number so far
    log: tuple[str, int]  # file and offset where the log continues
    files: dict[str, int]  # committed length of every archive file
    exchanged: Exchanged = Exchanged()  # of a shard: what was exchanged with the others


def fate(task: Task, code: int, closed: int) -> Fate:
    """Return the fate of a URL that is not in flight, given the code in its row and the code that closes its host."""
    if code:
        return Fate("finished", task, REASONS[code - 1])
    return Fate("waiting", task, REASONS[closed - 1] if closed else None)
