"""The records of the flow, in the order in which they are made.

Every stage hands the next one a frozen record and nothing else. The records are msgspec Structs: frozen and slotted
like dataclasses, at an eighth of the cost to make (0.06 instead of 0.53 µs for four fields), and the same library
encodes them for the log and for the worker processes. A Struct here holds plain values only; none refers to the stage
that made it.
"""

import enum
from typing import Annotated

import msgspec


class Reason(enum.Enum):
    """How a URL ended, or why one attempt at it failed.

    The stores keep a reason as its position in this list: append, never reorder.
    """

    OK = "ok"  # fetched with a 2xx status and archived; if the crawl extracts text, it is in the corpus
    REDIRECT = "redirect"  # archived; its target is admitted like any link
    NOT_FOUND = "not-found"  # status 404 or 410
    FORBIDDEN = "forbidden"  # status 401, 402, 403 or 451: final, never worked around
    CLIENT_ERROR = "client-error"  # any other 4xx status
    THROTTLED = "throttled"  # status 429, or 503 with Retry-After: the host wants fewer requests
    SERVER_ERROR = "server-error"  # 5xx status
    BAD_STATUS = "bad-status"  # a status without a meaning here: 1xx as the final response, 6xx
    NO_SUCH_HOST = "no-such-host"  # the host name does not exist
    DNS = "dns"  # the host name could not be resolved this time
    BLOCKED_ADDRESS = "blocked-address"  # private, loopback, link-local, metadata or mapped address
    CONNECT = "connect"  # connection refused, or host unreachable
    TLS = "tls"  # the TLS handshake failed, or the certificate is not valid
    TIMEOUT = "timeout"  # the response took too long
    DISCONNECT = "disconnect"  # the peer closed or reset the connection before the response was complete
    PROTOCOL = "protocol"  # the response is not HTTP, or HTTP that Windrow refuses
    ROBOTS = "robots"  # robots.txt disallows it
    ROBOTS_UNREACHABLE = "robots-unreachable"  # robots.txt answered 5xx or 429 or not at all: the origin is closed
    HOST_DEAD = "host-dead"  # the host failed too often in a row and was closed
    REDIRECTS = "too-many-redirects"  # more redirects in a row than fetch.max_redirects
    BAD_REDIRECT = "bad-redirect"  # 3xx status without a Location, or with one that is not an http(s) URL
    PARSE_TIMEOUT = "parse-timeout"  # the worker was killed: it spent too much CPU time on this page
    PARSE_MEMORY = "parse-memory"  # the worker reached its memory limit on this page
    PARSE_CRASH = "parse-crash"  # the worker died on this page
    LOW_YIELD = "low-yield"  # its domain, host or part of the host was retired: too little text for its bytes
    OUT_OF_SCOPE = "out-of-scope"  # the scope changed after the URL was admitted
    NO_TEXT = "no-text"  # archived without running text: another kind of file, a page of links, an empty page
    OPTED_OUT = "opted-out"  # its author or its origin reserves it, see [signals]
    LANGUAGE = "language"  # not in an accepted language
    QUALITY = "quality"  # too short, or not running text
    MACHINE_TRANSLATED = "machine-translated"  # the page says that a machine translated it
    SOFT_404 = "soft-404"  # the host's "not found" page, sent with status 200
    DUPLICATE = "duplicate"  # same payload or same clean text as an earlier page
    NEAR_DUPLICATE = "near-duplicate"  # every paragraph is a near-duplicate of an earlier one
    BLOCKED = "blocked"  # an order blocks its host or domain (`windrow block`): not requested
    LOW_VALUE = "low-value"  # not requested: too little wanted text was expected of it for its bytes
    TOPIC = "topic"  # not on the topic of the crawl: above focus.max_perplexity


class Kind(enum.IntEnum):
    """The purpose of a Task. Only PAGE tasks count as URLs of the crawl."""

    PAGE = 0
    FILE = 1  # a well-known file of an origin: `Task.file` names it
    RESOLVE = 2  # no request: look up the address of the host
    SESSION_REDIRECT = 3  # a redirect to the same page with a session id; the driver follows it at once


