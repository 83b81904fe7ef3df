"""Where an export goes: one file, a directory of numbered files, one file per part of the corpus, or standard output.

Everything is written under a name that begins with ".new." and renamed at the end, so an output is there whole or not
at all.

A directory has its documents in a directory of their own, data/, with nothing else in it, because most programs that
read a directory read every file there: datatrove, pyarrow, pandas. Beside it are README.md, the dataset card, and
.export.json, which says how the export was made. Its name begins with a dot so that `datasets`, which reads every other
JSON file below a directory as data, ignores it. Only a directory with that file is ever replaced.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from windrow import files
from windrow.config import ConfigError
from windrow.corpus.formats.format import Format
from windrow.io import streams

NOTE = ".export.json"
DATA = "data"


class Target(msgspec.Struct, frozen=True):
    """The output that the user named, and how to write it."""

    output: Path  # "-": standard output
    format: Format
    split: bool = False  # one file per part of the corpus
    shard_bytes: int = 1 << 30  # of a numbered file, before compression
    force: bool = False
    folder: str = DATA  # of a directory: where its documents are

    @property
    def standard_output(self) -> bool:
        return str(self.output) == "-"

    @property
    def directory(self) -> bool:
        named = re.search(r"[A-Za-z]", self.output.suffix)
        return not self.standard_output and (self.split or self.output.is_dir() or not named)


class Output:
    """Names the file for each document. Valid inside `opened`."""

    def __init__(self, target: Target, root: Path) -> None:
        self.target = target
        self.root = root  # directory or file, under its temporary name
        self._directory, self._split = target.directory, target.split  # read once: `directory` looks at the disk
        self.files: dict[str, int] = {}  # file name -> documents
        self._paths: dict[str, Path] = {}  # joined once per file, not per document
        self._number = 0
        self._size = 0

    def path(self, part: str) -> Path:
        if not self._directory:
            return self.root
        key = part if self._split else f"{self._number:05}"
        path = self._paths.get(key)
        if path is None:
            name = f"{_file_name(key)}{self.target.format.suffix}"
            path = self._paths[key] = self.root / self.target.folder / name
        return path

    def note(self, path: Path) -> str:
        """Count the file as one of the output, even if it gets no document."""
        name = f"{self.target.folder}/{path.name}" if self._directory else self.target.output.name
        self.files.setdefault(name, 0)
        return name

    def count(self, path: Path, size: int) -> bool:
        """Count a document; return whether its file is full now."""
        self.files[self.note(path)] += 1
        self._size += size
        if not self._directory or self._split or self._size < self.target.shard_bytes:
            return False
        self._number, self._size = self._number + 1, 0
        return True


@contextlib.contextmanager
def opened(target: Target) -> Iterator[Output]:
    """Make an output that appears when the block ends, and of which nothing is left when the block raises."""
    check(target)
    if target.standard_output:
        yield Output(target, target.output)
        return
    final = Path(os.path.normpath(target.output))
    final.parent.mkdir(parents=True, exist_ok=True)
    temporary = final.with_name(f".new.{final.name}")
    _remove(temporary)
    if target.directory:
        (temporary / target.folder).mkdir(parents=True)
    try:
        yield Output(target, temporary)
        _sync(temporary)
        _replace(temporary, final)
    except OSError as error:
        _remove(temporary)
        error.filename = error.filename or str(target.output)  # the system reports a full disk without a file name
        raise
    except BaseException:
        _remove(temporary)
        raise


def check(target: Target) -> None:
    """Refuse to write over existing files, and names that promise a compression in which nothing is written."""
    output = target.output
    if target.standard_output:
        if target.format.columnar or target.split:
            raise ConfigError("standard output takes one file of text; name a file or directory with -o")
        return
    if not output.is_dir():
        streams.check_suffix(output)
    if target.directory:
        streams.check_suffix(Path(f"FILE{target.format.suffix}"))
    if not target.directory:
        if output.exists() and not target.force:
            raise ConfigError(f"{output} already exists; name another file, or replace it with --force")
    elif output.exists() and not output.is_dir():
        raise ConfigError(f"{output} is a file, but this export writes a directory; name another output")
    elif output.exists() and any(output.iterdir()):
        if not target.force:
            raise ConfigError(
                f"{output} is not empty; name another directory, or replace an earlier export with --force"
            )
        if not (output / NOTE).is_file():
            raise ConfigError(
                f"{output} is not an export (it has no {NOTE}), so --force does not remove it; name another directory"
            )


def _file_name(part: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]|^\.", "_", part) or "none"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _replace(temporary: Path, final: Path) -> None:
    """Replace a file in one step. Move an earlier directory aside and remove it once the new one is in place."""
    old = final.with_name(f".old.{final.name}")
    if final.is_dir():
        _remove(old)
        final.rename(old)
    temporary.replace(final)
    _remove(old)
    files.sync_directory(final.parent)


def _sync(path: Path) -> None:
    """Sync a file, or a directory with everything in it."""
    for entry in (*path.rglob("*"), path):
        descriptor = os.open(entry, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
