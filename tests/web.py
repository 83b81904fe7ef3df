"""A web on loopback with named misbehaviours. Its request log, `Site.log`, is the oracle of the tests.

    with web.serve() as site:
        site.page("a.test", "/", b"<a href=/b>b</a>")
        site.robots("a.test", "User-agent: *\\nDisallow: /private")
        fetch = config.FetchOptions(hosts_file=str(site.hosts_file(tmp_path / "hosts")), allow_private=True)

All hosts answer at one address; the Host header says which host is meant. On every host, known or not, /bad/NAME
answers with the misbehaviour NAME. The bytes in RAW are sent unchanged and the connection is closed; the others are
functions in BAD.
"""

import asyncio
import contextlib
import dataclasses
import functools
import gzip
import itertools
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

import brotli
import zstandard

HTML = ("Content-Type", "text/html; charset=utf-8")
PAGE = b"<!doctype html><title>A page</title><p>Some text of a page."
TICK = 0.02  # seconds between two bytes of a dripping server
BOMB = 64 << 20  # bytes, all equal, that a bomb decompresses to

Headers = Iterable[tuple[str, str]]


@dataclasses.dataclass(slots=True)
class Request:
    time: float  # epoch seconds when the request was complete
    connection: int
    host: str  # as in the Host header, without port
    method: str
    path: str  # with the query
    raw: bytes  # request line and headers, with the empty line
    ended: float = 0.0  # epoch seconds when the answer was written; 0 until then

    def query(self, name: str, default: str = "") -> str:
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query)).get(name, default)


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    body: bytes = PAGE
    status: int = 200
    headers: Headers = (HTML,)
    seconds: float = 0.0  # to wait before sending


def head(status: int = 200, headers: Headers = ()) -> bytes:
    """Return a header alone; the body that it announces may not follow."""
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {status} Whatever\r\n{fields}\r\n".encode("latin-1")


def whole(body: bytes = PAGE, status: int = 200, headers: Headers = (HTML,)) -> bytes:
    """Return a complete and correct answer."""
    return head(status, [*headers, ("Content-Length", str(len(body)))]) + body


def chunked(*chunks: bytes, headers: Headers = ()) -> bytes:
    """Return a chunked answer without its last chunk."""
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head(200, [HTML, ("Transfer-Encoding", "chunked"), *headers]) + body


def coded(coding: str, body: bytes) -> bytes:
    return whole(body, headers=(HTML, ("Content-Encoding", coding)))


def sized(*lengths: str) -> bytes:
    return head(200, [HTML, *(("Content-Length", length) for length in lengths)]) + PAGE


SIZE = str(len(PAGE))
PACKED = gzip.compress(PAGE, mtime=0)
LINE = b"HTTP/1.1 200 OK\r\n"
REST = b"Content-Type: text/html\r\nContent-Length: " + SIZE.encode() + b"\r\n\r\n" + PAGE

