"""Run a crawl in the foreground: signals stop it, a terminal shows its progress."""

import asyncio
import signal
import time
from collections.abc import Callable
from pathlib import Path

from windrow import kernels
from windrow.cli import terminal
from windrow.config import Config
from windrow.crawl import display, loop, recover
from windrow.units import moment


def run(directory: Path, options: Config) -> loop.Ending:
    """Run a crawl until it ends or a signal stops it. Notes and the live display go to standard error."""
    notes = terminal.notes()
    if missing := kernels.missing():
        effect = "pages take more CPU time; install a wheel with kernels, or a C compiler and then Windrow again"
        notes.print(f"C kernels that are not built: {', '.join(missing)}; {effect}")

    async def main() -> loop.Ending:
        shown: list[asyncio.Task[None]] = []
        stops: list[Callable[[], None]] = []
        early: list[int] = []  # signals that arrived before the crawl could be stopped

        def stop(number: int) -> None:
            if stops:
                stops[0]()
            else:
                early.append(number)

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop, number)

        def watch(running: loop.Crawl, resumed: recover.Resumed) -> None:
            for line in resumed.torn:
                notes.print(f"recovered: {line}")
            if resumed.frames:
                notes.print(f"continuing after frame {resumed.frames} of the log ({resumed.replayed} replayed)")
            running.notify = lambda since: notes.print(_network(since))
            stops.append(running.stop)
            for _ in early:
                running.stop()
            if notes.is_terminal:
                shown.append(asyncio.create_task(display.show(running, notes)))

        try:
            return await loop.run(directory, options, watch)
        finally:
            for task in shown:
                task.cancel()

    return loop.execute(main())


def _network(since: float) -> str:
    if since:
        return (
            f"no host has answered since {moment(since)}: waiting for the network; nothing counts as failed meanwhile"
        )
    return f"the wait for the network ended at {moment(time.time())}"
