"""The table of n-grams on disk: its redo file, and a copy of the whole table.

A group commit appends the new n-grams to the redo file and records its length in the frame. A clean end also writes a
copy of the table, so that the next start need not read the redo file from its beginning. The copy only saves time:
without it nothing is lost.
"""

import contextlib
import os
from pathlib import Path

from windrow import files
from windrow.config import ConfigError, DedupOptions
from windrow.dedup import onion, table
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.onion import DuplicateRule, Marks

DIRECTORY = "seen"
REDO = f"{DIRECTORY}/ngrams.redo"
COPY = f"{DIRECTORY}/ngrams.table"


class Seen:
    """The durable table. Its one owner calls `mark` in the order of `seq`."""

    def __init__(self, directory: Path, options: DedupOptions, committed: int, apart: bool = False) -> None:
        """`committed`: bytes of the redo file that count; the file has been cut to this length. `apart`: another
        process may still write to that file, so it is replaced by a copy."""
        self._directory = directory
        self._rule = DuplicateRule.of(options)
        self._length = committed
        self._synced = committed
        self._unwritten = b""
        self._file = -1
        self.table = self._load(options.table_bytes)
        if apart and committed:
            files.write(directory / REDO, (directory / REDO).read_bytes()[:committed])
        if committed:  # not when it is needed: another process may have replaced it by then
            self._open()

    def _load(self, limit: int) -> table.NgramTable:
        known, start = table.NgramTable(limit), 0
        copy = self._directory / COPY
        if self._length and copy.exists():
            with contextlib.suppress(ConfigError):  # damaged, or of another version: the redo file has all of it
                known, start = table.load(copy, limit)
        if start > self._length:  # the copy includes pages that the log does not have
            known, start = table.NgramTable(limit), 0
        if self._length:
            known.replay(self._directory / REDO, start)
        return known

    def mark(self, ngrams: Ngrams) -> Marks:
        """Mark the duplicate paragraphs of a document, and remember the n-grams of all others."""
        return onion.mark(self.table, ngrams, self._rule)

    def flush(self) -> dict[str, int]:
        """Write what was added since the last call; return the new length of the redo file, by its path."""
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
        new = 0 if self._length else os.O_CREAT | os.O_EXCL
        self._file = os.open(path, os.O_RDWR | new | os.O_CLOEXEC, 0o644)
        for directory in (path.parent, path.parent.parent):
            files.sync_directory(directory)

    def sync(self) -> None:
        if self._synced != self._length:
            reached = self._length
            os.fsync(self._file)
            self._synced = reached

    def save(self) -> None:
        """Write a copy of the table at a clean end, when all of it is committed. On a full disk, leave no copy."""
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