# Sent unchanged; then the connection is closed.
RAW: dict[str, bytes] = {
    "close": b"",
    "partial-header": b"HTTP/1.1 200 OK\r\nContent-Type: te",
    "garbage": b"\x00\x01\x02 this is not HTTP \xff\xfe\r\n\r\n",
    "http09": b"<html>HTTP/0.9 had no header</html>",
    "no-length": head(200, [HTML]) + PAGE,
    "short-body": head(200, [HTML, ("Content-Length", "1000")]) + PAGE,
    "short-empty": head(200, [HTML, ("Content-Length", "1000")]),
    "long-body": head(200, [HTML, ("Content-Length", "10")]) + PAGE,
    "length-negative": sized("-5"),
    "length-junk": sized(f"{SIZE}abc"),
    "length-empty": sized(""),
    "length-huge": sized("99999999999999999999999999"),
    "length-twice": sized(SIZE, SIZE),
    "length-conflict": sized(SIZE, "10"),
    "length-list": sized(f"{SIZE}, {SIZE}"),
    "length-list-conflict": sized(f"{SIZE}, 10"),
    "chunked": chunked(PAGE) + b"0\r\n\r\n",
    "chunk-extension": head(200, [HTML, ("Transfer-Encoding", "chunked")]) + b"5;name=value\r\nhello\r\n0\r\n\r\n",
    "chunk-trailer": chunked(PAGE) + b"0\r\nX-Trailer: late\r\nContent-Length: 7\r\n\r\n",
    "chunk-garbage": chunked(PAGE) + b"xyz\r\nnot a size\r\n0\r\n\r\n",
    "chunk-garbage-first": chunked() + b"xyz\r\nnot a size\r\n0\r\n\r\n",
    "chunk-huge": chunked(PAGE) + b"ffffffffffffffffffff\r\nhello",
    "chunk-no-end": chunked(PAGE),
    "chunk-and-length": chunked(PAGE, headers=[("Content-Length", "5")]) + b"0\r\n\r\n",
    "chunked-twice": chunked(PAGE, headers=[("Transfer-Encoding", "chunked")]) + b"0\r\n\r\n",
    "chunked-not-last": head(200, [HTML, ("Transfer-Encoding", "chunked, gzip")]) + PAGE,
    "transfer-unknown": head(200, [HTML, ("Transfer-Encoding", "rot13")]) + PAGE,
    "transfer-gzip": head(200, [HTML, ("Transfer-Encoding", "gzip")]) + PACKED,
    "header-many": head(200, [HTML, *((f"X-{n}", "x") for n in range(1000))]) + PAGE,
    "header-long": head(200, [HTML, ("X-Long", "x" * (1 << 20))]) + PAGE,
    "header-nul": LINE + b"X-Nul: a\0b\r\n" + REST,
    "header-cr": LINE + b"X-Cr: a\rb\r\n" + REST,
    "header-fold": LINE + b"X-Fold: first\r\n second\r\n\tthird\r\n" + REST,
    "header-fold-first": LINE + b" folded: too early\r\n" + REST,
    "header-lf": b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: " + SIZE.encode() + b"\n\n" + PAGE,
    "header-no-colon": LINE + b"no colon here\r\n" + REST,
    "blank-first": b"\r\n\r\n" + LINE + REST,
    "blank-lf-first": b"\n" + LINE + REST,
    "header-no-name": LINE + b": value\r\n" + REST,
    "header-space": LINE + b"X-Space : value\r\n" + REST,
    "header-latin": LINE + b"X-Latin: \xe4\xf6\xfc\r\n" + REST,
    "header-none": b"HTTP/1.1 200 OK\r\n\r\n" + PAGE,
    "status-short": b"HTTP/1.1 20\r\n\r\n" + PAGE,
    "status-long": b"HTTP/1.1 2000 OK\r\n\r\n" + PAGE,
    "status-word": b"HTTP/1.1 fine\r\n\r\n" + PAGE,
    "status-bare": b"HTTP/1.1 200\r\n" + REST,
    "status-600": whole(status=600),
    "status-999": whole(status=999),
    "version-1.0": b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE,
    "version-7": b"HTTP/7.3 200 OK\r\n" + REST,
    "icy": b"ICY 200 OK\r\n" + REST,
    "early": head(100) + head(103, [("Link", "</s.css>; rel=preload")]) + whole(),
    "early-only": head(100),
    "upgrade": head(101, [("Upgrade", "chat"), ("Connection", "Upgrade")]) + b"chat chat",
    "body-204": head(204, [("Content-Length", SIZE)]) + PAGE,
    "body-304": head(304, [("Content-Length", SIZE)]) + PAGE,
    "empty": whole(b""),
    "gzip": coded("gzip", PACKED),
    "x-gzip": coded("X-GZip", PACKED),
    "deflate": coded("deflate", zlib.compress(PAGE)),
    "deflate-raw": coded("deflate", zlib.compress(PAGE)[2:-4]),
    "br": coded("br", brotli.compress(PAGE)),
    "zstd": coded("zstd", zstandard.compress(PAGE)),
    "gzip-twice": coded("gzip, gzip", gzip.compress(PACKED, mtime=0)),
    "gzip-thrice": coded("gzip, gzip, gzip", gzip.compress(gzip.compress(PACKED, mtime=0), mtime=0)),
    "gzip-empty": coded("gzip", b""),
    "gzip-cut": coded("gzip", PACKED[:-20]),
    "gzip-not": coded("gzip", PAGE),
    "br-cut": coded("br", brotli.compress(PAGE)[:-5]),
    "br-not": coded("br", PAGE),
    "zstd-not": coded("zstd", PAGE),
    "gzip-checksum": coded("gzip", PACKED[:-8] + b"\0" * 8),
    "gzip-chunked": chunked(PACKED, headers=[("Content-Encoding", "gzip")]) + b"0\r\n\r\n",
    "gzip-short": head(200, [HTML, ("Content-Encoding", "gzip"), ("Content-Length", "1000")])
    + gzip.compress(PAGE * 50, mtime=0)[:-20],
    "coding-unknown": coded("compress", PAGE),
    "coding-charset": coded("utf-8", PAGE),
    "redirect-none": head(302, [("Content-Length", "0")]),
    "redirect-empty": whole(b"", 302, [("Location", "")]),
    "redirect-file": whole(b"", 302, [("Location", "file:///etc/passwd")]),
    "redirect-script": whole(b"", 302, [("Location", "javascript:alert(1)")]),
    "redirect-data": whole(b"", 302, [("Location", "data:text/html,hello")]),
    "redirect-metadata": whole(b"", 302, [("Location", "http://169.254.169.254/latest/")]),
    "redirect-userinfo": whole(b"", 302, [("Location", "http://user:secret@site.test/")]),
    "redirect-port": whole(b"", 302, [("Location", "http://site.test:22/")]),
    "redirect-self": whole(b"", 302, [("Location", "/bad/redirect-self")]),
    "redirect-there": whole(b"", 302, [("Location", "/bad/redirect-back")]),
    "redirect-back": whole(b"", 302, [("Location", "/bad/redirect-there")]),
    "redirect-two": whole(b"", 302, [("Location", "/one"), ("Location", "/two")]),
}


