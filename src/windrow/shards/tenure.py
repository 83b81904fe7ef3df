"""The lease of a shard in the shard's own process: renews it, and says whether the process may send and commit.

While Redis does not answer, the process relies on its lease until shortly before its end. Then it waits: it sends no
request and commits nothing. If Redis is back and nobody else has taken the shard, it continues without any loss. If
another process has the shard, this one ends without a commit.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from windrow.shards import fence
from windrow.shards.fence import Fence, ShardTaken
from windrow.shards.transport import Unavailable

RENEWAL = 2.5  # seconds from one renewal to the next
AGAIN = 0.5  # seconds after which a renewal that failed is tried again
LOOK = 0.1  # seconds between two looks of a commit that waits for the lease


class Leases(Protocol):
    """The leases of shards, as far as the process of a shard needs them. `windrow.nodes.redis` keeps them."""

    def fence(self, shard: int) -> int: ...
    def holds(self, shard: int) -> bool: ...
    async def renew(self) -> Sequence[int]: ...  # the shards whose lease another has; or Unavailable
    async def give(self, shards: Sequence[int]) -> None: ...


class Tenure:
    """The right of one process to run one shard. `leases` has adopted the lease of the shard."""

    def __init__(self, leases: Leases, shard: int, directory: Path, holder: str, note: Callable[[str], None]) -> None:
        """`note` is called with what the operator must know."""
        self._leases = leases
        self._shard = shard
        self._directory = directory
        self._holder = holder
        self._number = leases.fence(shard)
        self._claimed = False
        self._taken: ShardTaken | None = None
        self._leaving = False
        self._note = note
        self._news = asyncio.Event()

    def claim(self) -> Fence | None:
        """Fence the directory off from all processes before; return the last of them. Before the log is read."""
        before = fence.claim(self._directory, self._number, self._holder)
        self._claimed = True
        return before

    @property
    def valid(self) -> bool:
        """Whether a request may be sent now."""
        return self._leases.holds(self._shard)

    def may_commit(self) -> bool:
        """Return whether a frame may be written now; ShardTaken if never again. Reads one small file."""
        if not self.valid:
            return False
        self.check_fence()
        return True

    def check_fence(self) -> None:
        """Raise ShardTaken if another process has begun to work in the directory since this one has."""
        if self._claimed:
            fence.check(self._directory, self._number)

    async def hold(self) -> None:
        """Return when the lease holds; ShardTaken if it never will, or not before the end of this process."""
        while not self.valid:
            if self._taken is not None:
                raise self._taken
            if self._leaving:
                raise ShardTaken(
                    f"the lease of shard {self._shard} has run out while Redis does not answer; "
                    "what was not committed is crawled again"
                )
            await asyncio.sleep(LOOK)

    async def regained(self) -> None:
        """Return when the lease holds again after it had run out; ShardTaken if another process has the shard."""
        await self._news.wait()
        self._news.clear()
        if self._taken is not None:
            raise self._taken

    def leave(self) -> None:
        """Do not wait for a lease any more: the process was asked to end."""
        self._leaving = True

    async def begin(self) -> None:
        """Renew for the first time; ShardTaken if the lease is another's."""
        if await self._leases.renew():
            raise self._replaced()

    async def keep(self) -> None:
        """Renew until the lease is lost, or this task is cancelled."""
        waits = False
        while True:
            answered = False
            with contextlib.suppress(Unavailable):
                if await self._leases.renew():
                    self._taken = self._replaced()
                    return self._news.set()
                answered = True
            if waits != (not self.valid):
                waits = not waits
                self._tell(waits)
            await asyncio.sleep(RENEWAL if answered else AGAIN)

    async def end(self, clean: bool) -> None:
        """Give the lease back. `clean`: everything is committed, and all files are closed."""
        if clean and self._taken is None:
            fence.end(self._directory, self._number)
        with contextlib.suppress(Unavailable):
            await self._leases.give([self._shard])

    def _tell(self, waits: bool) -> None:
        if waits:
            self._note("the lease has run out and Redis does not answer; no request is sent until it does")
        else:
            self._note("the lease holds again; the crawl continues")
            self._news.set()

    def _replaced(self) -> ShardTaken:
        return ShardTaken(f"another node has the lease of shard {self._shard}; this process ends without a commit")
