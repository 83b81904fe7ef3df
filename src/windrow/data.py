"""The records that travel, in the order they are made.

Every station of the flow hands the next one a frozen record and nothing else. They are msgspec Structs: frozen and slotted
like the dataclasses one would write, an eighth of the cost to make (0.06 against 0.53 µs for four fields), and encoded to the log
and to the workers by the same library. A Struct here holds plain values only; none refers back to the part that made it.
"""

import enum

import msgspec


class Reason(enum.Enum):
    """How a URL ended, or why this try at it failed. The stores keep a reason as its place in this list: append, never reorder."""

    OK = "ok"  # fetched with a 2xx status, archived, and, where text is taken, in the corpus
    REDIRECT = "redirect"  # archived; its target went into the queue like any link
    NOT_FOUND = "not-found"  # 404, 410
    FORBIDDEN = "forbidden"  # 401, 402, 403, 451: final, never worked around
    CLIENT_ERROR = "client-error"  # any other 4xx
    THROTTLED = "throttled"  # 429, or 503 with Retry-After: the host asks for time
    SERVER_ERROR = "server-error"  # 5xx
    BAD_STATUS = "bad-status"  # a status that means nothing to us: 1xx as a final answer, 6xx
    NO_SUCH_HOST = "no-such-host"  # the name does not exist
    DNS = "dns"  # the name could not be resolved this time
    BLOCKED_ADDRESS = "blocked-address"  # private, loopback, link-local, metadata or mapped address
    CONNECT = "connect"  # refused, unreachable
    TLS = "tls"
    TIMEOUT = "timeout"
    DISCONNECT = "disconnect"  # the peer closed or reset before a whole answer
    PROTOCOL = "protocol"  # what came was not HTTP, or HTTP we refuse
    ROBOTS = "robots"  # robots.txt disallows it
    ROBOTS_UNREACHABLE = "robots-unreachable"  # robots.txt answered 5xx, 429 or not at all: the origin is closed
    HOST_DEAD = "host-dead"  # the host failed too often in a row and was closed
    REDIRECTS = "too-many-redirects"
    BAD_REDIRECT = "bad-redirect"  # 3xx without a Location, or to something that is not http(s)
    PARSE_TIMEOUT = "parse-timeout"  # the worker was ended: too long on this page
    PARSE_MEMORY = "parse-memory"  # the worker ran out of its memory limit
    PARSE_CRASH = "parse-crash"  # the worker died on this page
    LOW_YIELD = "low-yield"  # its domain, or its part of the domain, gave too little text for its bytes and was retired
    OUT_OF_SCOPE = "out-of-scope"  # the rules changed after it was admitted
    NO_TEXT = (
        "no-text"  # archived, but nothing in it is running text: another kind of file, a page of links, an empty page
    )
    OPTED_OUT = "opted-out"  # its author or host reserves it, see [signals]
    LANGUAGE = "language"  # not in an accepted language
    QUALITY = "quality"  # too short, or not running text
    MACHINE_TRANSLATED = "machine-translated"  # the page says so
    SOFT_404 = "soft-404"  # the host's way to say "not found" with status 200
    DUPLICATE = "duplicate"  # its bytes, or its clean text, were met before
    NEAR_DUPLICATE = "near-duplicate"  # no paragraph is left that was not met before


class Kind(enum.IntEnum):
    """What a Task is for. Only PAGE tasks are counted as URLs of the crawl."""

    PAGE = 0
    ROBOTS = 1
    RESOLVE = 2  # no request: find the host's address
    PROBE = 3  # a page that cannot exist: how does the host say so?
    DETOUR = 4  # a redirect to the same page with a session id in its URL, which was followed at once
    TDMREP = 5  # what the origin reserves of text and data mining


class Url(msgspec.Struct, frozen=True, gc=False):
    text: str  # canonical: what identifies only a visit (session ids, fragment) is removed
    host: str  # ASCII, lower case, no port; politeness is owed to it
    domain: str  # registered domain; yield and budget belong to it
    key: int  # 64-bit hash of the text


class Link(msgspec.Struct, frozen=True, gc=False):
    url: Url
    anchor: str = ""
    rel: str = ""  # lower case, as in the page


