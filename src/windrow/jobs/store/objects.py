"""Files on another machine, through fsspec: s3://BUCKET/FOLDER, webhdfs://HOST/FOLDER, or a directory here.

    FOLDER/CRAWL/documents/FRAME-WRITER.jsonl.gz     the documents from this frame of the log on, as in the corpus
    FOLDER/CRAWL/captures/FRAME-WRITER.jsonl.gz
    FOLDER/CRAWL/positions/NUMBER.json               the one with the highest number counts

A position is written after the files of its batch, under the next number, and only if this number has no file yet: of
two processes that know the same position, one succeeds. Some older ones are kept, so that the number is not free again
for a process that read its position long ago; and after the creation, a process looks for a higher one.

Every process that writes has a random name, which is in the names of its files: two processes never write the same
file. The position says which writer has which frames, so a file of a batch whose position was never written is known as
loose. A process that finds such files makes the position its own, after which the writer of the file cannot replace it
any more, and removes them before it writes. A file appears when it is complete.
"""

import gzip
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from windrow.config import ConfigError
from windrow.io import storage
from windrow.jobs.store.folder import Folder
from windrow.jobs.store.protocol import Gone, StorageBatch, StoragePosition, StorageTaken, taken

_SUFFIX = ".jsonl.gz"
_NAME = re.compile(r"/(\d+)(?:-([0-9a-f]+))?\.jsonl\.gz$")
_POSITION = re.compile(r"/(\d+)\.json$")
_DOCUMENTS, _CAPTURES, _POSITIONS = "documents", "captures", "positions"
_KEPT = 8  # positions, the last one included
_GRACE = 2.0  # seconds in which a process that has compared a position writes the next one, unless it is stopped

Writers = tuple[tuple[str, int], ...]  # the name of each, and the first frame that is its own, in the order of time


def open(target: str, captures: bool) -> "ObjectStorage":
    address = target if storage.is_remote(target) else Path(target).absolute().as_uri()
    system, folder = storage.filesystem(address)
    opened = ObjectStorage(system, folder.rstrip("/"), storage.without_password(target))
    opened.check()
    return opened


class _Row(msgspec.Struct):
    url: str


_row = msgspec.json.Decoder(_Row).decode


class _KnownPosition(msgspec.Struct):
    """The position of a crawl, as this process has read or written it last."""

    number: int = 0  # of its file; 0: there is none, or that of an older version of Windrow
    data: bytes = b""  # of its file; empty: there is none
    frame: int = 0
    writers: Writers = ()

    def owns(self, path: str) -> bool:
        """Return whether a file of documents or captures belongs to the position."""
        frame, writer = _parts(path)
        owner = next((name for name, first in reversed(self.writers) if first <= frame), "")
        return frame <= self.frame and writer == owner

    def writers_with(self, name: str, first: int) -> Writers:
        """Return the writers if everything from a frame on belongs to this one."""
        if self.writers and self.writers[-1][0] == name and self.writers[-1][1] <= first:
            return self.writers
        return (*(writer for writer in self.writers if writer[1] < first), (name, first))


class _PositionFile(msgspec.Struct):
    """What the file of a position has besides the position itself."""

    crawl: str = ""  # empty: there is no position yet, only a writer
    writers: Writers = ()


