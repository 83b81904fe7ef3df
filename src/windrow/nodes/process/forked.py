"""Processes of shards that are forked before they are needed, so that they start with everything imported.

To start Python and to import Windrow takes most of the CPU time in which a shard starts. `windrow crawl --shards` has
imported all of it already, so its first process of each shard is a copy of itself, made before it has an event loop, a
thread or a connection. The copy waits for its command, and runs it as a new process would. A shard that is started
again gets a new process (`nodes/process/child.py`), because then there is no clean copy any more.
"""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from windrow.nodes.process import child

Main = Callable[[Sequence[str]], None]  # runs a command, given as the words after "windrow"
_FAILED = 1  # exit code of a process that an unexpected error has ended


def possible() -> bool:
    """Return whether the system can tell the end of a process by its number; otherwise no copies are made."""
    try:
        os.close(os.pidfd_open(os.getpid()))
        return True
    except (AttributeError, OSError):
        return False


class Fork:
    """A copy of this process that waits for its command; in an event loop, `start` lets it run.

    It is then used like a process of asyncio.
    """

    def __init__(self, pid: int, go: int, outputs: tuple[int, int]) -> None:
        self.pid = pid
        self._go = go  # the end of a pipe; it is closed without a command if none is needed
        self._outputs = outputs
        self._handle = os.pidfd_open(pid)  # readable when the process has ended
        self._ended: asyncio.Future[int] | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None

    async def start(self, words: Sequence[str], redis: str) -> None:
        """Let it run a command. The URL of Redis may have a password, so it is not among the words."""
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        loop.add_reader(self._handle, self._reap)
        self.stdout, self.stderr = [await _reader(end) for end in self._outputs]
        with contextlib.suppress(BrokenPipeError):  # it was killed; `wait` says so
            os.write(self._go, b"\0".join(map(os.fsencode, (redis, *words))))
        os.close(self._go)

    async def wait(self) -> int:
        """Return the exit code, or the negative number of the signal that has ended it."""
        assert self._ended is not None
        return await asyncio.shield(self._ended)

    def send_signal(self, number: int) -> None:
        signal.pidfd_send_signal(self._handle, number)  # ProcessLookupError: it has ended

    def _reap(self) -> None:
        assert self._ended is not None
        asyncio.get_running_loop().remove_reader(self._handle)
        self._ended.set_result(os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]))

    def abandon(self) -> None:
        """End a copy that was not started."""
        if self._ended is None:
            for end in (self._go, *self._outputs):
                os.close(end)
            os.waitpid(self.pid, 0)
            os.close(self._handle)


async def _reader(end: int) -> asyncio.StreamReader:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(end, "rb", 0))
    return reader


def fork(main: Main) -> Fork:
    """Make a copy of this process, which must have no event loop and no thread of its own."""
    wait, go = os.pipe()
    out, new_out = os.pipe()
    err, new_err = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # else the copy would print it too
    end_with_parent = child.end_with_parent(signal.SIGINT)
    pid = os.fork()
    if pid == 0:
        end_with_parent()
        _live(wait, new_out, new_err, main)
    for end in (wait, new_out, new_err):
        os.close(end)
    return Fork(pid, go, (out, err))


def _live(wait: int, out: int, err: int, main: Main) -> NoReturn:
    """The life of a copy: wait for a command, run it, and end, without the clean-up of the interpreter."""
    code = _FAILED
    try:
        os.setsid()  # Ctrl-C reaches it once, through its parent
        nothing = os.open(os.devnull, os.O_RDWR)
        for new, old in enumerate((nothing, out, err)):
            os.dup2(old, new)
        command = _command(wait)
        if command:
            os.environ[child.REDIS], *words = command
            _name("windrow", *words)
            main(words)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else _FAILED
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(code)


def _command(wait: int) -> list[str]:
    """Close what belongs to the parent and to the copies before, and return what `start` has written, if anything."""
    os.closerange(3, wait)
    os.closerange(wait + 1, os.sysconf("SC_OPEN_MAX"))
    with os.fdopen(wait, "rb") as pipe:
        data = pipe.read()
    return [os.fsdecode(word) for word in data.split(b"\0")] if data else []


def _name(*words: str) -> None:
    """Let lists of processes show these words as the command line of this process, as far as there is room."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        begin, end = map(int, Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[45:47])
        text = b"\0".join(os.fsencode(word) for word in words)
        ctypes.memmove(begin, text[: end - begin - 1].ljust(end - begin, b"\0"), end - begin)
