"""Where an export goes: one file, a directory of numbered files, or one file for each part of the corpus; there when it is whole, or not.

Everything is written under a name that begins with ".new." and renamed at the end. A directory that an export made says so in export.json,
and only such a directory is ever replaced.
"""

import contextlib
import os
import re
import shutil
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec
from isal import igzip

from windrow.config import ConfigError
from windrow.corpus import formats
from windrow.corpus.parquet import Table
from windrow.data import Document

SUFFIXES = {"jsonl": ".jsonl.gz", "prevertical": ".prevert.gz", "vertical": ".vert.gz", "text": ".txt.gz", "parquet": ".parquet"}
NOTE = "export.json"
OPEN = 64  # files kept open
TABLES = 256  # Parquet files at once: each is open, with its rows in memory, until the end

Encode = Callable[[Document, bytes, int], bytes]  # document, its line in the corpus, its number -> its form in the output


class Sink(Protocol):
    def add(self, path: Path, document: Document, line: bytes, number: int) -> int: ...  # bytes, before compression
    def close(self) -> None: ...  # when this returns, all of it is on the disk


class Place(msgspec.Struct, frozen=True):
    """What was asked for."""

    output: Path  # "-": standard output
    form: str  # one of SUFFIXES
    apart: bool = False  # a file for each key
    shard_bytes: int = 1 << 30  # of a numbered file, before compression
    force: bool = False

    @property
    def stream(self) -> bool:
        return str(self.output) == "-"

    @property
    def directory(self) -> bool:
        named = re.search(r"[A-Za-z]", self.output.suffix)
        return not self.stream and (self.apart or self.output.is_dir() or not named)


class Output:
    """Names the file for each document. Used within `opened`."""

    def __init__(self, place: Place, root: Path) -> None:
        self.place = place
        self.root = root  # directory or file, by its temporary name
        self.files: dict[str, int] = {}  # documents by name of the file
        self._number = 0
        self._size = 0

    def path(self, key: str) -> Path:
        if not self.place.directory:
            return self.root
        name = _safe(key) if self.place.apart else f"{self._number:05}"
        return self.root / f"{name}{SUFFIXES[self.place.form]}"

    def count(self, path: Path, size: int) -> None:
        name = path.name if self.place.directory else self.place.output.name
        self.files[name] = self.files.get(name, 0) + 1
        self._size += size
        if not self.place.apart and self._size >= self.place.shard_bytes:
            self._number, self._size = self._number + 1, 0


@contextlib.contextmanager
def opened(place: Place) -> Iterator[Output]:
    """An output that appears when this ends well, and of which nothing is left when it does not."""
    check(place)
    if place.stream:
        yield Output(place, place.output)
        return
    target = Path(os.path.normpath(place.output))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".new.{target.name}")
    _remove(temporary)
    if place.directory:
        temporary.mkdir()
    try:
        yield Output(place, temporary)
        _sync(temporary)
        _replace(temporary, target)
    except BaseException:
        _remove(temporary)
        raise


def check(place: Place) -> None:
    """Refuses to write over what is there."""
    output = place.output
    if place.stream:
        if place.form == "parquet" or place.apart:
            raise ConfigError("standard output takes one text; name a file or directory with -o")
        return
    if not place.directory:
        if output.exists() and not place.force:
            raise ConfigError(f"{output} exists already; name another file, or replace it with --force")
    elif output.exists() and not output.is_dir():
        raise ConfigError(f"{output} is a file, and a directory is wanted; name another place")
    elif output.exists() and any(output.iterdir()):
        if not place.force:
            raise ConfigError(f"{output} is not empty; name another directory, or replace an earlier export with --force")
        if not (output / NOTE).is_file():
            raise ConfigError(f"{output} holds something else than an export (it has no {NOTE}), so --force does not remove it; name another")


class Texts:
    """Documents as bytes, gzipped where the name says so."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._open: dict[Path, BinaryIO] = {}  # the longest unused first
        self._made: set[Path] = set()

    def add(self, path: Path, document: Document, line: bytes, number: int) -> int:
        data = self._encode(document, line, number)
        self._file(path).write(data)
        return len(data)

    def touch(self, path: Path) -> None:
        """An empty file, where no document was to be written."""
        self._file(path)

    def close(self) -> None:
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _file(self, path: Path) -> BinaryIO:
        file = self._open.pop(path, None)
        if file is None:
            if len(self._open) >= OPEN:
                self._open.pop(next(iter(self._open))).close()
            file = _file(path, "ab" if path in self._made else "wb")
            self._made.add(path)
        self._open[path] = file
        return file


class Stream:
    """Standard output."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def add(self, path: Path, document: Document, line: bytes, number: int) -> int:
        data = self._encode(document, line, number)
        sys.stdout.buffer.write(data)
        return len(data)

    def touch(self, path: Path) -> None:
        pass

    def close(self) -> None:
        sys.stdout.buffer.flush()


class Tables:
    """Documents as rows."""

    def __init__(self, dump: Callable[[], str]) -> None:
        self._dump = dump
        self._open: dict[Path, Table] = {}

    def add(self, path: Path, document: Document, line: bytes, number: int) -> int:
        self.touch(path)
        return self._open[path].add(document, self._dump())

    def touch(self, path: Path) -> None:
        if path in self._open:
            return
        if len(self._open) >= TABLES:
            raise ConfigError(f"more than {TABLES} Parquet files at once are too many; part the corpus by tld or language, or filter it")
        self._open[path] = Table(path)

    def close(self) -> None:
        for table in self._open.values():
            table.close()
        self._open.clear()
