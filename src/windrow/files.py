"""Files that only grow: bytes behind a known length, all of them or none, and names that outlast a power loss."""

import contextlib
import errno
import os
from pathlib import Path


def append(descriptor: int, data: bytes | bytearray, at: int, path: Path) -> int:
    """Writes data where the file ends, at this offset; the new length.

    OSError: the file is again as long as before. Where even that fails, nothing is lost either: the next write begins at the same offset.
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


def sync_directory(path: Path) -> None:
    """Makes the names in a directory durable: a file that was synced can still be lost with its name."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
