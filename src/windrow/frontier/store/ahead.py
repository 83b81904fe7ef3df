"""Allocates blocks of the store's file ahead of the pages that its open transaction takes from the end."""

import errno
import os
from pathlib import Path

PAGE = 4096  # bytes


class Ahead:
    """Turns a full disk into an OSError before anything is changed.

    A write into a map for which the disk has no block is a SIGBUS; a block that cannot be allocated here is an OSError.
    The file shows how far the transaction has come: LMDB takes pages in order, and each begins with its number.
    """

    _WRITE = 2 * PAGE  # bytes of new pages per write: a copied page, sometimes a split or a branch
    # Many writes need less than that each: a transaction copies a page at most once, and then only new data needs new
    # pages: 250 bytes per URL, for its four writes, were measured. These are four times as many, and some spare pages.
    _DATA = 256  # bytes per write
    _SPARE = 64 * PAGE
    _LIMIT = 64 << 20  # bytes for the copies that one call makes
    _LEAST, _MOST = 1 << 20, 4 << 20  # bytes allocated at once

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._used = 0  # pages up to here were in use when the transaction began
        self._taken = 0  # pages up to here are in use
        self._end = 0  # blocks up to here are allocated
        self.writes = 0  # since `_taken` was determined; the store counts them
        self._step = self._LEAST

    def start(self, used: int) -> None:
        """Note that a transaction begins and takes new pages from this offset on."""
        self._used = self._taken = used
        self._end = max(self._end, used)
        self.writes = 0
        self._step = min(max(2 * used, self._LEAST), self._MOST)

    def reserve(self, writes: int) -> None:
        """Allocate the blocks for so many more writes."""
        copies = min(self._used, self._LIMIT)
        need = min(writes * self._WRITE, copies + self._SPARE + writes * self._DATA)
        if self._taken + self.writes * self._WRITE + need > self._end:
            self._look()
            if self._taken + need > self._end:
                self._allocate(max(self._taken + need - self._end, self._step))

    def _look(self) -> None:
        """Find the first page that is not in use."""
        low, high = self._taken // PAGE, self._end // PAGE
        while low < high:
            middle = (low + high) // 2
            if any(os.pread(self._file, 8, middle * PAGE)):
                low = middle + 1
            else:
                high = middle
        self._taken = low * PAGE
        self.writes = 0

    def _allocate(self, length: int) -> None:
        length += -length % PAGE
        try:
            os.posix_fallocate(self._file, self._end, length)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise OSError(error.errno, error.strerror, str(self._path)) from None
        self._end += length

    def cut(self, length: int) -> None:
        """Cut the file to this length. By its descriptor: another process may have a file of the same name by now."""
        os.ftruncate(self._file, length)

    def close(self) -> None:
        os.close(self._file)
