"""Shares addresses with the other shards: the frontier asks and gives, a task beside the crawl talks to the others."""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable
from typing import Protocol

from windrow.crawler.neighbours import Addresses
from windrow.frontier.local.schedule import ip
from windrow.shards.transport import Unavailable


class SlotRound(Protocol):
    """What a round of `AddressSlots` has changed."""

    @property
    def granted(self) -> list[str]: ...
    @property
    def lost(self) -> list[str]: ...
    @property
    def wanted(self) -> list[str]: ...


class AddressSlots(Protocol):
    """What shares addresses, see `redis.slots`. Times are monotonic seconds."""

    woken: asyncio.Event  # set when `again` has become earlier

    def set_delay(self, seconds: float) -> None: ...
    def want(self, address: str) -> float | None: ...
    def give(self, address: str, last: float | None) -> None: ...
    def wanted(self, address: str) -> bool: ...
    def may_request(self, address: str) -> bool: ...
    def start(self, address: str) -> float: ...
    @property
    def again(self) -> float: ...
    async def round(self) -> SlotRound: ...


class AddressGate:
    """Implements `frontier.Gate`. `now` is the crawl's clock, which is as steady as the monotonic one.

    The difference of the two is exact: a request a millisecond before its time would be refused, its address given
    back, and the wait would begin again, for ever.
    """

    def __init__(
        self, slots: AddressSlots, now: Callable[[], float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._slots = slots
        self._clock = clock
        before = clock()
        self._ahead = now() - before  # of the crawl's clock; never too little

    def set_delay(self, seconds: float) -> None:
        self._slots.set_delay(seconds)

    def want(self, address: str) -> float | None:
        """Return when a request to an address may be sent; None: wait for it, `news` says when it is granted."""
        start = self._slots.want(address)
        return None if start is None else start + self._ahead

    def give(self, address: str, last: float) -> None:
        """Give an address back; `last`: when the last request to it ended, 0 if there was none."""
        self._slots.give(address, last - self._ahead if last else None)

    def wanted(self, address: str) -> bool:
        return self._slots.wanted(address)

    def may_use(self, address: str) -> bool:
        """Return whether a request to an address, with or without a port, may be sent now."""
        return self._slots.may_request(ip(address))

    async def news(self) -> Addresses:
        """Talk whenever something is due; return when addresses were granted or lost, or should be given."""
        while True:
            await self._wait()
            try:
                granted = await self._slots.round()
            except Unavailable:  # nothing is asked of a host meanwhile: `may_use` runs out
                continue
            if granted.granted or granted.lost or granted.wanted:
                starts = {address: self._slots.start(address) + self._ahead for address in granted.granted}
                return Addresses(starts, granted.lost, granted.wanted)

    async def _wait(self) -> None:
        """Wait until a round is due. It may become due earlier meanwhile."""
        woken = self._slots.woken
        woken.clear()
        while (seconds := self._slots.again - self._clock()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds if seconds < math.inf else None):
                    await woken.wait()
            woken.clear()
