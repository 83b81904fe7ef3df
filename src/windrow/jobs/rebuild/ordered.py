"""The corpus made again from the archive: every page is read in the order of `seq` and judged by the present options.

With the options of the crawl the result is the corpus that the crawl made, line by line. With others (another
extractor, other languages, other thresholds) it is the corpus that such a crawl would have made of these pages.
Nothing is downloaded.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import msgspec

from windrow import decide, fingerprints, log, origin, takedown, urls
from windrow.config import Config, ConfigError
from windrow.decide import Candidate, Decision
from windrow.jobs.inputs import committed
from windrow.jobs.rebuild import captured, judging, refining
from windrow.jobs.rebuild.refining import RefinedRow
from windrow.log import PurgeNote
from windrow.records import Origin, Place, Report
from windrow.refine import Refiner


class Rebuilt(msgspec.Struct):
    """What a rebuild did."""

    pages: int = 0  # read from the archive
    documents: int = 0
    kept: int = 0  # bytes of text
    reasons: dict[str, int] = {}
    listed: int = 0  # documents left out, because they are on the takedown list
    purged: int = 0  # pages that the archive no longer has


class Rebuild:
    """Holds what earlier pages left: fingerprints and n-grams."""

    def __init__(
        self, directory: Path, options: Config, extra: Path | None = None, rows: Iterator[RefinedRow] | None = None
    ) -> None:
        """`extra`: a takedown list besides the crawl's own. `rows`: all pages refined, in order; None: do it here."""
        self._directory = directory
        self._listed = takedown.of(directory, extra=extra)
        self._purged = log.purged(directory / "log")
        self.purged = 0  # see Rebuilt
        self._refiner = Refiner(judging.without_links(options)) if rows is None else None
        self._rows = rows or iter(())
        self._owner = judging.Owner(options)
        self.table = self._owner.table

    async def documents(self) -> AsyncIterator[tuple[Decision, bytes]]:
        """Yield the decision on every page as it is now, with the line of its document, empty if it has none."""
        for report, origin_record, purged in pages(self._directory, self._purged):
            if purged:
                # Copies of it stay duplicates: the log has its fingerprints.
                self.purged += 1
                await self._owner.first_seen(
                    [(fingerprint, report.task.url.key) for fingerprint in fingerprints.of_report(report)]
                )
            else:
                yield await self._decide(report, origin_record)

    def _refined(self, place: Place, origin: Origin | None) -> RefinedRow:
        if self._refiner is not None:
            return refining.row(captured.read(self._directory, place), self._refiner, probe(origin))
        row = next(self._rows, None)
        if row is None or row.place != place:
            raise ConfigError(f"{self._directory / place.file} has changed while it was read; run the command again")
        return row

    async def _decide(self, report: Report, origin: Origin | None) -> tuple[Decision, bytes]:
        """Decide on a page by the rules it was requested under."""
        place = report.place
        assert place is not None
        row = self._refined(place, origin)
        refined = row.refined
        assert refined.verdict is not None
        candidate = Candidate(
            url=report.task.url,
            digest=row.digest,
            ip=row.ip,
            time=row.time,
            refined=refined,
            origin=origin,
            truncated=row.truncated,
        )
        decision = await self._owner.decide(candidate, refined.verdict)
        if decision.draft is None:
            return decision, b""
        if self._listed and self._listed.covers(report.task.url.text):
            return decision, b""  # judged all the same: copies of it stay duplicates, as they were in the crawl
        return decision, decide.line(decision, candidate, place, row.id)


def pages(directory: Path, purged: dict[str, PurgeNote]) -> Iterator[tuple[Report, Origin | None, bool]]:
    """Yield the report of every page that can be read again, with what its origin said then, and whether it was purged.

    `purged`: from the log.
    """
    origins: dict[tuple[str, float], Origin] = {}  # by name and stamp
    for frame in committed.frames(directory / "log"):
        for report in [entry.report for entry in frame.entries]:
            if report.origin is not None:
                origins[report.origin.name, report.origin.stamp] = report.origin
            elif report.place is not None and captured.is_page(report):
                origin = origins.get((urls.origin(report.task.url.text), report.rules))
                yield report, origin, captured.is_purged(report, frame.number, purged)


def probe(of: Origin | None) -> str:
    """Return the text with which an origin says that there is no such page; "" if that is not known."""
    probed = of.files.get(origin.SOFT_404) if of is not None else None
    return probed.text if probed is not None else ""


def corpus(
    directory: Path,
    options: Config,
    output: Path,
    watch: Callable[[Rebuilt], None],
    extra: Path | None = None,
    rows: Iterator[RefinedRow] | None = None,
) -> Rebuilt:
    """Write the corpus to output/corpus, which appears when it is complete; `watch` is called with the progress.

    `extra`: a takedown list besides the crawl's own. `rows`: see `Rebuild`.
    """
    check(directory)
    rebuild = Rebuild(directory, options, extra, rows)
    with judging.output(output) as temporary:
        return asyncio.run(_corpus(rebuild, options, temporary, watch))


def check(directory: Path) -> None:
    if not log.names(directory / "log"):
        raise ConfigError(f"{directory} holds no crawl: there is no log in it; check the path")


async def _corpus(rebuild: Rebuild, options: Config, output: Path, watch: Callable[[Rebuilt], None]) -> Rebuilt:
    done = Rebuilt()
    with judging.CorpusWriter(output, options, done, lambda pages: watch(done)) as writer:
        async for decision, line in rebuild.documents():
            writer.add(decision, line)
        writer.finish()
    done.purged = rebuild.purged
    return done
