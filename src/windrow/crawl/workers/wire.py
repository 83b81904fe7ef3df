"""What passes between the crawl and a worker, in frames: a length, plain values in msgpack, and for captures their bytes as they are.

The bytes of captures and the answers go through memory that both share, where they fit: one copy or two, against 50 µs a page
for the way of 20 kB through a socket. A worker gets a frame only when it has answered the last, so one stretch of memory is enough:
captures at its beginning, answers one after the other behind them.

Never pickle: what has parsed hostile input is not trusted to say what is to be run. Decoding is typed: an answer is a record or an error.
"""

import mmap
import struct
from collections.abc import Sequence

import msgspec

from windrow.data import Capture, Reason, Task, Url
from windrow.refine import Refined


class Lost(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """A page that no worker could read."""

    reason: Reason  # PARSE_TIMEOUT, PARSE_MEMORY or PARSE_CRASH
    detail: str  # one line


class Sketch(msgspec.Struct, frozen=True, array_like=True, tag=2, forbid_unknown_fields=True):
    """The answer for a soft-404 probe."""

    text: str  # "" if there is nothing to compare with


Answer = Refined | Lost | Sketch

LENGTHS = struct.Struct(
    "<II"
)  # of the plain values, of the bytes behind them; of answers: how long they are, where in shared memory
CAPTURES = 512 << 10  # bytes of shared memory for captures,
ANSWERS = 1 << 20  # and for answers; what does not fit goes through the socket
LARGEST = 1 << 28  # bytes of a frame; more is a sign that the sender has gone mad


class _Sent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    text: str
    host: str
    domain: str
    key: int
    encoded: bool
    time: float
    sketch: str  # soft-404 sketch of its origin, see judge/soft404.py; "": none is known
    probe: bool  # a soft-404 probe: a sketch of it is wanted
    head: int  # bytes
    body: int  # bytes


_captures = msgspec.msgpack.Decoder(list[_Sent])
_answers = msgspec.msgpack.Decoder(list[Answer])
encode = msgspec.msgpack.Encoder().encode


Job = tuple[Capture, str, bool]  # a capture, the soft-404 sketch of its origin, and whether it is a soft-404 probe


def sent(jobs: Sequence[Job], shared: mmap.mmap | None = None) -> list[bytes]:
    """Return a frame of captures in pieces: of each only the fields that reading it needs. The bytes are put into `shared` if they fit."""
    pieces, plain = [b""], []
    for capture, sketch, probe in jobs:
        url = capture.task.url
        sizes = len(capture.head), len(capture.body)
        plain.append(
            _Sent(url.text, url.host, url.domain, url.key, capture.encoded, capture.time, sketch, probe, *sizes)
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


def received(plain: memoryview, data: memoryview) -> list[Job]:
    """Return the captures of a frame, with only the fields that were sent. `data` is the frame's, or the shared memory."""
    jobs, at = [], 0
    for one in _captures.decode(plain):
        task = Task(Url(one.text, one.host, one.domain, one.key))
        middle, end = at + one.head, at + one.head + one.body
        head, body = bytes(data[at:middle]), bytes(data[middle:end])
        capture = Capture(task, 200, b"", head, body, one.time, 0.0, "", "", encoded=one.encoded)
        jobs.append((capture, one.sketch, one.probe))
        at = end
    return jobs


def answered(answers: Sequence[Answer], shared: memoryview, at: int) -> bytes:
    """What goes through the socket: all of the answers, or where they lie in `shared`, if there is room for them from `at` on."""
    plain = encode(answers)
    if at + len(plain) > len(shared):
        return LENGTHS.pack(len(plain), 0) + plain
    shared[at : at + len(plain)] = plain
    return LENGTHS.pack(len(plain), at)


def answers(plain: bytes) -> list[Answer]:
    """Raises msgspec.DecodeError where it is not a list of answers."""
    return _answers.decode(plain)
