"""What a run says to its operator: on standard error, and in `crawl.log` of the crawl's directory.

`crawl.log` is for people: when the crawl was started, what it recovered, its progress once per minute, how it ended.
The truth of a crawl is in `log/`. The file is bounded: when it is full it becomes `crawl.log.1`, in place of the one
before. A disk on which it cannot be written never disturbs the crawl.

A container has no terminal, and programs read what it prints: then each note is a `LogLine` instead of a text.
"""

import contextlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from windrow.units import moment, printable

NAME = "crawl.log"
LONGEST = 4 << 20  # bytes of the file: about a month of progress lines


class LogLine(msgspec.Struct, frozen=True):
    """A note for programs."""

    level: str  # "debug", "info", "warning", "error"
    event: str  # "start", "note", "progress", "outcome", "end", "error"
    message: str
    figures: Mapping[str, str | float] = {}


class Notes:
    """The notes of one run. They are kept until `open`, so that a run that is refused leaves no file."""

    def __init__(
        self, echo: Callable[[str], None], quiet: bool = False, program: Callable[[LogLine], None] | None = None
    ) -> None:
        """echo: prints a line for the operator. quiet: print only warnings. program: takes each line instead."""
        self._echo = echo
        self._quiet = quiet
        self._program = program
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
            self._show("info", "note", text)
        self._write(text)

    def progress(self, text: str, figures: Mapping[str, str | float]) -> None:
        """Say how far the crawl is, with the time in front."""
        if not self._quiet:
            shown = text if self._program is not None else f"{moment(time.time())}  {text}"
            self._show("info", "progress", shown, figures)
        self._write(text)

    def outcome(self, text: str, figures: Mapping[str, str | float]) -> None:
        """Say what became of a task; not in crawl.log."""
        self._show("debug", "outcome", text, figures)

    def warn(self, text: str) -> None:
        """Say something that the operator must know, also if the run is quiet."""
        self._show("warning", "note", text)
        self._write(text)

    def record(self, text: str, event: str = "note", figures: Mapping[str, str | float] | None = None) -> None:
        """Write a line to crawl.log; programs get it too."""
        if self._program is not None and (event == "error" or not self._quiet):
            self._show("error" if event == "error" else "info", event, text, figures)
        self._write(text)

    def _show(self, level: str, event: str, text: str, figures: Mapping[str, str | float] | None = None) -> None:
        with contextlib.suppress(OSError):  # nobody reads it, or its disk is full: crawl.log has it
            if self._program is not None:
                self._program(LogLine(level, event, printable(text), figures or {}))
            else:
                self._echo(printable(text))

    def _write(self, text: str) -> None:
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
