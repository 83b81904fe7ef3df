"""The time of a crawl: steady, whatever happens to the system clock."""

import asyncio
import time
from typing import TypeVar

import msgspec

from windrow.records import Capture, Failure

_DAY = 86400.0
_JUMP = 5.0  # seconds by which the system clock may differ from ours before we ignore it

_Outcome = TypeVar("_Outcome", bound=Capture | Failure)


class Clock:
    """Epoch seconds that never go back or jump while the process runs, and never lie before the last commit."""

    def __init__(self, last: float = 0.0) -> None:
        now = time.time()
        # The system clock was set back since the last commit. A commit further ahead than a day has a wrong date
        # itself.
        if now < last < now + _DAY:
            now = last
        self._offset = now - time.monotonic()

    def now(self) -> float:
        return time.monotonic() + self._offset


async def nap(wake: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most this many seconds."""
    if seconds <= 0:
        return await asyncio.sleep(0)
    timer = asyncio.get_running_loop().call_later(min(seconds, 3600.0), wake.set)
    try:
        await wake.wait()
    finally:
        timer.cancel()


def steady(outcome: _Outcome, now: float) -> _Outcome:
    """Re-stamp an outcome with our steady clock if the system clock jumped.

    Pauses and robots.txt expiry are computed from it. The archive keeps the system's time.
    """
    seconds = outcome.seconds if isinstance(outcome, Capture) else 0.0  # a Failure carries the time of its end
    if -_JUMP < outcome.time + seconds - now < _JUMP:
        return outcome
    return msgspec.structs.replace(outcome, time=round(now - seconds, 3))
