"""One crawl directory that is being stored: its feed, its lock, and how far its storage is."""

import contextlib
import errno
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from windrow import log, takedown
from windrow.io import storage as addresses
from windrow.jobs.store import merged
from windrow.jobs.store.feed import Feed
from windrow.jobs.store.merged import MergedFeed
from windrow.jobs.store.protocol import Storage, StorageBatch, StoragePosition, taken
from windrow.takedown import Takedown


class StoreOptions(msgspec.Struct, frozen=True, kw_only=True):
    directory: Path
    target: str
    name: str = ""  # of the crawl in the storage; "": that of its directory
    captures: bool = False
    follow: bool = False  # continue until the crawl ends
    takedown: Path | None = None  # a list besides the crawl's own


class StoreSummary(msgspec.Struct):
    """What a run has stored."""

    target: str  # without a password
    crawl: str
    documents: int = 0  # written by this run
    captures: int = 0
    removed: int = 0  # documents removed, because of a purge or the takedown list
    frame: int = 0  # of the log, up to which everything is stored


class StoredPart:
    """A crawl, a shard or a merged corpus. `note` is called with a sentence for the operator, `watch` after each
    batch."""

    def __init__(self, options: StoreOptions, note: Callable[[str], None], watch: Callable[[], None]) -> None:
        if not merged.is_merged(options.directory):
            log.home(options.directory)
        self._options, self._note, self._watch = options, note, watch
        made = MergedFeed if merged.is_merged(options.directory) else Feed
        self._feed = made(options.directory, options.name, options.captures)
        self.summary = StoreSummary(target=addresses.without_password(options.target), crawl=self._feed.name)
        self._position: StoragePosition | None = None
        self._known = False  # whether the position is that of the storage
        self._mark = b""  # of the log that the position is of
        self._read: tuple[list[tuple[int, int]], Takedown, str] | None = None  # state of the lists, all lines, digest

    def forget(self) -> None:
        """Ask the storage again how far it is: another process may have written, or a write may have been lost."""
        self._known = False

    def drain(self, storage: Storage) -> None:
        """Write everything that is committed."""
        mark = self._feed.mark()
        if mark != self._mark:  # it has begun, or its directory was lost and begun again
            self._mark, self._known = mark, False
        if not self._known and not self._ask(storage):
            return
        position = self._position or self._feed.start()
        if position is None:
            return
        if position.clearing:
            position = self._clear(storage, position)
        self.summary.frame = position.frame
        listed, digest = self._listed()
        if position.listed != digest:
            self.summary.removed += storage.remove(position.crawl, listed.covers) if listed else 0
            position = self._write(storage, msgspec.structs.replace(position, listed=digest))
        for batch in self._feed.batches(position, listed.covers):
            if batch.removed:  # before the position is behind the purge: after a crash it is done again
                self.summary.removed += storage.remove(position.crawl, batch.removed.__contains__)
            storage.write(batch)
            self._position = position = batch.position
            self.summary.documents += len(batch.documents)
            self.summary.captures += len(batch.captures)
            self.summary.frame = position.frame
            self._watch()

    def _ask(self, storage: Storage) -> bool:
        """Learn how far the storage is; return whether there is anything to store yet."""
        stored = storage.position(self._feed.name)
        self._position = self._feed.resume(stored) if stored is not None else None
        self._known = stored is None or self._position is not None
        return self._known

    def _clear(self, storage: Storage, position: StoragePosition) -> StoragePosition:
        """Remove the rows of a log that was lost. The position says so first: then no process of that log can write any
        more, and after a crash this is done again."""
        self._note(
            f"{position.crawl} has a new log: the shard was begun again after its directory was lost; the rows of the "
            "old log are removed from the storage"
        )
        self._write(storage, position)
        storage.clear(position.crawl)
        return self._write(storage, msgspec.structs.replace(position, clearing=False))

    def _write(self, storage: Storage, position: StoragePosition) -> StoragePosition:
        """Write a position without rows."""
        storage.write(StorageBatch((), (), frozenset(), position.frame + 1, position))
        self._position = position
        return position

    def _listed(self) -> tuple[Takedown, str]:
        """Return the takedown list as it is now, and its digest; "" without one. It is read when it has changed."""
        directory, extra = self._options.directory, self._options.takedown
        paths = [path for path in (*takedown.lists(directory), extra) if path is not None and path.exists()]
        state = [(path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
        if self._read is None or self._read[0] != state:
            said = b"\0".join(path.read_bytes() for path in paths)
            digest = hashlib.blake2b(said, digest_size=8).hexdigest() if said else ""
            self._read = (state, takedown.of(directory, extra=extra), digest)
        return self._read[1:]


@contextlib.contextmanager
def alone(options: StoreOptions) -> Iterator[None]:
    """Refuse a second process that stores the same crawl in the same place. The kernel ends the lock with the
    process."""
    target = addresses.without_password(options.target)
    name = f".store-{hashlib.blake2b(target.encode(), digest_size=6).hexdigest()}.lock"
    try:
        handle = os.open(options.directory / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EACCES):
            raise
        yield  # a crawl on a medium that cannot be written: its log does not grow, so a second process writes the same
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise taken(target, str(options.directory)) from None
    finally:
        os.close(handle)
