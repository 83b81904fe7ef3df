"""The takedown list of a running crawl: read at the start, and again whenever a file of it changes."""

import logging
import os
from pathlib import Path

from windrow import takedown
from windrow.config import ConfigError
from windrow.frontier.policy.scope import Scope

log = logging.getLogger(__name__)

_State = list[tuple[int, int, int] | None]  # of each file; None: there is none


class TakedownFile:
    """`takedown.txt` of a crawl. The driver looks at it at each commit: a stat() call takes about a microsecond."""

    def __init__(self, directory: Path, scope: Scope) -> None:
        """Let the scope obey the list. ConfigError: a line of it is not valid, so the crawl does not start."""
        self._directory = directory
        self._scope = scope
        self._paths = takedown.lists(directory)
        self._state = self._look()
        scope.obey(takedown.of(directory))

    def follow(self) -> None:
        """Let the scope obey the list as it is now. If it has changed and cannot be read, a note says so.

        A running crawl does not end for a mistake in the file: the next change is read again.
        """
        state = self._look()
        if state == self._state:
            return
        changed = [path for path, old, new in zip(self._paths, self._state, state, strict=True) if old != new]
        self._state = state
        try:
            self._scope.obey(takedown.of(self._directory))
        except (ConfigError, OSError) as error:
            log.warning("%s; the list as it was before stays in force", error)
        else:
            log.info("%s has changed and is in force", " and ".join(map(str, changed)))

    def _look(self) -> _State:
        return [_state(path) for path in self._paths]


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
