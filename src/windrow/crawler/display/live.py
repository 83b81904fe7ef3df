"""The live display of a running crawl: a few lines that change, on a terminal only."""

import asyncio

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from windrow.crawler.ending import RunState
from windrow.crawler.loop import Crawl
from windrow.log import Tally
from windrow.units import count, share, size, span

_REFRESH = 0.5  # seconds
_REASONS = 6  # shown


async def show(crawl: Crawl, console: Console) -> None:
    """Show the progress of a crawl until cancelled."""
    clock = asyncio.get_running_loop().time
    start = clock()
    before, then, rate = 0, start, 0.0
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        while True:
            state = await crawl.progress()
            now = clock()
            requests = crawl.tally.requests
            if now > then:
                recent = (requests - before) / (now - then)
                rate = 0.7 * rate + 0.3 * recent if before else requests / max(now - start, 1e-9)
            before, then = requests, now
            live.update(picture(crawl.tally, state, (now - start, rate)))
            await asyncio.sleep(_REFRESH)


def picture(tally: Tally, state: RunState, pace: tuple[float, float]) -> Group:
    """Return the lines of the display. pace: seconds since the start, requests per second."""
    seconds, rate = pace
    counts = state.counts
    table = Table.grid(padding=(0, 2))
    table.add_row(
        "requests", f"{tally.requests:,} sent", f"{rate:,.0f} per second", f"{size(tally.downloaded)} downloaded"
    )
    table.add_row(
        "pages",
        f"{tally.pages:,} answered",
        count(tally.documents, "document"),
        f"{count(tally.captures, 'capture')} archived",
    )
    if tally.kept:
        rate_of_text = f"{share(tally.kept, tally.downloaded)} yield"
        table.add_row("text", f"{size(tally.kept)} kept", rate_of_text, f"{size(tally.clean)} found")
        table.add_row(
            "corpus", count(counts.tokens, "token"), count(counts.documents, "document"), state.goal or "over all runs"
        )
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
    last = Text(
        state.paused or f"{span(seconds)}; Ctrl-C stops cleanly",
        style="dim",
    )
    return Group(table, ends, last)


def reasons(counts: dict[str, int]) -> str:
    """Return the most frequent reasons with their counts, and how many more there are."""
    ordered = sorted(counts.items(), key=lambda entry: -entry[1])
    rest = sum(number for _, number in ordered[_REASONS:])
    shown = [f"{name} {number:,}" for name, number in ordered[:_REASONS]] + ([f"other {rest:,}"] if rest else [])
    return ", ".join(shown) or "none"
