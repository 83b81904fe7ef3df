"""Servers that misuse HTTP/2: each misuse ends in a capture or a failure within its limits, and the client still works.

The server writes its frames itself: a library for HTTP/2 would refuse to send most of them.
"""

import asyncio
import shutil
import ssl
import struct
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from tests.fetch.client.support import CRAWLER, fetch, task
from windrow.fetch.client import Client
from windrow.records import Capture, Failure, Reason, Request

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
OK = b"\x88"  # ":status: 200" in HPACK
FLOOD = 64 << 20  # bytes that a flood sends at most, unless the client disconnects

Attack = Callable[[int], Iterator[bytes]]  # number of a stream -> the bytes sent on it


def frame(kind: int, stream: int, payload: bytes = b"", flags: int = 0) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def answer(stream: int) -> bytes:
    return frame(HEADERS, stream, OK, END_HEADERS) + frame(DATA, stream, b"<p>honest", END_STREAM)


def literal(name: bytes, value: bytes, indexed: bool) -> bytes:
    """Return a header field in HPACK, stored in the table or not; lengths below 2**14 + 127."""

    def text(octets: bytes) -> bytes:
        if len(octets) < 127:
            return bytes([len(octets)]) + octets
        rest = len(octets) - 127
        return b"\x7f" + (bytes([rest]) if rest < 128 else bytes([rest & 127 | 128, rest >> 7])) + octets

    return (b"\x40" if indexed else b"\x00") + text(name) + text(value)


