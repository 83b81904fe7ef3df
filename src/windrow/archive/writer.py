"""Captures to WARC files: buffered, rolled over by size, never overwritten, cut back when a write fails."""

import contextlib
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from windrow import files
from windrow.archive import fields, members, names
from windrow.archive.members import Members, Origin
from windrow.archive.record import records
from windrow.archive.stream import ArchiveError
from windrow.config import Archive
from windrow.data import Capture, Place

_FORMAT = (
    ("format", "WARC File Format 1.1"),
    ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
    ("layout", fields.LAYOUT),
)
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_OLD = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


class Writer:
    """The archive files of one node.

    compress, append, flush, resume and close belong to one thread, the loop's. sync may run in another thread beside them, one sync at a
    time. Only flush, sync and resume touch the disk. What is appended waits in memory, at most what the driver has under way
    (crawl.in_flight, crawl.in_flight_bytes), until flush has written it.
    """

    def __init__(self, directory: Path, config: Archive, node: str, info: Mapping[str, str]) -> None:
        """info holds the fields of each file's warcinfo record: software, operator, robots, options (text of many lines) ..."""
        self._directory = directory
        self._config = config
        self._series = names.series(config.prefix, node)
        self._info = fields.encode([*((name, value) for name, value in info.items() if value), *_FORMAT])
        self._serial = names.following(directory, self._series)
        self._current: dict[str, _File | None] = dict.fromkeys(names.SUBSETS)
        self._full: list[_File] = []  # rolled over, not yet written to the end
        self._changed: dict[str, int] = {}  # lengths for the next flush to return
        self._lock = threading.Lock()  # for the three below, which sync takes over
        self._unsynced: dict[_File, None] = {}
        self._entries: dict[Path, None] = {}  # directories with new entries
        self._done: list[_File] = []  # written to the end: closed after the next sync
        self._lost: OSError | None = None

    @property
    def buffered(self) -> int:
        """Bytes appended and not yet written."""
        return sum(file.waiting for file in self._open())

    def resume(self, lengths: Mapping[str, int]) -> None:
        """Go on with the newest file of each subset, where it is below max_bytes, exactly as long as was committed, and says the
        same about how it was made. Otherwise, and where this is not called, a new file is begun."""
        for subset in names.SUBSETS:
            path = names.newest(self._directory / subset, self._series)
            if path is None or not self._fits(path, lengths.get(f"{subset}/{path.name}")):
                continue
            with contextlib.suppress(ArchiveError):
                first = next(records(path), None)
                if first is not None and first.type == "warcinfo" and first.block == self._info:
                    self._current[subset] = _File(path, first.id, os.open(path, _OLD))

    def compress(self, capture: Capture) -> Members:
        """The costly part, done when a page arrives. Its digest is known from here on."""
        return self._build(capture, None)

    def revisit(self, capture: Capture, origin: Origin) -> Members:
        """The same for a payload that was archived before: a record that points there takes the place of the response."""
        return self._build(capture, origin)

    def append(self, page: Members, seq: int, extra: Mapping[str, str] | None = None) -> Place:
        """Request, response and metadata, one behind the other; the Place is the response's. extra fields go into the metadata."""
        file = self._file(page.subset, page.time)
        if file.end >= self._config.max_bytes and file.end > file.head:
            self._full.append(file)
            self._current[page.subset] = None
            file = self._file(page.subset, page.time)
        bound = members.bind(page, file.info, self._config.level)
        place = Place(file.name, file.end + len(bound.request), len(bound.response))
        file.append(bound.request, bound.response, members.metadata(bound, seq, extra or {}, self._config.level))
        return place

    def flush(self) -> dict[str, int]:
        """Write what is buffered; the length of every file that has changed since a flush last returned, by its relative path.

        OSError: a file could not be written and was cut back; nothing is lost, and the next flush tries again.
        """
        self._check()
        for file in self._open():
            if not file.waiting:
                continue
            if file.descriptor < 0:
                self._create(file)
            file.write()
            self._changed[file.name] = file.length
            with self._lock:
                self._unsynced[file] = None
        with self._lock:
            self._done += self._full
        self._full = []
        changed, self._changed = self._changed, {}
        return changed

    def sync(self) -> None:
        """Make durable what was flushed before this call.

        OSError: the system may have dropped what it could not store, and a second fsync would not tell. So the Writer is of no use
        from then on; a new one begins at the lengths that were committed.
        """
        self._check()
        with self._lock:
            unsynced, entries, done = self._unsynced, self._entries, self._done
            self._unsynced, self._entries, self._done = {}, {}, []
        try:
            for file in unsynced:
                os.fsync(file.descriptor)
            for directory in entries:
                files.sync_directory(directory)
        except OSError as error:
            self._lost = error
            raise
        for file in done:
            file.close()

    def close(self) -> None:
        """Let the files go as they are: whoever wants what is buffered flushes and syncs before."""
        for file in (*self._open(), *self._done):
            file.close()

    def _open(self) -> Iterable["_File"]:
        return (*self._full, *(file for file in self._current.values() if file is not None))

    def _build(self, capture: Capture, origin: Origin | None) -> Members:
        file = self._file(names.subset(capture), capture.time)
        return members.build(capture, origin, file.info, self._config.level)

    def _file(self, subset: str, moment: float) -> "_File":
        """The subset's file. A new one bears the time of its first capture, and is on disk after the next flush."""
        file = self._current[subset]
        if file is None:
            name = names.name(self._series, moment, self._serial)
            self._serial += 1
            record, info = members.warcinfo(name, moment, self._info)
            file = self._current[subset] = _File(self._directory / subset / name, info)
            file.append(record)
            file.head = len(record)
        return file

    def _fits(self, path: Path, committed: int | None) -> bool:
        return path.stat().st_size == committed and committed < self._config.max_bytes

    def _create(self, file: "_File") -> None:
        folder = file.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        file.descriptor = os.open(file.path, _NEW, 0o644)
        with self._lock:
            self._entries |= {folder: None, self._directory: None}

    def _check(self) -> None:
        if self._lost is not None:
            message = f"an earlier sync failed ({self._lost.strerror}); start again to go on from the last commit"
            raise OSError(self._lost.errno, message, str(self._directory))


class _File:
    """One archive file: what is on disk up to length, and what waits behind it."""

    def __init__(self, path: Path, info: bytes, descriptor: int = -1) -> None:
        self.path = path
        self.name = f"{path.parent.name}/{path.name}"
        self.info = info  # id of its warcinfo record
        self.descriptor = descriptor
        self.length = os.fstat(descriptor).st_size if descriptor >= 0 else 0
        self.head = (
            0  # length of the warcinfo record, where this Writer began the file: no longer than this, it is empty
        )
        self.waiting = 0
        self._buffer: list[bytes] = []

    @property
    def end(self) -> int:
        return self.length + self.waiting

    def append(self, *records: bytes) -> None:
        self._buffer += records
        self.waiting += sum(map(len, records))

    def write(self) -> None:
        """All that waits or nothing: after an error the file is again as long as before."""
        self.length = files.append(self.descriptor, b"".join(self._buffer), self.length, self.path)
        self.waiting = 0
        self._buffer.clear()

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
