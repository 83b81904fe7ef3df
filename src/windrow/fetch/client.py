"""One exchange at a time and host, many at once: pycurl's multi interface under asyncio.

libcurl's sockets are registered in an epoll set of our own, whose descriptor is the only one the event loop watches: a wake-up of
the loop then serves every socket that is ready. Handles are used again and keep what never changes. Deadlines are ours: one sweep
over the open exchanges costs less than timers in libcurl for each.
"""

import asyncio
import contextlib
import os
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
from windrow.origin import tdmrep

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
_FRAMES = (
    pycurl.E_HTTP2,
    92,
    pycurl.E_RECV_ERROR,
)  # an HTTP/2 connection may have failed as a whole; 92 is E_HTTP2_STREAM
_URL = re.compile(r"(https?)://(?:[^/?#]*@)?([0-9a-z._\-]+(?::\d+)?|\[[0-9a-f:.]+\](?::\d+)?)(/[!-\"$-~]*)(?:#.*)?")
_CIPHER = re.compile(rb"SSL connection using TLSv([0-9.]+) / (\S+)")
_EVENTS = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}
_ACTIONS = [  # what socket_action wants to hear of the five low bits of an epoll event: IN 1, PRI 2, OUT 4, ERR 8, HUP 16
    (pycurl.CSELECT_IN if event & 1 else 0)
    | (pycurl.CSELECT_OUT if event & 4 else 0)
    | (pycurl.CSELECT_ERR if event & 24 else 0)
    for event in range(32)
]


def user_agent(identity: config.Identity) -> str:
    """Who we say we are."""
    contact = f"; +{identity.contact}" if identity.contact else ""
    return identity.user_agent or f"Mozilla/5.0 (compatible; {identity.name}/{windrow.__version__}{contact})"


def fields(fetch: config.Fetch, identity: config.Identity) -> list[str]:
    """The header fields of every request, in the order they are sent, after Host."""
    contact = identity.contact.removeprefix("mailto:")
    pairs = [
        ("User-Agent", user_agent(identity)),
        ("From", contact if "@" in contact and "/" not in contact else ""),
        ("Accept", fetch.accept),
        ("Accept-Language", fetch.accept_language),
        ("Accept-Encoding", coding.ACCEPTED),
    ]
    for name, value in pairs:
        if not (value.isprintable() and value.isascii()):
            raise config.ConfigError(
                f"the {name} we would send is {value!r}; write it in printable ASCII, see [identity] and [fetch]"
            )
    return [f"{name}: {value}" for name, value in pairs if value]


class _Place:
    """An address as it was given, read once."""

    __slots__ = ("allowed", "connect", "ip")

    def __init__(self, text: str, fetch: config.Fetch, identity: config.Identity) -> None:
        ip, port = addresses.split(text) or ("", 0)
        self.ip = ip
        self.allowed = addresses.allowed(ip, fetch.allow_private, not identity.contact)
        self.connect = [f"::{f'[{ip}]' if ':' in ip else ip}:{port or ''}"]


class _Exchange:
    """A curl handle, and what comes in on it."""

    def __init__(self, fetch: config.Fetch, identity: config.Identity) -> None:
        self.curl = pycurl.Curl()
        self.curl.exchange = self
        self._fetch = fetch
        self._loopback_only = not identity.contact
        self.place: _Place | None = None
        self.fresh = False  # whether the handle is set to use a connection of its own
        self.ended: asyncio.Future[tuple[int, str]] | None = None
        self.verbose = False  # whether libcurl tells the handle what it does
        self.lines: list[bytes] = []  # of all headers; libcurl breaks off at 300 KiB, wherever they stand
        self.chunks: list[bytes] = []  # of the body
        for option, value in _options(fetch, fields(fetch, identity)):
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.HEADERFUNCTION, self.lines.append)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_connect)
        self.curl.setopt(pycurl.DEBUGFUNCTION, self._on_debug)

    def begin(self, task: Task, ended: asyncio.Future[tuple[int, str]]) -> None:
        self.task, self.ended = task, ended
        self.stamp = time.time()
        self.began = self.window_began = time.monotonic()
        self.body_bytes = self.window_bytes = 0
        self.most_bytes = self._fetch.max_bytes if task.kind is Kind.PAGE else _most(task.kind, self._fetch)
        self.full = False  # the body went beyond most_bytes
        self.refused: tuple[Reason, str] | None = None  # why we broke it off
        self.cipher = ""

    def forget(self) -> None:
        """A handle that waits for its next use holds no page."""
        self.ended = None
        self.lines.clear()
        self.chunks.clear()

    def overdue(self, now: float) -> str:
        """Which deadline has passed; empty as long as none has. Time is monotonic."""
        if now - self.began > self._fetch.header_timeout and not stored.final(self.lines):
            return f"no whole header within {self._fetch.header_timeout:g} s"
        if now - self.began > self._fetch.timeout:
            return f"not complete within {self._fetch.timeout:g} s"
        if now - self.window_began > RATE_WINDOW:
            if self.body_bytes - self.window_bytes < self._fetch.min_rate * (now - self.window_began):
                return f"less than {self._fetch.min_rate} bytes/s"
            self.window_began, self.window_bytes = now, self.body_bytes
        return ""

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
        (
            pycurl.DNS_CACHE_TIMEOUT,
            0,
        ),  # the address is given: a cache would only be searched, entry by entry, at each request
        (pycurl.MAXAGE_CONN, IDLE),
        (pycurl.BUFFERSIZE, 64 << 10),
        (pycurl.SSL_VERIFYPEER, int(fetch.verify_tls)),
        (pycurl.SSL_VERIFYHOST, 2 * fetch.verify_tls),
    ]
    authorities = ssl.get_default_verify_paths()  # libcurl's wheel looks where Debian keeps them, and nowhere else
    return options + ([(pycurl.CAINFO, authorities.cafile)] if authorities.cafile else [])


