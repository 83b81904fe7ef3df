"""Carry out a purge, or say what it would do."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from windrow import log, takedown
from windrow.archive import ArchiveError
from windrow.archive import purge as tombstones
from windrow.config import Config, ConfigError
from windrow.corpus import purge as shards
from windrow.crawler import recover
from windrow.crawler.machine.clock import Clock
from windrow.crawler.orders.purge.plan import PurgedContent, PurgePlan, plan
from windrow.crawler.orders.purge.redo import Patch, Redo
from windrow.log import purges
from windrow.log.writer import Log
from windrow.records import Frame

_BATCH = 32 << 20  # bytes that are in purge.redo at a time

Watch = Callable[[int], None]  # called with the bytes that were overwritten so far


class Purged(msgspec.Struct):
    """What a purge did, or would do."""

    dry_run: bool
    pages: int = 0  # URLs of which captures are overwritten
    captures: int = 0
    revisits: int = 0  # of these, captures of other pages, which referred to a payload that is overwritten
    documents: int = 0
    bytes: int = 0  # overwritten
    files: dict[str, int] = {}  # bytes overwritten, by file
    torn: dict[str, int] = {}  # bytes of the files of torn/, all of which are removed
    copies: list[str] = []  # pages that are not on the list and have the same payload or the same text


def total(parts: Mapping[str, Purged]) -> Purged:
    """Return what the purges of several crawls did together, as of the shards of one: by the directory of each."""
    found = Purged(dry_run=any(part.dry_run for part in parts.values()))
    for name, part in parts.items():
        found.pages += part.pages
        found.captures += part.captures
        found.revisits += part.revisits
        found.documents += part.documents
        found.bytes += part.bytes
        found.files |= {f"{name}/{file}": count for file, count in part.files.items()}
        found.torn |= {f"{name}/{file}": count for file, count in part.torn.items()}
        found.copies += part.copies
    return found


def purge(directory: Path, options: Config, watch: Watch, elsewhere: PurgedContent | None = None) -> Purged:
    """Remove the pages of the takedown list. `elsewhere`: as for `plan`."""
    takedown.of(directory)  # a bad line is refused before anything else
    with recover.lock(directory):
        redo = Redo(directory)
        interrupted = redo.repeat()
        position, frames = asyncio.run(_to_last_commit(directory, options))
        found = plan(directory, elsewhere)
        if found.frames != frames:  # the store was ahead of the damage, so recovery did not see it
            lost = f"the log has {frames} frames, and only {found.frames} can be read"
            raise ConfigError(f"{directory / 'log'} is damaged: {lost}; restore it from a copy, then purge again")
        work = _Work(directory, found, Purged(dry_run=False, copies=found.copies, torn=_torn(directory)))
        if found.targets or interrupted:
            redo.begin()
        _log(directory, found, position)
        for batch in _batches(work.patches()):
            redo.write(batch)
            watch(work.done.bytes)
        for name in work.done.torn:
            (directory / name).unlink()
        redo.end()
        return work.done


def preview(directory: Path, watch: Watch, elsewhere: PurgedContent | None = None) -> Purged:
    """Return what `purge` would do. Nothing is changed; a crawl may run meanwhile."""
    takedown.check_purged(directory)
    found = plan(directory, elsewhere)
    work = _Work(directory, found, Purged(dry_run=True, copies=found.copies, torn=_torn(directory)))
    for _ in work.patches():
        watch(work.done.bytes)
    return work.done


async def _to_last_commit(directory: Path, options: Config) -> tuple[log.Position, int]:
    """Cut the files to their committed lengths: the bytes behind them, too, may be of a listed page.

    Return the end of the log and the number of its last frame.
    """
    resumed = await recover.resume(directory, options, Clock(recover.last_commit(directory)).now())
    await resumed.frontier.close()
    return resumed.position, resumed.frames


def _log(directory: Path, found: PurgePlan, position: log.Position) -> None:
    """Commit a frame that says which pages are purged, before the first byte of them is overwritten."""
    urls = found.urls()
    if not urls:
        return
    number, now = found.frames + 1, Clock(found.time).now()
    orders = [
        purges.order(by, tuple(pages), f"purge-{number}-{count}", now) for count, (by, pages) in enumerate(urls.items())
    ]
    journal = Log(directory / "log", position)
    try:
        journal.append(log.encode(Frame(number=number, time=now, entries=(), lengths={}, orders=tuple(orders))))
    finally:
        journal.close()


class _Work:
    """Makes the patches and counts what they change. Damage in the archive is found before anything is overwritten."""

    def __init__(self, directory: Path, found: PurgePlan, done: Purged) -> None:
        self._directory, self._found = directory, found
        self.done = done
        try:
            parts = [(target, tombstones.spans(directory, target.place)) for target in found.targets]
        except ArchiveError as error:
            raise ConfigError(f"{error}; restore the file from a copy, then purge again") from None
        self._parts = [(target, spans) for target, spans in parts if spans]  # without those that are purged already

    def patches(self) -> Iterator[Patch]:
        now, pages = time.time(), set()
        for target, spans in self._parts:
            pages.add(target.url)
            self.done.pages = len(pages)
            self.done.captures += 1
            self.done.revisits += target.revisit
            for span in spans:
                yield self._counted(target.place.file, span.offset, tombstones.tombstone(span.length, now))
        yield from self._corpus()

    def _corpus(self) -> Iterator[Patch]:
        places = {(target.place.file, target.place.offset) for target in self._found.targets}
        for name, length in self._found.shards.items():
            for found in shards.replacements(self._directory / name, length, lambda *place: place in places):
                self.done.documents += found.documents
                yield self._counted(name, found.offset, found.data)

    def _counted(self, file: str, offset: int, data: bytes) -> Patch:
        self.done.bytes += len(data)
        self.done.files[file] = self.done.files.get(file, 0) + len(data)
        return Patch(file, offset, data)


def _batches(patches: Iterator[Patch]) -> Iterator[list[Patch]]:
    batch: list[Patch] = []
    size = 0
    for patch in patches:
        batch.append(patch)
        size += len(patch.data)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _torn(directory: Path) -> dict[str, int]:
    """Return the files of torn/ with their sizes. Nothing says which page their bytes belong to, so all of them go."""
    found = sorted(path for path in (directory / "torn").glob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.stat().st_size for path in found}
