"""Reports gathered into frames: the group commit.

Whatever belongs to a page (its records, its document, its n-grams) is in the buffers of some files when its report is noted. A commit
writes these buffers, syncs the files, and then appends one frame to the log: that is the instant at which all of it counts.
"""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from windrow import log
from windrow.crawl.disk import FULL, Disk
from windrow.crawl.recover import Resumed
from windrow.data import Frame, Kind, Reason, Report, Task
from windrow.log.writer import Log


class Files(Protocol):
    """Files that grow by appending, such as the archive's."""

    def flush(
        self,
    ) -> dict[str, int]: ...  # writes what is buffered: the length of what changed; OSError: nothing is lost, try again
    def sync(self) -> None: ...  # makes durable what was flushed; runs in a thread beside the loop
    def close(self) -> None: ...


class Commits:
    """What was settled and is not yet in the log."""

    def __init__(self, resumed: Resumed, journal: Log, disk: Disk) -> None:
        self._frontier = resumed.frontier
        self.files: list[Files] = []
        self._log = journal
        self._disk = disk
        self.frame = resumed.frames + 1  # the number of the next one
        self._reports: list[Report] = []
        self._seeds: list[Task] = []
        self._lengths: dict[str, int] = {}
        self._slots = 0  # of these reports, those a request stands behind
        self._lock = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "sync")

    def __len__(self) -> int:
        return len(self._reports)

    def note(self, settled: Report, requested: bool) -> None:
        """`requested`: a request stands behind the report; its URL is in flight until the commit."""
        self._slots += requested
        if (
            settled.task.kind is not Kind.RESOLVE or settled.reason is not Reason.OK
        ):  # where a host is, is soon forgotten
            self._reports.append(settled)

    def add_seeds(self, tasks: Iterable[Task]) -> None:
        self._seeds += tasks

    async def commit(self, now: Callable[[], float], flying: Callable[[], int], checkpoint: bool = False) -> int:
        """Makes everything noted so far durable; how many requests are no longer in flight."""
        async with self._lock:
            checkpoint = checkpoint or self._frontier.checkpoint_due(now())
            if not self._reports and not self._seeds:
                if checkpoint:
                    await self._checkpoint(now())
                return 0
            while (lengths := self._disk.attempt(self._flush)) is None:
                await asyncio.sleep(1.0)
            # Nothing waits between the flush and the frame, so the lengths are those of exactly these reports.
            frame, slots = self._cut(lengths, now(), flying())
            # At a checkpoint the store may hold no more than the log does: nothing else runs until both are on disk.
            position = self._disk.attempt(lambda: self._write(frame)) if checkpoint else None
            checkpoint = position is not None
            loop = asyncio.get_running_loop()
            while position is None:
                position = await loop.run_in_executor(self._thread, self._disk.attempt, lambda: self._write(frame))
                if position is None:
                    await asyncio.sleep(1.0)
            await self._frontier.commit(frame, position)
            if checkpoint:
                await self._checkpoint(now())
            return slots

    def _flush(self) -> dict[str, int]:
        """Where it fails on the way, lengths of what was flushed before are kept for the next try."""
        for files in self.files:
            self._lengths.update(files.flush())
        lengths, self._lengths = self._lengths, {}
        return lengths

    def _cut(self, lengths: dict[str, int], now: float, flying: int) -> tuple[Frame, int]:
        """What was settled since the last frame becomes the next one."""
        reports, self._reports = self._reports, []
        seeds, self._seeds = self._seeds, []
        slots, self._slots = self._slots, 0
        frame = Frame(self.frame, now, tuple(reports), lengths, tuple(seeds), in_hand=flying - slots)
        self.frame += 1
        return frame, slots

    def _write(self, frame: Frame) -> log.Position:
        """The commit: other files first, then the frame. When this returns, it happened."""
        try:
            for files in self.files:
                files.sync()
        except OSError as error:  # even where the disk was full: what a failed sync left in a file nobody knows
            raise self._disk.unwritable(error) from error
        return self._log.append(log.encode(frame))

    async def _checkpoint(self, now: float) -> None:
        """Where there is no room the store stays behind the log. Nothing is lost by that: the next start has more to replay."""
        try:
            await self._frontier.checkpoint(now)
        except OSError as error:
            if error.errno not in FULL:
                raise self._disk.unwritable(error) from error
            self._disk.paused = True

    def close(self) -> None:
        for files in self.files:
            files.close()
        self._log.close()
        self._thread.shutdown()
