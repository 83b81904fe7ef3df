"""A proxy on loopback: HTTP with CONNECT, and SOCKS5. Whatever a request names, it goes to one server of the tests."""

import asyncio
import base64
import contextlib
import dataclasses
import ssl
import threading
from collections.abc import Iterator


@dataclasses.dataclass(slots=True)
class Proxy:
    port: int
    target: int  # port of the server that stands for the whole web
    login: str = ""  # user:password that it asks for
    log: list[str] = dataclasses.field(default_factory=list)  # "GET http://…", "CONNECT host:443", "SOCKS host:80"

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            first = await reader.readexactly(1)
            await (self._socks(reader, writer) if first == b"\x05" else self._http(first, reader, writer))
        writer.close()

    async def _http(self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one request after another; none has a body."""
        there: asyncio.StreamWriter | None = None
        copying: asyncio.Task[None] | None = None
        try:
            while True:
                head = first + await reader.readuntil(b"\r\n\r\n")
                first = b""
                method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
                self.log.append(f"{method} {target}")
                wanted = b"proxy-authorization: basic " + base64.b64encode(self.login.encode())
                if self.login and wanted.lower() not in head.lower():
                    writer.write(b"HTTP/1.1 407 Login\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
                    await writer.drain()
                    continue
                if method == "CONNECT":
                    writer.write(b"HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n")
                    return await self._join(reader, writer)
                if there is None:
                    there_reader, there = await asyncio.open_connection("127.0.0.1", self.target)
                    copying = asyncio.create_task(_copy(there_reader, writer))
                lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"proxy-authorization")]
                lines[0] = f"{method} /{target.split('/', 3)[3]} HTTP/1.1".encode()
                there.write(b"\r\n".join(lines))
        finally:
            if there is not None and copying is not None:
                there.close()
                copying.cancel()

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        wanted = 2 if self.login else 0
        writer.write(bytes([5, wanted if wanted in methods else 255]))
        if self.login:
            user = await reader.readexactly((await reader.readexactly(2))[1])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            writer.write(bytes([1, int(user + b":" + password != self.login.encode())]))
        _, _, _, kind = await reader.readexactly(4)
        assert kind == 3, "the client resolved the name itself"
        host = await reader.readexactly((await reader.readexactly(1))[0])
        port = int.from_bytes(await reader.readexactly(2))
        self.log.append(f"SOCKS {host.decode()}:{port}")
        writer.write(b"\x05\0\0\x01\0\0\0\0\0\0")
        await self._join(reader, writer)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(_copy(reader, there), _copy(there_reader, writer))


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while octets := await source.read(1 << 16):
            sink.write(octets)
            await sink.drain()
    sink.close()


@contextlib.contextmanager
def serve(target: int, login: str = "", tls: ssl.SSLContext | None = None) -> Iterator[Proxy]:
    """Run a proxy in a thread of its own."""
    loop = asyncio.new_event_loop()
    proxy = Proxy(0, target, login)
    thread = threading.Thread(target=loop.run_forever, name="proxy", daemon=True)
    thread.start()
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(proxy.connected(reader, writer)))

    async def start() -> asyncio.Server:
        return await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)

    async def stop() -> None:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
