"""The program of a worker process of the local engine: a source in, an answer out, until the engine is gone."""

import os
import signal
import threading
import traceback
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import Connection

import msgspec

from windrow import plugins
from windrow.archive import ArchiveError
from windrow.config import ConfigError

_SENTENCES = (ArchiveError, ConfigError, OSError)  # errors whose text is a sentence for the user


class WorkerAnswer(msgspec.Struct, frozen=True):
    """What became of a task."""

    rows: int = 0
    note: str = ""
    problem: str = ""  # empty: it is done


def serve(connection: Connection, work: Callable[[str, str], WorkerAnswer]) -> None:
    """Answer tasks, each of two texts, one after another."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the engine ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            first, second = msgspec.json.decode(connection.recv_bytes(), type=tuple[str, str])
        except EOFError:
            return
        try:
            answer = work(first, second)
        except Exception as error:  # a job is the user's code: whatever it raises becomes a record
            answer = WorkerAnswer(problem=problem(error))
        connection.send_bytes(msgspec.json.encode(answer))


def problem(error: Exception) -> str:
    """Return what went wrong in one sentence; for an error of the code, with its place."""
    if isinstance(error, _SENTENCES):
        return str(error)
    fault, frames = plugins.fault(error), traceback.extract_tb(error.__traceback__)
    position = (
        fault.place if fault is not None else f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
    )
    return f"{type(error).__name__}: {error}{f' ({position})' if position else ''}"


def _end_with_parent() -> None:
    """End with the engine: nobody waits for the rest of the file."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
