"""One exchange: a curl handle, what it receives, and the limits that end it."""

import asyncio
import re
import socket
import ssl
import time
from typing import Any

import pycurl

from windrow import config
from windrow.fetch import address as addresses
from windrow.fetch.client import stored
from windrow.fetch.client.peers import Peer
from windrow.fetch.client.request import fields, proxy_login
from windrow.records import Reason, Task

RATE_WINDOW = 30.0  # seconds over which fetch.min_rate is measured
IDLE = 60  # seconds after which an unused connection is not used again; servers close theirs after 5 to 75

Ending = tuple[int, str]  # curl code, 0 for success, and message

_SUPPRESS_CONNECT_HEADERS = 265  # CURLOPT_SUPPRESS_CONNECT_HEADERS, for which pycurl has no name
_CIPHER = re.compile(rb"SSL connection using TLSv([0-9.]+) / (\S+)")


class Exchange:
    """A curl handle that is used for one request after another. It keeps the options that never change."""

    def __init__(self, fetch: config.FetchOptions, identity: config.IdentityOptions) -> None:
        self.curl = pycurl.Curl()
        self.curl.exchange = self
        self.fetch = fetch
        self._loopback_only = not identity.contact
        self.peer: Peer | None = None
        self.fresh = False  # whether the handle is set to use a connection of its own
        self.ended: asyncio.Future[Ending] | None = None
        self.cookie = ""  # the Cookie header that the handle is set to send
        self.fields: list[str] = []  # the fields that the handle is set to send besides those of every request
        self.verbose = False  # whether libcurl reports its steps to the handle
        self.lines: list[bytes] = []  # of all headers; libcurl aborts at 300 KiB of them, trailers included
        self.chunks: list[bytes] = []  # of the body
        # An empty Proxy-Connection removes that field, which libcurl would add: requests stay the same with a proxy.
        self.header = fields(fetch, identity) + ["Proxy-Connection:"] * bool(fetch.proxy)
        for option, value in _options(fetch, self.header):
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.HEADERFUNCTION, self.lines.append)
        self.curl.setopt(pycurl.WRITEFUNCTION, self.on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_connect)
        self.curl.setopt(pycurl.DEBUGFUNCTION, self._on_debug)

    def begin(self, task: Task, ended: asyncio.Future[Ending], limit: int) -> None:
        """Reset the handle for a task, with the most bytes of body to receive."""
        self.task, self.ended, self.limit = task, ended, limit
        self.stamp = time.time()
        self.began = self.window_began = time.monotonic()
        self.body_bytes = self.window_bytes = 0
        self.full = False  # the body is longer than the limit
        self.refused: tuple[Reason, str] | None = None  # why we aborted it
        self.cipher = ""
        self.connected: float | None = None  # seconds until the connection was open, if libcurl did not open it

    def before(self) -> float:
        """Return the seconds from the begin to the moment when the request was sent."""
        return float(self.curl.getinfo(pycurl.PRETRANSFER_TIME)) if self.connected is None else self.connected

    def forget(self) -> None:
        """Drop the received bytes: a handle that waits for its next use must not hold a page."""
        self.ended = None
        self.lines.clear()
        self.chunks.clear()

    def overdue(self, now: float) -> str:
        """Return which deadline has passed, "" if none has. `now` is monotonic time."""
        if now - self.began > self.fetch.header_timeout and not stored.final(self.lines):
            return f"no complete header within {self.fetch.header_timeout:g} s"
        if now - self.began > self.fetch.timeout:
            return f"not complete within {self.fetch.timeout:g} s"
        if now - self.window_began > RATE_WINDOW:
            if self.body_bytes - self.window_bytes < self.fetch.min_rate * (now - self.window_began):
                return f"slower than {self.fetch.min_rate} bytes/s"
            self.window_began, self.window_bytes = now, self.body_bytes
        return ""

    def on_body(self, chunk: bytes) -> int | None:
        """Receive a part of the body; return 0 to abort the exchange: the body has reached its limit."""
        self.body_bytes += len(chunk)
        if self.body_bytes > self.limit:
            self.full = True
            self.chunks.append(chunk[: self.limit - self.body_bytes])
            return 0
        self.chunks.append(chunk)
        return None

    def _on_connect(self, purpose: int, remote: Any) -> Any:
        """Check the address again at the moment of connecting, then open the socket."""
        ip = remote.addr[0]
        expected = self.peer is not None and ip == self.peer.ip
        allowed = expected and addresses.allowed(ip, self.fetch.allow_private, self._loopback_only)
        if not allowed and not self.fetch.proxy:
            self.refused = Reason.BLOCKED_ADDRESS, f"connecting to {ip} is not allowed"
            return pycurl.SOCKET_BAD
        try:
            return socket.socket(remote.family, remote.socktype, remote.protocol)
        except OSError as error:
            self.refused = Reason.CONNECT, error.strerror or "no socket"
            return pycurl.SOCKET_BAD

    def _on_debug(self, kind: int, text: bytes) -> None:
        if kind == pycurl.INFOTYPE_TEXT and (match := _CIPHER.match(text)):
            self.cipher = f"tls/{match[1].decode()} {match[2].decode()}"


def _proxy(fetch: config.FetchOptions) -> list[tuple[int, Any]]:
    """Return the curl options of the proxy. An empty name makes libcurl ignore HTTP_PROXY and similar variables."""
    options: list[tuple[int, Any]] = [(pycurl.PROXY, fetch.proxy), (pycurl.NOPROXY, "")]
    if fetch.proxy:
        options += [
            (_SUPPRESS_CONNECT_HEADERS, 1),
            (pycurl.PROXY_SSL_VERIFYPEER, int(fetch.verify_tls)),
            (pycurl.PROXY_SSL_VERIFYHOST, 2 * fetch.verify_tls),
        ]
        if login := proxy_login(fetch):
            options.append((pycurl.PROXYUSERPWD, login.encode()))
    return options


def _options(fetch: config.FetchOptions, header: list[str]) -> list[tuple[int, Any]]:
    """Return the curl options that are the same for every request."""
    version = pycurl.CURL_HTTP_VERSION_2TLS if fetch.http2 else pycurl.CURL_HTTP_VERSION_1_1
    options = [
        (pycurl.HTTPHEADER, header),
        (pycurl.HTTP_VERSION, version),
        (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
        *_proxy(fetch),
        (pycurl.FOLLOWLOCATION, 0),
        (pycurl.HTTP_CONTENT_DECODING, 0),
        (pycurl.PATH_AS_IS, 1),
        (pycurl.NOSIGNAL, 1),
        (pycurl.NETRC, pycurl.NETRC_IGNORED),
        (pycurl.CONNECTTIMEOUT_MS, max(1, round(fetch.connect_timeout * 1000))),
        (pycurl.DNS_CACHE_TIMEOUT, 0),  # we pass the address; libcurl would still search its cache at each request
        (pycurl.MAXAGE_CONN, IDLE),
        (pycurl.BUFFERSIZE, 64 << 10),
        (pycurl.SSL_VERIFYPEER, int(fetch.verify_tls)),
        (pycurl.SSL_VERIFYHOST, 2 * fetch.verify_tls),
    ]
    authorities = ssl.get_default_verify_paths()  # pycurl's wheel looks only where Debian keeps the certificates
    files = (pycurl.CAINFO, pycurl.PROXY_CAINFO) if fetch.proxy else (pycurl.CAINFO,)
    return options + [(option, authorities.cafile) for option in files if authorities.cafile]
