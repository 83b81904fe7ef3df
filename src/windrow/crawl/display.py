"""The live display of a running crawl: on a terminal a few lines that change, elsewhere nothing."""

import asyncio

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from windrow.crawl.loop import Crawl
from windrow.data import Counts
from windrow.log import Tally

_REFRESH = 0.5  # seconds


async def show(crawl: Crawl, console: Console) -> None:
    """Runs beside the crawl until cancelled."""
    clock = asyncio.get_running_loop().time
    start = clock()
    before, then, rate = 0, start, 0.0
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        while True:
            counts, paused = await crawl.progress()
            now = clock()
            pages = crawl.tally.requests
            if now > then:
                rate = 0.7 * rate + 0.3 * (pages - before) / (now - then) if before else pages / max(now - start, 1e-9)
            before, then = pages, now
            live.update(picture(crawl.tally, counts, (now - start, rate), paused))
            await asyncio.sleep(_REFRESH)


def picture(tally: Tally, counts: Counts, pace: tuple[float, float], paused: bool) -> Group:
    """What the display shows."""
    seconds, rate = pace
    table = Table.grid(padding=(0, 2))
    table.add_row(
        "pages", f"{tally.archived:,} archived", f"{rate:,.0f} requests/s", f"{size(tally.downloaded)} downloaded"
    )
    if tally.kept:
        table.add_row(
            "text",
            f"{size(tally.kept)} kept",
            f"{tally.kept / max(1, tally.downloaded):.1%} yield",
            f"{size(tally.clean)} found",
        )
    table.add_row("queue", f"{counts.waiting:,} waiting", f"{counts.in_flight:,} in hand", f"{counts.seen:,} seen")
    table.add_row(
        "hosts",
        f"{counts.hosts_ready:,} ready",
        f"{counts.hosts_waiting:,} waiting",
        f"{counts.hosts_backlog:,} in line of {counts.hosts:,}",
    )
    ends = Table.grid(padding=(0, 2))
    ends.add_row("ended", reasons(tally.finished))
    if tally.retried:
        ends.add_row("again", reasons(tally.retried))
    last = Text(
        "the disk is nearly full: waiting for space" if paused else f"{seconds:,.0f} s; Ctrl-C stops cleanly",
        style="dim",
    )
    return Group(table, ends, last)


def reasons(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name} {count:,}" for name, count in ordered[:6]) or "none yet"


def size(count: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.0f} {unit}" if unit == "B" else f"{count:,.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"
