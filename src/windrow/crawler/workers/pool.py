"""The pool of worker processes: captures come in one by one, travel in batches, and each gets an answer.

A worker may die of any page. Its unanswered pages are then given out again, each alone. The page that kills a worker
again gets the reason; no other page suffers.
"""

import asyncio
import collections
import logging
from typing import cast

import msgspec

from windrow.config import Config, ConfigError
from windrow.crawler.workers import wire
from windrow.crawler.workers.faults import Faults
from windrow.crawler.workers.wire import Answer, Lost, ReadRequest, Sketched
from windrow.crawler.workers.worker import Job, Worker, cause_of_death
from windrow.records import Capture, Reason
from windrow.refine import Refined

log = logging.getLogger(__name__)

_BATCH = 32  # captures in a frame
_BATCH_BYTES = 384 << 10  # of bodies in a frame, unless one alone is larger
_LINGER = 0.02  # seconds a capture waits for others: waking both sides once per frame of 8 to 32 saves 60 µs per page
_TICK = 1.0  # seconds between two checks of the workers
_GRACE = 5.0  # seconds of wall time on top of three times the CPU time that a page may take
_STARTING = 60  # ticks that a new worker has to become ready
_SPAWNS = 3  # workers in a row that may die before they are ready
_RECEIVE = 1 << 18  # bytes


