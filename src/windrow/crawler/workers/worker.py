"""One worker process, seen from the crawl: its socket, its shared memory, the captures that it has not answered."""

import asyncio
import collections
import mmap
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import windrow
from windrow.crawler.workers import wire
from windrow.crawler.workers.wire import Answer, Lost, ReadRequest
from windrow.records import Reason

PROGRAM = (sys.executable, "-m", "windrow.crawler.workers.process")
_OUT_OF_MEMORY = 3  # exit code, see process.py
# A parsed page is freed as a whole. Without these settings glibc returns the memory to the kernel and faults it in
# again: 10 µs per page.
_MALLOC = {
    "MALLOC_TRIM_THRESHOLD_": str(16 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(4 << 20),
    "MALLOC_TOP_PAD_": str(1 << 20),
}


class Job:
    """A capture on its way to an answer."""

    __slots__ = ("answer", "deaths", "request")

    def __init__(self, request: ReadRequest, answer: "asyncio.Future[Answer]") -> None:
        self.request = request
        self.answer = answer
        self.deaths = 0  # of workers that had it

    def finish(self, answer: Answer) -> None:
        if not self.answer.done():  # done: the caller was cancelled
            self.answer.set_result(answer)

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class Worker:
    """One process and the jobs it was given."""

    def __init__(self, config: bytes) -> None:
        self.ready = False
        self.jobs: collections.deque[Job] = collections.deque()  # not yet answered
        self.alone = False  # it was given one page only
        self.silent = 0  # ticks since its last answer
        self.fault: Lost | None = None  # why the crawl killed it, if it did
        self.unread = bytearray()
        self.unsent = memoryview(b"")
        self.socket, theirs = socket.socketpair()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.socket.sendall(wire.LENGTHS.pack(len(config), 0) + config)
        self.socket.setblocking(False)
        shared = os.memfd_create("windrow") if hasattr(os, "memfd_create") else -1
        self.shared: mmap.mmap | None = None
        if shared >= 0:
            os.ftruncate(shared, wire.CAPTURES + wire.ANSWERS)
            self.shared = mmap.mmap(shared, wire.CAPTURES + wire.ANSWERS)
        try:
            self.process = _start([fd for fd in (theirs.fileno(), shared) if fd >= 0])
        except OSError:
            self.socket.close()
            raise
        finally:
            theirs.close()
            if shared >= 0:
                os.close(shared)

    def answer(self, start: int, size: int) -> bytes:
        """Return an answer from the shared memory. One that names another place is cut short, and so not valid."""
        return self.shared[start : start + size] if self.shared is not None else b""

    def end(self) -> int:
        """Make sure that the process is dead and return its exit code. If it died before, that code is kept."""
        self.socket.close()
        self.process.kill()
        if self.shared is not None:
            self.shared.close()
        return self.process.wait()


def _start(fds: list[int]) -> subprocess.Popen[bytes]:
    """Start a process of the same Windrow, with the crawl's signals blocked: Ctrl-C reaches the whole group."""
    path = os.pathsep.join(filter(None, [str(Path(windrow.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        return subprocess.Popen(
            [*PROGRAM, str(os.getpid()), *map(str, fds)],
            stdin=subprocess.DEVNULL,
            stdout=2,  # what code of the user prints must not be mixed with what the crawl prints for programs
            pass_fds=fds,
            env={**os.environ, **_MALLOC, "PYTHONPATH": path},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def cause_of_death(code: int) -> Lost:
    """Return why a worker died. A kill that did not come from the crawl is usually the kernel's, for lack of memory."""
    if code == -signal.SIGPROF:
        return Lost(Reason.PARSE_TIMEOUT, "more CPU time than workers.seconds, or its reader, allows")
    if code == _OUT_OF_MEMORY:
        return Lost(Reason.PARSE_MEMORY, "more memory than workers.megabytes, or its reader, allows")
    if code == -signal.SIGKILL:
        return Lost(Reason.PARSE_MEMORY, "killed, probably for lack of memory")
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"exit code {code}"
    return Lost(Reason.PARSE_CRASH, f"the worker died: {name}")
