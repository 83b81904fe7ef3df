"""One exchange at a time and host, many at once: pycurl's multi interface under asyncio.

libcurl's sockets are registered in an epoll set of our own, whose descriptor is the only one the event loop watches: a wake-up of
the loop then serves every socket that is ready. Handles are used again and keep what never changes. Deadlines are ours: one sweep
over the open exchanges costs less than timers in libcurl for each.
"""

import asyncio
import contextlib
import re
import resource
import select
import socket
import ssl
import time
from typing import Any, TypeVar

import pycurl

import windrow
from windrow import config
from windrow.data import Capture, Failure, Kind, Reason, Task
from windrow.fetch import address as addresses
from windrow.fetch import coding, stored

K = TypeVar("K")
V = TypeVar("V")

RATE_WINDOW = 30.0  # seconds over which fetch.min_rate is measured
IDLE = 60  # seconds after which an unused connection is not used again; servers hang up after 5 to 75
REMEMBERED = 1 << 14  # addresses, ciphers and distrusted hosts that are kept

# What a curl error says of the exchange; what is not listed is PROTOCOL. DISCONNECT and TIMEOUT keep the body that came.
REASONS: dict[int, Reason] = {
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.DNS,
    pycurl.E_COULDNT_CONNECT: Reason.CONNECT,
    pycurl.E_OPERATION_TIMEDOUT: Reason.TIMEOUT,
    pycurl.E_PARTIAL_FILE: Reason.DISCONNECT,
    pycurl.E_GOT_NOTHING: Reason.DISCONNECT,
    pycurl.E_SEND_ERROR: Reason.DISCONNECT,
    pycurl.E_RECV_ERROR: Reason.DISCONNECT,
    pycurl.E_HTTP2: Reason.DISCONNECT,
    92: Reason.DISCONNECT,  # CURLE_HTTP2_STREAM, which pycurl does not name
    pycurl.E_SSL_CONNECT_ERROR: Reason.TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: Reason.TLS,
    pycurl.E_SSL_CERTPROBLEM: Reason.TLS,
    pycurl.E_SSL_CIPHER: Reason.TLS,
    pycurl.E_SSL_CACERT_BADFILE: Reason.TLS,
    pycurl.E_SSL_SHUTDOWN_FAILED: Reason.TLS,
    pycurl.E_SSL_CRL_BADFILE: Reason.TLS,
    pycurl.E_SSL_ISSUER_ERROR: Reason.TLS,
    pycurl.E_SSL_INVALIDCERTSTATUS: Reason.TLS,
    pycurl.E_SSL_ENGINE_INITFAILED: Reason.TLS,
    pycurl.E_USE_SSL_FAILED: Reason.TLS,
}

_KEPT = {Reason.TIMEOUT: "time", Reason.DISCONNECT: "disconnect"}
_NEVER = float("inf")
_URL = re.compile(r"(https?)://(?:[^/?#]*@)?([0-9a-z._\-]+(?::\d+)?|\[[0-9a-f:.]+\](?::\d+)?)(/[!-\"$-~]*)(?:#.*)?")
_CIPHER = re.compile(rb"SSL connection using TLSv([0-9.]+) / (\S+)")
_EVENTS = {pycurl.POLL_IN: select.EPOLLIN, pycurl.POLL_OUT: select.EPOLLOUT, pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT}
_ACTIONS = [  # what socket_action wants to hear of the five low bits of an epoll event: IN 1, PRI 2, OUT 4, ERR 8, HUP 16
    (pycurl.CSELECT_IN if event & 1 else 0) | (pycurl.CSELECT_OUT if event & 4 else 0) | (pycurl.CSELECT_ERR if event & 24 else 0)
    for event in range(32)
]


def user_agent(crawler: config.Crawler) -> str:
    """Who we say we are."""
    contact = f"; +{crawler.contact}" if crawler.contact else ""
    return crawler.user_agent or f"Mozilla/5.0 (compatible; {crawler.name}/{windrow.__version__}{contact})"