def flood(piece: bytes) -> Iterator[bytes]:
    batch = piece * max(1, (1 << 14) // len(piece))
    for _ in range(FLOOD // len(batch)):
        yield batch


def honest(stream: int) -> Iterator[bytes]:
    yield answer(stream)


def reset(stream: int) -> Iterator[bytes]:
    yield frame(RST_STREAM, stream, struct.pack(">I", 8))


def reset_in_the_body(stream: int) -> Iterator[bytes]:
    yield (
        frame(HEADERS, stream, OK, END_HEADERS)
        + frame(DATA, stream, b"<p>half")
        + frame(RST_STREAM, stream, struct.pack(">I", 2))
    )


def resets(stream: int) -> Iterator[bytes]:
    yield from flood(frame(RST_STREAM, stream, struct.pack(">I", 8)))


def goaway(stream: int) -> Iterator[bytes]:
    yield frame(GOAWAY, 0, struct.pack(">II", 0, 11))


def goaway_then_answer(stream: int) -> Iterator[bytes]:
    yield frame(GOAWAY, 0, struct.pack(">II", stream, 0)) + answer(stream)


def continuations(stream: int) -> Iterator[bytes]:
    yield frame(HEADERS, stream, OK)
    yield from flood(frame(CONTINUATION, stream, literal(b"x-a", b"b" * 50, indexed=False)))


def empty_continuations(stream: int) -> Iterator[bytes]:
    yield frame(HEADERS, stream, OK)
    yield from flood(frame(CONTINUATION, stream))


def packed_headers(stream: int) -> Iterator[bytes]:
    """Store four kilobytes in the table, then refer to them with one byte each: 20 kB become 64 MB of header."""
    block = OK + literal(b"x-bomb", b"b" * 4000, indexed=True) + b"\xbe" * 12_000
    yield frame(HEADERS, stream, block[:16_000]) + frame(CONTINUATION, stream, block[16_000:], END_HEADERS)
    yield frame(DATA, stream, b"<p>", END_STREAM)


def pings(stream: int) -> Iterator[bytes]:
    yield from flood(frame(PING, 0, b"12345678"))


def settings(stream: int) -> Iterator[bytes]:
    yield from flood(frame(SETTINGS, 0, struct.pack(">HI", 4, 65_535)))


def empty_data(stream: int) -> Iterator[bytes]:
    yield frame(HEADERS, stream, OK, END_HEADERS)
    yield from flood(frame(DATA, stream))


def more_than_the_window(stream: int) -> Iterator[bytes]:
    yield frame(HEADERS, stream, OK, END_HEADERS)
    yield from flood(frame(DATA, stream, b"x" * 16_000))


def early_hints(stream: int) -> Iterator[bytes]:
    yield from flood(frame(HEADERS, stream, b"\x08\x03103", END_HEADERS))


def push(stream: int) -> Iterator[bytes]:
    yield frame(PUSH_PROMISE, stream, struct.pack(">I", 2) + b"\x82\x86\x84", END_HEADERS) + answer(stream)


def huge_frame(stream: int) -> Iterator[bytes]:
    yield frame(DATA, stream, b"x" * 1_000_000)


def window_overflow(stream: int) -> Iterator[bytes]:
    yield frame(WINDOW_UPDATE, 0, struct.pack(">I", 2**31 - 1)) * 2 + answer(stream)


def bad_settings(stream: int) -> Iterator[bytes]:
    yield frame(SETTINGS, 0, struct.pack(">HI", 5, 1)) + answer(stream)


def foreign_stream(stream: int) -> Iterator[bytes]:
    yield answer(stream + 20)


def bad_hpack(stream: int) -> Iterator[bytes]:
    yield frame(HEADERS, stream, b"\xff\xff\xff\xff\xff", END_HEADERS | END_STREAM)


def nothing(stream: int) -> Iterator[bytes]:
    yield frame(SETTINGS, 0, b"", ACK)


ENDS: dict[Attack, set[str]] = {  # "" is a capture
    honest: {""},
    goaway_then_answer: {""},
    reset: {"disconnect", "protocol"},
    reset_in_the_body: {"", "disconnect", "protocol"},  # the received part of the body is kept and marked
    resets: {"disconnect", "protocol", "timeout"},
    goaway: {"disconnect", "protocol", "connect", "timeout"},
    continuations: {"disconnect", "protocol", "timeout"},
    empty_continuations: {"disconnect", "protocol", "timeout"},
    packed_headers: {"disconnect", "protocol", "timeout"},
    pings: {"disconnect", "protocol", "timeout"},
    settings: {"disconnect", "protocol", "timeout"},
    empty_data: {"", "disconnect", "protocol", "timeout"},
    more_than_the_window: {"", "disconnect", "protocol", "timeout"},
    early_hints: {"disconnect", "protocol", "timeout"},
    push: {"", "disconnect", "protocol"},
    huge_frame: {"disconnect", "protocol", "timeout"},
    window_overflow: {"", "disconnect", "protocol", "timeout"},
    bad_settings: {"", "disconnect", "protocol", "timeout"},
    foreign_stream: {"disconnect", "protocol", "timeout"},
    bad_hpack: {"disconnect", "protocol", "timeout"},
    nothing: {"timeout"},
}


async def frames(reader: asyncio.StreamReader) -> AsyncIterator[tuple[int, int]]:
    """Yield kind and stream of the frames that the client sends."""
    assert await reader.readexactly(len(PREFACE)) == PREFACE
    while True:
        head = await reader.readexactly(9)
        await reader.readexactly(int.from_bytes(head[:3], "big"))
        yield head[3], int.from_bytes(head[5:], "big")


class Server:
    def __init__(self) -> None:
        self.attack: Attack = honest
        self.port = 0
        self.sent = 0  # bytes of the attack

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(frame(SETTINGS, 0))
            async for kind, stream in frames(reader):
                if kind == HEADERS:
                    await self._send(stream, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client disconnected, or the test has ended
        finally:
            writer.close()

    async def _send(self, stream: int, writer: asyncio.StreamWriter) -> None:
        for piece in self.attack(stream):
            writer.write(piece)
            self.sent += len(piece)
            await writer.drain()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    folder = tmp_path_factory.mktemp("tls")
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=h2.test", *files]
    subprocess.run(make, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    context.set_alpn_protocols(["h2"])
    served, loop, ready = Server(), asyncio.new_event_loop(), threading.Event()

    async def serve() -> None:
        listening = await asyncio.start_server(served.connected, "127.0.0.1", 0, ssl=context)
        served.port = listening.sockets[0].getsockname()[1]
        ready.set()

    def run() -> None:
        loop.run_until_complete(serve())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(20)
    yield served
    loop.call_soon_threadsafe(loop.stop)
    thread.join(20)


def ask(server: Server, *attacks: Attack) -> list[Capture | Failure]:
    """Return the answers that one client gets, one after the other."""

    async def run() -> list[Capture | Failure]:
        options = fetch(http2=True, verify_tls=False, header_timeout=2.0, timeout=3.0, max_bytes=1 << 20)
        one = Client(options, CRAWLER)
        found = []
        try:
            for attack in attacks:
                server.attack, server.sent = attack, 0
                found.append(await one.get(Request(task("https://h2.test/"), f"127.0.0.1:{server.port}")))
        finally:
            one.close()
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("attack", ENDS, ids=lambda attack: attack.__name__)
def test_every_misuse_stays_within_limits_and_the_next_page_arrives(server: Server, attack: Attack) -> None:
    found, after = ask(server, attack, honest)
    assert (found.reason.value if isinstance(found, Failure) else "") in ENDS[attack], found
    if isinstance(found, Capture):
        assert len(found.body) <= 1 << 20 and len(found.head) <= 400_000
        assert found.protocol == "h2" and found.cipher
    assert isinstance(after, Capture), after
    assert (after.protocol, after.body, after.truncated) == ("h2", b"<p>honest", "")


def test_a_body_whose_stream_was_reset_is_never_taken_for_a_complete_one(server: Server) -> None:
    [found] = ask(server, reset_in_the_body)
    assert isinstance(found, Failure) or found.truncated == "disconnect"


def test_a_flood_is_aborted(server: Server) -> None:
    """An endless header is refused by its size, long before the timeout."""
    [found] = ask(server, continuations)
    assert isinstance(found, Failure) and found.reason is not Reason.TIMEOUT
    assert server.sent < 16 << 20