class Connection:
    """One request and its connection, as a misbehaviour sees them."""

    def __init__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self.request = request
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def drip(self, data: Iterable[bytes]) -> None:
        for piece in data:
            await self.send(piece)
            await asyncio.sleep(TICK)

    async def hold(self) -> None:
        """Send nothing more and keep the connection open."""
        await asyncio.Event().wait()

    def reset(self) -> None:
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Misbehaviour = Callable[[Connection], Awaitable[bool]]  # returns whether the connection stays open

BAD: dict[str, Misbehaviour] = {}


def bad(name: str) -> Callable[[Callable[[Connection], Awaitable[None]]], Callable[[Connection], Awaitable[None]]]:
    """Register a misbehaviour after which the connection is closed."""

    def register(function: Callable[[Connection], Awaitable[None]]) -> Callable[[Connection], Awaitable[None]]:
        async def closing(connection: Connection) -> bool:
            await function(connection)
            return False

        BAD[name] = closing
        return function

    return register


def bad_but_kept(name: str, *pieces: bytes) -> None:
    """Register a misbehaviour that sends the pieces one by one and keeps the connection for the next request."""

    async def keeping(connection: Connection) -> bool:
        await connection.drip(pieces)
        return True

    BAD[name] = keeping


bad_but_kept("poison", whole() + whole(b"an answer to no request"))
bad_but_kept("poison-late", whole(), whole(b"an answer to no request"))
bad_but_kept("poison-bytes", whole() + b"\r\n\r\ngarbage")
bad_but_kept("poison-chunk", chunked(PAGE, headers=[("Content-Length", "5")]) + b"0\r\n\r\n")
bad_but_kept("poison-length", head(200, [HTML, ("Content-Length", "10")]) + PAGE)
bad_but_kept("poison-204", head(204) + PAGE)
bad_but_kept("no-colon-kept", LINE + b"no colon here\r\n" + REST + whole(b"an answer to no request"))
bad_but_kept(
    "no-colon-chunks", chunked(PAGE[:20], PAGE[20:]).replace(b"\r\n", b"\r\nno colon here\r\n", 1) + b"0\r\n\r\n"
)
bad_but_kept("in-pieces", *(whole()[at : at + 40] for at in range(0, len(whole()), 40)))


@bad("silent")
async def silent(connection: Connection) -> None:
    await connection.hold()


@bad("reset")
async def reset(connection: Connection) -> None:
    connection.reset()


@bad("reset-body")
async def reset_body(connection: Connection) -> None:
    await connection.drip([head(200, [HTML, ("Content-Length", "100000")]), b"x" * 20000])
    connection.reset()


