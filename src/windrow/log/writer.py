"""Append frames to the log of a crawl."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

from windrow import files
from windrow.log.reader import Position

LONGEST = 64 << 20  # bytes; then the next file begins, so that recovery reads little


class Log:
    """The log, open for appending. `crawl.recover` cuts its files to the last whole frame before."""

    def __init__(self, directory: Path, position: Position, apart: bool = False) -> None:
        """`position`: the end of the last whole frame. `apart`: begin a file, because another process may still append
        to the one before."""
        directory.mkdir(exist_ok=True)
        self._directory = directory
        self._name = position[0] or "00000.jsonl.gz"
        self.follows: Position = ("", 0)  # what the first frame must say: where the log before it ends
        if apart and position[0]:
            self.follows = position
            self._name = self._next()
        self._file = self._open(self._name, apart)

    def _next(self) -> str:
        return f"{int(self._name[:5]) + 1:05d}.jsonl.gz"

    def _open(self, name: str, apart: bool) -> int:
        """`apart`: fail if there is such a file."""
        path = self._directory / name
        new = not path.exists()
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_EXCL if apart else 0), 0o644)
        if new:
            files.sync_directory(self._directory)
            files.sync_directory(self._directory.parent)
        return file

    def append(self, member: bytes) -> Position:
        """Write a frame and sync it; when this returns, the frame is committed.

        A failed write leaves the log as it was. A failure after that is raised as EIO: the content of the file is then
        unknown, and further writes would hide the damage.
        """
        length = os.fstat(self._file).st_size
        if length > LONGEST:
            self._roll()
            length = 0
        try:
            view = memoryview(member)
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            self._or_eio(lambda: os.ftruncate(self._file, length))
            raise
        self._or_eio(lambda: os.fsync(self._file))
        return self._name, length + len(member)

    def _roll(self) -> None:
        name = self._next()
        file = self._open(name, apart=True)
        os.close(self._file)
        self._name, self._file = name, file

    def _or_eio(self, operation: Callable[[], None]) -> None:
        try:
            operation()
        except OSError as error:
            raise OSError(errno.EIO, error.strerror, str(self._directory / self._name)) from error

    def close(self) -> None:
        os.close(self._file)