class Task(msgspec.Struct, frozen=True, gc=False):
    url: Url
    kind: Kind = Kind.PAGE
    priority: int = 128  # rank, 0 (first) to 255
    depth: int = 0  # links from a seed
    distance: int = 0  # changes of registered domain on the way from a seed
    redirects: int = 0  # redirect hops that led here in a row
    via: str = ""  # URL of the page that held the link; for a robots or tdmrep task sent on by a redirect, the origin that asks
    attempt: int = 0  # tries before this one


AGAIN = "?"  # in place of what an origin's tdmrep.json says: it did not answer, and is to be asked once more


class Robots(msgspec.Struct, frozen=True, gc=False):
    """What an origin says to us: its robots.txt, condensed to our own group, and what else it was asked for."""

    origin: str  # scheme://host[:port]
    rules: str  # condensed text, see fetch/robots.py; "" allows everything
    fetched: float  # epoch seconds
    expires: float  # epoch seconds
    closed: bool = False  # unreachable: nothing of this origin may be requested
    delay: float = 0.0  # seconds it asks for between two requests
    probe: str = ""  # what it answers for a page that cannot exist, see judge/probes.py
    tdm: str = ""  # what its tdmrep.json says, condensed, see fetch/tdmrep.py; "" where it has not been asked for it


class Turn(msgspec.Struct, frozen=True, gc=False):
    """The right to talk to one host, and the address it has, until the turn is ended."""

    host: str
    address: str  # "ip", "ip:port" or "[ip6]:port" where the hosts file names a port; "" in a resolve turn
    tasks: tuple[Task, ...]
    delay: float  # seconds between two requests
    robots: tuple[Robots, ...]  # of the origins of these tasks
    lease: int
    closed: Reason | None = None  # the host was closed: these tasks end with this reason, nothing is requested


class Capture(msgspec.Struct, frozen=True, gc=False):
    """One exchange in the form that is stored: reading it back from a WARC gives an equal one."""

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
    encoded: bool = False  # the body could not be decoded and is kept as it came

    def header(self, name: str) -> str | None:
        """The first header of this name, stripped; None where there is none."""
        for value in self.headers(name):
            return value
        return None

    def headers(self, name: str) -> list[str]:
        """Every value of this header, in order, stripped."""
        wanted = name.lower().encode("latin-1")
        found = []
        for line in self.head.split(b"\r\n")[1:]:
            field, colon, value = line.partition(b":")
            if colon and field.strip().lower() == wanted:
                found.append(value.strip().decode("latin-1"))
        return found


class Failure(msgspec.Struct, frozen=True, gc=False):
    """An exchange that gave nothing to archive."""

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


class Paragraph(msgspec.Struct, frozen=True, gc=False, rename={"kind": "class"}):
    """A block of a page's text."""

    text: str  # one line, single blanks
    kind: str = "good"  # "good" or "bad": whether it is of the text; jusText's class
    heading: bool = False
    path: str = ""  # of its element: "html.body.div.p"
    own: str = (
        ""  # "good", "neargood", "short" or "bad": by itself, before its neighbours were heard; jusText's cfclass
    )
    language: str = ""  # in a document: ISO 639-3, where it differs from the document's


class Page(msgspec.Struct, frozen=True):
    """What extraction found in a capture."""

    title: str = ""
    paragraphs: tuple[Paragraph, ...] = ()
    author: str = ""
    date: str = ""  # of publication: YYYY-MM-DD
    licence: str = ""  # URL of a licence link
    language: str = ""  # as declared
    charset: str = ""  # as decoded
    canonical: str = ""
    links: tuple[Link, ...] = ()
    nofollow: bool = False  # meta robots
    noindex: bool = False
    shape: int = 0  # 32-bit hash of the visible text without digits: equal for the pages of a calendar trap
    metas: tuple[
        tuple[str, str], ...
    ] = ()  # names, in lower case, and contents of meta elements that judges ask for: what is said to
    # robots, and by translators; attributes of <html> by which these mark their work as "html lang", "html class"
    licences: tuple[str, ...] = ()  # URLs that are linked as the page's licence


class Signal(msgspec.Struct, frozen=True, omit_defaults=True):
    """One statement of an author or a host about the use of a page."""

    source: str  # "meta", "header", "robots.txt" or "tdmrep.json"
    name: str  # "noindex", "noai", "tdm-reservation", "tdm-policy", "train-ai", "search", "ai-input", "license", "ai-agents" …
    value: str = (
        ""  # "y" or "n" for a use, "1" or "0" for a reservation, a URL for a policy or licence, "" for a plain word
    )
    field: str = ""  # where it stood: "X-Robots-Tag", "robots", "Content-Usage", …
    agent: str = ""  # the agent that is meant, lower case; "" for all