class Url(msgspec.Struct, frozen=True, gc=False, array_like=True):
    text: str  # canonical: without session ids and fragment
    host: str  # ASCII, lower case, no port; the unit of politeness
    domain: str  # registered domain; the unit of yield and budget
    key: int  # 64-bit hash of the text


MOST_HINTS = 24  # bytes; a worker that sends more is not believed
MOST_REQUEST = 48 << 10  # bytes; the record of a URL has room for 64 KiB
MOST_DESCRIBED = 128  # bytes of the hints of a task: those of its link, and what the frontier adds of its page


class Link(msgspec.Struct, frozen=True, gc=False, array_like=True):
    url: Url
    anchor: str = ""
    rel: str = ""  # lower case, as in the page
    context: str = ""  # text around the link, without its anchor
    language: str = ""  # of the target, as hreflang or a lang attribute at the link says; lower case
    hints: Annotated[bytes, msgspec.Meta(max_length=MOST_HINTS)] = b""  # see Task


class Task(msgspec.Struct, frozen=True, gc=False):
    url: Url
    kind: Kind = Kind.PAGE
    priority: int = 128  # rank, 0 (first) to 255
    depth: int = 0  # links from a seed
    distance: int = 0  # changes of registered domain on the path from a seed
    redirects: int = 0  # redirect hops in a row that led here
    via: str = (
        ""  # URL of the page that holds the link; for a FILE task after a redirect, the origin that needs the file
    )
    attempt: int = 0  # attempts before this one
    file: str = ""  # of a FILE task: the name of the well-known file, a key of `origin.FILES`
    embed: int = 0  # requisites in a row that led here; 0: a page itself, 1: its image, 2: a font of its style sheet
    hints: bytes = b""  # what the link said of its target, for the expected value; see frontier/policy/hints.py
    # The request of another program that downloads the page, in that program's form, see windrow.scrapy; at most
    # MOST_REQUEST bytes. It is kept with the URL and given back with it.
    request: bytes = b""


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


class Capture(msgspec.Struct, frozen=True, gc=False):
    """One exchange in its stored form: reading it from the WARC file gives an equal record."""

    task: Task
    status: int
    request: bytes  # request line and headers as sent, with the empty line
    head: bytes  # status line and headers as stored, with the empty line
    body: bytes  # decoded
    time: float  # epoch seconds when the request was sent, whole milliseconds
    seconds: float  # until the last byte, whole milliseconds
    ip: str
    protocol: str  # "http/1.0", "http/1.1", "h2"
    cipher: str = ""  # "tls/1.3 TLS_AES_256_GCM_SHA384", empty for plain http
    truncated: str = ""  # "", "length", "time" or "disconnect"
    downloaded: int = 0  # bytes of header and body on the wire
    encoded: bool = False  # the body could not be decoded and is stored as received
    raw: bytes = b""  # the body with its content coding, if that form is stored (fetch.raw_bodies)

    @property
    def stored(self) -> bytes:
        """The body in the form that the archive keeps and hashes."""
        return self.raw or self.body

    @property
    def url(self) -> str:
        return self.task.url.text

    def header(self, name: str) -> str | None:
        """Return the first header of this name, stripped; None if there is none."""
        for value in self.headers(name):
            return value
        return None

    def headers(self, name: str) -> list[str]:
        """Return every value of this header, in order, stripped."""
        wanted = name.lower().encode("latin-1")
        found = []
        for line in self.head.split(b"\r\n")[1:]:
            field, colon, value = line.partition(b":")
            if colon and field.strip().lower() == wanted:
                found.append(value.strip().decode("latin-1"))
        return found


class Failure(msgspec.Struct, frozen=True, gc=False):
    """An exchange without a response to archive."""

    task: Task
    reason: Reason
    detail: str  # one line, for `windrow why`
    time: float  # epoch seconds when it ended
    seconds: float = 0.0
    downloaded: int = 0


class Place(msgspec.Struct, frozen=True, gc=False):
    file: str  # relative to the crawl directory, with forward slashes
    offset: int
    length: int  # of the response record's gzip member