class _Multi:
    """libcurl's multi handle under asyncio. `add` starts an exchange; its future `ended` gets the curl code and message."""

    def __init__(self, connections: int, http2: bool) -> None:
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._epoll = select.epoll()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._epoll.fileno(), self._drive)
        self._watched: dict[int, int] = {}  # descriptor -> what libcurl waits for there
        self._idle: set[int] = set()  # descriptors in the epoll set that carry no exchange; some may be closed by now
        self._speaks_idle = http2  # where servers may speak unasked
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
            self.open.remove(exchange)
            self._multi.remove_handle(exchange.curl)
            if exchange.ended is not None:
                exchange.ended.cancel()
        self._loop.remove_reader(self._epoll.fileno())
        if self._alarm is not None:
            self._alarm.cancel()
        self._driving = True  # what libcurl still asks for while it closes its connections is not served
        self._multi.close()
        self._epoll.close()

    def _on_socket(self, what: int, descriptor: int, multi: Any, data: Any) -> None:
        """A connection that falls idle stays in the epoll set: that saves a call a page, and shows who speaks out of turn."""
        if what != pycurl.POLL_REMOVE:
            self._watch(descriptor, _EVENTS[what])
        elif self._watched.pop(descriptor, 0) == select.EPOLLIN and not self._speaks_idle:
            self._idle.add(descriptor)
        else:
            with contextlib.suppress(OSError):  # already closed
                if self._speaks_idle:
                    self._epoll.unregister(descriptor)
                else:
                    self._epoll.modify(descriptor, select.EPOLLIN)
                    self._idle.add(descriptor)

    def _watch(self, descriptor: int, events: int) -> None:
        known = descriptor in self._watched or descriptor in self._idle
        self._idle.discard(descriptor)
        self._watched[descriptor] = events
        if known:
            try:
                self._epoll.modify(descriptor, events)
                return
            except FileNotFoundError:
                pass  # the idle one was closed, this is a new one of the same number
        self._epoll.register(descriptor, events)

    def _abandon(self, descriptor: int) -> None:
        """The server hung up, or spoke though nothing was asked: what it said must not be taken for the next answer. libcurl finds the
        connection dead and makes a new one."""
        self._idle.discard(descriptor)
        with contextlib.suppress(OSError):
            self._epoll.unregister(descriptor)
            with socket.socket(fileno=os.dup(descriptor)) as connection:
                connection.shutdown(socket.SHUT_RDWR)

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

    def _drive(self) -> None:
        self._driving = True
        action = self._multi.socket_action
        for descriptor, event in self._epoll.poll(0):
            if descriptor in self._idle:
                self._abandon(descriptor)
            else:
                action(descriptor, _ACTIONS[event & 31])
        while True:
            _, whole, failed = self._multi.info_read()
            for curl in whole:
                self.end(curl.exchange, 0, "")
            for curl, code, message in failed:
                self.end(curl.exchange, code, message)
            if not self._kick:
                break
            self._kick = False
            action(pycurl.SOCKET_TIMEOUT, 0)
        self._driving = False


