"""Bring a storage to the state of a crawl, once or as long as the crawl runs.

`run` stores one crawl directory, `run_all` the shards of a crawl, one after another: one process and one connection for
all of them, with a position for each.
"""

import contextlib
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol

import msgspec

from windrow.config import ConfigError
from windrow.io import storage as addresses
from windrow.jobs import store
from windrow.jobs.store.part import StoredPart, StoreSummary, alone
from windrow.jobs.store.part import StoreOptions as StoreOptions
from windrow.jobs.store.protocol import Storage, StorageLost, StorageTaken
from windrow.units import count

_LOOK = 1.0  # seconds between two looks at a crawl that is followed
_AGAIN = 5.0  # seconds before a shard that could not be stored is tried again
_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)  # seconds before each further attempt to reach a server; the last one repeats


class DividedSummary(msgspec.Struct):
    """What a run has stored of a crawl with shards."""

    target: str  # without a password
    documents: int  # of all shards, as the next two
    captures: int
    removed: int
    shards: list[StoreSummary]


class StoreContext(msgspec.Struct, frozen=True):
    """The world around a run."""

    running: Callable[[], bool]  # whether the crawl runs
    watch: Callable[[int], None]  # called with the documents written so far
    note: Callable[[str], None]  # called with a sentence for the operator
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class _StoreWork(Protocol):
    """One crawl, or several shards."""

    def bring(self, storage: Storage) -> None:
        """Store it all. StorageLost: do that again with a new connection."""

    def stored(self) -> int:
        """Return a number that changes whenever something is stored."""


def check(options: StoreOptions) -> None:
    """Raise ConfigError if a storage cannot be opened."""
    _opened(options).close()


def _opened(options: StoreOptions) -> Storage:
    return store.open(options.target, options.captures, options.directory)


def run(options: StoreOptions, context: StoreContext) -> StoreSummary:
    """Store what is committed; if the crawl is followed, until its end.

    A server that is lost is waited for: without a limit if the crawl is followed, otherwise about half a minute.
    """
    work = _One(options, context)
    with alone(options):
        _persist(options, context, work, lambda: options.follow)
    return work.part.summary


def run_all(options: StoreOptions, context: StoreContext, held: Callable[[], Collection[Path]]) -> DividedSummary:
    """Store what is committed of the shards that are held; if they are followed, until `context.running` says no.

    A shard that is not held any more is stored up to its end, and left. A shard that cannot be stored does not keep the
    others from it: it is noted and tried again, and the run ends with an error. A server that is lost is waited for:
    without a limit while the shards are followed, otherwise about half a minute.
    """
    work = _Many(options, context, held)
    with work.locks:
        _persist(options, context, work, lambda: options.follow and context.running())
    problems = sum(1 for problem in work.problems.values() if problem)
    if problems:
        raise ConfigError(f"{count(problems, 'shard')} could not be stored; see above")
    return work.summary()


def _persist(options: StoreOptions, context: StoreContext, work: _StoreWork, patient: Callable[[], bool]) -> None:
    """Do the work over as many connections as it takes. `patient`: whether to wait for a server without a limit."""
    storage = _opened(options)
    failures, before = 0, -1
    try:
        while True:
            try:
                return work.bring(storage)
            except StorageLost as error:
                failures = 1 if work.stored() != before else failures + 1
                before = work.stored()
                if failures > len(_PAUSES) and not patient():
                    raise
                storage.close()
                storage = _reopened(options, context, failures, error, patient)
    finally:
        storage.close()


def _reopened(
    options: StoreOptions, context: StoreContext, failures: int, error: StorageLost, patient: Callable[[], bool]
) -> Storage:
    while True:
        pause = _PAUSES[min(failures, len(_PAUSES)) - 1]
        context.note(f"{error}; trying again in {pause:g} s")
        context.sleep(pause)
        try:
            return _opened(options)
        except ConfigError as again:
            failures += 1
            if failures > len(_PAUSES) and not patient():
                raise
            error = StorageLost(str(again))


