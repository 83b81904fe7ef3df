"""The corpus on disk: corpus/LANGUAGE/NODE-NNNNN.jsonl.gz, one document per line, one gzip member per flush.

Shards give the guarantees of archive.Writer: a flush returns the lengths that the log commits; a failed write leaves
the file at its old length and loses nothing; a failed sync is final.
"""

import errno
import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path

from isal import igzip_lib

from windrow import files
from windrow.config import ConfigError, CorpusOptions

DIRECTORY = "corpus"
SUFFIX = ".jsonl.gz"
UNKNOWN = "und"  # ISO 639-3 for "undetermined"
OPEN = 96  # files kept open: most crawls have fewer languages, and sockets need descriptors too

_LANGUAGE = re.compile(r"[a-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_OLD = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


class Shards:
    """The corpus files of one node.

    One thread, the loop's, calls append, flush, resume and close. sync may run in another thread at the same time, one
    sync at a time. Only flush, sync and resume touch the disk.
    """

    def __init__(self, directory: Path, options: CorpusOptions, node: str) -> None:
        """`directory`: the crawl's."""
        if not _NODE.fullmatch(node):
            raise ConfigError(
                f"crawl.node {node!r} cannot be part of a file name; use up to 64 letters, digits, '-', '_' and '.'"
            )
        self._directory = directory
        self._options = options
        self._node = node
        self._current: dict[str, _OpenShard] = {}  # by language; a full one is replaced by the next
        self._waiting: dict[str, list[bytes]] = {}  # lines to write, by language
        self._changed: dict[str, int] = {}  # lengths that the next flush returns
        self._open: dict[_OpenShard, None] = {}  # shards with a descriptor, the longest unused first
        self._lock = threading.Lock()  # guards the three below, which sync takes over
        self._unsynced: dict[_OpenShard, None] = {}
        self._entries: dict[Path, None] = {}  # directories with new entries
        self._syncing: dict[_OpenShard, None] = {}  # sync uses them now: they must not be closed
        self._lost: OSError | None = None

    def resume(self, lengths: Mapping[str, int]) -> None:
        """Continue each language's newest shard if it is below shard_bytes and has exactly its committed length.

        Otherwise, and without this call, a new shard begins.
        """
        for folder in sorted((self._directory / DIRECTORY).glob("*/")):
            path = self._path(folder.name, max(0, self._last(folder.name)))
            length = lengths.get(_name(path), 0)
            if length and path.exists() and path.stat().st_size == length < self._options.shard_bytes:
                self._current[folder.name] = _OpenShard(path, length)

    def append(self, language: str, line: bytes) -> None:
        """Add a document to a language's shard. A language that cannot be a directory name counts as UNKNOWN."""
        waiting = self._waiting.get(language)
        if waiting is None:
            folder = language if _LANGUAGE.fullmatch(language) else UNKNOWN
            waiting = self._waiting.setdefault(folder, [])
        waiting.append(line)

    def flush(self) -> dict[str, int]:
        """Write the buffer; return the length of each shard that changed since the last flush, by its relative path.

        OSError: a shard could not be written and has its old length again. Nothing is lost; the next flush tries again.
        """
        self._check()
        self._close_full()
        for language in sorted(self._waiting):
            shard = self._shard(language)
            shard.write(igzip_lib.compress(b"".join(self._waiting[language]), self._options.level, igzip_lib.COMP_GZIP))
            del self._waiting[language]
            self._changed[shard.name] = shard.length
            with self._lock:
                self._unsynced[shard] = None
        changed, self._changed = self._changed, {}
        return changed

    def sync(self) -> None:
        """Make everything durable that was flushed before this call.

        OSError: the system may have dropped data that it could not store, and a second fsync would report success. So
        flush and sync of these Shards fail from then on; new Shards begin at the committed lengths.
        """
        self._check()
        with self._lock:
            shards, entries = self._unsynced, self._entries
            self._unsynced, self._entries, self._syncing = {}, {}, shards
        try:
            for shard in shards:
                os.fsync(shard.descriptor)
            for directory in entries:
                files.sync_directory(directory)
        except OSError as error:
            self._lost = error
            raise
        with self._lock:
            self._syncing = {}

    def close(self) -> None:
        """Close the files without writing the buffer: flush and sync first to keep it."""
        for shard in self._open:
            shard.close()
        self._open.clear()

    def _shard(self, language: str) -> "_OpenShard":
        """Return the language's shard, open. A new one has a number that no file of this node ever had, nor one of a
        process that was replaced and still makes files."""
        while True:
            shard = self._current.get(language)
            if shard is None or shard.length < 0 or shard.length >= self._options.shard_bytes:
                number = self._last(language) + 1
                shard = self._current[language] = _OpenShard(self._path(language, number), -1)
            try:
                self._ensure_open(shard)
                return shard
            except FileExistsError:
                if not shard.path.exists():  # it is about the directory
                    raise

    def _path(self, language: str, number: int) -> Path:
        return self._directory / DIRECTORY / language / f"{self._node}-{number:05}{SUFFIX}"

    def _last(self, language: str) -> int:
        """Return the highest number of this node's shards of a language, files moved aside (NAME.old) included."""
        paths = (self._directory / DIRECTORY / language).glob(f"{self._node}-*{SUFFIX}*")
        return max((_number(path, self._node) for path in paths), default=-1)

    def _ensure_open(self, shard: "_OpenShard") -> None:
        self._open.pop(shard, None)
        if shard.descriptor < 0:
            self._make_room()
            new = shard.length < 0
            if new:
                shard.path.parent.mkdir(parents=True, exist_ok=True)
            shard.open()
            if new:
                parents = shard.path.parents
                with self._lock:
                    self._entries |= {parents[0]: None, parents[1]: None, parents[2]: None}
        self._open[shard] = None

    def _make_room(self) -> None:
        """Close the shards that were unused the longest; unsynced ones only if there are no others."""
        while len(self._open) >= OPEN:
            with self._lock:
                idle = [shard for shard in self._open if shard not in self._syncing]
                if not idle:
                    return
                shard = min(idle, key=lambda shard: shard in self._unsynced)
                unsynced = shard in self._unsynced
                self._unsynced.pop(shard, None)
            if unsynced:
                self._sync_now(shard)
            self._close(shard)

    def _close_full(self) -> None:
        """Close full shards that are synced."""
        with self._lock:
            busy = {*self._syncing, *self._unsynced}
        for shard in [shard for shard in self._open if shard.length >= self._options.shard_bytes and shard not in busy]:
            self._close(shard)

    def _close(self, shard: "_OpenShard") -> None:
        shard.close()
        del self._open[shard]

    def _sync_now(self, shard: "_OpenShard") -> None:
        try:
            os.fsync(shard.descriptor)
        except OSError as error:  # EIO for every error: ENOSPC would mean that a retry can succeed
            self._lost = OSError(errno.EIO, error.strerror, str(shard.path))
            raise self._lost from error

    def _check(self) -> None:
        if self._lost is not None:
            problem = f"an earlier sync failed ({self._lost.strerror})"
            message = f"{problem}; restart the crawl to continue from the last commit"
            raise OSError(self._lost.errno, message, str(self._directory / DIRECTORY))


class _OpenShard:
    """One file, and how many bytes of it were written."""

    def __init__(self, path: Path, length: int) -> None:
        self.path = path
        self.name = _name(path)
        self.length = length  # -1: the file does not exist yet
        self.descriptor = -1

    def open(self) -> None:
        if self.length < 0:
            self.descriptor = os.open(self.path, _NEW, 0o644)
            self.length = 0
            return
        descriptor = os.open(self.path, _OLD)
        if os.fstat(descriptor).st_size < self.length:
            os.close(descriptor)
            raise OSError(errno.EIO, f"shorter than the {self.length} bytes that were written", str(self.path))
        self.descriptor = descriptor

    def write(self, data: bytes) -> None:
        """Write all of the data or nothing: after an error the file has its old length."""
        self.length = files.append(self.descriptor, data, self.length, self.path)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _name(path: Path) -> str:
    """Return the path that the log uses: relative to the crawl's directory."""
    return "/".join(path.parts[-3:])


def _number(path: Path, node: str) -> int:
    match = re.match(rf"{re.escape(node)}-(\d{{5,}}){re.escape(SUFFIX)}", path.name)
    return int(match[1]) if match else -1
