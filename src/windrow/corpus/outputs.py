"""Where an export goes: one file, a directory of numbered files, or one file for each part of the corpus; there when it is whole, or not.

Everything is written under a name that begins with ".new." and renamed at the end. A directory that an export made says so in export.json,
and only such a directory is ever replaced.
"""

import contextlib
import os
import re
import shutil
import signal
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

SUFFIXES = {
    "jsonl": ".jsonl.gz",
    "prevertical": ".prevert.gz",
    "vertical": ".vert.gz",
    "text": ".txt.gz",
    "parquet": ".parquet",
}
NOTE = "export.json"
OPEN = 64  # files kept open
TABLES = 256  # Parquet files at once: each is open, with its rows in memory, until the end

Encode = Callable[
    [Document, bytes, int], bytes
]  # document, its line in the corpus, its number -> its form in the output


class Sink(Protocol):
    def add(self, path: Path, document: Document, line: bytes, number: int) -> int: ...  # bytes, before compression
    def touch(self, path: Path) -> None: ...  # makes an empty file, where no document was to be written
    def finish(self, path: Path) -> None: ...  # nothing more goes there
    def close(self) -> None: ...
    def drop(self) -> None: ...  # lets go of what will not be whole


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
        self._directory, self._apart = place.directory, place.apart  # asked once: it looks at the disk
        self.files: dict[str, int] = {}  # documents by name of the file
        self._number = 0
        self._size = 0

    def path(self, key: str) -> Path:
        if not self._directory:
            return self.root
        name = _safe(key) if self._apart else f"{self._number:05}"
        return self.root / f"{name}{SUFFIXES[self.place.form]}"

    def note(self, path: Path) -> str:
        """The file is one of the output, even if no document goes there."""
        name = path.name if self._directory else self.place.output.name
        self.files.setdefault(name, 0)
        return name

    def count(self, path: Path, size: int) -> bool:
        """Whether the file is full now."""
        self.files[self.note(path)] += 1
        self._size += size
        if not self._directory or self._apart or self._size < self.place.shard_bytes:
            return False
        self._number, self._size = self._number + 1, 0
        return True


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
    except OSError as error:
        _remove(temporary)
        error.filename = error.filename or str(place.output)  # a full disk is told of without a name
        raise
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
            raise ConfigError(
                f"{output} is not empty; name another directory, or replace an earlier export with --force"
            )
        if not (output / NOTE).is_file():
            raise ConfigError(
                f"{output} holds something else than an export (it has no {NOTE}), so --force does not remove it; name another"
            )


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
        self._file(path)

    def finish(self, path: Path) -> None:
        self._open.pop(path).close()

    def close(self) -> None:
        for file in self._open.values():
            file.close()
        self._open.clear()

    def drop(self) -> None:
        for file in self._open.values():
            with contextlib.suppress(OSError):  # what made it end was told
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
        with _standard_output():
            sys.stdout.buffer.write(data)
        return len(data)

    def touch(self, path: Path) -> None:
        pass

    def finish(self, path: Path) -> None:
        pass

    def close(self) -> None:
        with _standard_output():
            sys.stdout.buffer.flush()

    def drop(self) -> None:
        self.close()


@contextlib.contextmanager
def _standard_output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # what is left in its buffer goes there, at the end
        if isinstance(error, BrokenPipeError):  # who reads has enough: a filter ends then, without a word
            raise SystemExit(128 + signal.SIGPIPE) from None
        raise OSError(error.errno, error.strerror, "standard output") from None


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
            raise ConfigError(
                f"more than {TABLES} Parquet files at once are too many; part the corpus by tld or language, or filter it"
            )
        self._open[path] = Table(path)

    def finish(self, path: Path) -> None:
        self._open.pop(path).close()

    def close(self) -> None:
        for table in self._open.values():
            table.close()
        self._open.clear()

    def drop(self) -> None:
        for table in self._open.values():
            table.drop()
        self._open.clear()


class _Packed:
    """A gzip member at the end of a file."""

    def __init__(self, path: Path, mode: str) -> None:
        self._plain = path.open(mode)
        self._file = igzip.IGzipFile("", "wb", formats.LEVEL, self._plain, 0)  # type: ignore[no-untyped-call]

    def write(self, data: bytes) -> None:
        self._file.write(data)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        self._file.close()
        self._plain.close()


def _file(path: Path, mode: str) -> BinaryIO:
    return typing.cast(BinaryIO, _Packed(path, mode) if path.suffix == ".gz" else path.open(mode))


def _safe(key: str) -> str:
    """A key as a file name."""
    return re.sub(r"[^A-Za-z0-9_.-]|^\.", "_", key) or "none"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _replace(temporary: Path, target: Path) -> None:
    """A file is replaced in one step; an earlier directory makes way and goes when the new one is there."""
    old = target.with_name(f".old.{target.name}")
    if target.is_dir():
        _remove(old)
        target.rename(old)
    temporary.replace(target)
    _remove(old)
    _sync(target.parent, False)


def _sync(path: Path, inner: bool = True) -> None:
    for found in (*(path.iterdir() if inner and path.is_dir() else ()), path):
        descriptor = os.open(found, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
