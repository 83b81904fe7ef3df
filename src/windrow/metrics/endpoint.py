"""Serves metrics over HTTP, and joins those of several processes.

`serve` answers on a port or on a Unix socket with what a callable collects; nothing is computed between two scrapes.
`joint` is one endpoint for a process that starts others: each of those serves on a Unix socket in a directory that only
their user can read, and is asked when the endpoint is. So a process that has died leaves no numbers behind.
"""

import asyncio
import contextlib
import os
import platform
import stat
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from windrow.config import ConfigError
from windrow.metrics.families import Family, joined, text

Collect = Callable[[], Awaitable[list[Family]]]

HERE = "127.0.0.1"  # without HOST: numbers of a crawl are for this machine unless its operator says otherwise
_PLAIN = "text/plain; version=0.0.4; charset=utf-8"
_OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_PATIENCE = 10.0  # seconds for a whole exchange
_ASKING = 3.0  # seconds that a process has to answer
_MOST = 16  # connections at a time; a scrape takes milliseconds
_HEAD = 16 << 10  # bytes of a request
_ERRORS = (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError)


class MetricsPlace(NamedTuple):
    """Where an endpoint is: a path, or a host and a port."""

    path: str = ""
    host: str = ""
    port: int = 0


class Joint(NamedTuple):
    """One endpoint for several processes."""

    url: str = ""  # "": nothing is served
    arguments: Sequence[str] = ()  # with which each process has to be started


def place(address: str) -> MetricsPlace:
    """Return where `--metrics` says: PORT, HOST:PORT, [IPv6]:PORT, a path with a slash, or a directory as DIR/."""
    if "/" in address:
        path = Path(address, str(os.getpid())) if address.endswith("/") else Path(address)
        return MetricsPlace(path=str(path))
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (port.isascii() and port.isdecimal() and int(port) < 1 << 16) or (colon and not host):
        raise ConfigError(f"--metrics {address!r} is no address; write PORT or HOST:PORT, such as 9464 or 0.0.0.0:9464")
    return MetricsPlace(host=host or HERE, port=int(port))


@contextlib.asynccontextmanager
async def serve(address: str, collect: Collect) -> AsyncIterator[str]:
    """Answer GET /metrics, /metrics.json and /healthz until the block ends; yield the URL."""
    where = place(address)
    handler = _Handler(collect)
    try:
        if where.path:
            _remove_socket(where.path)
            server = await asyncio.start_unix_server(handler.handle, where.path, limit=_HEAD)
        else:
            server = await asyncio.start_server(handler.handle, where.host, where.port, limit=_HEAD)
    except OSError as error:
        raise ConfigError(
            f"--metrics {address} cannot be served ({error.strerror or error}); choose another port"
        ) from None
    name = server.sockets[0].getsockname()
    try:
        yield f"unix://{where.path}" if where.path else f"http://{_shown(where.host)}:{name[1]}/metrics"
    finally:
        server.close()
        await handler.close()
        if where.path:
            _remove_socket(where.path)


@contextlib.asynccontextmanager
async def joint(address: str, own: Collect | None = None) -> AsyncIterator[Joint]:
    """Serve the metrics of this process (`own`) together with those of all processes that get the arguments."""
    with tempfile.TemporaryDirectory(prefix="windrow-") as made:  # the name of a socket may have only 107 characters

        async def collect() -> list[Family]:
            found = await gather(Path(made))
            return joined([await own(), *found] if own is not None else found)

        async with serve(address, collect) as url:
            yield Joint(url, ["--metrics", f"{made}/"])


async def gather(directory: Path) -> list[list[Family]]:
    """Return the metrics of every process that serves on a socket of a directory. One that has ended is left out."""
    sockets = sorted(entry.path for entry in os.scandir(directory))
    answers = await asyncio.gather(*(ask(socket) for socket in sockets))
    return [families for families in answers if families]


async def ask(socket: str) -> list[Family]:
    """Return the metrics of a process; none if it does not answer."""
    try:
        async with asyncio.timeout(_ASKING):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                writer.write(b"GET /metrics.json HTTP/1.0\r\n\r\n")
                answer = await reader.read(-1)
            finally:
                writer.close()
        return msgspec.json.decode(answer.partition(b"\r\n\r\n")[2], type=list[Family])
    except ConnectionRefusedError:  # its process has been killed
        _remove_socket(socket)
    except (*_ERRORS, msgspec.DecodeError):
        pass
    return []


class _Handler:
    """Answers requests, a few at a time. A client that is slow or broken never disturbs the crawl."""

    def __init__(self, collect: Collect) -> None:
        self._collect = collect
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        try:
            if len(self._open) <= _MOST:
                async with asyncio.timeout(_PATIENCE):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(await self._answer(head.decode("latin-1")))
                    await writer.drain()
                    writer.write_eof()
                    while await reader.read(_HEAD):  # until the client has closed: else it may lose the answer
                        pass
        except (*_ERRORS, asyncio.CancelledError):  # cancelled by `close` or at the end of the loop: its task ends here
            pass
        finally:
            del self._open[task]
            writer.close()

    async def close(self) -> None:
        """End what is left of connections: a task that the end of the loop cancels would print a traceback."""
        for writer in self._open.values():
            writer.transport.abort()
        for task in self._open:
            task.cancel()
        while self._open:
            await asyncio.wait(list(self._open))

    async def _answer(self, head: str) -> bytes:
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        path = rest.partition(" ")[0].partition("?")[0]
        fields = {name.strip().lower(): value for name, _, value in (line.partition(":") for line in lines)}
        if method not in ("GET", "HEAD"):
            return _response("405 Method Not Allowed", "text/plain", b"only GET and HEAD\n", method)
        if path == "/healthz":
            return _response("200 OK", "text/plain", b"ok\n", method)
        if path not in ("/metrics", "/metrics.json"):
            return _response("404 Not Found", "text/plain", b"the metrics are at /metrics\n", method)
        try:
            families = await self._collect()
        except Exception as error:  # the crawl may be at its end, or broken: it says so itself
            return _response("503 Service Unavailable", "text/plain", f"{type(error).__name__}\n".encode(), method)
        if path == "/metrics.json":
            return _response("200 OK", "application/json", msgspec.json.encode(families), method)
        wanted = prefers_open(fields.get("accept", ""))
        return _response("200 OK", _OPEN if wanted else _PLAIN, text(families, wanted), method)


def prefers_open(accept: str) -> bool:
    """Return whether a client prefers OpenMetrics to the plain format, by its header Accept."""
    weights = {"application/openmetrics-text": 0.0, "text/plain": 0.0}
    for part in accept.split(","):
        kind, *parameters = [word.strip().lower() for word in part.split(";")]
        version = next((word[8:] for word in parameters if word.startswith("version=")), "1.0.0")
        if kind in weights and (kind == "text/plain" or version in ("1.0.0", "0.0.1")):
            weights[kind] = max(weights[kind], _weight(parameters))
    return weights["application/openmetrics-text"] > 0 and (
        weights["application/openmetrics-text"] >= weights["text/plain"]
    )


def _weight(parameters: list[str]) -> float:
    given = next((word[2:] for word in parameters if word.startswith("q=")), "1")
    try:
        return float(given)
    except ValueError:
        return 0.0


def _response(status: str, kind: str, body: bytes, method: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + (b"" if method == "HEAD" else body)


def _shown(host: str) -> str:
    """Return the host of a URL; for "every address" the name of this machine."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - only compared
        return platform.node()
    return f"[{host}]" if ":" in host else host


def _remove_socket(path: str) -> None:
    """Remove a socket that a killed process has left; never another file."""
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            os.unlink(path)
