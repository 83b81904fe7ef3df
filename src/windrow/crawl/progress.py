"""The progress of a crawl in lines: one per interval, and with --verbose one per outcome."""

import asyncio
from collections.abc import Callable

from windrow.crawl.ending import RunState
from windrow.crawl.loop import Crawl
from windrow.data import Report
from windrow.frontier.policy import retry
from windrow.log import Tally
from windrow.units import count, moment, printable, size, span

FIRST = 10.0  # seconds until the first line: soon enough to see that the crawl works

_FAILURES = frozenset(reason.value for reason, rule in retry.TABLE.items() if rule.tries)


async def report(crawl: Crawl, every: float, say: Callable[[str], None]) -> None:
    """Say a line of progress soon after the start and then every so many seconds, until cancelled. 0: never."""
    clock = asyncio.get_running_loop().time
    start = then = clock()
    before = 0
    wait = min(FIRST, every)
    while every:
        await asyncio.sleep(wait)
        state = await crawl.progress()
        now, requests = clock(), crawl.tally.requests
        rate = (requests - before) / max(now - then, 1e-9)
        say(line(crawl.tally, state, (now - start, rate)))
        before, then, wait = requests, now, every


def line(tally: Tally, state: RunState, pace: tuple[float, float]) -> str:
    """Return the progress as one line. pace: seconds since the start, requests per second of late."""
    seconds, rate = pace
    parts = [
        f"{count(tally.requests, 'request')} ({rate:,.1f} per second)",
        count(tally.pages, "page"),
        f"{count(tally.documents, 'document')} ({size(tally.kept)} of text kept, {count(tally.tokens, 'token')})",
        f"{count(state.counts.waiting, 'URL')} waiting",
        count(failures(tally), "failed attempt"),
    ]
    goal = f"; the corpus has {state.goal}" if state.goal else ""
    paused = f"; {state.paused}" if state.paused else ""
    return f"{span(seconds)}: {', '.join(parts)}{goal}{paused}"


def failures(tally: Tally) -> int:
    """Return how many attempts failed, whether they were repeated or not."""
    final = sum(number for reason, number in tally.finished.items() if reason in _FAILURES)
    return final + sum(tally.retried.values())


def outcome(report: Report) -> str:
    """Return what became of a task, as one line."""
    status = str(report.status or "-")
    reason = report.reason.value if report.final else f"{report.reason.value} (again)"
    detail = f"  {report.detail}" if report.detail else ""
    numbers = f"{status:>3}  {size(report.downloaded):>9}  {report.seconds:6.3f} s"
    return printable(f"{moment(report.time)}  {reason:<20} {numbers}  {report.task.url.text}{detail}")
