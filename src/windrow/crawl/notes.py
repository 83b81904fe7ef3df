"""What a run says to its operator: on standard error, and in `crawl.log` of the crawl's directory.

`crawl.log` is for people: when the crawl was started, what it recovered, its progress once per minute, how it ended.
The truth of a crawl is in `log/`. The file is bounded: when it is full it becomes `crawl.log.1`, in place of the one
before. A disk on which it cannot be written never disturbs the crawl.
"""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from windrow.units import moment, printable

NAME = "crawl.log"
LONGEST = 4 << 20  # bytes of the file: about a month of progress lines


class Notes:
    """The notes of one run. They are kept until `open`, so that a run that is refused leaves no file."""

    def __init__(self, echo: Callable[[str], None], quiet: bool = False) -> None:
        """echo: prints a line for the operator. quiet: print only warnings."""
        self.echo = echo
        self._quiet = quiet
        self._file: Path | None = None
        self._early: list[str] = []

    def open(self, directory: Path) -> None:
        """Write to the crawl.log of this directory from now on."""
        self._file = directory / NAME
        for line in self._early:
            self._append(line)
        self._early = []

    def say(self, text: str) -> None:
        """Say something that the operator may want to know."""
        if not self._quiet:
            self.echo(printable(text))
        self.record(text)

    def stamp(self, text: str) -> None:
        """Say something with the time in front."""
        if not self._quiet:
            self.echo(f"{moment(time.time())}  {printable(text)}")
        self.record(text)

    def warn(self, text: str) -> None:
        """Say something that the operator must know, also if the run is quiet."""
        self.echo(printable(text))
        self.record(text)

    def record(self, text: str) -> None:
        """Write a line to crawl.log only."""
        line = f"{moment(time.time())}  {printable(text)}\n"
        if self._file is None:
            self._early.append(line)
        else:
            self._append(line)

    def _append(self, line: str) -> None:
        assert self._file is not None
        with contextlib.suppress(OSError):
            if self._file.exists() and self._file.stat().st_size > LONGEST:
                self._file.replace(self._file.with_name(f"{NAME}.1"))
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line)
