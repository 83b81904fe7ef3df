"""What passes between the crawl and a worker: frames of a length, plain values in msgpack, and the bytes of captures.

The bytes of captures, and the answers, go through memory that both sides share if they fit: one or two copies,
instead of 50 µs per page to send 20 kB through a socket. A worker gets a frame only when it has answered the last
one, so one area of memory is enough: captures at its start, answers one after another behind them.

Never pickle: a process that parsed hostile input must not decide what code runs. Decoding is typed: an answer is a
record or an error.
"""

import mmap
import struct
from collections.abc import Sequence

import msgspec

from windrow.plugins import PluginFault
from windrow.records import Capture, Reason, Task, Url
from windrow.refine import Refined


class Lost(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """A page that no worker could read."""

    reason: Reason  # PARSE_TIMEOUT, PARSE_MEMORY or PARSE_CRASH
    detail: str  # one line
    fault: PluginFault | None = None  # an error of the user's own code


class Sketched(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """The sketch of the response to a soft-404 probe."""

    sketch: str  # "": the response has no text


class ReadRequest(msgspec.Struct, frozen=True):
    """A capture to be read."""

    capture: Capture
    sketch: str = ""  # of the page that its origin sends instead of "not found", if it is known
    probe: bool = False  # this is the response to a soft-404 probe: only its sketch is wanted


Answer = Refined | Lost | Sketched

# Lengths of the plain values and of the bytes behind them; for answers: their length and their place in shared memory.
LENGTHS = struct.Struct("<II")
CAPTURES = 512 << 10  # bytes of shared memory for captures
ANSWERS = 1 << 20  # bytes of shared memory for answers; larger ones go through the socket
LARGEST = 1 << 28  # bytes of a frame; a larger one can only be an error of the sender


class _Sent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    text: str
    host: str
    domain: str
    key: int
    encoded: bool
    time: float
    sketch: str
    probe: bool
    head: int  # bytes
    body: int  # bytes


_captures = msgspec.msgpack.Decoder(list[_Sent])
_answers = msgspec.msgpack.Decoder(list[Answer])
encode = msgspec.msgpack.Encoder().encode


def sent(requests: Sequence[ReadRequest], shared: mmap.mmap | None = None) -> list[bytes]:
    """Return a frame of captures, in pieces, with what reading needs. The bytes go into `shared` if they fit."""
    pieces, plain = [b""], []
    for request in requests:
        capture = request.capture
        url = capture.task.url
        plain.append(
            _Sent(
                text=url.text,
                host=url.host,
                domain=url.domain,
                key=url.key,
                encoded=capture.encoded,
                time=capture.time,
                sketch=request.sketch,
                probe=request.probe,
                head=len(capture.head),
                body=len(capture.body),
            )
        )
        pieces += (capture.head, capture.body)
    header = encode(plain)
    size = sum(map(len, pieces))
    if shared is not None and size <= CAPTURES:
        at = 0
        for piece in pieces:
            shared[at : at + len(piece)] = piece
            at += len(piece)
        return [LENGTHS.pack(len(header), 0) + header]
    pieces[0] = LENGTHS.pack(len(header), size) + header
    return pieces


def received(plain: memoryview, data: memoryview) -> list[ReadRequest]:
    """Return the captures of a frame. `data` is that of the frame, or the shared memory."""
    requests, at = [], 0
    for row in _captures.decode(plain):
        task = Task(Url(row.text, row.host, row.domain, row.key))
        middle, end = at + row.head, at + row.head + row.body
        capture = Capture(
            task=task,
            status=200,
            request=b"",
            head=bytes(data[at:middle]),
            body=bytes(data[middle:end]),
            time=row.time,
            seconds=0.0,
            ip="",
            protocol="",
            encoded=row.encoded,
        )
        requests.append(ReadRequest(capture, row.sketch, row.probe))
        at = end
    return requests


def answered(answers: Sequence[Answer], shared: memoryview, at: int) -> bytes:
    """Return what goes through the socket: all answers, or their place in `shared` if there is room from `at` on."""
    plain = encode(answers)
    if at + len(plain) > len(shared):
        return LENGTHS.pack(len(plain), 0) + plain
    shared[at : at + len(plain)] = plain
    return LENGTHS.pack(len(plain), at)


def answers(plain: bytes) -> list[Answer]:
    """Return the answers; raises msgspec.DecodeError if they are not valid."""
    return _answers.decode(plain)
