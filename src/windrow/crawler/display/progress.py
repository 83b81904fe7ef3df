"""The progress of a crawl in lines: one per interval, and with --verbose one per outcome."""

import asyncio
from collections.abc import Callable, Mapping

from windrow.crawler.ending import RunState
from windrow.crawler.loop import Crawl
from windrow.frontier.policy import retry
from windrow.log import Tally
from windrow.records import Report
from windrow.units import count, moment, printable, size, span

Figures = Mapping[str, str | float]  # a line for programs

FIRST = 10.0  # seconds until the first line: soon enough to see that the crawl works

_FAILURES = frozenset(reason.value for reason, rule in retry.TABLE.items() if rule.tries)


async def report(crawl: Crawl, every: float, say: Callable[[str, Figures], None]) -> None:
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
        pace = now - start, rate
        say(line(crawl.tally, state, pace), figures(crawl.tally, state, pace))
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


def figures(tally: Tally, state: RunState, pace: tuple[float, float]) -> Figures:
    """Return the numbers of `line`."""
    return {
        "seconds": round(pace[0], 3),
        "requests": tally.requests,
        "requests_per_second": round(pace[1], 3),
        "pages": tally.pages,
        "documents": tally.documents,
        "kept_bytes": tally.kept,
        "tokens": tally.tokens,
        "urls_waiting": state.counts.waiting,
        "failed_attempts": failures(tally),
        "paused": state.paused,
    }


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


def outcome_figures(report: Report) -> Figures:
    """Return the facts of `outcome`."""
    return {
        "url": printable(report.task.url.text),
        "reason": report.reason.value,
        "final": report.final,
        "status": report.status,
        "seconds": report.seconds,
        "downloaded_bytes": report.downloaded,
        "kept_bytes": report.kept,
        "detail": printable(report.detail),
    }
