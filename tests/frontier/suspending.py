"""A frontier that suspends before and after every call, as one in another process would."""

import asyncio
import random
from collections.abc import Awaitable, Iterable, Sequence
from typing import TypeVar

from windrow.config import Config
from windrow.frontier import DurableFrontier, Position
from windrow.records import Controls, Counts, Fate, Frame, Grant, Lease, Order, OrderReply, Receipt, Report, Task, Url

T = TypeVar("T")


class Suspending:
    """Wraps a frontier. Without a seed it suspends once before and once after each call, with one 0 to 3 times."""

    def __init__(self, inner: DurableFrontier, seed: int | None = None) -> None:
        self.inner = inner
        self._rng = random.Random(seed) if seed is not None else None

    async def _pause(self) -> None:
        for _ in range(self._rng.randint(0, 3) if self._rng is not None else 1):
            await asyncio.sleep(0)

    async def _run(self, call: Awaitable[T]) -> T:
        await self._pause()
        result = await call
        await self._pause()
        return result

    async def add(self, tasks: Iterable[Task]) -> list[Task]:
        return await self._run(self.inner.add(tasks))

    async def lease(self, hosts: int, now: float) -> Grant:
        return await self._run(self.inner.lease(hosts, now))

    async def release(self, lease: Lease, unused: Sequence[Task], last: float) -> None:
        await self._run(self.inner.release(lease, unused, last))

    async def first_seen(self, fingerprints: Sequence[tuple[int, int]]) -> list[int]:
        return await self._run(self.inner.first_seen(fingerprints))

    async def ack(self, reports: Sequence[Report]) -> Receipt:
        return await self._run(self.inner.ack(reports))

    async def carry_out(self, order: Order, now: float) -> OrderReply:
        return await self._run(self.inner.carry_out(order, now))

    async def configure(self, options: Config) -> None:
        await self._run(self.inner.configure(options))

    def controls(self) -> Controls:
        return self.inner.controls()

    async def find(self, url: Url) -> Fate | None:
        return await self._run(self.inner.find(url))

    async def counts(self) -> Counts:
        return await self._run(self.inner.counts())

    async def close(self) -> None:
        await self._run(self.inner.close())

    def position(self) -> Position:
        return self.inner.position()

    async def replay(self, frame: Frame, log: tuple[str, int]) -> None:
        await self._run(self.inner.replay(frame, log))

    async def committed(self, frame: Frame, log: tuple[str, int]) -> None:
        await self._run(self.inner.committed(frame, log))

    def checkpoint_due(self, now: float) -> bool:
        return self.inner.checkpoint_due(now)

    async def checkpoint(self, now: float) -> None:
        await self._run(self.inner.checkpoint(now))


def suspending(inner: DurableFrontier, seed: int | None = None) -> DurableFrontier:
    """Return the wrapper, typed: mypy checks that it is a frontier too."""
    return Suspending(inner, seed)
