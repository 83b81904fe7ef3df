"""Make the store again from the log."""

import asyncio
import time
from pathlib import Path

import msgspec

from windrow.config import Config
from windrow.crawler import recover


class RebuiltStore(msgspec.Struct, frozen=True):
    frames: int  # of the log, replayed
    aside: str  # directory of the old store; empty: there was none


def rebuild(directory: Path, options: Config) -> RebuiltStore:
    """Move the old store aside and make a new one from the log alone."""
    return asyncio.run(_rebuild(directory, options))


async def _rebuild(directory: Path, options: Config) -> RebuiltStore:
    with recover.lock(directory):
        aside = recover.set_state_aside(directory)
        resumed = await recover.resume(directory, options, time.time())
        await resumed.frontier.close()
        return RebuiltStore(resumed.replayed, str(aside or ""))
