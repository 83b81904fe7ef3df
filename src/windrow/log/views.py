"""Views of a log: what commands keep of a long one in `views/` of the crawl's directory, to read it only once.

A view may be deleted at any time, and is made again. One that is damaged, that another version wrote, or that is not of
this log, counts as none. Where views cannot be written, commands read the log. The bytes may be those of a stranger:
they are data of a known type and no longer than the log, and no link is followed. Of several commands at the same time
one writes; the others do without.
"""

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import xxhash

import windrow
from windrow.log import reader
from windrow.log.following import START, Bookmark, Watch, follow

DIRECTORY = "views"  # in a crawl's directory
LONGEST = 1 << 30  # bytes of a view that is read
SUM = 8  # bytes of a checksum
KEEP = 4 << 20  # bytes of the log behind a view: fewer are read again sooner than a view is written
FAULTS = (OSError, ValueError, msgspec.MsgspecError, RecursionError)  # of a view that cannot be read
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # no link is followed, no pipe waited for


class _Stored(msgspec.Struct, array_like=True):
    """A file of a view, behind its checksum."""

    asked: bytes
    position: Bookmark
    folds: list[msgspec.Raw]


_decode = msgspec.msgpack.Decoder(_Stored).decode
_encode = msgspec.msgpack.Encoder().encode


class View:
    """Folds over the log of a crawl, and how far they have come: kept from one command to the next."""

    def __init__(self, directory: Path, name: str, *folds: msgspec.Struct) -> None:
        """`name`: of the file. `folds` that have counted nothing yet: they are the question. To another question, or to
        the same of another version of Windrow, the file is no answer."""
        self.folds: Sequence[Any] = folds
        self.position = START
        self._directory = directory
        self._name = name
        self._kinds = [type(fold) for fold in folds]
        self._fresh = [_encode(fold) for fold in folds]
        self._restore()
        self._kept = self.position

    def read(self, watch: Watch | None = None) -> Sequence[Any]:
        """Count what the log has by now, and return the folds. `watch` gets the bytes that need no reading, too."""
        if watch is not None:
            watch(_length(self.position))
        position = follow(self._directory, self.position, *self.folds, watch=watch)
        if position is None:  # recovery has cut the log, or it is another one
            self.folds, self._kept = self._decoded(self._fresh), START
            position = follow(self._directory, START, *self.folds, watch=watch) or START
        self.position = position
        if _length(position) - _length(self._kept) >= KEEP and not position.notes:
            folds = [msgspec.Raw(_encode(fold)) for fold in self.folds]
            write(self._directory, self._name, sealed(_encode(_Stored(self._asked(), position, folds))))
            self._kept = position
        return self.folds

    def _restore(self) -> None:
        with contextlib.suppress(*FAULTS):
            stored = _decode(opened(self._read()))
            if stored.asked == self._asked():
                self.folds, self.position = self._decoded(stored.folds), stored.position

    def _read(self) -> bytes:
        with open_view(self._directory, self._name) as file:
            if os.fstat(file.fileno()).st_size > min(reader.length(self._directory), LONGEST):
                raise ValueError("a view says less than its log")
            return file.read()

    def _asked(self) -> bytes:
        names = [f"{kind.__module__}.{kind.__qualname__}" for kind in self._kinds]
        return xxhash.xxh3_128_digest(_encode((windrow.__version__, names, self._fresh)))

    def _decoded(self, folds: Sequence[bytes | msgspec.Raw]) -> list[Any]:
        pairs = zip(folds, self._kinds, strict=True)
        return [msgspec.msgpack.decode(fold, type=kind) for fold, kind in pairs]


def _length(position: Bookmark) -> int:
    return position.before + position.offset


def sealed(data: bytes) -> bytes:
    """Return data with its checksum in front."""
    return xxhash.xxh3_64_digest(data) + data


def opened(data: bytes) -> bytes:
    """Return data without the checksum in front; ValueError if it is not that of the data."""
    rest = data[SUM:]
    if xxhash.xxh3_64_digest(rest) != data[:SUM]:
        raise ValueError("the checksum is wrong")
    return rest


def open_view(directory: Path, name: str) -> BinaryIO:
    """Open a file of `views/`; OSError if there is none, or if it is no plain file."""
    descriptor = os.open(directory / DIRECTORY / name, _PLAIN | os.O_RDONLY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a plain file", name)
    return os.fdopen(descriptor, "rb")


def writable(directory: Path) -> bool:
    """Return whether a view can be written here. It makes the folder."""
    views = directory / DIRECTORY
    with contextlib.suppress(OSError):
        views.mkdir(exist_ok=True)
    return views.is_dir() and not views.is_symlink() and os.access(views, os.W_OK)


def write(directory: Path, name: str, data: bytes) -> bool:
    """Replace a view in one step; return whether it was written. It need not be durable: it has a checksum."""
    views = directory / DIRECTORY
    if not writable(directory):
        return False
    with contextlib.suppress(OSError), _open_new(views / "lock", 0) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError while another command writes
        new = views / f"{name}.new"
        try:
            new.unlink(missing_ok=True)
            with _open_new(new, os.O_EXCL) as file:
                file.write(data)
            new.replace(views / name)
            return True
        except OSError:
            new.unlink(missing_ok=True)
            raise
    return False


def remove(directory: Path, name: str) -> None:
    """Remove a view that is damaged."""
    with contextlib.suppress(OSError):
        (directory / DIRECTORY / name).unlink(missing_ok=True)


def _open_new(path: Path, more: int) -> BinaryIO:
    """Open a file for writing that may not be there. `more`: flags."""
    return os.fdopen(os.open(path, _PLAIN | os.O_RDWR | os.O_CREAT | more, 0o666), "wb")