def fields(fetch: config.Fetch, crawler: config.Crawler) -> list[str]:
    """The header fields of every request, in the order they are sent, after Host."""
    contact = crawler.contact.removeprefix("mailto:")
    pairs = [
        ("User-Agent", user_agent(crawler)),
        ("From", contact if "@" in contact and "/" not in contact else ""),
        ("Accept", fetch.accept),
        ("Accept-Language", fetch.accept_language),
        ("Accept-Encoding", coding.ACCEPTED),
    ]
    for name, value in pairs:
        if not (value.isprintable() and value.isascii()):
            raise config.ConfigError(f"the {name} we would send is {value!r}; write it in printable ASCII, see [crawler] and [fetch]")
    return [f"{name}: {value}" for name, value in pairs if value]


class _Place:
    """An address as it was given, read once."""

    __slots__ = ("allowed", "connect", "ip")

    def __init__(self, text: str, fetch: config.Fetch, crawler: config.Crawler) -> None:
        ip, port = addresses.split(text) or ("", 0)
        self.ip = ip
        self.allowed = addresses.allowed(ip, fetch.allow_private, not crawler.contact)
        self.connect = [f"::{f'[{ip}]' if ':' in ip else ip}:{port or ''}"]


class _Exchange:
    """A curl handle, and what comes in on it."""

    def __init__(self, fetch: config.Fetch, crawler: config.Crawler) -> None:
        self.curl = pycurl.Curl()
        self.curl.exchange = self
        self._fetch = fetch
        self._loopback_only = not crawler.contact
        self.place: _Place | None = None
        self.fresh = False  # whether the handle is set to use a connection of its own
        self.ended: asyncio.Future[tuple[int, str]] | None = None
        for option, value in _options(fetch, fields(fetch, crawler)):
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_connect)
        self.curl.setopt(pycurl.DEBUGFUNCTION, self._on_debug)

    def begin(self, task: Task, ended: asyncio.Future[tuple[int, str]]) -> None:
        self.task, self.ended = task, ended
        self.stamp = time.time()
        self.began = self.window_began = time.monotonic()
        self.lines: list[bytes] = []
        self.head: stored.Head | None = None
        self.chunks: list[bytes] = []
        self.header_bytes = self.body_bytes = self.window_bytes = 0
        self.most_bytes = max(self._fetch.max_bytes, self._fetch.robots_max_bytes) if task.kind is Kind.ROBOTS else self._fetch.max_bytes
        self.full = False  # the body went beyond most_bytes
        self.refused: tuple[Reason, str] | None = None  # why we broke it off
        self.cipher = ""

    def forget(self) -> None:
        """A handle that waits for its next use holds no page."""
        self.ended = self.head = None
        self.lines, self.chunks = [], []

    def overdue(self, now: float) -> str:
        """Which deadline has passed; empty as long as none has. Time is monotonic."""
        if self.head is None and now - self.began > self._fetch.header_timeout:
            return f"no whole header within {self._fetch.header_timeout:g} s"
        if now - self.began > self._fetch.timeout:
            return f"not complete within {self._fetch.timeout:g} s"
        if now - self.window_began > RATE_WINDOW:
            came = self.header_bytes + self.body_bytes - self.window_bytes
            if came < self._fetch.min_rate * (now - self.window_began):
                return f"less than {self._fetch.min_rate} bytes/s"
            self.window_began, self.window_bytes = now, self.header_bytes + self.body_bytes
        return ""

    def _on_header(self, line: bytes) -> int | None:
        self.header_bytes += len(line)
        if self.header_bytes > self._fetch.max_header:
            return self._refuse(Reason.PROTOCOL, f"more than {self._fetch.max_header} bytes of header")
        if self.head is not None:
            return None  # a trailer
        self.lines.append(line)
        if line == b"\r\n" or line == b"\n":
            return self._on_head()
        if len(self.lines) > stored.MOST_FIELDS + 1:
            return self._refuse(Reason.PROTOCOL, f"more than {stored.MOST_FIELDS} header fields")
        return None

    def _on_head(self) -> int | None:
        head = stored.read(b"".join(self.lines))
        if head is None:
            return self._refuse(Reason.PROTOCOL, f"no status line but {self.lines[0][:40]!r}")
        if head.status >= 200 or head.status == 101:
            self.head = head
        else:
            self.lines.clear()  # 100 to 199: the answer is still to come
        return None

    def _on_body(self, chunk: bytes) -> int | None:
        self.body_bytes += len(chunk)
        if self.body_bytes > self.most_bytes:
            self.full = True
            self.chunks.append(chunk[: self.most_bytes - self.body_bytes])
            return 0
        self.chunks.append(chunk)
        return None

    def _on_connect(self, purpose: int, peer: Any) -> Any:
        """The last word on the address, at the moment it counts."""
        ip = peer.addr[0]
        known = self.place is not None and ip == self.place.ip
        if not known or not addresses.allowed(ip, self._fetch.allow_private, self._loopback_only):
            self._refuse(Reason.BLOCKED_ADDRESS, f"{ip} may not be called")
            return pycurl.SOCKET_BAD
        try:
            return socket.socket(peer.family, peer.socktype, peer.protocol)
        except OSError as error:
            self._refuse(Reason.CONNECT, error.strerror or "no socket")
            return pycurl.SOCKET_BAD

    def _on_debug(self, kind: int, text: bytes) -> None:
        if kind == pycurl.INFOTYPE_TEXT and (match := _CIPHER.match(text)):
            self.cipher = f"tls/{match[1].decode()} {match[2].decode()}"

    def _refuse(self, reason: Reason, detail: str) -> int:
        self.refused = reason, detail
        return 0


