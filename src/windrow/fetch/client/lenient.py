"""A second reader for answers that libcurl refuses and browsers show.

libcurl ends an exchange at a header line without a colon, at a Content-Length that is no number, and at blank lines
before the status line. The request that follows (the frontier tries such a page once more) and all later ones to that
host go over a socket of our own, with the same check of the address and the same limits of time and size.

It is safe because the connection carries one request and is closed after it: whatever a server appends to an answer,
it can never be taken for the next answer. Two different lengths stay an error, and so does an answer without a status
line.
"""

import asyncio
import functools
import re
import ssl
import time

import pycurl

from windrow.fetch.client.exchange import Ending, Exchange
from windrow.records import Reason

# Beginnings of libcurl's messages about answers that this reader may understand.
REFUSED = ("Header without colon", "Invalid Content-Length", "Invalid status line", "Received HTTP/0.9")
CLOSE = "Connection: close\r\n"

_PIECE = 64 << 10  # octets read at once
_LONGEST_SIZE = 16 << 10  # octets of the line that gives the size of a chunk
_BLANK = b"\r\n"
_MOST_BLANK = 64  # octets of blank lines before a status line
_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})")
_FIELD = re.compile(rb"\n(content-length|transfer-encoding)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")


async def exchange(into: Exchange, scheme: str, authority: str, request: bytes) -> Ending:
    """Send a request to the exchange's peer and let the exchange receive the answer."""
    peer = into.peer
    assert peer is not None
    host, colon, number = authority.rpartition(":") if not authority.endswith("]") else (authority, "", "")
    port = peer.port or (int(number) if colon else 443 if scheme == "https" else 80)
    secure = _context(into.fetch.verify_tls) if scheme == "https" else None
    name = (host if colon else authority).strip("[]")
    try:
        async with asyncio.timeout(into.fetch.connect_timeout):
            source, sink = await asyncio.open_connection(
                peer.ip, port, ssl=secure, server_hostname=name if secure else None
            )
    except TimeoutError:
        return pycurl.E_OPERATION_TIMEDOUT, f"no connection within {into.fetch.connect_timeout:g} s"
    except ssl.SSLError as error:
        return pycurl.E_SSL_CONNECT_ERROR, error.reason or str(error)
    except OSError as error:
        return pycurl.E_COULDNT_CONNECT, error.strerror or str(error)
    try:
        into.cipher = _cipher(sink)
        into.connected = time.monotonic() - into.began
        sink.write(request)
        return await _receive(into, source)
    finally:
        sink.transport.abort()


async def _receive(into: Exchange, source: asyncio.StreamReader) -> Ending:
    reader = LenientReader(into.lines, into.fetch.max_header)
    pause = min(1.0, into.fetch.header_timeout / 4, into.fetch.timeout / 4)
    while not reader.complete:
        if late := into.overdue(time.monotonic()):
            return pycurl.E_OPERATION_TIMEDOUT, late
        try:
            async with asyncio.timeout(pause):
                octets = await source.read(_PIECE)
        except TimeoutError:
            continue
        except OSError as error:
            return pycurl.E_RECV_ERROR, error.strerror or str(error)
        if not octets and reader.is_no_answer:
            return pycurl.E_UNSUPPORTED_PROTOCOL, "no status line"
        if not octets:
            return (pycurl.E_PARTIAL_FILE, "the connection was closed within the body") if reader.cut else (0, "")
        if into.on_body(reader.feed(octets)) == 0:
            break  # the limit of the body is reached
        if reader.stuck:
            return pycurl.E_PARTIAL_FILE, "an invalid chunk"
    if reader.fault:
        into.refused = Reason.PROTOCOL, reader.fault
    return 0, ""


@functools.cache
def _context(verify: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _cipher(sink: asyncio.StreamWriter) -> str:
    cipher = sink.get_extra_info("cipher")
    return f"tls/{cipher[1].removeprefix('TLSv')} {cipher[0]}" if cipher else ""


class LenientReader:
    """Splits the octets of one answer into header lines and body."""

    def __init__(self, lines: list[bytes], max_header: int) -> None:
        self._lines = lines  # of all headers so far; the caller reads them too
        self._max_header = max_header
        self._waiting = b""  # octets not yet understood
        self._header_bytes = 0
        self._in_body = False
        self._left: int | None = None  # octets of body to come; None: until the connection closes
        self._chunked = False
        self.complete = False  # nothing more is needed
        self.fault = ""  # why the answer is refused after all

    def feed(self, octets: bytes) -> bytes:
        """Take the next octets; return the octets of body among them."""
        self._waiting += octets
        while not self._in_body and not self.complete:
            if not self._read_head():
                return b""
        return b"" if self.complete else self._read_body()

    @property
    def stuck(self) -> bool:
        """Whether what should be the size of a chunk is something else."""
        return self._chunked and not self._left and len(self._waiting) > _LONGEST_SIZE

    @property
    def is_no_answer(self) -> bool:
        """Whether what arrived is not the beginning of a header."""
        return not self._lines and bool(self._waiting) and not self._waiting.startswith(b"HTTP/")

    @property
    def cut(self) -> bool:
        """Whether the body is not complete, if the connection ends now."""
        return self._in_body and not self.complete and (self._chunked or self._left is not None)

    def _read_head(self) -> bool:
        """Read a header; False: it is not complete yet."""
        if not self._lines:
            stripped = self._waiting.lstrip(_BLANK)
            if len(self._waiting) - len(stripped) <= _MOST_BLANK:
                self._waiting = stripped
        end = _END.search(self._waiting)
        if end is None and len(self._waiting) <= self._max_header:
            return False
        block = self._waiting[: end.end()] if end else self._waiting
        self._waiting = self._waiting[len(block) :]
        self._lines += block.splitlines(keepends=True) if end else [block]
        self._header_bytes += len(block)
        status = _STATUS.match(block)
        if status is None or self._header_bytes > self._max_header:
            self.complete = True  # the header as it stands says what is wrong
        elif not status[1].startswith(b"1") or status[1] == b"101":
            self._in_body = True
            self._frame(block, int(status[1]))
        return True

    def _frame(self, block: bytes, status: int) -> None:
        """Find the end of the body, as browsers do: an invalid length is none."""
        fields = [(name.lower(), value.strip().lower()) for name, value in _FIELD.findall(block)]
        lengths = {value for name, value in fields if name == b"content-length" and value.isdigit()}
        self._chunked = (b"transfer-encoding", b"chunked") in fields
        if status in (204, 304):
            self._left = 0
        elif len(lengths) > 1:
            self.fault = "two different lengths"
            self.complete = True
        elif lengths and not self._chunked:
            self._left = int(lengths.pop()[:18])

    def _read_body(self) -> bytes:
        if self._chunked:
            return self._read_chunks()
        body, self._waiting = self._waiting, b""
        if self._left is not None:
            body = body[: self._left]
            self._left -= len(body)
            self.complete = self.complete or self._left == 0
        return body

    def _read_chunks(self) -> bytes:
        body = b""
        while not self.complete:
            if self._left:
                part = self._waiting[: self._left]
                body, self._waiting, self._left = body + part, self._waiting[len(part) :], self._left - len(part)
                if self._left:
                    break
            size = _SIZE.match(self._waiting.lstrip(_BLANK))
            if size is None:
                break
            self._waiting = self._waiting.lstrip(_BLANK)[size.end() :]
            self._left = int(size[1], 16)
            self.complete = self._left == 0
        return body