class Mark(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A link or an emphasis within a paragraph."""

    start: int  # in the text
    end: int
    kind: str  # "link", "strong", "em" or "code"
    target: str = ""  # of a link: its URL


KEPT_KINDS = frozenset({"good", "comment"})  # of a Paragraph; a property costs three times as much as a look-up here


class Paragraph(msgspec.Struct, frozen=True, gc=False, rename={"kind": "class"}):
    """A block of a page's text."""

    text: str  # one line, single blanks
    kind: str = "good"  # "good" (main text), "comment" (of a reader) or "bad"; jusText's class
    heading: bool = False
    path: str = ""  # of its element: "html.body.div.p"
    own: str = ""  # class without its neighbours: "good", "neargood", "short" or "bad"; jusText's cfclass
    language: str = ""  # in a document: ISO 639-3, if it differs from the document's language
    # The elements around it that give it a form, outermost first, with their numbers: "h2", "ol:2 li:3",
    # "table:1 tr:2 td:3", "blockquote:1", "pre:1", "figure:1 figcaption"; "title" for the headline of the page. Lists,
    # tables, quotations, code and figures are numbered on the page, items in their list, rows in their table, cells in
    # their row, all from 1.
    structure: str = ""
    lines: str = ""  # the text with its line ends and indents, where the page shows any: code, and lines of <br>
    marks: tuple[Mark, ...] = ()  # links and emphasis, if they are wanted

    @property
    def kept(self) -> bool:
        """Whether the extractor keeps its text. Loops over all paragraphs of a page look into KEPT_KINDS instead."""
        return self.kind in KEPT_KINDS


class Page(msgspec.Struct, frozen=True):
    """The result of extraction: text, links and metadata of a capture."""

    title: str = ""
    paragraphs: tuple[Paragraph, ...] = ()
    author: str = ""
    date: str = ""  # of publication: YYYY-MM-DD
    licence: str = ""  # URL of a licence link
    site: str = ""  # name of the site
    description: str = ""  # summary of the page, as declared
    tags: tuple[str, ...] = ()  # keywords and categories, as declared
    image: str = ""  # URL of the picture that stands for the page
    language: str = ""  # as declared
    charset: str = ""  # as decoded
    canonical: str = ""
    links: tuple[Link, ...] = ()
    doubtful: bool = False  # no paragraph of its text is certain to be one: the page may have no main text
    nofollow: bool = False  # meta robots
    noindex: bool = False
    shape: int = 0  # 32-bit hash of the visible text without digits: equal for the pages of a calendar trap
    # Names (lower case) and contents of the meta elements that judges read: directives for robots, marks of translation
    # tools. Attributes of <html> that such tools set have the names "html lang" and "html class".
    metas: tuple[tuple[str, str], ...] = ()
    licences: tuple[str, ...] = ()  # URLs that the page links as its licence


class Signal(msgspec.Struct, frozen=True, omit_defaults=True):
    """One statement of an author or a host about the use of a page."""

    source: str  # "meta", "header", "robots.txt" or "tdmrep.json"
    name: str  # "noindex", "noai", "tdm-reservation", "tdm-policy", "train-ai", "search", "license", "ai-agents" …
    value: str = ""  # "y" or "n" for a use, "1" or "0" for a reservation, a URL for a policy or licence, "" otherwise
    field: str = ""  # the field that holds it: "X-Robots-Tag", "robots", "Content-Usage", …
    agent: str = ""  # the agent that it addresses, lower case; "" for all


class Verdict(msgspec.Struct, frozen=True, array_like=True):
    """The judgement on a page without regard to other pages. Duplicates are decided later, in the order of `seq`."""

    reason: Reason  # OK: the page belongs in the corpus, unless it is a duplicate
    detail: str = ""
    language: str = ""  # of the text to keep; of the page, if it is rejected; ISO 639-3
    scores: dict[str, float] = {}  # by the name of a judge
    clean: int = 0  # bytes of main text in any language
    primary: int = 0  # of these, bytes in the first accepted language
    digest: int = 0  # 64-bit hash of the text to keep
    page_language: str = ""  # of all main text, if it differs from `language`


class Document(msgspec.Struct, frozen=True):
    """A page in the corpus: one line of a shard, see corpus/document.py."""

    format: int  # of this record, see corpus/document.py
    id: str  # of the response record: <urn:uuid:…>
    url: str
    time: str  # of the request: 2026-11-15T10:44:21.123Z
    place: "DocumentPlace"
    ip: str
    language: str  # of most of these paragraphs, ISO 639-3
    scores: dict[str, float]
    paragraphs: tuple[Paragraph, ...]
    title: str = ""
    author: str = ""
    date: str = ""
    charset: str = ""
    declared: str = ""  # the language that the page declares
    licence: str = ""
    site: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    image: str = ""
    signals: tuple[Signal, ...] = ()
    truncated: str = ""  # why the page is not complete: "length", "time" or "disconnect"
    page_language: str = ""  # of the page with the paragraphs that were dropped, if it differs from `language`

    @property
    def text(self) -> str:
        """The paragraphs, one per line."""
        return "\n".join([paragraph.text for paragraph in self.paragraphs])


class DocumentPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place of the archived bytes of a document."""

    file: str  # relative to the crawl directory
    offset: int
    length: int
    digest: str  # SHA-1 of the payload in base32
    crawl: str = ""  # name of the crawl directory, where documents of several crawls are in one file


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
    shape: int = 0  # see Page
    final: bool = (
        True  # False: the task goes back to its queue, see frontier/policy/retry.py; of a RESOLVE task: ask again
    )
    until: float = 0.0  # epoch seconds before which the host gets no request: Retry-After, or a look-up that failed
    address: str = ""  # of a RESOLVE task: the address found
    origin: Origin | None = None  # of a FILE task: what is known of the origin from now on
    rules: float = 0.0  # stamp of the Origin that allowed the request
    truncated: str = ""  # of the capture: "length", "time" or "disconnect"
    links: tuple[Task, ...] = ()  # links to admit, or the place where a well-known file was moved
    refused: dict[str, int] = {}  # links out of scope, counted by rule


class Entry(msgspec.Struct, frozen=True):
    """A report with the frontier's answer to it: a line of the log."""

    report: Report
    admitted: tuple[Task, ...] = ()  # those of its links that were new
    refused: dict[str, int] = {}  # links not admitted, counted by rule: out of scope, or over a cap
    sent: tuple[Task, ...] = ()  # those of its links that belong to other shards of the crawl


class Receipt(msgspec.Struct, frozen=True):
    """The answer to an ack."""

    entries: tuple[Entry, ...]  # one per report, in their order
    closings: tuple[Closing, ...] = ()  # since the last reply of the frontier


class Ledger(msgspec.Struct, frozen=True, gc=False):
    """The account of a domain."""

    domain: str
    pages: int = 0  # responses
    downloaded: int = 0  # bytes
    kept: int = 0  # bytes
    admitted: int = 0  # URLs
    hosts: int = 0
    closed: Reason | None = None
    clean: int = 0  # bytes
    primary: int = 0  # bytes
    yields: float = 0.0  # of its pages, summed


class Fate(msgspec.Struct, frozen=True, gc=False):
    """What the frontier knows of a URL."""

    state: str  # "waiting", "in flight", "finished"
    task: Task
    reason: Reason | None = None


class Counts(msgspec.Struct, frozen=True):
    seen: int = 0  # admitted URLs: waiting + in_flight + all of finished
    waiting: int = 0
    in_flight: int = 0  # leased and not yet acknowledged
    finished: dict[Reason, int] = {}
    refused: dict[str, int] = {}  # links refused at admission, by rule
    hosts: int = 0
    domains: int = 0
    hosts_ready: int = 0  # open and due
    hosts_waiting: int = 0  # open, not yet due
    hosts_backlog: int = 0  # with work, not open
    pages: int = 0  # URLs answered with a 2xx status, over all runs
    documents: int = 0  # pages with text in the corpus, over all runs
    tokens: int = 0  # words of these


class Made(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What shards have made, as far as the limits of a crawl count it."""

    pages: int = 0  # of this run; a job of nodes is one run
    documents: int = 0  # over all runs
    tokens: int = 0  # words of these


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


class Carried(msgspec.Struct, frozen=True):
    """The frontier's answer to an order."""

    order: Order  # with what it changed; `end` says whether there is more to do
    closings: tuple[Closing, ...] = ()  # since the last reply of the frontier


class Watermark(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """How far a shard has come in the log of another shard: it has all links up to and with this frame."""

    incarnation: int = 0  # of the shard whose log it is; 0: that shard has never been heard of
    frame: int = 0


class Arrival(msgspec.Struct, frozen=True):
    """Links from other shards. The frame that admits them must say `got`."""

    tasks: tuple[Task, ...]
    got: dict[int, Watermark]  # by sender


class Exchanged(msgspec.Struct, frozen=True):
    """What the log of a shard says about the exchange with other shards: a fold over its frames, see `shards.apply`."""

    incarnations: tuple[Watermark, ...] = ()  # the latest, each with its first frame, in order
    got: dict[int, Watermark] = {}  # by sender
    tails: dict[int, int] = {}  # by receiver: the last frame with links to it


class Frame(msgspec.Struct, frozen=True):
    """A group commit: one gzip member of the log."""

    number: int
    time: float
    entries: tuple[Entry, ...]
    lengths: dict[
        str, int
    ]  # committed length of every other file that changed, by path relative to the crawl directory
    seeds: tuple[Task, ...] = ()  # tasks admitted from seed files, or from other shards
    in_flight: int = 0  # URLs leased and not yet acknowledged, for a reader of a running crawl's log
    orders: tuple[Order, ...] = ()  # carried out with this commit, before its seeds and entries
    offline: float = 0.0  # epoch seconds since which no host has answered and the crawl waits; 0: it does not
    # Only of a shard of a crawl on many machines, see `windrow.cluster`:
    incarnation: int = 0  # of the process that writes from this frame on; 0: the same as before
    receivers: tuple[int, ...] = ()  # the shards that links of these entries (`sent`) belong to
    got: dict[int, Watermark] = {}  # by sender: its links up to there were admitted with this frame or an earlier one
    follows: tuple[str, int] = ("", 0)  # of the first in a file: where the file before ends, whatever is written there


class HeldOutFit(msgspec.Struct, frozen=True):
    """How well a model predicts held-out text."""

    perplexity: float  # over all words
    perplexity_known: float  # over the words that the train text has, or without one the model; 0: it has none
    unknown: float  # share of the words that the model does not have
    words: int  # that the model was trained on, each sentence once
    sentences: int


class EvaluationRow(msgspec.Struct, frozen=True):
    """A crawl when it had downloaded so much text."""

    size: int  # tokens, the step of the table; 0: before the crawl
    tokens: int  # of all main text of its pages until then, in any language, duplicates included
    wanted: int  # of these, in the wanted language
    kept: int  # tokens of the corpus at that time
    pages: int  # with main text
    languages: dict[str, int]  # tokens by language of the page, most first
    fit: HeldOutFit | None  # of a model of the train text and all of this text; None: there was too little text
    fit_wanted: HeldOutFit | None  # the same with the text in the wanted language only


class CrawlEvaluation(msgspec.Struct, frozen=True):
    """A crawl measured by how well its text predicts held-out text, step by step (Remus and Biemann 2016)."""

    crawl: str  # name of its directory
    held_out: str  # name of the file
    held_out_words: int
    train: str  # name of the file; "": none
    language: str  # the wanted one, ISO 639-3
    order: int  # of the models
    unknown_log10: float  # of the probability of a word that a model does not have
    left_out: int  # sentences of the crawl that are in the held-out text: no model is trained on them
    shares: dict[str, dict[str, float]]  # languages of the held-out and of the train text
    rows: list[EvaluationRow]
    note: str = ""  # why the table ends before the crawl
