"""A task: one URL to be requested, the link that led to it, and the reasons with which it can end."""

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
    NOT_MODIFIED = "not-modified"  # visited again, and the server says that it has not changed: status 304


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


class History(msgspec.Struct, frozen=True, gc=False):
    """What the visits to a URL have shown, in a crawl where a finished URL may be due again.

    A posterior over its rate of change needs no more: unchanged intervals count by their sum, changed ones by their
    number and sum.
    """

    visits: int = 0  # that have ended, each with one reason; 0: none yet
    reason: Reason = Reason.OK  # of the last one
    fetches: int = 0  # visits that were answered with the page, or with "not modified"
    changes: int = 0  # fetches with another payload than the fetch before
    first: int = 0  # epoch seconds of the first fetch
    last: int = 0  # epoch seconds of the last one
    unchanged: int = 0  # seconds between two fetches of the same payload, summed
    digest: int = 0  # of the last payload: the first 64 bits of its SHA-1
    etag: str = ""  # of the last payload; for If-None-Match
    modified: int = 0  # epoch seconds of its Last-Modified, for If-Modified-Since; 0: there is none
    attempt: int = 0  # attempts at the next visit so far


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
    history: History | None = None  # None: the URL is visited once

    @property
    def again(self) -> bool:
        """Whether the URL was visited before."""
        return self.history is not None and self.history.visits > 0
