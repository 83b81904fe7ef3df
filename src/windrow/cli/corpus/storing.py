"""A crawl that stores its documents elsewhere while it runs: a child process that follows it.

The child has a session of its own, so Ctrl-C reaches the crawl alone. It ends when the crawl has ended, however that
was, and everything is stored. The address comes to it through a pipe: a password must not be in the list of processes.
For a crawl with shards `nodes.process.storing` does the same.
"""

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Annotated, NamedTuple, Self

import typer

from windrow.cli.terminal import command, note
from windrow.config import ConfigError
from windrow.io.storage import without_password

VARIABLE = "WINDROW_STORE_TO"
HELP = "Store the documents there too, as `windrow store` does; -: read the address from standard input."
StoreTo = Annotated[str, typer.Option("--store-to", help=HELP, metavar="URL", show_default=False)]
NodeStoreTo = Annotated[str, typer.Option("--store-to", help=HELP, metavar="URL", show_default=False, envvar=VARIABLE)]
StoreCaptures = Annotated[bool, typer.Option("--store-captures", help="With --store-to: a row per capture too.")]


class StoreTarget(NamedTuple):
    """Where a crawl stores its documents, and whether its captures too."""

    url: str = ""  # "": nowhere
    captures: bool = False


def target(url: str, captures: bool) -> StoreTarget:
    """Return what the options say. The processes that this one starts need not know the address from the
    environment."""
    os.environ.pop(VARIABLE, None)
    if captures and not url:
        raise ConfigError("--store-captures says what is stored; say where with --store-to URL")
    return StoreTarget(sys.stdin.readline().strip() if url == "-" else url, captures)


def note_rest(directory: Path, where: StoreTarget) -> None:
    """Say how to store what is missing."""
    words = ["store", directory, "--to", without_password(where.url), *(["--captures"] if where.captures else [])]
    note(f"windrow: some documents are not stored; store the rest with: {command(*words)}")


class StoringProcess:
    """The child, if there is an address. At the end of the block it is waited for."""

    def __init__(self, directory: Path, where: StoreTarget) -> None:
        self._directory, self._where = directory, where
        self._child: subprocess.Popen[bytes] | None = None
        self.failed = False  # whether documents may be missing in the storage

    def __enter__(self) -> Self:
        """Refuse a wrong address before the first request. The libraries of storages stay out of this process."""
        if self._where.url and self._begin("--check").wait():
            raise typer.Exit(2)  # it has said why
        return self

    def start(self) -> None:
        """Begin to follow the crawl, which holds its lock now: a process that follows ends when that is free."""
        if self._where.url:
            self._child = self._begin("--follow")

    def _begin(self, mode: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "windrow.cli", "store", str(self._directory), "--to", "-", mode]
        words += ["--captures"] if self._where.captures else []
        child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
        assert child.stdin is not None
        child.stdin.write(f"{self._where.url}\n".encode())
        child.stdin.close()
        return child

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child is not None and self._child.wait():
            self.failed = True
            note_rest(self._directory, self._where)
