"""A crawl that stores its documents elsewhere while it runs: a child process that follows it.

The child has a session of its own, so Ctrl-C reaches the crawl alone. It ends when the crawl has ended, however that
was, and everything is stored. The address comes to it through a pipe: a password must not be in the list of processes.
"""

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import typer

from windrow.cli.terminal import command, note
from windrow.storage import without_password


class StoringProcess:
    """The child, if there is an address. At the end of the block it is waited for."""

    def __init__(self, directory: Path, target: str) -> None:
        self._directory, self._target = directory, target
        self._child: subprocess.Popen[bytes] | None = None
        self.failed = False  # whether documents may be missing in the storage

    def __enter__(self) -> Self:
        """Refuse a wrong address before the first request. The libraries of storages stay out of this process."""
        if self._target and self._begin("--check").wait():
            raise typer.Exit(2)  # it has said why
        return self

    def start(self) -> None:
        """Begin to follow the crawl, which holds its lock now: a process that follows ends when that is free."""
        if self._target:
            self._child = self._begin("--follow")

    def _begin(self, mode: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "windrow.cli", "store", str(self._directory), "--to", "-", mode]
        child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
        assert child.stdin is not None
        child.stdin.write(f"{self._target}\n".encode())
        child.stdin.close()
        return child

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child is not None and self._child.wait():
            self.failed = True
            again = command("store", self._directory, "--to", without_password(self._target))
            note(f"windrow: some documents are not stored; store the rest with: {again}")
