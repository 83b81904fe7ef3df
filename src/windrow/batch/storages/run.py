"""Bring a storage to the state of a crawl, once or as long as the crawl runs."""

import contextlib
import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from windrow import log, takedown
from windrow import storage as addresses
from windrow.batch import storages
from windrow.batch.storages import merged
from windrow.batch.storages.feed import Feed
from windrow.batch.storages.merged import MergedFeed
from windrow.batch.storages.protocol import Storage, StorageBatch, StorageLost, StoragePosition
from windrow.config import ConfigError
from windrow.takedown import Takedown

_LOOK = 1.0  # seconds between two looks at a crawl that is followed
_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)  # seconds before each further attempt to reach a server; the last one repeats


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


class StoreContext(msgspec.Struct, frozen=True):
    """The world around a run."""

    running: Callable[[], bool]  # whether the crawl runs
    watch: Callable[[int], None]  # called with the documents written so far
    note: Callable[[str], None]  # called with a sentence for the operator
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def check(target: str, captures: bool) -> None:
    """Raise ConfigError if a storage cannot be opened."""
    storages.open(target, captures).close()


def run(options: StoreOptions, context: StoreContext) -> StoreSummary:
    """Store what is committed; if the crawl is followed, until its end.

    A server that is lost is waited for: without a limit if the crawl is followed, otherwise about half a minute.
    """
    if not merged.is_merged(options.directory):
        log.home(options.directory)
    with _alone(options):
        return _run(options, context)


def _run(options: StoreOptions, context: StoreContext) -> StoreSummary:
    work = _Store(options, context)
    storage = storages.open(options.target, options.captures)
    failures = 0
    try:
        while True:
            try:
                work.bring(storage)
                return work.summary
            except StorageLost as error:
                failures = 1 if work.progressed() else failures + 1
                if failures > len(_PAUSES) and not options.follow:
                    raise
                storage.close()
                storage = _reopened(options, context, failures, error)
    finally:
        storage.close()


@contextlib.contextmanager
def _alone(options: StoreOptions) -> Iterator[None]:
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
        raise ConfigError(f"another process stores {options.directory} in {target} already; wait for its end") from None
    finally:
        os.close(handle)


def _reopened(options: StoreOptions, context: StoreContext, failures: int, error: StorageLost) -> Storage:
    while True:
        pause = _PAUSES[min(failures, len(_PAUSES)) - 1]
        context.note(f"{error}; trying again in {pause:g} s")
        context.sleep(pause)
        try:
            return storages.open(options.target, options.captures)
        except ConfigError as again:
            failures += 1
            if failures > len(_PAUSES) and not options.follow:
                raise
            error = StorageLost(str(again))


class _Store:
    """A run: the feed, and what has been done."""

    def __init__(self, options: StoreOptions, context: StoreContext) -> None:
        self._options, self._context = options, context
        made = MergedFeed if merged.is_merged(options.directory) else Feed
        self._feed = made(options.directory, options.name, options.captures)
        self.summary = StoreSummary(target=addresses.without_password(options.target), crawl=self._feed.name)
        self._last = -1  # frame at the last failure
        self._read: tuple[list[tuple[int, int]], Takedown, str] | None = None  # state of the lists, all lines, digest

    def progressed(self) -> bool:
        """Return whether anything was stored since the last call."""
        before, self._last = self._last, self.summary.frame
        return self._last != before

    def bring(self, storage: Storage) -> None:
        position = storage.position(self._feed.name)
        if position is not None:
            self._feed.check(position)
        context, due = self._context, 0.0
        while True:
            ended = not (self._options.follow and context.running())  # before the log is read for the last time
            if ended or context.clock() >= due:
                position = self._drain(storage, position)
                due = context.clock() + storage.seconds
            if ended:
                return
            context.sleep(_LOOK)

    def _drain(self, storage: Storage, position: StoragePosition | None) -> StoragePosition | None:
        """Write everything that is committed."""
        position = position or self._feed.start()
        if position is None:
            return None
        self.summary.frame = position.frame
        listed, digest = self._listed()
        if position.listed != digest:
            self.summary.removed += storage.remove(position.crawl, listed.covers) if listed else 0
            position = msgspec.structs.replace(position, listed=digest)
            storage.write(StorageBatch((), (), frozenset(), position.frame + 1, position))
        for batch in self._feed.batches(position, listed.covers):
            if batch.removed:  # before the position is behind the purge: after a crash it is done again
                self.summary.removed += storage.remove(position.crawl, batch.removed.__contains__)
            storage.write(batch)
            position = batch.position
            self.summary.documents += len(batch.documents)
            self.summary.captures += len(batch.captures)
            self.summary.frame = position.frame
            self._context.watch(self.summary.documents)
        return position

    def _listed(self) -> tuple[Takedown, str]:
        """Return the takedown list as it is now, and its digest; "" without one. It is read when it has changed."""
        directory, extra = self._options.directory, self._options.takedown
        paths = [path for path in (directory / takedown.FILE, extra) if path is not None and path.exists()]
        state = [(path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
        if self._read is None or self._read[0] != state:
            said = b"\0".join(path.read_bytes() for path in paths)
            digest = hashlib.blake2b(said, digest_size=8).hexdigest() if said else ""
            self._read = (state, takedown.of(directory, extra=extra), digest)
        return self._read[1:]