class _One:
    """One crawl directory. Any problem ends the run."""

    def __init__(self, options: StoreOptions, context: StoreContext) -> None:
        self._follow, self._context = options.follow, context
        self.part = StoredPart(options, context.note, lambda: context.watch(self.part.summary.documents))

    def stored(self) -> int:
        return self.part.summary.frame

    def bring(self, storage: Storage) -> None:
        self.part.forget()
        context, due = self._context, 0.0
        while True:
            ended = not (self._follow and context.running())  # before the log is read for the last time
            if ended or context.clock() >= due:
                self.part.drain(storage)
                due = context.clock() + storage.seconds
            if ended:
                return
            context.sleep(_LOOK)


class _StoredShard(msgspec.Struct):
    """A shard that is being stored."""

    part: StoredPart
    lock: contextlib.ExitStack
    due: float = 0.0  # when it is stored again


class _Many:
    """The shards that are held, which may change at any time."""

    def __init__(self, options: StoreOptions, context: StoreContext, held: Callable[[], Collection[Path]]) -> None:
        self._options, self._context, self._held = options, context, held
        self._shards: dict[Path, _StoredShard] = {}
        self._again: dict[Path, float] = {}  # not to be tried before
        self._summaries: dict[Path, StoreSummary] = {}
        self.problems: dict[Path, str] = {}  # why a shard is not stored; "": it is
        self.locks = contextlib.ExitStack()

    def stored(self) -> int:
        return sum(summary.frame for summary in self._summaries.values())

    def summary(self) -> DividedSummary:
        """Return the sums, and each shard."""
        shards = [self._summaries[path] for path in sorted(self._summaries)]
        return DividedSummary(
            target=addresses.without_password(self._options.target),
            documents=sum(shard.documents for shard in shards),
            captures=sum(shard.captures for shard in shards),
            removed=sum(shard.removed for shard in shards),
            shards=shards,
        )

    def bring(self, storage: Storage) -> None:
        for shard in self._shards.values():
            shard.part.forget()
        context = self._context
        while True:
            ended = not (self._options.follow and context.running())  # before the logs are read for the last time
            held = set(self._held())
            for path in sorted(held | set(self._again)):
                if path not in self._shards and (ended or context.clock() >= self._again.get(path, 0.0)):
                    self._attempt(path, held, self._join, storage)
            for path, shard in sorted(self._shards.items()):
                if ended or path not in held or context.clock() >= shard.due:
                    self._attempt(path, held, self._drain, storage)
                if path not in held:
                    self._leave(path)
            if ended:
                return
            context.sleep(_LOOK)

    def _attempt(
        self, path: Path, held: Collection[Path], act: Callable[[Path, Storage], None], storage: Storage
    ) -> None:
        """Do something for a shard. If it fails, that is noted, and tried again as long as the shard is held."""
        self._again.pop(path, None)
        try:
            return act(path, storage)
        except StorageLost:
            raise
        except StorageTaken as error:  # another process stores it: later, ask the storage where to continue
            problem = str(error) if path in held else ""
        except (ConfigError, OSError) as error:
            problem = str(error)
        if problem and problem != self.problems.get(path):
            self._context.note(problem)
        self.problems[path] = problem
        self._leave(path)
        if path in held:
            self._again[path] = self._context.clock() + _AGAIN

    def _join(self, path: Path, storage: Storage) -> None:
        options = msgspec.structs.replace(self._options, directory=path)
        with contextlib.ExitStack() as stack:
            stack.enter_context(alone(options))
            part = StoredPart(options, self._context.note, self._watch)
            lock = self.locks.enter_context(stack.pop_all())
        self._shards[path] = _StoredShard(part, lock)
        part.summary = self._summaries.setdefault(path, part.summary)

    def _drain(self, path: Path, storage: Storage) -> None:
        shard = self._shards[path]
        shard.part.drain(storage)
        shard.due = self._context.clock() + storage.seconds
        self.problems[path] = ""

    def _leave(self, path: Path) -> None:
        shard = self._shards.pop(path, None)
        if shard is not None:
            shard.lock.close()

    def _watch(self) -> None:
        self._context.watch(sum(summary.documents for summary in self._summaries.values()))
