"""The live display of a running crawl: a few lines that change, on a terminal only."""

import asyncio

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from windrow.crawl.loop import Crawl
from windrow.data import Counts
from windrow.log import Tally
from windrow.units import moment, share, size

_REFRESH = 0.5  # seconds


async def show(crawl: Crawl, console: Console) -> None:
    """Show the progress of a crawl until cancelled."""
    clock = asyncio.get_running_loop().time
    start = clock()
    before, then, rate = 0, start, 0.0
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        while True:
            counts, paused = await crawl.progress()
            now = clock()
            requests = crawl.tally.requests
            if now > then:
                recent = (requests - before) / (now - then)
                rate = 0.7 * rate + 0.3 * recent if before else requests / max(now - start, 1e-9)
            before, then = requests, now
            live.update(picture(crawl.tally, counts, (now - start, rate), paused, crawl.offline))
            await asyncio.sleep(_REFRESH)


def picture(tally: Tally, counts: Counts, pace: tuple[float, float], paused: bool, offline: float = 0.0) -> Group:
    """Return the lines of the display. pace: seconds since the start, requests per second; offline: since when."""
    seconds, rate = pace
    table = Table.grid(padding=(0, 2))
    table.add_row(
        "pages", f"{tally.archived:,} archived", f"{rate:,.0f} requests/s", f"{size(tally.downloaded)} downloaded"
    )
    if tally.kept:
        rate_of_text = f"{share(tally.kept, tally.downloaded)} yield"
        table.add_row("text", f"{size(tally.kept)} kept", rate_of_text, f"{size(tally.clean)} found")
    table.add_row("URLs", f"{counts.waiting:,} waiting", f"{counts.in_flight:,} in flight", f"{counts.seen:,} admitted")
    table.add_row(
        "hosts",
        f"{counts.hosts_ready:,} ready",
        f"{counts.hosts_waiting:,} not yet due",
        f"{counts.hosts_backlog:,} in the backlog, of {counts.hosts:,}",
    )
    ends = Table.grid(padding=(0, 2))
    ends.add_row("finished", reasons(tally.finished))
    if tally.retried:
        ends.add_row("retried", reasons(tally.retried))
    state = f"{seconds:,.0f} s; Ctrl-C stops cleanly"
    if paused:
        state = "the disk is nearly full: waiting for space"
    elif offline:
        state = f"no host has answered since {moment(offline)}: waiting for the network; Ctrl-C stops cleanly"
    last = Text(state, style="dim")
    return Group(table, ends, last)


def reasons(counts: dict[str, int]) -> str:
    """Return the six most frequent reasons with their counts."""
    ordered = sorted(counts.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{name} {count:,}" for name, count in ordered[:6]) or "none yet"