def _options(fetch: config.Fetch, header: list[str]) -> list[tuple[int, Any]]:
    """What is the same for every request."""
    version = pycurl.CURL_HTTP_VERSION_2TLS if fetch.http2 else pycurl.CURL_HTTP_VERSION_1_1
    options = [
        (pycurl.HTTPHEADER, header),
        (pycurl.HTTP_VERSION, version),
        (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
        (pycurl.PROXY, ""),  # an empty name: HTTP_PROXY and its kin are not asked
        (pycurl.FOLLOWLOCATION, 0),
        (pycurl.HTTP_CONTENT_DECODING, 0),
        (pycurl.PATH_AS_IS, 1),
        (pycurl.NOSIGNAL, 1),
        (pycurl.NETRC, pycurl.NETRC_IGNORED),
        (pycurl.CONNECTTIMEOUT_MS, max(1, round(fetch.connect_timeout * 1000))),
        (pycurl.DNS_CACHE_TIMEOUT, 0),  # the address is given: a cache would only be searched, entry by entry, at each request
        (pycurl.MAXAGE_CONN, IDLE),
        (pycurl.BUFFERSIZE, 64 << 10),
        (pycurl.SSL_VERIFYPEER, int(fetch.verify_tls)),
        (pycurl.SSL_VERIFYHOST, 2 * fetch.verify_tls),
    ]
    authorities = ssl.get_default_verify_paths()  # libcurl's wheel looks where Debian keeps them, and nowhere else
    return options + ([(pycurl.CAINFO, authorities.cafile)] if authorities.cafile else [])


class _Multi:
    """libcurl's multi handle under asyncio. `add` starts an exchange; its future `ended` gets the curl code and message."""

    def __init__(self, connections: int) -> None:
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._epoll = select.epoll()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._epoll.fileno(), self._on_events)
        self._watched: set[int] = set()  # descriptors in the epoll set
        self._kick = False  # libcurl wants to be called at once
        self._driving = False  # and will be, at the end of this batch
        self._alarm: asyncio.TimerHandle | None = None
        self._due = _NEVER  # loop time at which libcurl wants to be called
        self.open: set[_Exchange] = set()

    def add(self, exchange: _Exchange) -> None:
        self.open.add(exchange)
        self._multi.add_handle(exchange.curl)

    def end(self, exchange: _Exchange, code: int, message: str) -> None:
        """Breaks off whatever is still under way. An exchange that has ended is left alone."""
        if exchange in self.open:
            self.open.remove(exchange)
            self._multi.remove_handle(exchange.curl)
            if exchange.ended is not None and not exchange.ended.done():
                exchange.ended.set_result((code, message))

    def close(self) -> None:
        for exchange in list(self.open):
            self.end(exchange, pycurl.E_ABORTED_BY_CALLBACK, "the client was closed")
        self._loop.remove_reader(self._epoll.fileno())
        if self._alarm is not None:
            self._alarm.cancel()
        self._driving = True  # what libcurl still asks for while it closes its connections is not served
        self._multi.close()
        self._epoll.close()

    def _on_socket(self, what: int, descriptor: int, multi: Any, data: Any) -> None:
        if what == pycurl.POLL_REMOVE:
            self._watched.discard(descriptor)
            with contextlib.suppress(OSError):  # already closed
                self._epoll.unregister(descriptor)
        elif descriptor in self._watched:
            self._epoll.modify(descriptor, _EVENTS[what])
        else:
            self._epoll.register(descriptor, _EVENTS[what])
            self._watched.add(descriptor)

    def _on_timer(self, milliseconds: int) -> None:
        """The alarm is not set anew for a later time: it looks at the time when it rings. So hardly any request sets one."""
        if milliseconds == 0:
            self._kick = True
            if not self._driving:
                self._driving = True
                self._loop.call_soon(self._drive)
            return
        self._due = self._loop.time() + milliseconds / 1000 if milliseconds > 0 else _NEVER
        if self._due < (self._alarm.when() if self._alarm is not None else _NEVER):
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm = self._loop.call_at(self._due, self._on_alarm)

    def _on_alarm(self) -> None:
        self._alarm = None
        if self._loop.time() >= self._due - 0.001:
            self._due, self._kick = _NEVER, True
            self._drive()
        elif self._due < _NEVER:
            self._alarm = self._loop.call_at(self._due, self._on_alarm)

    def _on_events(self) -> None:
        self._driving = True
        action = self._multi.socket_action
        for descriptor, event in self._epoll.poll(0):
            action(descriptor, _ACTIONS[event & 31])
        self._drive()

    def _drive(self) -> None:
        self._driving = True
        while self._kick:
            self._kick = False
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        _, whole, failed = self._multi.info_read()
        for curl in whole:
            self.end(curl.exchange, 0, "")
        for curl, code, message in failed:
            self.end(curl.exchange, code, message)
        self._driving = False


