"""The corpus made again from the archive: every page is read in the order of `seq` and judged by the present options.

With the options of the crawl the result is the corpus that the crawl made, line by line. With others (another
extractor, other languages, other thresholds) it is the corpus that such a crawl would have made of these pages.
Nothing is downloaded.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec

from windrow import fingerprints, log, origin, takedown, urls
from windrow.batch import captured, committed, judging
from windrow.config import Config, ConfigError
from windrow.data import Origin, Place, Report
from windrow.dedup import decide
from windrow.dedup.decide import Candidate, Decision
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
    """Holds what earlier pages left: fingerprints, n-grams, and what origins said."""

    def __init__(self, directory: Path, options: Config, extra: Path | None = None) -> None:
        """`extra`: a takedown list besides the crawl's own."""
        self._directory = directory
        self._listed = takedown.of(directory, extra=extra)
        self._purged = log.purged(directory / "log")
        self.purged = 0  # see Rebuilt
        self._refiner = Refiner(judging.without_links(options))
        self._origins: dict[tuple[str, float], Origin] = {}  # by name and stamp
        self._owner = judging.Owner(options)
        self.table = self._owner.table

    async def documents(self) -> AsyncIterator[tuple[Decision, bytes]]:
        """Yield the decision on every page as it is now, with the line of its document, empty if it has none."""
        for frame in committed.frames(self._directory / "log"):
            for report in [entry.report for entry in frame.entries]:
                if report.origin is not None:
                    self._origins[report.origin.name, report.origin.stamp] = report.origin
                elif report.place is None or not captured.is_page(report):
                    continue
                elif captured.is_purged(report, frame.number, self._purged):
                    # Copies of it stay duplicates: the log has its fingerprints.
                    self.purged += 1
                    await self._owner.first_seen(
                        [(found, report.task.url.key) for found in fingerprints.of_report(report)]
                    )
                else:
                    yield await self._decide(report, report.place)

    async def _decide(self, report: Report, place: Place) -> tuple[Decision, bytes]:
        """Decide on a page by the rules it was requested under."""
        entry = captured.read(self._directory, place)
        known = self._origins.get((urls.origin(report.task.url.text), report.rules))
        probed = known.files.get(origin.SOFT_404) if known is not None else None
        refined = self._refiner(entry.capture, probed.text if probed is not None else "")
        assert refined.verdict is not None
        candidate = Candidate(
            url=report.task.url,
            digest=entry.digest,
            ip=entry.capture.ip,
            time=entry.capture.time,
            refined=refined,
            origin=known,
            truncated=entry.capture.truncated,
        )
        decision = await self._owner.decide(candidate, refined.verdict)
        if decision.draft is None:
            return decision, b""
        if self._listed and self._listed.covers(report.task.url.text):
            return decision, b""  # judged all the same: copies of it stay duplicates, as they were in the crawl
        return decision, decide.line(decision, candidate, place, entry.id)


def corpus(
    directory: Path, options: Config, output: Path, watch: Callable[[Rebuilt], None], extra: Path | None = None
) -> Rebuilt:
    """Write the corpus to output/corpus, which appears when it is complete; `watch` is called with the progress.

    `extra`: a takedown list besides the crawl's own.
    """
    if not log.names(directory / "log"):
        raise ConfigError(f"{directory} holds no crawl: there is no log in it; check the path")
    rebuild = Rebuild(directory, options, extra)
    with judging.output(output) as temporary:
        return asyncio.run(_corpus(rebuild, options, temporary, watch))


async def _corpus(rebuild: Rebuild, options: Config, output: Path, watch: Callable[[Rebuilt], None]) -> Rebuilt:
    done = Rebuilt()
    with judging.CorpusWriter(output, options, done, lambda pages: watch(done)) as writer:
        async for decision, line in rebuild.documents():
            writer.add(decision, line)
        writer.finish()
    done.purged = rebuild.purged
    return done
