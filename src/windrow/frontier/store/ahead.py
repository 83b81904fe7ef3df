"""Blocks of the store's file, allocated ahead of the pages that its open transaction takes from the end."""

import errno
import os
from pathlib import Path

PAGE = 4096  # bytes


class Ahead:
    """A write into a map for which the disk has no block is a SIGBUS. A block that cannot be allocated here is an OSError, before
    anything was changed. How far the transaction got is seen in the file: pages are taken in order, and each begins with its number.
    """

    _WRITE = 2 * PAGE  # bytes of new pages that a write may take: a copied leaf, now and then a split or a branch
    _LEAST, _MOST = 1 << 20, 4 << 20  # bytes allocated at once
    _LIMIT = 64 << 20  # bytes allocated for one call, however many writes it announces

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._taken = 0  # up to here pages are in use
        self._end = 0  # up to here blocks are allocated
        self.writes = 0  # since it was last looked where pages are in use; counted by who writes
        self._step = self._LEAST

    def start(self, used: int) -> None:
        """A transaction begins, which takes new pages from here on."""
        self._taken = used
        self._end = max(self._end, used)
        self.writes = 0
        self._step = min(max(2 * used, self._LEAST), self._MOST)

    def reserve(self, writes: int) -> None:
        """Makes sure that so many more find their blocks."""
        need = min(writes * self._WRITE, self._LIMIT)
        if self._taken + self.writes * self._WRITE + need > self._end:
            self._look()
            if self._taken + need > self._end:
                self._allocate(max(self._taken + need - self._end, self._step))

    def _look(self) -> None:
        """Finds the first page that is not in use."""
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

    def close(self) -> None:
        os.close(self._file)
