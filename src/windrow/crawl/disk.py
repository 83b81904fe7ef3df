"""The disk under a crawl: how full it is, and what a failed write means.

A full disk is no reason to end: the crawl pauses, whatever failed is tried again, and when there is room it goes on. Any other error of
writing ends the crawl with one sentence; what was committed is safe.
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
        """`least`: free bytes below which the crawl pauses, until there is twice that."""
        self._directory = directory
        self._least = least
        self.paused = False
        self.patient = True  # False once the crawl is to end: then a full disk is not waited for either

    def attempt(self, write: Callable[[], _T]) -> _T | None:
        """None where the disk is full."""
        try:
            return write()
        except OSError as error:
            self.hold(error)
            return None

    def hold(self, error: OSError) -> None:
        """Pauses the crawl where the disk is full; what failed is to be tried again. Any other error ends it."""
        if error.errno not in FULL or not self.patient:
            raise self.unwritable(error) from error
        self.paused = True

    def unwritable(self, error: OSError) -> ConfigError:
        place = error.filename or self._directory
        return ConfigError(
            f"cannot write {place}: {error.strerror}; mend that and run the same command again, what was committed is safe"
        )

    def look(self) -> bool:
        """Whether there is room again after a pause; pauses where there is too little."""
        free = free_bytes(self._directory)
        if free < self._least:
            self.paused = True
        elif self.paused and free >= 2 * self._least:
            self.paused = False
            return True
        return False


def free_bytes(directory: Path) -> int:
    stat = os.statvfs(directory)
    return stat.f_bavail * stat.f_frsize
