"""The Client: requests for as long as one event loop runs.

Curl handles are used again. We enforce the deadlines: one sweep over the open exchanges costs less than a timer in
libcurl for each of them.
"""

import asyncio
import re
import resource
import time

import pycurl

from windrow import config
from windrow.fetch.client import lenient, outcome
from windrow.fetch.client import request as requests
from windrow.fetch.client.exchange import Ending, Exchange
from windrow.fetch.client.multi import Multi
from windrow.fetch.client.peers import Peer, Peers
from windrow.fetch.cookies import Cookies
from windrow.records import Capture, Failure, Reason, Request

WITHHELD = "Cookie: withheld\r\n"  # stands in the archive for the cookies that were sent: they are secrets


class Client:
    """An HTTP client. It sends GET requests, each to the address it is given, and follows no redirect."""

    def __init__(self, fetch: config.FetchOptions, identity: config.IdentityOptions) -> None:
        requests.check_proxy(fetch, identity)
        self._fetch, self._identity = fetch, identity
        self._fields = "".join(f"{line}\r\n" for line in requests.fields(fetch, identity))
        self._multi: Multi | None = None
        self._free: list[Exchange] = []
        self._pause = min(1.0, fetch.header_timeout / 4, fetch.timeout / 4)  # seconds between two sweeps
        self._sweeper: asyncio.TimerHandle | None = None
        self._peers = Peers(fetch, identity)
        self._cookies = Cookies(fetch)
        self._lenient: set[asyncio.Task[Ending]] = set()  # exchanges that libcurl does not make

    async def get(self, request: Request) -> Capture | Failure:
        """Request one URL at one address. Every behaviour of the server ends in a record; only cancellation raises."""
        task = request.task
        peer = self._peers.find(request.address)
        url = requests.TARGET.fullmatch(request.url)
        fields = requests.lines(request.headers) if request.headers else []
        if url is None or fields is None:
            detail = "not an http or https URL in canonical form" if url is None else "a header field cannot be sent"
            return Failure(task, Reason.PROTOCOL, detail=detail, time=round(time.time(), 3))
        if not peer.allowed:
            detail = f"connecting to {request.address} is not allowed"
            return Failure(task, Reason.BLOCKED_ADDRESS, detail=detail, time=round(time.time(), 3))
        multi = self._multi or self._start()
        exchange = self._free.pop() if self._free else Exchange(self._fetch, self._identity)
        ended: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        exchange.begin(task, ended, request.limit or self._fetch.max_bytes)
        self._prepare(exchange, url, peer, fields)
        try:
            secret, last = "", "".join(f"{line}\r\n" for line in fields)
            if exchange.cookie:
                secret = f"Cookie: {exchange.cookie}\r\n"
            leniently = task.url.host in self._peers.unreadable
            if leniently:
                last += lenient.CLOSE
            sent = self._request(url, secret and WITHHELD, last)
            if leniently:
                ending = await self._leniently(exchange, url, self._request(url, secret, last))
            else:
                multi.add(exchange)
                ending = await ended
            return outcome.record(exchange, sent, ending, self._peers)
        finally:
            multi.end(exchange, 0, "")
            self._release(exchange)

    def _request(self, url: re.Match[str], cookie: str, last: str) -> bytes:
        """Return the header of a request, with a line of cookies and last ones."""
        return f"GET {url[3]} HTTP/1.1\r\nHost: {url[2]}\r\n{cookie}{self._fields}{last}\r\n".encode()

    async def _leniently(self, exchange: Exchange, url: re.Match[str], sent: bytes) -> Ending:
        """Make an exchange without libcurl, as a task that `close` can cancel."""
        task = asyncio.create_task(lenient.exchange(exchange, url[1], url[2], sent))
        self._lenient.add(task)
        try:
            return await task
        finally:
            self._lenient.discard(task)
            task.cancel()

    def close(self) -> None:
        """Close all connections and cancel every get that is still waiting."""
        for task in self._lenient:
            task.cancel()
        if self._multi is not None:
            self._multi.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._multi = self._sweeper = None
        while self._free:
            self._free.pop().curl.close()

    def _start(self) -> Multi:
        """Create the Multi, once the loop runs.

        Unused connections are kept for the next leases of their hosts, up to half of the files that we may open.
        """
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._multi = Multi(min(4 * self._fetch.connections, files // 2), self._fetch.http2)
        self._sweep(self._multi)
        return self._multi

    def _sweep(self, multi: Multi) -> None:
        now = time.monotonic()
        for exchange in list(multi.open):
            if late := exchange.overdue(now):
                multi.end(exchange, pycurl.E_OPERATION_TIMEDOUT, late)
        self._sweeper = asyncio.get_running_loop().call_later(self._pause, self._sweep, multi)

    def _prepare(self, exchange: Exchange, url: re.Match[str], peer: Peer, fields: list[str]) -> None:
        """Set the curl options that differ from the last request of this handle."""
        set_option = exchange.curl.setopt
        set_option(pycurl.URL, f"{url[1]}://{url[2]}{url[3]}")
        if exchange.peer is not peer:
            exchange.peer = peer
            set_option(pycurl.CONNECT_TO, peer.connect)
        if exchange.fresh is not (exchange.task.url.host in self._peers.distrusted):
            exchange.fresh = not exchange.fresh
            set_option(pycurl.FRESH_CONNECT, exchange.fresh)
            set_option(pycurl.FORBID_REUSE, exchange.fresh)
        cookie = self._cookies.header(url[1], exchange.task.url.host, url[3], exchange.stamp)
        if exchange.cookie != cookie:
            exchange.cookie = cookie
            set_option(pycurl.COOKIE, cookie.encode()) if cookie else exchange.curl.unsetopt(pycurl.COOKIE)
        if exchange.fields != fields:
            exchange.fields = fields
            set_option(pycurl.HTTPHEADER, [*exchange.header, *fields])
        verbose = url[1] == "https" and (exchange.task.url.host, peer.ip) not in self._peers.ciphers
        if exchange.verbose is not verbose:
            exchange.verbose = verbose
            set_option(pycurl.VERBOSE, verbose)  # libcurl names the cipher only in its verbose log

    def _release(self, exchange: Exchange) -> None:
        exchange.forget()
        if len(self._free) < self._fetch.connections:
            self._free.append(exchange)
        else:
            exchange.curl.close()
