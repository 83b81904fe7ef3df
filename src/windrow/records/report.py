"""What became of a task, and the frontier's answer to it."""

import msgspec

from windrow.records.exchange import Place
from windrow.records.lease import Closing, Origin
from windrow.records.task import Reason, Task, Url


class Report(msgspec.Struct, frozen=True):
    """What became of one task: the only way back to the frontier. Made once, when every stage has answered."""

    seq: int  # order of commit; 0 if nothing was archived
    task: Task
    reason: Reason
    detail: str
    time: float  # epoch seconds when the exchange ended
    seconds: float = 0.0
    status: int = 0
    downloaded: int = 0  # bytes on the wire
    clean: int = 0  # bytes of main text in any language, duplicates included
    primary: int = 0  # of these, bytes in the first accepted language
    kept: int = 0  # bytes of text that reached the corpus
    relevant: int = 0  # of these, bytes times the relevance of the page to the topic; 0 without a topic
    tokens: int = 0  # words of this text, see dedup/ngrams.py
    language: str = ""  # of the document, or of the page if there is none; "": not detected
    page_language: str = ""  # of the page, if it differs from `language`
    scores: dict[str, float] = {}
    text: int = 0  # 64-bit hash of the clean text, for a page that the judges accept: a fingerprint beside the digest
    place: Place | None = None
    digest: str = ""  # SHA-1 of the payload in base32, without prefix
    etag: str = ""  # this and the next: of the response, if the URL may be due again
    modified: int = 0  # epoch seconds of Last-Modified; 0: there is none
    shape: int = 0  # see Page
    final: bool = (
        True  # False: the task goes back to its queue, see frontier/policy/retry.py; of a RESOLVE task: ask again
    )
    until: float = 0.0  # epoch seconds before which the host gets no request: Retry-After, or a look-up that failed
    address: str = ""  # of a RESOLVE task: the address found
    origin: Origin | None = None  # of a FILE task: what is known of the origin from now on
    rules: float = 0.0  # stamp of the Origin that allowed the request
    truncated: str = ""  # of the capture: "length", "time" or "disconnect"
    moved: Url | None = None  # of a FILE task: where a redirect says that the file is
    # What follows is not in the log: the entry says what the frontier made of it.
    links: tuple[Task, ...] = ()  # links to admit
    refused: dict[str, int] = {}  # links out of scope, counted by rule


class Entry(msgspec.Struct, frozen=True):
    """A report with the frontier's answer to it: a line of the log."""

    report: Report
    admitted: tuple[Task, ...] = ()  # those of its links that were new
    refused: dict[str, int] = {}  # links not admitted, counted by rule: out of scope, or over a cap
    sent: tuple[Task, ...] = ()  # those of its links that belong to other shards of the crawl
    due: int = 0  # epoch seconds from which on the URL may be visited again; 0: never


class Receipt(msgspec.Struct, frozen=True):
    """The answer to an ack."""

    entries: tuple[Entry, ...]  # one per report, in their order
    closings: tuple[Closing, ...] = ()  # since the last reply of the frontier


class Fate(msgspec.Struct, frozen=True, gc=False):
    """What the frontier knows of a URL."""

    state: str  # "waiting", "in flight", "finished"; a URL that was visited before stays finished
    task: Task
    reason: Reason | None = None


class Counts(msgspec.Struct, frozen=True):
    seen: int = 0  # admitted URLs: waiting + in_flight + all of finished
    waiting: int = 0
    in_flight: int = 0  # leased for their first visit and not yet acknowledged
    finished: dict[Reason, int] = {}  # by the reason of their last visit
    earlier: dict[Reason, int] = {}  # visits that were followed by another one: with `finished`, all visits
    due: int = 0  # of the finished ones, those that are to be visited again
    refused: dict[str, int] = {}  # links refused at admission, by rule
    hosts: int = 0
    domains: int = 0
    hosts_ready: int = 0  # open and due
    hosts_waiting: int = 0  # open, not yet due
    hosts_backlog: int = 0  # with work, not open
    pages: int = 0  # URLs answered with a 2xx status, over all runs
    documents: int = 0  # pages with text in the corpus, over all runs
    tokens: int = 0  # words of these
