"""Which shards a process that stores has to store: another process says so, line by line, on its standard input.

`windrow crawl --shards` and `windrow node` start one such process for all their shards. The end of the lines is the end
of the process that writes them, whether it has ended or was killed.
"""

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

ENDING = 90.0  # seconds for which shards may run on without the process that ran them: it has asked them to end


class HeldLine(msgspec.Struct, omit_defaults=True):
    """One line: everything that is held from now on."""

    held: list[str]
    once: list[str] = []  # to be stored up to their present end: they were held before, perhaps by an earlier process


class HeldShards:
    """Reads the lines in a thread. `is_running`: of a crawl directory, whether a process crawls it."""

    def __init__(self, lines: Iterable[str], is_running: Callable[[Path], bool]) -> None:
        self._is_running = is_running
        self._held: frozenset[Path] = frozenset()
        self._once: set[Path] = set()
        self._ended = 0.0  # when the lines ended; 0: they have not
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, args=(lines,), daemon=True)
        self._thread.start()

    def __call__(self) -> set[Path]:
        """Return what is to be stored now. Shards that are to be stored once are named in one call only."""
        with self._lock:
            once, self._once = self._once, set()
        return {path for path in {*self._held, *once} if path.is_dir()}  # it may have been moved away meanwhile

    def running(self) -> bool:
        """Return whether anything may still be committed."""
        if not self._ended:
            return True
        late = time.monotonic() - self._ended > ENDING
        return not late and any(self._is_running(path) for path in self._held)

    def wait(self) -> None:
        """Return when the lines have ended."""
        self._thread.join()

    def _read(self, lines: Iterable[str]) -> None:
        try:
            for line in lines:
                said = msgspec.json.decode(line, type=HeldLine)
                with self._lock:
                    self._held = frozenset(map(Path, said.held))
                    self._once.update(map(Path, said.once))
        except ValueError:  # a line that was cut: the process that wrote it was killed, and none follows
            pass
        finally:
            self._ended = time.monotonic()
