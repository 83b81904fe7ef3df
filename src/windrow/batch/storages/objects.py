"""Files on another machine, through fsspec: s3://BUCKET/FOLDER, hdfs://HOST/FOLDER, or a directory here.

    FOLDER/CRAWL/documents/FRAME.jsonl.gz     the documents from this frame of the log on, as in the corpus
    FOLDER/CRAWL/captures/FRAME.jsonl.gz
    FOLDER/CRAWL/position.json

A file is named by its first frame, and the position is written after it. So a batch that was interrupted is written
again under the same name. A file appears when it is complete.
"""

import functools
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from windrow import files, storage
from windrow.batch.storages.protocol import Gone, StorageBatch, StorageLost, StoragePosition
from windrow.config import ConfigError

# How a complete file gets its name, by the protocol of the file system: an object is written whole; a file here is
# renamed over the old one; elsewhere (HDFS) a rename needs a name that is free.
_WHOLE = ("s3", "s3a", "gs", "gcs", "abfs", "az", "memory")
_RENAMED = ("file", "local")
_NEW, _READY = ".new", ".ready"  # being written; complete, and newer than the file without this suffix
_DOCUMENTS, _CAPTURES = "documents", "captures"


def open(target: str, captures: bool) -> "ObjectStorage":
    place = target if storage.is_remote(target) else Path(target).absolute().as_uri()
    system, folder = storage.filesystem(place)
    opened = ObjectStorage(system, folder.rstrip("/"), storage.without_password(target))
    opened.check()
    return opened


class _Row(msgspec.Struct):
    url: str


_row = msgspec.json.Decoder(_Row).decode


class ObjectStorage:
    """See `Storage`."""

    seconds = 60.0  # a file per minute of a crawl that is followed, not one per second

    def __init__(self, system: Any, folder: str, shown: str) -> None:
        self._system, self._folder, self._shown = system, folder, shown
        protocol = system.protocol if isinstance(system.protocol, str) else system.protocol[0]
        self._whole, self._renamed = protocol in _WHOLE, protocol in _RENAMED

    def check(self) -> None:
        """Refuse an address that cannot be written, before any document is read."""
        storage.attempt(self._shown, lambda: self._replace(f"{self._folder}/.windrow", b"windrow store\n"))

    def position(self, crawl: str) -> StoragePosition | None:
        path = f"{self._folder}/{crawl}/position.json"
        self._recover(f"{self._folder}/{crawl}")
        try:
            data = self._tried(lambda: self._system.cat_file(path))
        except FileNotFoundError:
            return None
        try:
            return msgspec.json.decode(data, type=StoragePosition)
        except msgspec.MsgspecError as error:
            raise ConfigError(f"{self._shown}: {path} is damaged ({error}); delete the folder of this crawl") from None

    def write(self, batch: StorageBatch) -> None:
        crawl = batch.position.crawl
        self._put(crawl, _DOCUMENTS, batch.first, [row.document.encode() for row in batch.documents])
        self._put(crawl, _CAPTURES, batch.first, [msgspec.json.encode(row) for row in batch.captures])
        data = msgspec.json.encode(batch.position)
        self._tried(lambda: self._replace(f"{self._folder}/{crawl}/position.json", data))

    def remove(self, crawl: str, gone: Gone) -> int:
        """Read every file and write those again that have such a page."""
        removed = 0
        for kind in (_DOCUMENTS, _CAPTURES):
            for path in self._files(f"{self._folder}/{crawl}/{kind}"):
                data: bytes = self._tried(functools.partial(self._system.cat_file, path))
                lines = gzip.decompress(data).splitlines()
                left = [line for line in lines if not gone(_row(line).url)]
                if len(left) < len(lines):
                    self._store(path, left)
                    removed += len(lines) - len(left) if kind == _DOCUMENTS else 0
        return removed

    def close(self) -> None:
        """Nothing is open between two calls."""

    def _put(self, crawl: str, kind: str, first: int, lines: list[bytes]) -> None:
        self._store(f"{self._folder}/{crawl}/{kind}/{first:010}.jsonl.gz", lines)

    def _store(self, path: str, lines: list[bytes]) -> None:
        """Write a file. Without lines there must be none, not even of a batch that was interrupted."""
        if lines:
            data = gzip.compress(b"\n".join(lines) + b"\n", 3, mtime=0)
            self._tried(lambda: self._replace(path, data))
            return
        self._tried(self._system.invalidate_cache)
        if self._tried(lambda: self._system.exists(path)):
            self._tried(lambda: self._system.rm_file(path))

    def _replace(self, path: str, data: bytes) -> None:
        if self._whole:
            self._system.pipe_file(path, data)
            return
        self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        if self._renamed:
            files.write(Path(path), data)  # fsspec does not sync
            files.sync_directory(Path(path).parent.parent)
            return
        self._system.pipe_file(f"{path}{_NEW}", data)
        self._system.mv(f"{path}{_NEW}", f"{path}{_READY}")
        self._finish(path)

    def _finish(self, path: str) -> None:
        if self._system.exists(path):
            self._system.rm_file(path)
        self._system.mv(f"{path}{_READY}", path)

    def _recover(self, folder: str) -> None:
        """Finish or undo the replacement that a kill has interrupted."""
        if self._whole:
            return
        for path in self._tried(lambda: self._system.find(folder)):
            if path.endswith(_NEW):
                self._tried(functools.partial(self._system.rm_file, path))
            elif path.endswith(_READY):
                self._tried(functools.partial(self._finish, path.removesuffix(_READY)))

    def _files(self, folder: str) -> list[str]:
        self._tried(self._system.invalidate_cache)
        found = self._tried(lambda: self._system.find(folder))
        return sorted(path for path in found if path.endswith(".jsonl.gz"))

    def _tried(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except FileNotFoundError:
            raise
        except Exception as error:  # each driver has its own exceptions
            raise StorageLost(f"{self._shown} is lost: {storage.describe(error)[:300]}") from None
