"""A minimal HTTP/1.1 server: GET and HEAD, keep-alive, one handler for all hosts."""

import asyncio
import functools
import http
import itertools
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_HEAD = 64 << 10  # bytes; the connection of a longer request is closed


class DemoRequest(NamedTuple):
    monotonic: float  # seconds, when the head was complete
    wall: float  # epoch seconds, the same instant
    host: str  # as the client named it, without port
    path: str  # as the client wrote it, with query
    connection: int  # counted from 1
    address: str  # the server address that received the request
    head: bytes = b""  # request line and headers as received

    def header(self, name: str) -> str:
        """Return the first header of this name; an empty string if there is none."""
        return _field(self.head, name)


class Reply(NamedTuple):
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    delay: float = 0.0  # seconds before the first byte


Handler = Callable[[DemoRequest], Reply | None]  # None: keep the connection open and never answer


class Server:
    """Listen on some addresses and own the connections made to them."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._listeners: list[asyncio.Server] = []
        self._transports: set[asyncio.Transport] = set()
        self._count = itertools.count(1)

    async def start(self, addresses: list[str]) -> int:
        """Listen on one port that is free on every address; return it."""
        for _ in range(100):
            try:
                port = 0
                for address in addresses:
                    port = await self._listen(address, port)
                return port
            except OSError:  # another program uses this port on one of the addresses
                self.close()
        raise OSError(f"no port is free on all of {', '.join(addresses)}")

    async def _listen(self, address: str, port: int) -> int:
        factory = functools.partial(_Connection, self._handle, self._transports, self._count)
        listener = await asyncio.get_running_loop().create_server(factory, address, port)
        self._listeners.append(listener)
        found: int = listener.sockets[0].getsockname()[1]
        return found

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()
        for transport in self._transports:
            transport.abort()
        self._listeners.clear()


class _Connection(asyncio.Protocol):
    """Answer each request before reading the next one on its connection."""

    def __init__(self, handle: Handler, transports: set[asyncio.Transport], count: Iterator[int]) -> None:
        self._handle = handle
        self._transports = transports
        self._buffer = b""
        self._busy = False
        self._number = next(count)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._transports.add(transport)
        self._address: str = transport.get_extra_info("sockname")[0]

    def connection_lost(self, error: Exception | None) -> None:
        self._transports.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def _next(self) -> None:
        while not self._busy and not self._transport.is_closing():
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                if len(head) > MAX_HEAD:
                    self._transport.close()
                return
            self._buffer = rest
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        method, _, rest = head.partition(b" ")
        host = _field(head, "host").lower().partition(":")[0]
        path = rest.partition(b" ")[0].decode("latin-1")
        request = DemoRequest(
            monotonic=time.monotonic(),
            wall=time.time(),
            host=host,
            path=path,
            connection=self._number,
            address=self._address,
            head=head,
        )
        reply = self._handle(request) if method in (b"GET", b"HEAD") else Reply(405)
        self._busy = reply is None or reply.delay > 0
        if reply is None:
            return
        close = _field(head, "connection").lower() == "close"
        data = _encode(reply, with_body=method != b"HEAD")
        if reply.delay:
            asyncio.get_running_loop().call_later(reply.delay, self._late, data, close)
        else:
            self._write(data, close)

    def _late(self, data: bytes, close: bool) -> None:
        self._busy = False
        if not self._transport.is_closing():
            self._write(data, close)
            self._next()

    def _write(self, data: bytes, close: bool) -> None:
        self._transport.write(data)
        if close:
            self._transport.close()


def _field(head: bytes, name: str) -> str:
    wanted = name.lower().encode()
    for line in head.split(b"\r\n")[1:]:
        field, _, value = line.partition(b":")
        if field.strip().lower() == wanted:
            return value.strip().decode("latin-1")
    return ""


def _encode(reply: Reply, with_body: bool) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} {http.HTTPStatus(reply.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    lines.append(f"Content-Length: {len(reply.body)}\r\n\r\n")
    return "\r\n".join(lines).encode("latin-1") + (reply.body if with_body else b"")
