"""The process that stores the documents of shards elsewhere, while they are crawled: one for all shards of a machine.

It is started again when it dies, and learns through a pipe where to store, because addresses have passwords, and which
shards there are. When the pipe ends it stores the rest and ends: also if the process at this end was killed.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path

import msgspec

from windrow import signals
from windrow.config import ConfigError
from windrow.jobs.store.held import HeldLine
from windrow.nodes.process import child

REFUSAL = 15.0  # seconds before a storage that has refused is tried again
SLOW = 5.0  # seconds after which the operator learns what the end waits for
_YOUNG = 60.0  # seconds after which a process counts as one that works


class ShardStoring:
    """One such process, and those after it. `note` is called with what the operator must know."""

    def __init__(self, target: str, captures: bool, note: Callable[[str], None]) -> None:
        self._target, self._captures, self._note = target, captures, note
        self._held: frozenset[Path] = frozenset()
        self._seen: set[Path] = set()  # all that may not be stored up to their end
        self._process: asyncio.subprocess.Process | None = None
        self._ending = asyncio.Event()
        self._given_up = False
        self.failed = False  # whether documents may be missing in the storage

    async def check(self) -> None:
        """Refuse a wrong address. The libraries of storages stay out of this process."""
        checking = await self._start("--check")
        assert checking.stdin is not None
        checking.stdin.close()
        _, said = await checking.communicate()
        if checking.returncode:
            lines = said.decode(errors="replace").strip().removeprefix("windrow: ").splitlines()
            raise ConfigError(lines[-1] if lines else f"the storage cannot be opened (exit code {checking.returncode})")

    def know(self, places: Collection[Path]) -> None:
        """Store these too, up to their present end: an earlier process may not have come so far."""
        self._seen.update(places)

    def hold(self, places: Collection[Path]) -> None:
        """Follow these shards from now on. Shards that were held before and are not among them are stored up to their
        end."""
        if self._held == frozenset(places):
            return
        self._held = frozenset(places)
        self._seen.update(places)
        self._say(HeldLine(_names(self._held)))

    def give_up(self) -> None:
        """End now. The next process continues where this one is."""
        self._given_up = True
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def keep(self) -> None:
        """Run the process until `end`."""
        deaths = 0
        while True:
            began, last = time.monotonic(), self._ending.is_set()
            code = await self._run()
            if not code:
                return
            if self._given_up or last or (self._ending.is_set() and code == child.REFUSED):
                self.failed = True
                return
            deaths = deaths + 1 if time.monotonic() - began < _YOUNG else 1
            if code == child.REFUSED:
                pause = REFUSAL
            else:
                self._note(f"the process that stores documents has died (exit code {code}); it is started again")
                pause = child.pause(deaths)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ending.wait()

    async def _run(self) -> int:
        running = self._process = await self._start("--held", "--follow")
        assert running.stderr is not None
        self._say(HeldLine(_names(self._held), _names(self._seen - self._held)))
        if self._ending.is_set():
            self._close()
        async for line in child.lines(running.stderr):
            self._note(line)
        return await running.wait()

    async def end(self) -> None:
        """Let the process store the rest. A signal gives that up."""
        self._ending.set()
        self._close()
        signals.handle(asyncio.get_running_loop(), self.give_up)
        await asyncio.sleep(SLOW)
        self._note("the last documents are being stored; Ctrl-C leaves them to the next run")

    def _say(self, line: HeldLine) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(ConnectionError, RuntimeError):  # it is dead: the next one learns all of it
                self._process.stdin.write(msgspec.json.encode(line) + b"\n")

    def _close(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def _start(self, *words: str) -> asyncio.subprocess.Process:
        command = [sys.executable, "-m", "windrow.cli", "store", ".", "--to", "-", *words]
        started = await asyncio.create_subprocess_exec(
            *command,
            *(["--captures"] if self._captures else []),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C does not reach it
        )
        assert started.stdin is not None
        started.stdin.write(f"{self._target}\n".encode())
        return started


@contextlib.asynccontextmanager
async def storing(target: str, captures: bool, note: Callable[[str], None]) -> AsyncIterator[ShardStoring]:
    """Store the documents of shards during the block. ConfigError: the storage cannot be opened."""
    made = ShardStoring(target, captures, note)
    await made.check()
    keeping = asyncio.create_task(made.keep())
    try:
        yield made
    finally:
        ending = asyncio.create_task(made.end())
        await keeping
        ending.cancel()
        for number in signals.STOPS:
            asyncio.get_running_loop().remove_signal_handler(number)


def _names(places: Collection[Path]) -> list[str]:
    return sorted(str(directory.absolute()) for directory in places)
