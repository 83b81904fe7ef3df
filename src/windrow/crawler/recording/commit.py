"""The group commit: reports become a frame of the log.

When a report is noted, everything that belongs to its page (records, document, n-grams) is in the buffers of some
files. A commit writes these buffers, syncs the files, and then appends one frame to the log. That is the moment at
which everything in the frame counts.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import msgspec

from windrow import log, sharding
from windrow.crawler.machine.disk import FULL, Disk
from windrow.crawler.recording.serial import Serial
from windrow.frontier import Durable
from windrow.log.writer import Log
from windrow.metrics import Histogram
from windrow.records import Entry, Frame, Kind, Order, Reason, Task, Watermark


class Files(Protocol):
    """Files that grow by appending, such as those of the archive."""

    def flush(
        self,
    ) -> dict[str, int]: ...  # write the buffers; return the lengths that changed; repeatable after OSError
    def sync(self) -> None: ...  # make durable what was flushed; runs in a thread beside the loop
    def close(self) -> None: ...


class OtherShards(Protocol):
    """The other shards of a crawl on many machines: `shards.exchange` implements it."""

    count: int  # of all shards

    @property
    def begins(self) -> int: ...  # the incarnation that the next frame must name; 0: the log has it
    def committed(self, frame: Frame) -> None: ...  # take note of a frame that is durable


class Permit(Protocol):
    """The right of this process to write to the log. A shard that nodes run has it as long as its lease."""

    async def hold(self) -> None: ...  # return when it may commit; raise an error if another process has the shard
    def may_commit(self) -> bool: ...  # whether it may now, asked last of all; raise an error if it may never again


class Cut(msgspec.Struct, frozen=True):
    """A frame that is ready to be written."""

    frame: Frame
    requests: int  # of its entries, those with a request: no longer in flight after the commit


class CommittedFrames:
    """The frames of this run that are durable, in numbers."""

    def __init__(self) -> None:
        self.durations = Histogram()  # seconds that each commit took, from its frame to the disk
        self.last = 0.0  # epoch seconds of the last frame; 0: none yet
        self.lengths: dict[str, int] = {}  # committed bytes, by file

    def note(self, frame: Frame, seconds: float) -> None:
        self.durations.observe(seconds)
        self.last = frame.time
        self.lengths.update(frame.lengths)


class GroupCommit:
    """Holds the entries that are recorded and not in the log yet."""

    def __init__(
        self,
        store: Durable,
        journal: Log,
        files: Sequence[Files],
        serial: Serial,
        disk: Disk,
        others: OtherShards | None = None,
        permit: Permit | None = None,
    ) -> None:
        """`others` and `permit`: of a shard. Without a permit the lock of the directory is enough."""
        self._store = store
        self._log = journal
        self._files = files
        self._serial = serial
        self._disk = disk
        self._number = store.position().frame + 1
        self._entries: list[Entry] = []
        self._seeds: list[Task] = []
        self._orders: list[Order] = []
        self._lengths: dict[str, int] = {}
        self._requests = 0
        self._offline = self._logged_offline = 0.0
        self._got: dict[int, Watermark] = {}
        self._follows = journal.follows
        self._others = others
        self._permit = permit
        self.written = CommittedFrames()
        self._lock = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "sync")

    def __len__(self) -> int:
        return len(self._entries)

    def note(self, entry: Entry, requested: bool) -> None:
        """Add an entry to the next frame. `requested`: its URL is in flight until the commit."""
        self._requests += requested
        report = entry.report
        if (
            report.task.kind is not Kind.RESOLVE or report.reason is not Reason.OK
        ):  # an address is valid only for a while
            self._entries.append(entry)

    def note_seeds(self, tasks: Iterable[Task]) -> None:
        self._seeds += tasks

    def note_arrival(self, admitted: Iterable[Task], got: Mapping[int, Watermark]) -> None:
        """Add links of other shards to the next frame: those that were admitted, and how far they reach.

        Call it where nothing suspends between the admission and this, best in `between`: a frame that has one of the
        two without the other would lose links.
        """
        self._seeds += admitted
        self._got.update(got)

    @property
    def pending(self) -> bool:
        """Whether anything is not in the log yet."""
        return self._lock.locked() or self._has_news()

    def _has_news(self) -> bool:
        begins = self._others is not None and self._others.begins > 0
        return bool(self._entries or self._seeds or self._orders or self._got) or begins

    def note_order(self, order: Order) -> None:
        self._orders.append(order)

    async def between(
        self, now: Callable[[], float], in_flight: Callable[[], int], act: Callable[[], Awaitable[None]]
    ) -> int:
        """Run an operation between two frames: after everything noted so far and before everything noted later.

        The first of the frames is committed when this returns, with the result of `commit`; the other one is not.
        """
        async with self._lock:
            cut = await self._serial.run(self._cut_and(now, in_flight, act))
            if cut is None:
                return 0
            await self._write(cut.frame)
            return cut.requests

    async def _cut_and(
        self, now: Callable[[], float], in_flight: Callable[[], int], act: Callable[[], Awaitable[None]]
    ) -> Cut | None:
        cut = await self._cut(now, in_flight)
        await act()
        return cut

    def note_offline(self, since: float) -> None:
        """Say in the next frame since when no host has answered; 0: the network is back."""
        self._offline = since

    async def commit(self, now: Callable[[], float], in_flight: Callable[[], int], checkpoint: bool = False) -> int:
        """Make everything noted so far durable; return how many requests are no longer in flight."""
        async with self._lock:
            if checkpoint or self._store.checkpoint_due(now()):
                cut, written = await self._serial.run(self._commit_and_checkpoint(now, in_flight))
            else:
                cut, written = await self._serial.run(self._cut(now, in_flight)), False
            if cut is None:
                return 0
            if not written:
                await self._write(cut.frame)
            return cut.requests

    async def _commit_and_checkpoint(
        self, now: Callable[[], float], in_flight: Callable[[], int]
    ) -> tuple[Cut | None, bool]:
        """Write the frame and save the store in one operation: the store may not hold more than the log.

        On a full disk the frame is left to the caller and the store stays behind the log. Nothing is lost by that: the
        next start replays more frames.
        """
        cut = await self._cut(now, in_flight)
        written = cut is None or await self._attempt(cut.frame)
        if written:
            await self._checkpoint(now())
        return cut, written

    async def _cut(self, now: Callable[[], float], in_flight: Callable[[], int]) -> Cut | None:
        """Turn what was noted since the last frame into the next one, with file lengths that fit these entries."""
        begins = self._others.begins if self._others is not None else 0
        if not self._has_news() and self._offline == self._logged_offline:
            return None
        if self._permit is not None:
            await self._permit.hold()
        while self._disk.attempt(self._flush) is None:
            await asyncio.sleep(1.0)
        entries, self._entries = self._entries, []
        seeds, self._seeds = self._seeds, []
        orders, self._orders = self._orders, []
        lengths, self._lengths = self._lengths, {}
        requests, self._requests = self._requests, 0
        got, self._got = self._got, {}
        follows, self._follows = self._follows, ("", 0)
        frame = Frame(
            number=self._number,
            time=now(),
            entries=tuple(entries),
            lengths=lengths,
            seeds=tuple(seeds),
            in_flight=in_flight() - requests,
            orders=tuple(orders),
            offline=self._offline,
            incarnation=begins,
            receivers=self._receivers(entries),
            got=got,
            follows=follows,
        )
        self._logged_offline = self._offline
        self._number += 1
        return Cut(frame, requests)

    def _receivers(self, entries: Iterable[Entry]) -> tuple[int, ...]:
        if self._others is None:
            return ()
        return tuple(sorted(sharding.split([task for entry in entries for task in entry.sent], self._others.count)))

    def _flush(self) -> bool:
        """Write the buffers. If that fails part way, the lengths flushed so far are kept for the next attempt."""
        for files in self._files:
            self._lengths.update(files.flush())
        return True

    async def _write(self, frame: Frame) -> None:
        while not await self._attempt(frame):
            await asyncio.sleep(1.0)

    async def _attempt(self, frame: Frame) -> bool:
        """Write a frame; return False if the disk is full, or if the lease of a shard has run out meanwhile."""
        if self._permit is not None:
            await self._permit.hold()
        loop, began = asyncio.get_running_loop(), time.monotonic()
        position = await loop.run_in_executor(self._thread, self._disk.attempt, lambda: self._append(frame))
        if position is None:
            return False
        self.written.note(frame, time.monotonic() - began)
        await self._store.committed(frame, position)
        if self._others is not None:
            self._others.committed(frame)
        return True

    def _append(self, frame: Frame) -> log.Position | None:
        """Commit: sync the other files first, then append the frame. When this returns a position, it is committed."""
        try:
            for files in self._files:
                files.sync()
        except OSError as error:  # even on a full disk: after a failed sync the contents of a file are unknown
            raise self._disk.unwritable(error) from error
        member = log.encode(frame)
        if self._permit is not None and not self._permit.may_commit():
            return None
        return self._log.append(member)

    async def _checkpoint(self, now: float) -> None:
        try:
            await self._store.checkpoint(now)
        except OSError as error:
            if error.errno not in FULL:
                raise self._disk.unwritable(error) from error
            self._disk.paused = True

    def close(self) -> None:
        for files in self._files:
            files.close()
        self._log.close()
        self._thread.shutdown()