class Client:
    """Fetches, for as long as one event loop runs."""

    def __init__(self, fetch: config.Fetch, crawler: config.Crawler) -> None:
        self._fetch, self._crawler = fetch, crawler
        self._fields = "".join(f"{line}\r\n" for line in fields(fetch, crawler)) + "\r\n"
        self._multi: _Multi | None = None
        self._free: list[_Exchange] = []
        self._pause = min(1.0, fetch.header_timeout / 4, fetch.timeout / 4)  # seconds between two sweeps
        self._sweeper: asyncio.TimerHandle | None = None
        self._places: dict[str, _Place] = {}
        self._ciphers: dict[tuple[str, str], str] = {}  # by host and address: seen when the first connection was made
        self._distrusted: dict[str, str] = {}  # hosts whose messages end in two places: no connection of theirs is used twice

    async def get(self, task: Task, address: str) -> Capture | Failure:
        """Asks for one page at this address. Whatever the server does ends in a record; only a cancellation is raised."""
        place = self._places.get(address) or _keep(self._places, address, _Place(address, self._fetch, self._crawler))
        url = _URL.fullmatch(task.url.text)
        if url is None:
            return Failure(task, Reason.PROTOCOL, "not an http or https URL in canonical form", round(time.time(), 3))
        if not place.allowed:
            return Failure(task, Reason.BLOCKED_ADDRESS, f"{address} may not be called", round(time.time(), 3))
        multi = self._multi or self._start()
        exchange = self._free.pop() if self._free else _Exchange(self._fetch, self._crawler)
        ended: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        exchange.begin(task, ended)
        self._prepare(exchange, url, place)
        multi.add(exchange)
        try:
            code, message = await ended
            request = f"GET {url[3]} HTTP/1.1\r\nHost: {url[2]}\r\n{self._fields}".encode("ascii")
            return self._outcome(exchange, request, code, message)
        finally:
            multi.end(exchange, 0, "")
            self._release(exchange)

    def close(self) -> None:
        """Ends what is open. A get that waits gets a Failure."""
        if self._multi is not None:
            self._multi.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._multi = self._sweeper = None
        while self._free:
            self._free.pop().curl.close()

    def _start(self) -> _Multi:
        """Not before the loop runs. Unused connections are kept for the hosts' next turns, within what the system lets us open."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._multi = _Multi(min(8 * self._fetch.connections, files // 2))
        self._sweep(self._multi)
        return self._multi

    def _sweep(self, multi: _Multi) -> None:
        now = time.monotonic()
        for exchange in list(multi.open):
            if late := exchange.overdue(now):
                multi.end(exchange, pycurl.E_OPERATION_TIMEDOUT, late)
        self._sweeper = asyncio.get_running_loop().call_later(self._pause, self._sweep, multi)

    def _prepare(self, exchange: _Exchange, url: re.Match[str], place: _Place) -> None:
        set_option = exchange.curl.setopt
        set_option(pycurl.URL, f"{url[1]}://{url[2]}{url[3]}")
        if exchange.place is not place:
            exchange.place = place
            set_option(pycurl.CONNECT_TO, place.connect)
        if exchange.fresh is not (exchange.task.url.host in self._distrusted):
            exchange.fresh = not exchange.fresh
            set_option(pycurl.FRESH_CONNECT, exchange.fresh)
            set_option(pycurl.FORBID_REUSE, exchange.fresh)
        if url[1] == "https":
            set_option(pycurl.VERBOSE, (exchange.task.url.host, place.ip) not in self._ciphers)  # libcurl names the cipher nowhere but in its log

    def _release(self, exchange: _Exchange) -> None:
        exchange.forget()
        if len(self._free) < self._fetch.connections:
            self._free.append(exchange)
        else:
            exchange.curl.close()

    def _outcome(self, exchange: _Exchange, request: bytes, code: int, message: str) -> Capture | Failure:
        seconds = time.monotonic() - exchange.began
        truncated, why = _verdict(exchange, code, message)
        task, head, place = exchange.task, exchange.head, exchange.place
        if why is not None or head is None or place is None:
            reason, detail = why or (Reason.DISCONNECT, "the header was cut off")
            ended, size = round(exchange.stamp + seconds, 3), exchange.header_bytes + exchange.body_bytes
            return Failure(task, reason, _line(detail), ended, round(seconds, 3), size)
        if head.ambiguous:
            _keep(self._distrusted, task.url.host, "")
        before = exchange.curl.getinfo(pycurl.PRETRANSFER_TIME)
        body, truncated, encoded = self._decoded(exchange, head, truncated)
        return Capture(
            task,
            head.status,
            request,
            stored.rewrite(head, len(body), encoded),
            body,
            round(exchange.stamp + before, 3),
            round(seconds - before, 3),
            place.ip,
            head.protocol,
            self._cipher(exchange, place) if task.url.text[4] == "s" else "",
            truncated,
            exchange.header_bytes + exchange.body_bytes,
            encoded,
        )

    def _decoded(self, exchange: _Exchange, head: stored.Head, truncated: str) -> tuple[bytes, str, bool]:
        """The body to store, why it is not whole, and whether it is still encoded: bytes we cannot undo are kept as they came."""
        wire = exchange.chunks[0] if len(exchange.chunks) == 1 else b"".join(exchange.chunks)
        encodings = head.encodings
        if not encodings:
            return wire, truncated, False
        body, complete, cut = coding.decode(wire, encodings, self._fetch.max_decoded)
        if complete or (truncated and body):
            return body, truncated or "length" * cut, False
        return wire, truncated, True

    def _cipher(self, exchange: _Exchange, place: _Place) -> str:
        key = exchange.task.url.host, place.ip
        return _keep(self._ciphers, key, exchange.cipher) if exchange.cipher else self._ciphers.get(key, "")


def _verdict(exchange: _Exchange, code: int, message: str) -> tuple[str, tuple[Reason, str] | None]:
    """Why the body is not whole, and why there is nothing to keep."""
    if exchange.full:
        return "length", None
    if exchange.refused is not None or code == 0:
        return "", exchange.refused
    reason = REASONS.get(code, Reason.PROTOCOL)
    if exchange.body_bytes and reason in _KEPT:
        return _KEPT[reason], None
    return "", (reason, message or f"curl error {code}")


def _line(text: str) -> str:
    """One line of a message, which may hold what a server sent."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:200])


def _keep(known: dict[K, V], key: K, value: V) -> V:
    """In a dict that forgets its oldest entries."""
    known[key] = value
    if len(known) > REMEMBERED:
        del known[next(iter(known))]
    return value
