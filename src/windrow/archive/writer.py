"""Write Captures to WARC files: buffered, rolled over by size, never overwritten, cut back if a write fails."""

import contextlib
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from windrow import files
from windrow.archive import fields, members, names
from windrow.archive.members import Earlier, Members
from windrow.archive.reading.scan import records
from windrow.archive.reading.unpack import ArchiveError
from windrow.config import ArchiveOptions
from windrow.records import Capture, Place

_FORMAT = (
    ("format", "WARC File Format 1.1"),
    ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
    ("layout", fields.LAYOUT),
)
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_OLD = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


class Writer:
    """The archive files of one node.

    One thread, that of the event loop, calls compress, append, flush, resume and close. sync may run in another thread
    at the same time, one sync at a time. Only flush, sync and resume access the disk. Appended records wait in memory
    until flush has written them; crawl.in_flight and crawl.in_flight_bytes limit them.
    """

    def __init__(self, directory: Path, config: ArchiveOptions, node: str, info: Mapping[str, str]) -> None:
        """Prepare the files. `info` holds the fields of each warcinfo record: software, operator, options, …."""
        self._directory = directory
        self._config = config
        self._series = names.series(config.prefix, node)
        self._info = fields.encode([*((name, value) for name, value in info.items() if value), *_FORMAT])
        self._serial = names.following(directory, self._series)
        self._current: dict[str, _File | None] = dict.fromkeys(names.SUBSETS)
        self._full: list[_File] = []  # rolled over, not yet completely written
        self._changed: dict[str, int] = {}  # lengths that the next flush returns
        self._lock = threading.Lock()  # for the three below, which sync reads in its thread
        self._unsynced: dict[_File, None] = {}
        self._entries: dict[Path, None] = {}  # directories with new entries
        self._done: list[_File] = []  # completely written: closed after the next sync
        self._lost: OSError | None = None

    def resume(self, lengths: Mapping[str, int]) -> None:
        """Continue the newest file of each subset. `lengths` are the committed lengths by path.

        A file is continued if it is shorter than max_bytes, exactly as long as committed, and has the same warcinfo
        fields. Otherwise, and without this call, the subset begins a new file.
        """
        for subset in names.SUBSETS:
            path = names.newest(self._directory / subset, self._series)
            if path is None or not self._fits(path, lengths.get(f"{subset}/{path.name}")):
                continue
            with contextlib.suppress(ArchiveError):
                first = next(records(path), None)
                if first is not None and first.type == "warcinfo" and first.block == self._info:
                    self._current[subset] = _File(path, first.id, os.open(path, _OLD))

    def compress(self, capture: Capture) -> Members:
        """Build the records of a page when it arrives: the expensive part. The result has the digest of the payload."""
        return self._build(capture, None)

    def revisit(self, capture: Capture, earlier: Earlier) -> Members:
        """Build the records of a page whose payload is already archived: a revisit record replaces the response."""
        return self._build(capture, earlier)

    def append(self, page: Members, seq: int, extra: Mapping[str, str] | None = None) -> Place:
        """Append request, response and metadata records; return the Place of the response.

        extra: further fields of the metadata record.
        """
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
        """Write the buffers; return the length of every file that changed since the last flush, by relative path.

        Raise OSError if a write fails. The file is cut back, nothing is lost, and the next flush tries again.
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
        """Make all flushed records durable.

        Raise OSError if an fsync fails. The system may then have dropped data, and a second fsync would not report it.
        So this Writer cannot be used any more; a new one continues from the committed lengths.
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
        """Close the files without writing the buffers: call flush and sync before."""
        for file in (*self._open(), *self._done):
            file.close()

    def _open(self) -> Iterable["_File"]:
        return (*self._full, *(file for file in self._current.values() if file is not None))

    def _build(self, capture: Capture, earlier: Earlier | None) -> Members:
        file = self._file(names.subset(capture.task, capture.status), capture.time)
        return members.build(capture, earlier, file.info, self._config.level)

    def _file(self, subset: str, moment: float) -> "_File":
        """Return the current file of a subset. A new one is named by its first capture; flush creates it on disk."""
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
            message = f"an earlier sync failed ({self._lost.strerror}); start again to continue from the last commit"
            raise OSError(self._lost.errno, message, str(self._directory))


class _File:
    """One archive file: `length` bytes on disk, and the records that wait in memory."""

    def __init__(self, path: Path, info: bytes, descriptor: int = -1) -> None:
        self.path = path
        self.name = f"{path.parent.name}/{path.name}"
        self.info = info  # id of its warcinfo record
        self.descriptor = descriptor
        self.length = os.fstat(descriptor).st_size if descriptor >= 0 else 0
        self.head = 0  # length of the warcinfo record, if this Writer began the file: a file of this length is empty
        self.waiting = 0
        self._buffer: list[bytes] = []

    @property
    def end(self) -> int:
        return self.length + self.waiting

    def append(self, *records: bytes) -> None:
        self._buffer += records
        self.waiting += sum(map(len, records))

    def write(self) -> None:
        """Write all waiting records or none: after an error the file has its old length."""
        self.length = files.append(self.descriptor, b"".join(self._buffer), self.length, self.path)
        self.waiting = 0
        self._buffer.clear()

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
