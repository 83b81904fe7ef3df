"""The mark of a purge that is not finished, with the bytes that it writes next."""

import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from windrow import files, takedown


class Patch(msgspec.Struct, frozen=True, array_like=True):
    """Bytes to write over those of a file."""

    file: str  # relative to the crawl directory
    offset: int
    data: bytes


_decode = msgspec.msgpack.Decoder(list[Patch]).decode


class Redo:
    """`purge.redo` of a crawl directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / takedown.UNFINISHED

    def repeat(self) -> bool:
        """If a purge was interrupted, write again what it may have left half written; return whether one was."""
        if self._path.exists():
            _apply(self._directory, _decode(zlib.decompress(self._path.read_bytes())))
        return self._path.exists()

    def begin(self) -> None:
        """Mark the directory."""
        self._save(())

    def write(self, patches: Sequence[Patch]) -> None:
        """Overwrite parts of files; when this returns, they are durable."""
        self._save(patches)
        _apply(self._directory, patches)

    def end(self) -> None:
        """Remove the mark."""
        self._path.unlink(missing_ok=True)
        self._path.with_name(f"{self._path.name}.new").unlink(missing_ok=True)
        files.sync_directory(self._directory)

    def _save(self, patches: Iterable[Patch]) -> None:
        # A tombstone is nearly all blanks, so a few bytes here stand for many there.
        files.write(self._path, zlib.compress(msgspec.msgpack.encode(tuple(patches)), 1))


def _apply(directory: Path, patches: Sequence[Patch]) -> None:
    for file in sorted({patch.file for patch in patches}):
        path = directory / file
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            for patch in patches:
                if patch.file == file:
                    files.overwrite(descriptor, patch.data, patch.offset, path)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