class ObjectStorage:
    """See `Storage`."""

    seconds = 60.0  # a file per minute of a crawl that is followed, not one per second

    def __init__(self, system: Any, root: str, shown: str) -> None:
        self._folder = Folder(system, root, shown)
        self._known: dict[str, _KnownPosition] = {}

    def check(self) -> None:
        """Refuse an address that cannot be written, before any document is read."""
        storage.attempt(self._folder.shown, self._folder.check)

    def position(self, crawl: str) -> StoragePosition | None:
        self._folder.recover(*self._folders(crawl, _DOCUMENTS, _CAPTURES, _POSITIONS))
        state, position = self._latest(crawl)
        self._known[crawl] = state
        loose = [path for path in self._files(crawl) if not state.owns(path)]
        if loose:
            self._take_over(crawl, loose)
        return position

    def _latest(self, crawl: str) -> tuple[_KnownPosition, StoragePosition | None]:
        """Return the position as it is now."""
        state = _KnownPosition(*self._current(crawl))
        try:
            file = msgspec.json.decode(state.data or b"{}", type=_PositionFile)
            position = msgspec.json.decode(state.data, type=StoragePosition) if file.crawl else None
        except ValueError as error:
            problem = f"{self._folder.shown}: {self._place(crawl, state.number)} is damaged ({error})"
            raise ConfigError(f"{problem}; delete the folder of this crawl") from None
        state.frame, state.writers = (position.frame if position is not None else 0), file.writers
        return state, position

    def _current(self, crawl: str) -> tuple[int, bytes]:
        """Return the number and the content of the file that counts."""
        while True:
            number = max(self._numbers(crawl), default=0)
            data = self._folder.read(self._place(crawl, number))
            if data or not number:
                return number, data  # otherwise it was removed just now: there are higher ones

    def _take_over(self, crawl: str, loose: Sequence[str]) -> None:
        """Let no other process replace the position, then remove the files that one has left without a position."""
        state = self._known[crawl]
        writers = state.writers_with(self._folder.writer, state.frame + 1)
        self._advance(crawl, msgspec.json.encode({**msgspec.json.decode(state.data or b"{}"), "writers": writers}))
        state.writers = writers
        if not self._folder.exclusive:  # a process that has compared already may still replace it
            time.sleep(_GRACE)
        self._own(crawl)
        for path in loose:
            self._folder.delete(path)

    def write(self, batch: StorageBatch) -> None:
        crawl = batch.position.crawl
        state = self._own(crawl)
        rows = {
            _DOCUMENTS: [row.document.encode() for row in batch.documents],
            _CAPTURES: [msgspec.json.encode(row) for row in batch.captures],
        }
        for kind, lines in rows.items():
            self._put(crawl, kind, batch.first, lines)
        writers = state.writers_with(self._folder.writer, batch.first)
        data = msgspec.json.encode({**msgspec.to_builtins(batch.position), "writers": writers})
        try:
            self._advance(crawl, data)
        except StorageTaken:
            self._withdraw([self._name(crawl, kind, batch.first) for kind, lines in rows.items() if lines], crawl)
            raise
        state.writers, state.frame = writers, batch.position.frame

    def _withdraw(self, paths: Sequence[str], crawl: str) -> None:
        """Remove what was written before its position was refused; unless it was not: another process may have
        continued from there before this one could look."""
        latest, _ = self._latest(crawl)
        for path in paths:
            if not latest.owns(path):
                self._folder.delete(path)

    def remove(self, crawl: str, gone: Gone) -> int:
        """Read every file and write those again that have such a page."""
        removed = 0
        state = self._own(crawl)
        for path in self._files(crawl):
            if not state.owns(path):
                continue
            lines = gzip.decompress(self._folder.read(path)).splitlines()
            left = [line for line in lines if not gone(_row(line).url)]
            if len(left) < len(lines):
                self._store(path, left)
                removed += len(lines) - len(left) if f"/{_DOCUMENTS}/" in path else 0
        return removed

    def clear(self, crawl: str) -> None:
        self._own(crawl)
        for path in self._files(crawl):
            self._folder.delete(path)

    def close(self) -> None:
        """Nothing is open between two calls."""

    def _own(self, crawl: str) -> _KnownPosition:
        """Return what is known of a crawl, if that still holds."""
        state = self._known.setdefault(crawl, _KnownPosition())
        if self._current(crawl) != (state.number, state.data):
            raise taken(self._folder.shown, crawl)
        return state

    def _advance(self, crawl: str, data: bytes) -> None:
        """Write the next position, unless another process has done so."""
        state = self._known[crawl] if self._folder.exclusive else self._own(crawl)
        number = state.number + 1
        if not self._folder.create(self._place(crawl, number), data):
            raise taken(self._folder.shown, crawl)
        numbers = self._numbers(crawl)
        if max(numbers, default=0) > number:  # it was free because it is so old that its file was removed
            raise taken(self._folder.shown, crawl)
        state.number, state.data = number, data
        for old in numbers:
            if old <= number - _KEPT:
                self._folder.delete(self._place(crawl, old))
        if number < _KEPT:
            self._folder.delete(self._place(crawl, 0))

    def _numbers(self, crawl: str) -> list[int]:
        names = self._folder.names(*self._folders(crawl, _POSITIONS))
        return [int(match[1]) for match in map(_POSITION.search, names) if match is not None]

    def _place(self, crawl: str, number: int) -> str:
        """Return the path of a position; 0: that of older versions of Windrow, which had one file and replaced it."""
        path = f"{self._folder.root}/{crawl}"
        return f"{path}/{_POSITIONS}/{number:010}.json" if number else f"{path}/position.json"

    def _name(self, crawl: str, kind: str, first: int) -> str:
        return f"{self._folder.root}/{crawl}/{kind}/{first:010}-{self._folder.writer}{_SUFFIX}"

    def _put(self, crawl: str, kind: str, first: int, lines: list[bytes]) -> None:
        if lines:
            self._store(self._name(crawl, kind, first), lines)

    def _store(self, path: str, lines: Sequence[bytes]) -> None:
        """Write a file; without lines there must be none."""
        if not lines:
            return self._folder.delete(path)
        self._folder.replace(path, gzip.compress(b"\n".join(lines) + b"\n", 3, mtime=0))

    def _folders(self, crawl: str, *kinds: str) -> list[str]:
        return [f"{self._folder.root}/{crawl}/{kind}" for kind in kinds]

    def _files(self, crawl: str) -> list[str]:
        names = self._folder.names(*self._folders(crawl, _DOCUMENTS, _CAPTURES))
        return [path for path in names if _NAME.search(path)]


def _parts(path: str) -> tuple[int, str]:
    """Return the first frame of a file, and its writer."""
    match = _NAME.search(path)
    assert match is not None
    return int(match[1]), match[2] or ""
