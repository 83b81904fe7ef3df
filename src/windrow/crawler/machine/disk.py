"""The disk of a crawl: how full it is, and what a failed write means.

A full disk does not end a crawl: the crawl pauses, repeats the write that failed, and continues when there is room. Any
other write error ends the crawl with one sentence; everything committed is safe.
"""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from windrow.config import ConfigError

_T = TypeVar("_T")

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Disk:
    def __init__(self, directory: Path, least: int) -> None:
        """`least`: the crawl pauses below this many free bytes, and continues when there are twice as many."""
        self._directory = directory
        self.least = least
        self.paused = False
        self.patient = True  # False once the crawl is stopped: then it does not wait for room either

    def attempt(self, write: Callable[[], _T]) -> _T | None:
        """Run a write; return None if the disk is full."""
        try:
            return write()
        except OSError as error:
            self.hold(error)
            return None

    def hold(self, error: OSError) -> None:
        """Pause the crawl if the disk is full; the caller repeats the write. Any other error ends the crawl."""
        if error.errno not in FULL or not self.patient:
            raise self.unwritable(error) from error
        self.paused = True

    def unwritable(self, error: OSError) -> ConfigError:
        place = error.filename or self._directory
        return ConfigError(
            f"cannot write {place}: {error.strerror}; fix that and run the same command again; "
            "everything committed is safe"
        )

    def look(self) -> bool:
        """Pause if there is too little room; return whether there is room again after a pause."""
        free = free_bytes(self._directory)
        if free < self.least:
            self.paused = True
        elif self.paused and free >= 2 * self.least:
            self.paused = False
            return True
        return False


def free_bytes(directory: Path) -> int:
    stat = os.statvfs(directory)
    return stat.f_bavail * stat.f_frsize
