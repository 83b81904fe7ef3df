"""The signals that ask a command for a clean end, also while it starts.

Python's imports take a second, and more on a busy machine. Before a command has its handlers, SIGINT would be an
exception anywhere in them, and SIGTERM would end the process. So commands that run for long let both wait until then.
This module imports nothing of Windrow: it is the first one that a command uses.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any

STOPS = (signal.SIGINT, signal.SIGTERM)
TOGETHER = 0.5  # seconds in which signals of the death of a parent are one request
LONG = ("crawl", "node", "shard")  # commands that release the signals when they have handlers


def hold(command_line: Sequence[str] = sys.orig_argv) -> None:
    """Let signals wait if this process was started as one of these commands. Threads that it starts do the same."""
    words = list(command_line)
    at = next((at for at, word in enumerate(words) if word == "windrow.cli" or PurePath(word).name == "windrow"), -1)
    if at >= 0 and words[at + 1 : at + 2] and words[at + 1] in LONG:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)


def handle(loop: Any, stop: Callable[[], object], clock: Callable[[], float] = time.monotonic) -> None:
    """Call `stop` once per request for an end from now on. `loop`: of asyncio.

    A second request means "give up what is in flight". A process that asked the kernel for a signal at the death of its
    parent gets one for several threads of the parent: they are one request.
    """
    parent, last = os.getppid(), float("-inf")

    def handler() -> None:
        nonlocal last
        now, before = clock(), last
        last = now
        dying = os.getppid() != parent or has_ended(parent)
        if now - before > TOGETHER or not dying:
            stop()

    for number in STOPS:
        loop.add_signal_handler(number, handler)


def has_ended(process: int) -> bool:
    """Return whether a process has ended, or is just ending: its first thread has."""
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


def release() -> None:
    """Let signals arrive: handlers are there now. One that has waited arrives at once."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
