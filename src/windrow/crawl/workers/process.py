"""What runs in a worker process: captures in, answers out, until the crawl closes its end or is gone.

A worker defends nothing. It takes limits upon itself that the kernel enforces, on its memory and on the CPU time of each page, and dies
of them; the crawl notices, finds the page that did it and starts another worker (crawl/workers.py).
"""

import ctypes
import gc
import mmap
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Sequence

import msgspec

from windrow.config import Config
from windrow.crawl.workers import wire
from windrow.data import Capture, Reason
from windrow.refine import Refiner

OUT_OF_MEMORY = 3  # exit code
_BUFFER = 1 << 18  # bytes kept between frames; a larger frame gets its own
_PATIENCE = 0.1  # seconds after which answers are sent though the frame is not done: a slow page keeps no other waiting
_PR_SET_PDEATHSIG = 1


class _Channel:
    """Frames from a socket. The buffer is kept: fresh memory costs a page fault every 4 KiB."""

    def __init__(self, sock: socket.socket, shared: memoryview) -> None:
        self._sock = sock
        self._shared = shared
        self._end = wire.CAPTURES  # of the answers in shared memory that were sent since the last frame
        self._buffer = memoryview(bytearray(_BUFFER))

    def receive(self) -> tuple[memoryview, memoryview] | None:
        """Plain values and data; None where the other side has closed. Both are overwritten by the next frame."""
        lengths = self._exactly(wire.LENGTHS.size)
        if lengths is None:
            return None
        plain, data = wire.LENGTHS.unpack(lengths)
        self._end = wire.CAPTURES
        frame = self._exactly(plain + data)
        return None if frame is None else (frame[:plain], frame[plain:] if data else self._shared)

    def _exactly(self, size: int) -> memoryview | None:
        view = self._buffer[:size] if size <= _BUFFER else memoryview(bytearray(size))
        got = 0
        while got < size:
            more = self._sock.recv_into(view[got:], size - got, socket.MSG_WAITALL)
            if not more:
                return None
            got += more
        return view

    def send(self, answers: Sequence[wire.Answer]) -> None:
        frame = wire.answered(answers, self._shared, self._end)
        self._sock.sendall(frame)
        if len(frame) == wire.LENGTHS.size:
            self._end += wire.LENGTHS.unpack(frame)[0]


def serve(sock: socket.socket, shared: memoryview) -> None:
    """Until the other side closes. The first frame is the configuration, the first answer an empty list: ready."""
    channel = _Channel(sock, shared)
    first = channel.receive()
    if first is None:
        return
    config = msgspec.msgpack.decode(first[0], type=Config)
    refiner = Refiner(config)
    _confine(config.workers.megabytes)
    gc.collect()
    gc.freeze()
    channel.send([])
    while (frame := channel.receive()) is not None:
        _answer(channel, wire.received(*frame), refiner, config.workers.seconds)


def _answer(channel: _Channel, jobs: list[wire.Job], refiner: Refiner, seconds: float) -> None:
    answers: list[wire.Answer] = []
    sent = time.monotonic()
    for capture, sketch, probe in jobs:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answers.append(_read(capture, sketch, probe, refiner))
        if (now := time.monotonic()) - sent > _PATIENCE:
            channel.send(answers)
            answers, sent = [], now
    signal.setitimer(signal.ITIMER_PROF, 0)
    if answers:
        channel.send(answers)


def _read(capture: Capture, sketch: str, probe: bool, refiner: Refiner) -> wire.Answer:
    try:
        return wire.Sketch(refiner.sketch(capture)) if probe else refiner(capture, sketch)
    except MemoryError:
        raise
    except (
        Exception
    ) as error:  # a bug of ours or of a library, on this page: the page gets the reason, the crawl goes on
        return wire.Lost(Reason.PARSE_CRASH, f"{type(error).__name__}: {error}"[:500])


def _confine(megabytes: int) -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends us wherever we are, in C too
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def _die_with(parent: int) -> None:
    """On Linux we are killed when the thread that started us ends, which is the crawl's; elsewhere the closed socket has to do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def main() -> None:
    parent, sock, *shared = map(int, sys.argv[1:])
    _die_with(parent)
    try:
        serve(socket.socket(fileno=sock), memoryview(mmap.mmap(shared[0], 0) if shared else b""))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the crawl is gone
    os._exit(0)  # nothing here needs an orderly end


if __name__ == "__main__":
    main()