@bad("drip-header")
async def drip_header(connection: Connection) -> None:
    await connection.send(LINE + b"X-Drip: ")
    await connection.drip(itertools.repeat(b"x"))


@bad("drip-body")
async def drip_body(connection: Connection) -> None:
    await connection.send(head(200, [HTML, ("Content-Length", "1000000")]))
    await connection.drip(itertools.repeat(b"x"))


@bad("stall")
async def stall(connection: Connection) -> None:
    await connection.send(head(200, [HTML, ("Content-Length", "1000000")]) + PAGE)
    await connection.hold()


@bad("stall-empty")
async def stall_empty(connection: Connection) -> None:
    await connection.send(head(200, [HTML, ("Content-Length", "1000000")]))
    await connection.hold()


@bad("slow-close")
async def slow_close(connection: Connection) -> None:
    await connection.send(whole(headers=[HTML, ("Connection", "close")]))
    await connection.hold()


@bad("endless")
async def endless(connection: Connection) -> None:
    await connection.send(head(200, [HTML]))
    while True:
        await connection.send(b"all work and no play makes a dull page\n" * 400)


@bad("endless-chunks")
async def endless_chunks(connection: Connection) -> None:
    await connection.send(chunked())
    while True:
        await connection.send(b"1000\r\n" + b"x" * 4096 + b"\r\n")


@bad("endless-header")
async def endless_header(connection: Connection) -> None:
    await connection.send(LINE)
    for number in itertools.count():
        await connection.send(b"X-%d: %s\r\n" % (number, b"x" * 100))


@bad("endless-trailer")
async def endless_trailer(connection: Connection) -> None:
    await connection.send(chunked(PAGE) + b"0\r\n")
    for number in itertools.count():
        await connection.send(b"X-%d: %s\r\n" % (number, b"x" * 100))


@bad("endless-early")
async def endless_early(connection: Connection) -> None:
    while True:
        await connection.send(head(103, [("Link", "</style.css>; rel=preload; as=style")]))


@bad("big")
async def big(connection: Connection) -> None:
    """?bytes=N"""
    await connection.send(whole(b"x" * int(connection.request.query("bytes", "5000000"))))


@bad("bomb")
async def bomb(connection: Connection) -> None:
    """?coding=gzip, deflate, br or zstd"""
    coding = connection.request.query("coding", "gzip")
    await connection.send(coded(coding, packed_bomb(coding)))


@bad("status")
async def status(connection: Connection) -> None:
    """?code=429&retry-after=120"""
    after = connection.request.query("retry-after")
    fields = [HTML, ("Retry-After", after)] if after else [HTML]
    await connection.send(whole(b"sorry", int(connection.request.query("code", "503")), fields))


@bad("redirect")
async def redirect(connection: Connection) -> None:
    """?to=URL&code=302"""
    await connection.send(
        whole(b"", int(connection.request.query("code", "302")), [("Location", connection.request.query("to", "/"))])
    )


@bad("redirect-chain")
async def redirect_chain(connection: Connection) -> None:
    """?left=N, then a page"""
    left = int(connection.request.query("left", "5"))
    await connection.send(whole(b"", 302, [("Location", f"/bad/redirect-chain?left={left - 1}")]) if left else whole())


@bad("redirect-grow")
async def redirect_grow(connection: Connection) -> None:
    await connection.send(
        whole(
            b"",
            302,
            [("Location", connection.request.path.partition("?")[0] + "?more=" + "x" * len(connection.request.path))],
        )
    )


@functools.cache
def packed_bomb(coding: str) -> bytes:
    data = b"0" * BOMB
    pack: dict[str, Callable[[], bytes]] = {
        "gzip": lambda: gzip.compress(data, 9),
        "deflate": lambda: zlib.compress(data, 9),
        "br": lambda: brotli.compress(data, quality=5),
        "zstd": lambda: zstandard.compress(data),
    }
    return pack[coding]()


