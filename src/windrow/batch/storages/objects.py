"""Files on another machine, through fsspec: s3://BUCKET/FOLDER, hdfs://HOST/FOLDER, or a directory here.

    FOLDER/CRAWL/documents/FRAME-WRITER.jsonl.gz     the documents from this frame of the log on, as in the corpus
    FOLDER/CRAWL/captures/FRAME-WRITER.jsonl.gz
    FOLDER/CRAWL/position.json

The position is written after the files of its batch. Every process that writes has a random name, which is in the names
of its files: two processes never write the same file. The position says which writer has which frames, so a file of a
batch whose position was never written is known as loose. A process that finds such files makes the position its own,
after which the writer of the file cannot replace it any more, and removes them before it writes. A file appears when it
is complete.
"""

import contextlib
import functools
import gzip
import re
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from windrow import files, storage
from windrow.batch.storages.protocol import Gone, StorageBatch, StorageLost, StoragePosition, StorageTaken, taken
from windrow.config import ConfigError

# How a complete file gets its name, by the protocol of the file system: an object is written whole; a file here is
# renamed over the old one; elsewhere (HDFS) a rename needs a name that is free.
_WHOLE = ("s3", "s3a", "gs", "gcs", "abfs", "az", "memory")
_RENAMED = ("file", "local")
_CONDITIONAL = ("s3", "s3a")  # these compare and replace the position in one step
_NEW, _READY = ".new", ".ready"  # being written; complete, and newer than the file without this suffix
_SUFFIX = ".jsonl.gz"
_NAME = re.compile(r"/(\d+)(?:-([0-9a-f]+))?\.jsonl\.gz$")
_DOCUMENTS, _CAPTURES = "documents", "captures"
_GRACE = 2.0  # seconds in which a process that has compared a position replaces it, unless it is stopped meanwhile
_REFUSED = ("PreconditionFailed", "ConditionalRequestConflict")  # codes of S3: the position is another one
_UNKNOWN = ("NotImplemented",)  # an older server that speaks the language of S3

Writers = tuple[tuple[str, int], ...]  # the name of each, and the first frame that is its own, in the order of time


def open(target: str, captures: bool) -> "ObjectStorage":
    place = target if storage.is_remote(target) else Path(target).absolute().as_uri()
    system, folder = storage.filesystem(place)
    opened = ObjectStorage(system, folder.rstrip("/"), storage.without_password(target))
    opened.check()
    return opened


class _Row(msgspec.Struct):
    url: str


_row = msgspec.json.Decoder(_Row).decode


class _KnownPosition(msgspec.Struct):
    """The position of a crawl, as this process has read or written it last."""

    data: bytes = b""  # of its file; empty: there is none
    version: str = ""  # of the file, where the storage has versions
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
        return (*(one for one in self.writers if one[1] < first), (name, first))


class _PositionFile(msgspec.Struct):
    """What position.json has besides the position itself."""

    crawl: str = ""  # empty: there is no position yet, only a writer
    writers: Writers = ()