class Verdict(msgspec.Struct, frozen=True, array_like=True):
    """What the judges say of a page by itself; what depends on other pages is decided after it, in the order of `seq`."""

    reason: Reason  # OK: it belongs in the corpus, if it is not a duplicate
    detail: str = ""
    language: str = ""  # ISO 639-3
    scores: dict[str, float] = {}  # by the name of a judge
    clean: int = 0  # bytes of main text, whatever its language
    primary: int = 0  # of these, bytes in the first accepted language
    digest: int = 0  # 64-bit hash of the text that is to be kept


class Document(msgspec.Struct, frozen=True):
    """A page as the corpus has it: one line of a shard, see corpus/document.py."""

    format: int  # of this record, see corpus/document.py
    id: str  # of the response record: <urn:uuid:…>
    url: str
    time: str  # of the request: 2026-11-15T10:44:21.123Z
    place: "DocumentPlace"
    ip: str
    language: str  # ISO 639-3
    scores: dict[str, float]
    paragraphs: tuple[Paragraph, ...]
    title: str = ""
    author: str = ""
    date: str = ""
    charset: str = ""
    declared: str = ""  # language that the page declares
    licence: str = ""
    signals: tuple[Signal, ...] = ()


class DocumentPlace(msgspec.Struct, frozen=True):
    """Where the bytes of a document are."""

    file: str
    offset: int
    length: int
    digest: str  # sha1 of the payload in base32


class Report(msgspec.Struct, frozen=True):
    """What became of one task: the only way back to the frontier, and a line of the log."""

    seq: int  # order of commit; 0 where nothing was archived
    task: Task
    reason: Reason
    detail: str
    time: float  # epoch seconds when the exchange ended
    seconds: float = 0.0
    status: int = 0
    downloaded: int = 0  # bytes on the wire
    clean: int = 0  # bytes of main text, whatever its language and whether or not it was met before
    primary: int = 0  # of these, bytes in the first accepted language
    kept: int = 0  # bytes of text that reached the corpus
    language: str = ""  # of the page, where it was told
    scores: dict[str, float] = {}
    text: int = 0  # 64-bit hash of the clean text, of a page that the judges let pass: it and the digest are claimed
    place: Place | None = None
    digest: str = ""  # sha1 of the payload in base32, without prefix
    shape: int = 0
    final: bool = True  # False: the task goes back to its queue, see frontier/retry.py
    until: float = 0.0  # epoch seconds before which the host asked not to be called (Retry-After)
    address: str = ""  # for a resolve task: what was found
    robots: Robots | None = None  # for a robots, probe or tdmrep task: what is known of the origin from now on
    found: tuple[Task, ...] = ()  # links to admit; after settling, those that were new
    refused: dict[str, int] = {}  # links not admitted, counted by rule


class Ledger(msgspec.Struct, frozen=True, gc=False):
    """A domain's account."""

    domain: str
    pages: int = 0  # requests that were answered
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

    state: str  # "waiting", "in hand", "finished"
    task: Task
    reason: Reason | None = None
    frame: int = 0  # where the log has the report


class Counts(msgspec.Struct, frozen=True):
    seen: int = 0  # admitted URLs: waiting + in_hand + all of finished
    waiting: int = 0
    in_hand: int = 0
    finished: dict[Reason, int] = {}
    refused: dict[str, int] = {}  # links refused at admission, by rule
    hosts: int = 0
    domains: int = 0
    hosts_ready: int = 0  # open and due
    hosts_waiting: int = 0  # open, not yet due
    hosts_backlog: int = 0  # with work, not open


class Frame(msgspec.Struct, frozen=True):
    """A group commit: one gzip member of the log."""

    number: int
    time: float
    reports: tuple[Report, ...]
    lengths: dict[
        str, int
    ]  # committed length of every other file that changed, by path relative to the crawl directory
    seeds: tuple[Task, ...] = ()  # tasks admitted from outside (seed files)
    in_hand: int = 0  # URLs leased and not yet settled, for the reader of a running crawl's log