class Pool:
    """Reads captures in as many processes as `workers.count` says."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._workers: list[Worker] = []
        self._waiting: collections.deque[Job] = collections.deque()
        self._suspects: collections.deque[Job] = collections.deque()  # their worker died: each is read alone
        self._failed_spawns = 0
        self._error: ConfigError | None = None  # why nothing can be read: no worker starts, or own code is broken
        self.faults = Faults(config, self._fail)
        self._lingering: asyncio.TimerHandle | None = None
        self._clock: asyncio.Task[None] | None = None
        self._started: asyncio.Future[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Start the workers and return when every one is ready."""
        self._started = asyncio.get_running_loop().create_future()
        for _ in range(self._config.workers.count):
            self._spawn()
        self._clock = asyncio.create_task(self._watch())
        await self._started

    def states(self) -> dict[str, int]:
        """Return how many workers are starting, idle and busy."""
        ready = [worker for worker in self._workers if worker.ready]
        busy = sum(1 for worker in ready if worker.jobs)
        return {"starting": len(self._workers) - len(ready), "idle": len(ready) - busy, "busy": busy}

    def refine(self, capture: Capture, sketch: str = "") -> "asyncio.Future[Refined | Lost]":
        """Read a page; Lost if its worker did not survive it. `sketch` is that of its origin's "not found" page."""
        # `_finish` checks that the answer is of this kind.
        return cast("asyncio.Future[Refined | Lost]", self._read(ReadRequest(capture, sketch)))

    async def sketch(self, capture: Capture) -> str:
        """Return the sketch of the response to a soft-404 probe; "" if it has no text, or if no worker survived it."""
        answer = await self._read(ReadRequest(capture, probe=True))
        return answer.sketch if isinstance(answer, Sketched) else ""

    def _read(self, request: ReadRequest) -> asyncio.Future[Answer]:
        job = Job(request, asyncio.get_running_loop().create_future())
        if self._error is not None:
            raise self._error
        self._waiting.append(job)
        if len(self._waiting) >= _BATCH:
            self._feed()
        elif self._lingering is None:
            self._lingering = asyncio.get_running_loop().call_later(_LINGER, self._feed)
        return job.answer

    async def close(self) -> None:
        """End the workers and cancel the jobs that were not answered."""
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
            worker = Worker(wire.encode(self._config))
        except OSError as error:  # out of processes or memory: try again in a moment
            asyncio.get_running_loop().call_later(_TICK, self._respawn, Lost(Reason.PARSE_CRASH, str(error)))
            return
        self._workers.append(worker)
        asyncio.get_running_loop().add_reader(worker.socket, self._receive, worker)

    def _respawn(self, failure: Lost) -> None:
        """Start another worker after one that failed to start; give up after several in a row."""
        self._failed_spawns += 1
        if self._failed_spawns <= _SPAWNS:
            self._spawn()
            return
        given = self._config.workers.megabytes
        fix = f"; raise workers.megabytes (now {given}), or lower workers.count if the machine has no more memory"
        memory = failure.reason is Reason.PARSE_MEMORY
        self._fail(ConfigError(f"no worker could be started: {failure.detail}{fix if memory else ''}"))

    def _fail(self, error: ConfigError) -> None:
        """Read no more: nobody gets an answer."""
        self._error = error
        given = [job for worker in self._workers for job in worker.jobs]
        for job in (*given, *self._suspects, *self._waiting):
            job.fail(error)
        if self._started is not None and not self._started.done():
            self._started.set_exception(error)

    def _feed(self) -> None:
        """Give work to the workers that have none."""
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

    def _batch(self) -> list[Job]:
        batch: list[Job] = []
        size = 0
        while self._waiting and len(batch) < _BATCH:
            size += len(self._waiting[0].request.capture.body)
            if batch and size > _BATCH_BYTES:
                break
            batch.append(self._waiting.popleft())
        return batch

    def _send(self, worker: Worker) -> None:
        pieces = wire.sent([job.request for job in worker.jobs], worker.shared)
        worker.silent = 0
        try:
            sent = worker.socket.sendmsg(pieces)
        except BlockingIOError:
            sent = 0
        except OSError:
            return  # it is dead; reading will notice
        if sent < sum(map(len, pieces)):
            worker.unsent = memoryview(b"".join(pieces))[sent:]
            asyncio.get_running_loop().add_writer(worker.socket, self._send_rest, worker)

    def _send_rest(self, worker: Worker) -> None:
        try:
            worker.unsent = worker.unsent[worker.socket.send(worker.unsent) :]
        except BlockingIOError:
            return
        except OSError:
            worker.unsent = memoryview(b"")
        if not worker.unsent:
            asyncio.get_running_loop().remove_writer(worker.socket)

    def _receive(self, worker: Worker) -> None:
        try:
            data = worker.socket.recv(_RECEIVE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._bury(worker)
        elif not self._take(worker, data):
            worker.fault = worker.fault or Lost(Reason.PARSE_CRASH, "the worker sent an invalid answer")
            self._bury(worker)
        elif not worker.jobs and (self._suspects or (self._waiting and self._lingering is None)):
            self._feed()

    def _take(self, worker: Worker, data: bytes) -> bool:
        """Take in what a worker sent; return False if it is not valid."""
        unread = worker.unread
        unread += data
        while len(unread) >= wire.LENGTHS.size:
            size, start = wire.LENGTHS.unpack_from(unread)
            end = wire.LENGTHS.size + (0 if start else size)
            if end > wire.LARGEST:
                return False
            if len(unread) < end:
                break
            # Copy shared memory before decoding: the worker could still write to it after the check.
            plain = bytes(unread[wire.LENGTHS.size : end]) if not start else worker.answer(start, size)
            try:
                answers = wire.answers(plain)
            except msgspec.DecodeError:
                return False
            del unread[:end]
            if not self._finish(worker, answers):
                return False
        return True

    def _finish(self, worker: Worker, answers: list[Answer]) -> bool:
        """Give the answers to the oldest jobs of a worker; return False if they do not fit these jobs."""
        if len(answers) > len(worker.jobs):
            if not worker.ready and isinstance(answers[0], Lost):
                worker.fault = answers[0]  # it says why it cannot start
            return False
        for job, answer in zip(worker.jobs, answers, strict=False):  # the last jobs may still be unanswered
            if isinstance(answer, Refined if job.request.probe else Sketched):
                return False
        if not worker.ready:
            worker.ready = True
            self._failed_spawns = 0
            if self._started is not None and not self._started.done() and all(worker.ready for worker in self._workers):
                self._started.set_result(None)
            self._feed()
        for answer in answers:
            self._answer(worker.jobs.popleft(), answer)
        worker.silent = 0
        return True

    def _answer(self, job: Job, answer: Answer) -> None:
        if isinstance(answer, Lost):
            return self.faults.failed(job, answer)
        job.finish(answer)
        if isinstance(answer, Refined):
            self.faults.passed()

    def _bury(self, worker: Worker) -> None:
        """Replace a worker that is dead or must die, and give its unanswered pages out again."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(worker.socket)
        loop.remove_writer(worker.socket)
        self._workers.remove(worker)
        code = worker.end()
        lost = worker.fault or cause_of_death(code)
        log.info("worker %d lost: %s", worker.process.pid, lost.detail)
        for job in worker.jobs:
            job.deaths += 1
            if worker.alone and (job.deaths > 1 or lost.reason is Reason.PARSE_TIMEOUT):
                self.faults.died(job, lost)
            else:
                self._suspects.append(job)
        if worker.ready:
            self._spawn()
        else:
            self._respawn(lost)

    async def _watch(self) -> None:
        """Kill a worker that has not answered for too long. Its own limit on CPU time comes long before.

        This counts ticks and not time: after a suspended hour no worker is late.
        """
        patience = (3 * self._config.workers.seconds + _GRACE) / _TICK
        while True:
            await asyncio.sleep(_TICK)
            for worker in self._workers:
                worker.silent += 1
                if worker.silent > (patience if worker.ready else _STARTING) and (worker.jobs or not worker.ready):
                    worker.fault = Lost(Reason.PARSE_TIMEOUT, "no answer in time")
                    worker.process.kill()