class ObjectStorage:
    """See `Storage`."""

    seconds = 60.0  # a file per minute of a crawl that is followed, not one per second

    def __init__(self, system: Any, folder: str, shown: str) -> None:
        self._system, self._folder, self._shown = system, folder, shown
        protocol = system.protocol if isinstance(system.protocol, str) else system.protocol[0]
        self._whole, self._renamed = protocol in _WHOLE, protocol in _RENAMED
        self._conditional = protocol in _CONDITIONAL
        self._writer = secrets.token_hex(4)
        self._known: dict[str, _KnownPosition] = {}

    def check(self) -> None:
        """Refuse an address that cannot be written, before any document is read."""
        storage.attempt(self._shown, lambda: self._replace(f"{self._folder}/.windrow", b"windrow store\n"))

    def position(self, crawl: str) -> StoragePosition | None:
        self._recover(crawl)
        known = self._known[crawl] = _KnownPosition()
        if self._conditional:  # before it is read: if it changes meanwhile, the version is too old and not too new
            known.version = self._version(crawl)
        known.data = self._read(crawl)
        try:
            file = msgspec.json.decode(known.data or b"{}", type=_PositionFile)
            found = msgspec.json.decode(known.data, type=StoragePosition) if file.crawl else None
        except ValueError as error:
            problem = f"{self._shown}: {self._place(crawl)} is damaged ({error})"
            raise ConfigError(f"{problem}; delete the folder of this crawl") from None
        known.frame, known.writers = (found.frame if found is not None else 0), file.writers
        loose = [path for path in self._files(crawl) if not known.owns(path)]
        if loose:
            self._take_over(crawl, loose)
        return found

    def _take_over(self, crawl: str, loose: Sequence[str]) -> None:
        """Let no other process replace the position, then remove the files that one has left without a position."""
        known = self._known[crawl]
        writers = known.writers_with(self._writer, known.frame + 1)
        self._advance(crawl, msgspec.json.encode({**msgspec.json.decode(known.data or b"{}"), "writers": writers}))
        known.writers = writers
        if not self._conditional:  # a process that has compared already may still replace it
            time.sleep(_GRACE)
        self._own(crawl)
        for path in loose:
            self._delete(path)

    def write(self, batch: StorageBatch) -> None:
        crawl = batch.position.crawl
        known = self._own(crawl)
        rows = {
            _DOCUMENTS: [row.document.encode() for row in batch.documents],
            _CAPTURES: [msgspec.json.encode(row) for row in batch.captures],
        }
        for kind, lines in rows.items():
            self._put(crawl, kind, batch.first, lines)
        writers = known.writers_with(self._writer, batch.first)
        data = msgspec.json.encode({**msgspec.to_builtins(batch.position), "writers": writers})
        try:
            self._advance(crawl, data)
        except StorageTaken:
            for kind, lines in rows.items():
                if lines:
                    self._delete(self._name(crawl, kind, batch.first))
            raise
        known.writers, known.frame = writers, batch.position.frame

    def remove(self, crawl: str, gone: Gone) -> int:
        """Read every file and write those again that have such a page."""
        removed = 0
        known = self._own(crawl)
        for path in self._files(crawl):
            if not known.owns(path):
                continue
            data: bytes = self._tried(functools.partial(self._system.cat_file, path))
            lines = gzip.decompress(data).splitlines()
            left = [line for line in lines if not gone(_row(line).url)]
            if len(left) < len(lines):
                self._store(path, left)
                removed += len(lines) - len(left) if f"/{_DOCUMENTS}/" in path else 0
        return removed

    def clear(self, crawl: str) -> None:
        self._own(crawl)
        for path in self._files(crawl):
            self._delete(path)

    def close(self) -> None:
        """Nothing is open between two calls."""

    def _own(self, crawl: str) -> _KnownPosition:
        """Return what is known of a crawl, if that still holds."""
        known = self._known.setdefault(crawl, _KnownPosition())
        if self._read(crawl) != known.data:
            raise taken(self._shown, crawl)
        return known

    def _advance(self, crawl: str, data: bytes) -> None:
        """Replace the position, unless another process has done so."""
        known, place = self._known[crawl], self._place(crawl)
        if self._conditional:
            self._tried(lambda: self._exchange(crawl, data))
        else:
            if self._read(crawl) != known.data:
                raise taken(self._shown, crawl)
            self._tried(lambda: self._replace(place, data))
        known.data = data

    def _exchange(self, crawl: str, data: bytes) -> None:
        known, place = self._known[crawl], self._place(crawl)
        condition = {"IfMatch": known.version} if known.version else {"IfNoneMatch": "*"}
        try:
            answer = self._system.pipe_file(place, data, **condition)
        except Exception as error:  # the driver makes several of them
            code = getattr(error.__cause__, "response", {}).get("Error", {}).get("Code", "")
            if code in _UNKNOWN:
                self._conditional = False
                return self._advance(crawl, data)
            if code not in _REFUSED and not isinstance(error, FileNotFoundError):
                raise
            if self._read(crawl) != data:  # the client repeats a request whose answer was lost: then it is ours
                raise taken(self._shown, crawl) from None
            answer = {}
        known.version = answer.get("ETag") or self._version(crawl)

    def _version(self, crawl: str) -> str:
        self._tried(self._system.invalidate_cache)
        try:
            return str(self._tried(lambda: self._system.info(self._place(crawl))).get("ETag", ""))
        except FileNotFoundError:
            return ""

    def _read(self, crawl: str) -> bytes:
        try:
            return bytes(self._tried(lambda: self._system.cat_file(self._place(crawl))))
        except FileNotFoundError:
            return b""

    def _place(self, crawl: str) -> str:
        return f"{self._folder}/{crawl}/position.json"

    def _name(self, crawl: str, kind: str, first: int) -> str:
        return f"{self._folder}/{crawl}/{kind}/{first:010}-{self._writer}{_SUFFIX}"

    def _put(self, crawl: str, kind: str, first: int, lines: list[bytes]) -> None:
        if lines:
            self._store(self._name(crawl, kind, first), lines)

    def _store(self, path: str, lines: Sequence[bytes]) -> None:
        """Write a file; without lines there must be none."""
        if not lines:
            return self._delete(path)
        data = gzip.compress(b"\n".join(lines) + b"\n", 3, mtime=0)
        self._tried(lambda: self._replace(path, data))

    def _delete(self, path: str) -> None:
        self._tried(self._system.invalidate_cache)
        with contextlib.suppress(FileNotFoundError):
            self._tried(lambda: self._system.rm_file(path))

    def _replace(self, path: str, data: bytes) -> None:
        if self._whole:
            self._system.pipe_file(path, data)
            return
        self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        own = f"{path}.{self._writer}{_NEW}"
        try:
            if self._renamed:
                files.write(Path(own), data)  # fsspec does not sync
                Path(own).replace(path)
                files.sync_directory(Path(path).parent)
                files.sync_directory(Path(path).parent.parent)
                return
            self._system.pipe_file(own, data)
            self._system.mv(own, f"{path}{_READY}")
            self._finish(path)
        except FileNotFoundError:  # another process has taken it for that of a dead one
            raise StorageLost(f"{self._shown}: another process has removed {own}") from None

    def _finish(self, path: str) -> None:
        if self._system.exists(path):
            self._system.rm_file(path)
        self._system.mv(f"{path}{_READY}", path)

    def _recover(self, crawl: str) -> None:
        """Finish or undo the replacement that a kill has interrupted."""
        if self._whole:
            return
        folder = f"{self._folder}/{crawl}"
        places = [f"{folder}/{_DOCUMENTS}", f"{folder}/{_CAPTURES}"]
        found = [path for place in places for path in self._tried(functools.partial(self._system.find, place))]
        found += self._tried(lambda: self._system.find(folder, maxdepth=1))
        for path in found:
            if path.endswith(_NEW):
                self._delete(path)
            elif path.endswith(_READY):
                self._tried(functools.partial(self._finish, path.removesuffix(_READY)))

    def _files(self, crawl: str) -> list[str]:
        self._tried(self._system.invalidate_cache)
        folders = [f"{self._folder}/{crawl}/{kind}" for kind in (_DOCUMENTS, _CAPTURES)]
        found = [path for folder in folders for path in self._tried(functools.partial(self._system.find, folder))]
        return sorted(path for path in found if _NAME.search(path))

    def _tried(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except (FileNotFoundError, ConfigError):
            raise
        except Exception as error:  # each driver has its own exceptions
            raise StorageLost(f"{self._shown} is lost: {storage.describe(error)[:300]}") from None


def _parts(path: str) -> tuple[int, str]:
    """Return the first frame of a file, and its writer."""
    found = _NAME.search(path)
    assert found is not None
    return int(found[1]), found[2] or ""