class Site:
    """All hosts of one server. Any thread may call the methods."""

    def __init__(self, port: int, addresses: Sequence[str]) -> None:
        self.port = port
        self.addresses = tuple(addresses)
        self.log: list[Request] = []
        self.at: dict[str, str] = {}  # host -> one of the addresses; a host that is not listed is at the first
        self._replies: dict[tuple[str, str], list[Reply]] = {}
        self._others: dict[str, Reply] = {}
        self._raw: dict[tuple[str, str], tuple[bytes, bool]] = {}
        self._connections = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        return f"{self.addresses[0]}:{self.port}"

    def page(self, host: str, path: str, body: bytes = PAGE, status: int = 200, headers: Headers = (HTML,)) -> None:
        self.script(host, path, [Reply(body, status, tuple(headers))])

    def script(self, host: str, path: str, replies: Iterable[Reply]) -> None:
        """Answer with one reply after the other; repeat the last one."""
        self.at.setdefault(host, self.addresses[0])
        self._replies[host, path] = list(replies)

    def otherwise(self, host: str, body: bytes, status: int = 200) -> None:
        """Answer with this reply, instead of a 404, where the host has no page."""
        self._others[host] = Reply(body, status, (HTML,))

    def raw(self, host: str, path: str, wire: bytes, keep: bool = False) -> None:
        """Answer with these bytes alone; then close the connection, or keep it."""
        self.at.setdefault(host, self.addresses[0])
        self._raw[host, path] = wire, keep

    def robots(
        self, host: str, text: str, status: int = 200, headers: Headers = (("Content-Type", "text/plain"),)
    ) -> None:
        self.page(host, "/robots.txt", text.encode(), status, headers)

    def hosts_file(self, path: Path) -> Path:
        path.write_text(
            "".join(f"{host}\t{address}:{self.port}\n" for host, address in sorted(self.at.items())), "utf-8"
        )
        return path

    def requests(self, host: str | None = None, path: str | None = None) -> list[Request]:
        return [entry for entry in self.log if host in (None, entry.host) and path in (None, entry.path)]

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        number = next(self._connections)
        try:
            while await self._exchange(number, reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client closed the connection, or the test is over
        finally:
            self._tasks.discard(task)
            writer.close()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            await asyncio.sleep(0)

    async def _exchange(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        raw = await reader.readuntil(b"\r\n\r\n")
        if length := re.search(rb"(?i)\r\nContent-Length: *(\d+)", raw):  # of a POST
            await reader.readexactly(int(length[1]))
        request = read(raw, number)
        self.log.append(request)
        try:
            return await self._answer(request, writer)
        finally:
            request.ended = time.time()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        connection, name = Connection(request, writer), request.path.partition("?")[0].removeprefix("/bad/")
        place = request.host, request.path
        if place in self._raw:
            wire, keep = self._raw[place]
            await connection.send(wire)
            return keep
        if place in self._replies or not request.path.startswith("/bad/"):
            replies = self._replies.get(place) or [self._others.get(request.host, Reply(b"nothing here", 404))]
            chosen = replies.pop(0) if len(replies) > 1 else replies[0]
            if chosen.seconds:
                await asyncio.sleep(chosen.seconds)
            await connection.send(whole(chosen.body, chosen.status, chosen.headers))
            return True
        if name in RAW:
            await connection.send(RAW[name])
            return False
        return await BAD[name](connection)


def read(raw: bytes, connection: int) -> Request:
    first, *fields = raw.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    named = {field.partition(":")[0].lower(): field.partition(":")[2].strip() for field in fields}
    host = named.get("host", "")
    return Request(
        time.time(), connection, host if host.endswith("]") else host.rpartition(":")[0] or host, method, path, raw
    )


@contextlib.contextmanager
def serve(addresses: Sequence[str] = ("127.0.0.1",), tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    """Run a server in a thread of its own, on one free port of these loopback addresses."""
    sockets = listen(addresses)
    site = Site(sockets[0].getsockname()[1], addresses)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="web", daemon=True)
    thread.start()

    async def start() -> None:
        for listener in sockets:
            await asyncio.start_server(site.connected, sock=listener, ssl=tls)

    try:
        asyncio.run_coroutine_threadsafe(start(), loop).result()
        yield site
    finally:
        asyncio.run_coroutine_threadsafe(site.stop(), loop).result()
        for listener in sockets:
            listener.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def listen(addresses: Sequence[str]) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    for address in addresses:
        listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, sockets[0].getsockname()[1] if sockets else 0))
        listener.listen(1024)
        sockets.append(listener)
    return sockets
