"""The worker processes of the local engine, seen from the engine. A worker that dies costs the source it had."""

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing import connection
from typing import NamedTuple

import msgspec

from windrow.jobs.engine import worker
from windrow.jobs.engine.worker import WorkerAnswer

# Workers are forked by a server process that has imported pyarrow and has no threads: a fork of this process would
# inherit the locks of DuckDB's threads. A worker costs 0.15 s of CPU time to start, a new interpreter 0.4 s. The server
# does not know our sys.path, so it imports no module of our own.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["pyarrow.parquet"])


Work = Callable[[str, str], WorkerAnswer]


class _Hand(NamedTuple):
    """One worker process."""

    process: "multiprocessing.process.BaseProcess"
    line: "connection.Connection[bytes, bytes]"


class ProcessRunner:
    """See `Runner`."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def run(
        self, tasks: Sequence[tuple[str, str]], work: Work, beat: Callable[[int], None]
    ) -> Generator[tuple[str, WorkerAnswer]]:
        return _run(tasks, work, self._workers)

    def ship(self, module: str) -> str:
        return module  # the workers see the same files

    def close(self) -> None:
        """No worker outlives `run`."""


def _run(tasks: Sequence[tuple[str, str]], work: Work, workers: int) -> Generator[tuple[str, WorkerAnswer]]:
    """Yield each answer as its task ends."""
    waiting = iter(tasks)
    busy: dict[_Hand, str] = {}
    try:
        for task in _some(waiting, workers):
            hand = _start(work)
            busy[hand] = task[0]
            _send(hand, task)
        while busy:
            ready = connection.wait([hand.line for hand in busy])
            for hand in [hand for hand in busy if hand.line in ready]:
                name = busy.pop(hand)
                answer = _receive(hand)
                for task in _some(waiting, 1):
                    hand = hand if hand.process.is_alive() else _start(work)
                    busy[hand] = task[0]
                    _send(hand, task)
                if hand not in busy:
                    _end(hand)
                yield name, answer
    finally:
        for hand in busy:
            hand.process.kill()
            _end(hand)


def _some(waiting: Iterator[tuple[str, str]], count: int) -> Iterator[tuple[str, str]]:
    yield from (task for _, task in zip(range(count), waiting, strict=False))


def _start(work: Work) -> _Hand:
    ours, theirs = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=worker.serve, args=(theirs, work), daemon=True)
    process.start()
    theirs.close()
    return _Hand(process, ours)


def _send(hand: _Hand, task: tuple[str, str]) -> None:
    with contextlib.suppress(BrokenPipeError):  # it died while it started: `_receive` reports that
        hand.line.send_bytes(msgspec.json.encode(task))


def _receive(hand: _Hand) -> WorkerAnswer:
    try:
        return msgspec.json.decode(hand.line.recv_bytes(), type=WorkerAnswer)
    except (EOFError, ConnectionResetError):
        _end(hand)
        return WorkerAnswer(problem=_death(hand.process.exitcode or 0))


def _death(code: int) -> str:
    if code == -signal.SIGKILL:
        return "the worker process was killed (SIGKILL); probably the memory was full: use fewer workers"
    if code < 0:
        return f"the worker process died of {signal.Signals(-code).name}"
    return f"the worker process ended with exit code {code}"


def _end(hand: _Hand) -> None:
    hand.line.close()
    hand.process.join()