class Client:
    """Fetches, for as long as one event loop runs."""

    def __init__(self, fetch: config.Fetch, identity: config.Identity) -> None:
        self._fetch, self._identity = fetch, identity
        self._fields = "".join(f"{line}\r\n" for line in fields(fetch, identity)) + "\r\n"
        self._multi: _Multi | None = None
        self._free: list[_Exchange] = []
        self._pause = min(1.0, fetch.header_timeout / 4, fetch.timeout / 4)  # seconds between two sweeps
        self._sweeper: asyncio.TimerHandle | None = None
        self._places: dict[str, _Place] = {}
        self._ciphers: dict[tuple[str, str], str] = {}  # by host and address: seen when the first connection was made
        self._distrusted: dict[
            str, str
        ] = {}  # hosts whose messages end in two places: no connection of theirs is used twice

    async def get(self, task: Task, address: str, text: str = "") -> Capture | Failure:
        """Asks for one page at this address. Whatever the server does ends in a record; only a cancellation is raised.

        text: the URL to ask for, where it is not the task's canonical one.
        """
        place = self._places.get(address) or _keep(self._places, address, _Place(address, self._fetch, self._identity))
        url = _URL.fullmatch(text or task.url.text)
        if url is None:
            return Failure(task, Reason.PROTOCOL, "not an http or https URL in canonical form", round(time.time(), 3))
        if not place.allowed:
            return Failure(task, Reason.BLOCKED_ADDRESS, f"{address} may not be called", round(time.time(), 3))
        multi = self._multi or self._start()
        exchange = self._free.pop() if self._free else _Exchange(self._fetch, self._identity)
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
        """A get that still waits is cancelled."""
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
        self._multi = _Multi(min(4 * self._fetch.connections, files // 2), self._fetch.http2)
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
        verbose = url[1] == "https" and (exchange.task.url.host, place.ip) not in self._ciphers
        if exchange.verbose is not verbose:
            exchange.verbose = verbose
            set_option(pycurl.VERBOSE, verbose)  # libcurl names the cipher nowhere but in its log

    def _release(self, exchange: _Exchange) -> None:
        exchange.forget()
        if len(self._free) < self._fetch.connections:
            self._free.append(exchange)
        else:
            exchange.curl.close()

    def _outcome(self, exchange: _Exchange, request: bytes, code: int, message: str) -> Capture | Failure:
        seconds = time.monotonic() - exchange.began
        header_bytes, block = sum(map(len, exchange.lines)), stored.final(exchange.lines)
        head = stored.read(block)
        why = self._flaw(exchange, block, head, header_bytes) or (_broken(exchange, code, message) if code else None)
        task, place, size = exchange.task, exchange.place, header_bytes + exchange.body_bytes
        if why is not None or head is None or place is None:
            reason, detail = why or (Reason.PROTOCOL if exchange.body_bytes else Reason.DISCONNECT, "no whole header")
            if (
                self._fetch.http2 and code in _FRAMES
            ):  # libcurl may keep the connection, and the next page would fail on it too
                _keep(self._distrusted, task.url.host, "")
            return Failure(task, reason, _line(detail), round(exchange.stamp + seconds, 3), round(seconds, 3), size)
        if head.ambiguous:
            _keep(self._distrusted, task.url.host, "")
        before = exchange.curl.getinfo(pycurl.PRETRANSFER_TIME)
        body, truncated, encoded = self._decoded(exchange, head, code)
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
            size,
            encoded,
        )

    def _flaw(
        self, exchange: _Exchange, block: bytes, head: stored.Head | None, header_bytes: int
    ) -> tuple[Reason, str] | None:
        """Why we do not want the answer, however it ended."""
        if exchange.refused is not None:
            return exchange.refused
        if header_bytes > self._fetch.max_header:
            return Reason.PROTOCOL, f"more than {self._fetch.max_header} bytes of header"
        if block.count(b"\n") > stored.MOST_FIELDS + 2:
            return Reason.PROTOCOL, f"more than {stored.MOST_FIELDS} header fields"
        if head is None and block:
            return Reason.PROTOCOL, f"no status line but {block[:40]!r}"
        return None

    def _decoded(self, exchange: _Exchange, head: stored.Head, code: int) -> tuple[bytes, str, bool]:
        """The body to store, why it is not whole, and whether it is still encoded: bytes we cannot undo are kept as they came."""
        wire = exchange.chunks[0] if len(exchange.chunks) == 1 else b"".join(exchange.chunks)
        truncated = "length" if exchange.full else _KEPT[REASONS[code]] if code else ""
        if not head.encodings:
            return wire, truncated, False
        body, complete, cut = coding.decode(wire, head.encodings, self._fetch.max_decoded)
        if complete or (truncated and body):
            return body, truncated or "length" * cut, False
        return wire, truncated, True

    def _cipher(self, exchange: _Exchange, place: _Place) -> str:
        key = exchange.task.url.host, place.ip
        return _keep(self._ciphers, key, exchange.cipher) if exchange.cipher else self._ciphers.get(key, "")


def _broken(exchange: _Exchange, code: int, message: str) -> tuple[Reason, str] | None:
    """Why there is nothing to keep. A header with some body is kept, however it ended."""
    reason = REASONS.get(code, Reason.PROTOCOL)
    if exchange.full or (exchange.body_bytes and reason in _KEPT):
        return None
    return reason, message or f"curl error {code}"


def _line(text: str) -> str:
    """One line of a message, which may hold what a server sent."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:200])


def _most(kind: Kind, fetch: config.Fetch) -> int:
    """Bytes that are taken of what is no page."""
    if kind is Kind.TDMREP:
        return min(fetch.max_bytes, tdmrep.LIMIT)
    return max(fetch.max_bytes, fetch.robots_max_bytes) if kind is Kind.ROBOTS else fetch.max_bytes


def _keep(known: dict[K, V], key: K, value: V) -> V:
    """In a dict that forgets its oldest entries."""
    known[key] = value
    if len(known) > REMEMBERED:
        del known[next(iter(known))]
    return value
