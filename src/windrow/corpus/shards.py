"""The corpus on disk: corpus/LANGUAGE/NODE-NNNNN.jsonl.gz, one document a line, one gzip member a flush.

Shards keep the promises of archive.Writer: what was flushed has a length that the log can commit, a failed write leaves the file as long
as it was and loses nothing, and a failed sync is final.
"""

import errno
import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path

from isal import igzip_lib

from windrow import files
from windrow.config import ConfigError, Corpus

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

    append, flush, resume and close belong to one thread, the loop's. sync may run in another thread beside them, one sync at a time. Only
    flush, sync and resume touch the disk.
    """

    def __init__(self, directory: Path, options: Corpus, node: str) -> None:
        """`directory` is the crawl's."""
        if not _NODE.fullmatch(node):
            raise ConfigError(
                f"crawl.node {node!r} cannot be part of a file name; use up to 64 letters, digits, '-', '_' and '.'"
            )
        self._directory = directory
        self._options = options
        self._node = node
        self._current: dict[str, _Shard] = {}  # by language; one that is full gives way to the next
        self._waiting: dict[str, list[bytes]] = {}  # lines by language
        self._changed: dict[str, int] = {}  # lengths for the next flush to return
        self._open: dict[_Shard, None] = {}  # with a descriptor, the longest unused first
        self._lock = threading.Lock()  # for the three below, which sync takes over
        self._unsynced: dict[_Shard, None] = {}
        self._entries: dict[Path, None] = {}  # directories with new entries
        self._syncing: dict[_Shard, None] = {}  # in the hands of sync: not to be closed
        self._lost: OSError | None = None

    @property
    def buffered(self) -> int:
        """Bytes appended and not yet written."""
        return sum(len(line) for lines in self._waiting.values() for line in lines)

    def resume(self, lengths: Mapping[str, int]) -> None:
        """Go on with each language's newest shard, where it is below shard_bytes and exactly as long as was committed. Otherwise, and
        where this is not called, a new one is begun."""
        for folder in sorted((self._directory / DIRECTORY).glob("*/")):
            path = self._path(folder.name, max(0, self._last(folder.name)))
            length = lengths.get(_name(path), 0)
            if length and path.exists() and path.stat().st_size == length < self._options.shard_bytes:
                self._current[folder.name] = _Shard(path, length)

    def append(self, language: str, line: bytes) -> None:
        """A document for a language's shard. A name that cannot be a directory is taken for no language."""
        waiting = self._waiting.get(language)
        if waiting is None:
            known = language if _LANGUAGE.fullmatch(language) else UNKNOWN
            waiting = self._waiting.setdefault(known, [])
        waiting.append(line)

    def flush(self) -> dict[str, int]:
        """Write what is buffered; the length of every shard that has changed since a flush last returned, by its relative path.

        OSError: a shard could not be written and was cut back; nothing is lost, and the next flush tries again.
        """
        self._check()
        self._let_go()
        for language in sorted(self._waiting):
            shard = self._shard(language)
            self._ensure_open(shard)
            shard.write(igzip_lib.compress(b"".join(self._waiting[language]), self._options.level, igzip_lib.COMP_GZIP))
            del self._waiting[language]
            self._changed[shard.name] = shard.length
            with self._lock:
                self._unsynced[shard] = None
        changed, self._changed = self._changed, {}
        return changed

    def sync(self) -> None:
        """Make durable what was flushed before this call.

        OSError: the system may have dropped what it could not store, and a second fsync would not tell. So these Shards are of no use
        from then on; new ones begin at the lengths that were committed.
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
        """Let the files go as they are: whoever wants what is buffered flushes and syncs before."""
        for shard in self._open:
            shard.close()
        self._open.clear()

    def _shard(self, language: str) -> "_Shard":
        """The language's shard; a new one has a number that no file of this node had."""
        shard = self._current.get(language)
        if shard is None or shard.length >= self._options.shard_bytes:
            number = self._last(language) if shard is None else _number(shard.path, self._node)
            shard = self._current[language] = _Shard(self._path(language, number + 1), -1)
        return shard

    def _path(self, language: str, number: int) -> Path:
        return self._directory / DIRECTORY / language / f"{self._node}-{number:05}{SUFFIX}"

    def _last(self, language: str) -> int:
        """The highest number of this node's shards of a language; a file that was moved aside (NAME.old) still counts."""
        found = (self._directory / DIRECTORY / language).glob(f"{self._node}-*{SUFFIX}*")
        return max((_number(path, self._node) for path in found), default=-1)

    def _ensure_open(self, shard: "_Shard") -> None:
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
        """Closes what was not used for the longest time. What is not on the disk yet is closed only if there is no other."""
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

    def _let_go(self) -> None:
        """Closes shards that are full, once they are on the disk."""
        with self._lock:
            busy = {*self._syncing, *self._unsynced}
        for shard in [shard for shard in self._open if shard.length >= self._options.shard_bytes and shard not in busy]:
            self._close(shard)

    def _close(self, shard: "_Shard") -> None:
        shard.close()
        del self._open[shard]

    def _sync_now(self, shard: "_Shard") -> None:
        try:
            os.fsync(shard.descriptor)
        except OSError as error:  # EIO whatever it was: this is not mended by another try
            self._lost = OSError(errno.EIO, error.strerror, str(shard.path))
            raise self._lost from error

    def _check(self) -> None:
        if self._lost is not None:
            message = f"an earlier sync failed ({self._lost.strerror}); start again to go on from the last commit"
            raise OSError(self._lost.errno, message, str(self._directory / DIRECTORY))


class _Shard:
    """One file, and how much of it was written."""

    def __init__(self, path: Path, length: int) -> None:
        self.path = path
        self.name = _name(path)
        self.length = length  # -1: not yet made
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
        """All of it or nothing: after an error the file is again as long as before."""
        self.length = files.append(self.descriptor, data, self.length, self.path)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _name(path: Path) -> str:
    """As the log has it: relative to the crawl's directory."""
    return "/".join(path.parts[-3:])


def _number(path: Path, node: str) -> int:
    found = re.match(rf"{re.escape(node)}-(\d{{5,}}){re.escape(SUFFIX)}", path.name)
    return int(found[1]) if found else -1
