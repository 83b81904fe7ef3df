"""Sort more lines than fit into memory: sorted runs in temporary files, merged when they are read."""

import heapq
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import IO

RUN = 64 << 20  # bytes of lines in memory; with the objects that hold them, about 100 MB


class SortedLines:
    """Lines, each with its end, sorted by their bytes. Equal lines stay."""

    def __init__(self, run: int = RUN) -> None:
        self._run = run
        self._lines: list[bytes] = []
        self._size = 0
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> "SortedLines":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in self._files:
            file.close()

    def add(self, line: bytes) -> None:
        self._lines.append(line)
        self._size += len(line)
        if self._size >= self._run:
            self._spill()

    def __iter__(self) -> Iterator[bytes]:
        self._lines.sort()
        for file in self._files:
            file.seek(0)
        return heapq.merge(*self._files, self._lines)

    def _spill(self) -> None:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with all the others, when the lines were read
        file.writelines(sorted(self._lines))
        self._files.append(file)
        self._lines, self._size = [], 0
