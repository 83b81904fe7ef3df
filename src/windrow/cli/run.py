"""Run a crawl in the foreground: signals stop it, a terminal shows its progress, `crawl.log` keeps its notes."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal

import windrow
from windrow import kernels, signals
from windrow.cli import terminal
from windrow.cli.text import lines
from windrow.config import Config
from windrow.crawler import loop, recover
from windrow.crawler.display import live as display
from windrow.crawler.display import progress
from windrow.crawler.display.notes import Notes
from windrow.crawler.ending import Ending, RunState
from windrow.crawler.metrics import RunMetrics
from windrow.crawler.neighbours import Neighbours
from windrow.crawler.setup import start
from windrow.metrics import endpoint
from windrow.records import Report
from windrow.units import count

Voice = Literal["quiet", "normal", "verbose"]


Note = Callable[[str], None]
Others = Callable[[Note], AbstractAsyncContextManager[Neighbours | None]]


def _alone(note: Note) -> AbstractAsyncContextManager[None]:
    return contextlib.nullcontext()


def run(
    directory: Path,
    options: Config,
    given: Sequence[str] = (),
    voice: Voice = "normal",
    others: Others = _alone,
    begun: Callable[[], None] = lambda: None,
    metrics: str = "",
) -> Ending:
    """Run a crawl until it ends or a signal stops it. Notes, progress and outcomes go to standard error.

    given: what the command line sets, as "section.option=value". others: the other shards, if there are any; it is
    called with what to do with a note. begun: called when the directory is locked. metrics: where to serve them; "" for
    nowhere.
    """
    this = _Run(directory, options, given, voice, begun)
    return start.execute(this.serve_metrics(metrics, others) if metrics else this.main(others))


class _Run:
    """One run, with everything that happens around the crawl itself."""

    def __init__(
        self, directory: Path, options: Config, given: Sequence[str], voice: Voice, begun: Callable[[], None]
    ) -> None:
        self._begun = begun
        self._directory = directory
        self._options = options
        self._given = given
        self._voice = voice
        self._console = terminal.notes()
        program = lines.write if lines.are_json() else None
        self._notes = Notes(lambda text: self._console.print(text), voice == "quiet", program)
        self._metrics: RunMetrics | None = None
        self._crawl: loop.Crawl | None = None
        self._early = 0  # signals that arrived before the crawl could be stopped
        self._beside: list[asyncio.Task[None]] = []  # the display, the lines of progress

    async def serve_metrics(self, address: str, others: Others) -> Ending:
        self._metrics = RunMetrics(self._directory)
        async with endpoint.serve(address, self._metrics.collect) as url:
            self._notes.say(f"metrics are served at {url}")
            return await self.main(others)

    async def main(self, others: Others) -> Ending:
        if missing := kernels.missing():
            effect = "pages take more CPU time; install a wheel with kernels, or a C compiler and then Windrow again"
            self._notes.say(f"C kernels that are not built: {', '.join(missing)}; {effect}")
        signals.handle(asyncio.get_running_loop(), self._stop)
        signals.release()
        try:
            names = {setting.partition("=")[0].strip() for setting in self._given}
            counts = self._metrics is not None or self._voice == "verbose"
            observer = loop.Observer(self._begin, self._notes.warn, self._outcome if counts else None)
            async with others(self._notes.warn) as neighbours:
                ending = await start.run(self._directory, self._options, observer, names, neighbours)
        except Exception as error:
            if self._crawl is not None:  # else the run was refused, and its directory is left as it was
                self._notes.record(f"ended by an error: {error}", "error")
            raise
        finally:
            for task in self._beside:
                task.cancel()
        pace = ending.seconds, ending.tally.requests / max(ending.seconds, 1e-9)
        state = RunState(ending.counts)
        figures = {"why": ending.why, **progress.figures(ending.tally, state, pace)}
        self._notes.record(f"ended ({ending.why}) after {progress.line(ending.tally, state, pace)}", "end", figures)
        return ending

    def _stop(self) -> None:
        if self._crawl is None:
            self._early += 1
        else:
            self._crawl.stop()

    def _begin(self, crawl: loop.Crawl, resumed: recover.Resumed) -> None:
        """Take the crawl once it is set up."""
        self._crawl = crawl
        self._begun()
        notes = self._notes
        notes.open(self._directory)
        notes.record(f"windrow {windrow.__version__} starts", "start")
        for setting in self._given:
            notes.record(f"--set {setting}")
        for line in resumed.torn:
            notes.say(f"recovered: {line}")
        if resumed.frames:
            replayed = count(resumed.replayed, "frame")
            notes.say(f"continuing after frame {resumed.frames:,} of the log ({replayed} replayed)")
        for _ in range(self._early):
            crawl.stop()
        self._show(crawl)

    def _show(self, crawl: loop.Crawl) -> None:
        notes = self._notes
        live = self._console.is_terminal and self._voice != "quiet" and not lines.are_json()
        say = (lambda text, figures: notes.record(text)) if live else notes.progress
        report = progress.report(crawl, self._options.crawl.progress_seconds, say)
        self._beside.append(asyncio.create_task(report))
        if live:
            self._beside.append(asyncio.create_task(display.show(crawl, self._console)))
        if self._metrics is not None:
            self._metrics.begin(crawl)

    def _outcome(self, report: Report) -> None:
        if self._metrics is not None:
            self._metrics.count(report)
        if self._voice == "verbose":
            self._notes.outcome(progress.outcome(report), progress.outcome_figures(report))
