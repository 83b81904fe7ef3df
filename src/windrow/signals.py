"""The signals that ask a command for a clean end, also while it starts.

Python's imports take a second, and more on a busy machine. Before a command has its handlers, SIGINT would be an
exception anywhere in them, and SIGTERM would end the process. So commands that run for long let both wait until then.
This module imports nothing of Windrow: it is the first one that a command uses.
"""

import signal
import sys
from collections.abc import Sequence
from pathlib import PurePath

STOPS = (signal.SIGINT, signal.SIGTERM)
LONG = ("crawl", "node", "shard")  # commands that release the signals when they have handlers


def hold(command_line: Sequence[str] = sys.orig_argv) -> None:
    """Let signals wait if this process was started as one of these commands. Threads that it starts do the same."""
    words = list(command_line)
    at = next((at for at, word in enumerate(words) if word == "windrow.cli" or PurePath(word).name == "windrow"), -1)
    if at >= 0 and words[at + 1 : at + 2] and words[at + 1] in LONG:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)


def release() -> None:
    """Let signals arrive: handlers are there now. One that has waited arrives at once."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
