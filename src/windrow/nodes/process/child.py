"""The process of one shard: started, listened to, and ended with the process that started it."""

import asyncio
import contextlib
import ctypes
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from windrow.crawler.ending import Ending
from windrow.signals import STOPS

PATIENCE = 30.0  # seconds for which a shard waits for Redis at its start: that may have died at the same time
REFUSED = 2  # exit code of a command that did not start
AWAY = 69  # exit code of a shard that Redis did not answer at its start (EX_UNAVAILABLE of sysexits.h)
TAKEN = 75  # exit code of a shard that another process has, or whose lease has run out (EX_TEMPFAIL of sysexits.h)
PAUSE, LONGEST = 1.0, 10.0  # seconds before a shard is started again: after its first death, doubled; at most
LONGEST_LINE = 16 << 10  # bytes of a line that are passed on
REDIS = "WINDROW_REDIS"  # the variable of the environment with the URL of Redis
_OBJECT = re.compile(rb"^\{(?:.*|\n(?: .*\n)*)\}$", re.MULTILINE)  # in one line, or as `--json` prints it: indented
_PDEATHSIG = 1  # of prctl


class Process(Protocol):
    """A process with pipes, such as one of asyncio."""

    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None

    @property
    def pid(self) -> int: ...
    async def wait(self) -> int: ...
    def send_signal(self, number: int, /) -> None: ...


class ShardProcess:
    """One process of a shard, from its start to its end. `note` is called with each line that it prints as an error."""

    def __init__(self, process: Process, note: Callable[[str], None]) -> None:
        self._process = process
        self._note = note

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """Ask for a clean end; asked twice, it gives up the requests in flight."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    async def wait(self) -> tuple[int, Ending | None]:
        """Return the exit code, and how the run ended if it did so without an error."""
        assert self._process.stdout is not None
        output, _ = await asyncio.gather(self._process.stdout.read(), self._relay())
        code = await self._process.wait()
        return code, ending_in(output) if code == 0 else None

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def _relay(self) -> None:
        assert self._process.stderr is not None
        async for line in lines(self._process.stderr):
            self._note(line)


async def start(directory: Path, url: str, arguments: Sequence[str], note: Callable[[str], None]) -> ShardProcess:
    """Start the process of a shard. `arguments`: further ones of `windrow shard`.

    The URL of Redis may have a password, and every user of a machine sees the arguments of its processes.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "windrow.cli", *command(directory, arguments)),
        env={**os.environ, REDIS: url},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches them once, through us
        preexec_fn=end_with_parent(signal.SIGINT),
    )
    return ShardProcess(process, note)


def command(directory: Path, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs a shard: the words after "windrow"."""
    return ["shard", str(directory), "--json", "--patience", str(PATIENCE), *arguments]


async def lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield what a process prints for people, line by line. A line of any length is read; a long one is cut.

    A reader of asyncio raises ValueError at a line of 64 KB, and then nobody would wait for the process any more.
    """
    rest = b""
    while chunk := await stream.read(1 << 16):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield _text(line)
        rest = rest[:LONGEST_LINE]
    if rest:
        yield _text(rest)


def ending_in(output: bytes) -> Ending | None:
    """Return the ending that a process has printed; None if it has not. Code of the user, such as a judge, may have
    printed anything before and behind it."""
    for text in reversed(_OBJECT.findall(output)):
        with contextlib.suppress(msgspec.MsgspecError):
            return msgspec.json.decode(text, type=Ending)
    return None


def _text(line: bytes) -> str:
    return line[:LONGEST_LINE].decode(errors="replace").removeprefix("windrow: ").rstrip()


def pause(deaths: int) -> float:
    """Return the seconds before a shard that has died so many times is started again."""
    return min(PAUSE * 2.0 ** max(0, deaths - 1), LONGEST)


def end_with_parent(number: signal.Signals) -> Callable[[], None]:
    """Return what makes a new process end by a signal when its parent dies; only Linux can do it.

    SIGINT and SIGTERM wait until a shard can handle them. During its imports they would be an exception anywhere, also
    where exceptions are ignored.
    """
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def prepare() -> None:
        if libc is not None:
            libc.prctl(_PDEATHSIG, int(number))
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)

    return prepare
