"""The pool of worker processes, seen from the crawl: captures go in one by one, travel in batches, and each comes back as an answer.

A worker may die of any page. Then the pages it had not answered are given out again, each alone, so that the guilty one is known by dying
once more, gets the reason, and no other page suffers.
"""

import asyncio
import collections
import logging
import mmap
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import cast

import msgspec

import windrow
from windrow.config import Config, ConfigError
from windrow.crawl.workers import wire
from windrow.crawl.workers.wire import Answer, Lost, Sketch
from windrow.data import Capture, Reason
from windrow.refine import Refined, Refiner

__all__ = ["Lost", "Pool", "Refined"]

log = logging.getLogger(__name__)

PROGRAM = (sys.executable, "-m", "windrow.crawl.workers.process")
_BATCH = 32  # captures in a frame
_BATCH_BYTES = 384 << 10  # of bodies in a frame, unless one alone is larger
_LINGER = 0.02  # seconds a capture waits for company: both sides wake, and warm their caches, once a frame (8 to 32 a frame: 60 µs a page)
_TICK = 1.0  # seconds between two looks at the clocks of the workers
_GRACE = 5.0  # seconds of wall time on top of three times the CPU time that a page may take
_STARTING = 60  # ticks a new worker has to become ready
_SPAWNS = 3  # workers in a row that may die before they are ready
_RECEIVE = 1 << 18  # bytes
_OUT_OF_MEMORY = 3  # exit code, see worker.py
# A parsed page is freed whole: without these, glibc gives its memory back to the kernel and faults it in again, 10 µs a page.
_MALLOC = {
    "MALLOC_TRIM_THRESHOLD_": str(16 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(4 << 20),
    "MALLOC_TOP_PAD_": str(1 << 20),
}


class _Job:
    """A capture on its way."""

    __slots__ = ("answer", "capture", "deaths", "probe", "sketch")

    def __init__(self, capture: Capture, sketch: str, probe: bool, answer: asyncio.Future[Answer]) -> None:
        self.capture = capture
        self.sketch = sketch
        self.probe = probe
        self.answer = answer
        self.deaths = 0  # of workers that had it

    def settle(self, answer: Answer) -> None:
        if not self.answer.done():  # who asked may have been cancelled
            self.answer.set_result(answer)


class _Worker:
    """One process and what it was given."""

    def __init__(self, config: bytes) -> None:
        self.ready = False
        self.jobs: collections.deque[_Job] = collections.deque()  # not yet answered
        self.alone = False  # it was given one page only
        self.silent = 0  # ticks since the last sign of life
        self.fault: Lost | None = None  # why we ended it, where we did
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

    def answer(self, place: int, size: int) -> bytes:
        """What lies in the shared memory; cut short, and so no answer, where it would lie elsewhere."""
        return self.shared[place : place + size] if self.shared is not None else b""

    def end(self) -> int:
        """Makes sure that it is dead and returns its exit code; one that died by itself keeps the code it died with."""
        self.socket.close()
        self.process.kill()
        if self.shared is not None:
            self.shared.close()
        return self.process.wait()


class Pool:
    """`refine` for many captures at once. With `workers.count = 0` it runs in this process, without protection."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._local = Refiner(config) if not config.workers.count else None
        self._workers: list[_Worker] = []
        self._waiting: collections.deque[_Job] = collections.deque()
        self._suspects: collections.deque[_Job] = collections.deque()
        self._failed_spawns = 0
        self._error: ConfigError | None = None  # no worker could be started; nothing will be read any more
        self._lingering: asyncio.TimerHandle | None = None
        self._clock: asyncio.Task[None] | None = None
        self._started: asyncio.Future[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Returns when every worker has said that it is ready."""
        if self._local is not None:
            return
        self._started = asyncio.get_running_loop().create_future()
        for _ in range(self._config.workers.count):
            self._spawn()
        self._clock = asyncio.create_task(self._watch())
        await self._started

    def refine(self, capture: Capture, sketch: str = "") -> asyncio.Future[Refined | Lost]:
        """To be awaited. The answer is Refined, or Lost for the page that its worker did not survive."""
        return cast("asyncio.Future[Refined | Lost]", self._submit(capture, sketch, False))

    async def sketch(self, capture: Capture) -> str:
        """Return the sketch of a soft-404 probe; "" if there is nothing to compare with, or its worker did not survive."""
        answer = await self._submit(capture, "", True)
        return answer.text if isinstance(answer, Sketch) else ""

    def _submit(self, capture: Capture, sketch: str, probe: bool) -> asyncio.Future[Answer]:
        job = _Job(capture, sketch, probe, asyncio.get_running_loop().create_future())
        if self._local is not None:
            job.settle(_read(self._local, capture, sketch, probe))
            return job.answer
        if self._error is not None:
            raise self._error
        self._waiting.append(job)
        if len(self._waiting) >= _BATCH:
            self._feed()
        elif self._lingering is None:
            self._lingering = asyncio.get_running_loop().call_later(_LINGER, self._feed)
        return job.answer

    async def close(self) -> None:
        """Ends the workers; what was not answered is cancelled."""
        self._closed = True
        if self._clock is not None:
            self._clock.cancel()
        if self._lingering is not None:
            self._lingering.cancel()
        loop = asyncio.get_running_loop()
        for worker in self._workers:
            loop.remove_reader(worker.socket)
            loop.remove_writer(worker.socket)
            worker.end()
            self._suspects.extend(worker.jobs)
        for job in (*self._suspects, *self._waiting):
            job.answer.cancel()
        self._workers.clear()

    def _spawn(self) -> None:
        if self._closed:
            return
        try:
            worker = _Worker(wire.encode(self._config))
        except OSError as error:  # no process or no memory to be had: perhaps in a moment
            asyncio.get_running_loop().call_later(_TICK, self._respawn, str(error))
            return
        self._workers.append(worker)
        asyncio.get_running_loop().add_reader(worker.socket, self._receive, worker)

    def _respawn(self, failure: str) -> None:
        """Another worker after one that could not be started, unless that is the rule."""
        self._failed_spawns += 1
        if self._failed_spawns <= _SPAWNS:
            self._spawn()
            return
        megabytes = self._config.workers.megabytes
        self._error = ConfigError(
            f"no worker could be started: {failure}; if it wants memory, raise workers.megabytes, which is {megabytes}"
        )
        waiting = [job.answer for job in (*self._suspects, *self._waiting)]
        for future in (*waiting, self._started):
            if future is not None and not future.done():
                future.set_exception(self._error)

    def _feed(self) -> None:
        """Gives work to the workers that have none."""
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        for worker in self._workers:
            if not (self._waiting or self._suspects):
                return
            if worker.ready and not worker.jobs:
                worker.jobs.extend([self._suspects.popleft()] if self._suspects else self._batch())
                worker.alone = len(worker.jobs) == 1
                self._send(worker)

    def _batch(self) -> list[_Job]:
        batch: list[_Job] = []
        size = 0
        while self._waiting and len(batch) < _BATCH:
            size += len(self._waiting[0].capture.body)
            if batch and size > _BATCH_BYTES:
                break
            batch.append(self._waiting.popleft())
        return batch

    def _send(self, worker: _Worker) -> None:
        pieces = wire.sent([(job.capture, job.sketch, job.probe) for job in worker.jobs], worker.shared)
        worker.silent = 0
        try:
            sent = worker.socket.sendmsg(pieces)
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # it is dead; reading will tell
        if sent < sum(map(len, pieces)):
            worker.unsent = memoryview(b"".join(pieces))[sent:]
            asyncio.get_running_loop().add_writer(worker.socket, self._send_rest, worker)

    def _send_rest(self, worker: _Worker) -> None:
        try:
            worker.unsent = worker.unsent[worker.socket.send(worker.unsent) :]
        except BlockingIOError:
            return
        except OSError:
            worker.unsent = memoryview(b"")
        if not worker.unsent:
            asyncio.get_running_loop().remove_writer(worker.socket)

    def _receive(self, worker: _Worker) -> None:
        try:
            data = worker.socket.recv(_RECEIVE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._bury(worker)
        elif not self._take(worker, data):
            worker.fault = Lost(Reason.PARSE_CRASH, "the worker's answer made no sense")
            self._bury(worker)
        elif not worker.jobs and (self._suspects or (self._waiting and self._lingering is None)):
            self._feed()

    def _take(self, worker: _Worker, data: bytes) -> bool:
        """Settles what was answered; False where the answer makes no sense."""
        unread = worker.unread
        unread += data
        while len(unread) >= wire.LENGTHS.size:
            size, place = wire.LENGTHS.unpack_from(unread)
            end = wire.LENGTHS.size + (0 if place else size)
            if end > wire.LARGEST:
                return False
            if len(unread) < end:
                break
            # Shared memory is copied before it is read: who still writes there changes nothing that was checked.
            plain = bytes(unread[wire.LENGTHS.size : end]) if not place else worker.answer(place, size)
            try:
                answers = wire.answers(plain)
            except msgspec.DecodeError:
                return False
            del unread[:end]
            if not self._settle(worker, answers):
                return False
        return True

    def _settle(self, worker: _Worker, answers: list[Answer]) -> bool:
        if len(answers) > len(worker.jobs):
            return False
        if any(isinstance(answer, Refined if job.probe else Sketch) for answer, job in zip(answers, worker.jobs)):  # noqa: B905
            return False  # an answer of the wrong kind
        if not worker.ready:
            worker.ready = True
            self._failed_spawns = 0
            if self._started is not None and not self._started.done() and all(one.ready for one in self._workers):
                self._started.set_result(None)
            self._feed()
        for answer in answers:
            worker.jobs.popleft().settle(answer)
        worker.silent = 0
        return True

    def _bury(self, worker: _Worker) -> None:
        """A worker is dead, or as good as: its pages are given out again, and another takes its place."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(worker.socket)
        loop.remove_writer(worker.socket)
        self._workers.remove(worker)
        code = worker.end()
        lost = worker.fault or _verdict(code)
        log.info("worker %d lost: %s", worker.process.pid, lost.detail)
        for job in worker.jobs:
            job.deaths += 1
            if worker.alone and (job.deaths > 1 or lost.reason is Reason.PARSE_TIMEOUT):
                job.settle(lost)
            else:
                self._suspects.append(job)
        if worker.ready:
            self._spawn()
        else:
            self._respawn(lost.detail)

    async def _watch(self) -> None:
        """A worker that gives no sign of life for too long is ended, and reading notices. Its own limit, on CPU time, comes long before.

        Ticks are counted and not time: when all of us were stopped for an hour, nobody is late.
        """
        patience = (3 * self._config.workers.seconds + _GRACE) / _TICK
        while True:
            await asyncio.sleep(_TICK)
            for worker in self._workers:
                worker.silent += 1
                if worker.silent > (patience if worker.ready else _STARTING) and (worker.jobs or not worker.ready):
                    worker.fault = Lost(Reason.PARSE_TIMEOUT, "no answer in time")
                    worker.process.kill()


def _start(fds: list[int]) -> subprocess.Popen[bytes]:
    """A process that runs the same windrow and has the signals meant for the crawl blocked from birth: Ctrl-C goes to the whole group."""
    path = os.pathsep.join(filter(None, [str(Path(windrow.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        return subprocess.Popen(
            [*PROGRAM, str(os.getpid()), *map(str, fds)],
            stdin=subprocess.DEVNULL,
            pass_fds=fds,
            env={**os.environ, **_MALLOC, "PYTHONPATH": path},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _verdict(code: int) -> Lost:
    """What a worker died of. Killed by another hand than ours means, as a rule, by the kernel for want of memory."""
    if code == -signal.SIGPROF:
        return Lost(Reason.PARSE_TIMEOUT, "more CPU time than workers.seconds")
    if code in (_OUT_OF_MEMORY, -signal.SIGKILL):
        return Lost(
            Reason.PARSE_MEMORY,
            "more memory than workers.megabytes" if code > 0 else "killed, probably for want of memory",
        )
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"exit code {code}"
    return Lost(Reason.PARSE_CRASH, f"the worker died: {name}")


def _read(refiner: Refiner, capture: Capture, sketch: str, probe: bool) -> Answer:
    try:
        return Sketch(refiner.sketch(capture)) if probe else refiner(capture, sketch)
    except MemoryError:
        return Lost(Reason.PARSE_MEMORY, "out of memory")
    except Exception as error:  # as in worker.py
        return Lost(Reason.PARSE_CRASH, f"{type(error).__name__}: {error}"[:500])
