"""The program of a worker process: captures in, answers out, until the crawl closes its end or is gone.

A worker does not defend itself. It sets limits that the kernel enforces, on its memory and on the CPU time per page,
and dies if a page reaches one. The crawl notices, finds the page and starts another worker (crawler/workers/pool.py).
The limits are those of the options; the reader of a page may lower them for that page.
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

from windrow import plugins
from windrow.config import Config, ConfigError
from windrow.crawler.workers import wire
from windrow.extraction.readers import Reader
from windrow.records import Reason
from windrow.refine import Refiner

OUT_OF_MEMORY = 3  # exit code
_BUFFER = 1 << 18  # bytes kept between frames; a larger frame gets its own buffer
_PATIENCE = 0.1  # seconds after which answers are sent before the frame is done: a slow page delays no other page
_DETAIL = 500  # characters of an error
_PR_SET_PDEATHSIG = 1


class _Channel:
    """Frames from a socket. The buffer is kept: new memory costs a page fault per 4 KiB."""

    def __init__(self, sock: socket.socket, shared: memoryview) -> None:
        self._sock = sock
        self._shared = shared
        self._end = wire.CAPTURES  # end of the answers put into shared memory since the last frame
        self._buffer = memoryview(bytearray(_BUFFER))

    def receive(self) -> tuple[memoryview, memoryview] | None:
        """Return plain values and data; None if the other side has closed. The next frame overwrites both."""
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
    """Answer until the other side closes. The first frame is the configuration.

    An empty first answer says "ready". One `Lost` instead says why this worker, and any other, cannot start.
    """
    channel = _Channel(sock, shared)
    first = channel.receive()
    if first is None:
        return
    config = msgspec.msgpack.decode(first[0], type=Config)
    try:
        refiner = Refiner(config)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # the user's own code may raise anything; a ConfigError names itself
        return channel.send([wire.Lost(Reason.PARSE_CRASH, _one_line(error))])
    limits = _Limits(config.workers.seconds, config.workers.megabytes + _mapped(config.focus.model))
    gc.collect()
    gc.freeze()
    channel.send([])
    while (frame := channel.receive()) is not None:
        _answer(channel, wire.received(*frame), refiner, limits)


class _Limits:
    """The limits that the kernel enforces: CPU seconds per page, and MiB of address space."""

    def __init__(self, seconds: float, megabytes: int) -> None:
        self._seconds, self._bytes = seconds, megabytes << 20
        self._lowered = False
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # kills the process wherever it is, in C code too
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (self._bytes, self._bytes))

    def begin(self, reader: Reader) -> None:
        """Begin a page: give it the CPU time and the memory that its reader allows."""
        signal.setitimer(signal.ITIMER_PROF, min(reader.seconds or self._seconds, self._seconds))
        if reader.megabytes or self._lowered:
            most = _address_space() + (reader.megabytes << 20) if reader.megabytes else self._bytes
            resource.setrlimit(resource.RLIMIT_AS, (min(most, self._bytes), self._bytes))
            self._lowered = reader.megabytes > 0

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _answer(channel: _Channel, requests: list[wire.ReadRequest], refiner: Refiner, limits: _Limits) -> None:
    answers: list[wire.Answer] = []
    sent = time.monotonic()
    for request in requests:
        reader = refiner.reader(request.capture)
        limits.begin(reader)
        answers.append(_read(request, refiner, reader))
        if (now := time.monotonic()) - sent > _PATIENCE:
            channel.send(answers)
            answers, sent = [], now
    limits.end()
    if answers:
        channel.send(answers)


def _read(request: wire.ReadRequest, refiner: Refiner, reader: Reader) -> wire.Answer:
    try:
        if request.probe:
            return wire.Sketched(refiner.sketch(request.capture))
        return refiner(request.capture, request.sketch, reader)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:  # of ours, of a library, or of the user's code: the pool decides
        return wire.Lost(Reason.PARSE_CRASH, f"{type(error).__name__}: {error}"[:_DETAIL], plugins.fault(error))


def _one_line(error: BaseException) -> str:
    name = "" if isinstance(error, ConfigError) else f"{type(error).__name__}: "
    return " ".join(f"{name}{error}".split())[:_DETAIL]


def _address_space() -> int:
    """Return the bytes of address space in use; 0 where Linux does not say it: then a reader's limit is the whole."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _mapped(model: str) -> int:
    """Return the MiB of a topic's model. All workers map the same file, which is in memory once."""
    try:
        return -(-os.path.getsize(model) >> 20) if model else 0
    except OSError:
        return 0  # reading it says what is wrong


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when the crawl ends. Only Linux can; elsewhere the closed socket ends it."""
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
    os._exit(0)  # skip the clean-up of the interpreter: there is nothing to save


if __name__ == "__main__":
    main()
