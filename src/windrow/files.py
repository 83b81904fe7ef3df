"""Durable files: append all of the data or none, overwrite, replace a file in one step, keep names."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def append(descriptor: int, data: bytes | bytearray, at: int, path: Path) -> int:
    """Write data at the end of a file, which is at this offset, and return the new length.

    After an OSError the file has its old length again. Where even the cut fails, nothing is lost either: the next write
    begins at the same offset.
    """
    done = 0
    with memoryview(data) as view:
        try:
            while done < len(view):
                written = os.pwrite(descriptor, view[done:], at + done)
                if not written:
                    raise OSError(errno.EIO, "nothing could be written", str(path))
                done += written
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, at)
            error.filename = error.filename or str(path)
            raise
    return at + done


def overwrite(descriptor: int, data: bytes, at: int, path: Path) -> None:
    """Write data over bytes that a file has already. After an OSError a part of them may be replaced."""
    done = 0
    with memoryview(data) as view:
        while done < len(view):
            written = os.pwrite(descriptor, view[done:], at + done)
            if not written:
                raise OSError(errno.EIO, "nothing could be written", str(path))
            done += written


def write(path: Path, data: bytes) -> None:
    """Write a file durably, complete or not at all: a reader sees the old content or the new one, never a part."""
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open NAME.new for writing; at the end make it durable and rename it to NAME. On an exception keep the old
    file."""
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable: a power loss can remove a synced file whose name was not synced."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
