"""The takedown list of a running crawl: read at the start, and again whenever a file of it changes."""

import logging
import os
from pathlib import Path

from windrow import takedown
from windrow.config import ConfigError
from windrow.takedown import Takedown

log = logging.getLogger(__name__)

_State = list[tuple[int, int, int] | None]  # of each file; None: there is none


class TakedownFile:
    """`takedown.txt` of a crawl. The driver looks at it at each commit: a stat() call takes about a microsecond."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._paths = takedown.lists(directory)
        self._state: _State = []

    def read(self) -> Takedown:
        """Return the list. ConfigError: a line of it is not valid, so the crawl does not start."""
        self._state = self._look()
        return takedown.of(self._directory)

    def follow(self, known: Takedown) -> Takedown:
        """Return the list as it is now. If the changed file cannot be read, `known` stays in force and a note says so.

        A running crawl does not end for a mistake in the file: the next change is read again.
        """
        state = self._look()
        if state == self._state:
            return known
        changed = [path for path, old, new in zip(self._paths, self._state, state, strict=True) if old != new]
        self._state = state
        try:
            found = takedown.of(self._directory)
        except (ConfigError, OSError) as error:
            log.warning("%s; the list as it was before stays in force", error)
            return known
        log.info("%s has changed and is in force", " and ".join(map(str, changed)))
        return found

    def _look(self) -> _State:
        return [_state(path) for path in self._paths]


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
