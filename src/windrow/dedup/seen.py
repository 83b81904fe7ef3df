"""The n-grams that a crawl has seen, kept across restarts: the table in memory, its redo file, and a copy of the table.

What a commit adds to the table goes into the redo file; its length is in the frame. A clean end also writes the whole table, so
that the next start need not read the redo file from its beginning. The copy is a convenience: without it nothing is lost but time.
"""

import contextlib
import os
from pathlib import Path

from windrow import files
from windrow.config import ConfigError, Dedup
from windrow.dedup import ngrams, table
from windrow.dedup.ngrams import Grams, Rule, Ruling

DIRECTORY = "seen"
REDO = f"{DIRECTORY}/ngrams.redo"
COPY = f"{DIRECTORY}/ngrams.table"


class Seen:
    """One owner, which asks in the order of `seq`."""

    def __init__(self, directory: Path, options: Dedup, committed: int) -> None:
        """`committed`: bytes of the redo file that count; it has been cut to them."""
        self._directory = directory
        self._rule = Rule.of(options)
        self._length = committed
        self._synced = committed
        self._unwritten = b""
        self._file = -1
        self.table = self._load(options.table_bytes)

    def _load(self, limit: int) -> table.Table:
        known, start = table.Table(limit), 0
        copy = self._directory / COPY
        if self._length and copy.exists():
            with contextlib.suppress(ConfigError):  # damaged, or of another version: the redo file has all of it
                known, start = table.load(copy, limit)
        if start > self._length:  # it knows of pages that the log does not
            known, start = table.Table(limit), 0
        if self._length:
            known.replay(self._directory / REDO, start)
        return known

    def settle(self, grams: Grams) -> Ruling:
        """Which paragraphs of a document were seen before; the others are seen from now on."""
        return ngrams.settle(self.table, grams, self._rule)

    def flush(self) -> dict[str, int]:
        self._unwritten += self.table.take()
        if not self._unwritten:
            return {}
        if self._file < 0:
            self._open()
        header = b"" if self._length else table.REDO
        self._length = files.append(self._file, header + self._unwritten, self._length, self._directory / REDO)
        self._unwritten = b""
        return {REDO: self._length}

    def _open(self) -> None:
        path = self._directory / REDO
        path.parent.mkdir(exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        for directory in (path.parent, path.parent.parent):
            files.sync_directory(directory)

    def sync(self) -> None:
        if self._synced != self._length:
            reached = self._length
            os.fsync(self._file)
            self._synced = reached

    def save(self) -> None:
        """A copy of the table, at a clean end: everything in it is committed. Where there is no room for it there is none."""
        if self._length:
            try:
                self.table.save(self._directory / COPY, self._length)
            except OSError:
                for name in (COPY, COPY + ".new"):
                    (self._directory / name).unlink(missing_ok=True)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
