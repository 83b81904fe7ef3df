"""The corpus made anew from the archive: every page read again in the order of `seq`, judged by the options as they are now.

With the options of the crawl the result is the corpus that the crawl made, line by line. With others (another extractor, other languages,
other thresholds) it is the corpus that such a crawl would have made of these pages; nothing is downloaded.
"""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec

from windrow import archive, files, log, urls
from windrow.archive import ArchiveError, Entry
from windrow.batch import committed
from windrow.config import Config, ConfigError
from windrow.corpus.shards import Shards
from windrow.data import Kind, Place, Reason, Report, Robots
from windrow.dedup import decide, onion
from windrow.dedup.decide import Leaf, Owner, Weighed
from windrow.dedup.onion import DuplicateRule
from windrow.dedup.table import NgramTable
from windrow.origin import tdmrep
from windrow.refine import Refiner

_FLUSH = 256  # documents between two writes
_UNREAD = {
    Reason.PARSE_TIMEOUT,
    Reason.PARSE_MEMORY,
    Reason.PARSE_CRASH,
}  # pages that broke a worker: they would break us


class Rebuilt(msgspec.Struct):
    """What a rebuild did."""

    pages: int = 0  # read from the archive
    documents: int = 0
    kept: int = 0  # bytes of text
    reasons: dict[str, int] = {}


class Rebuild:
    """Holds what the pages before have left: claims, n-grams, robots.txt rules."""

    def __init__(self, directory: Path, options: Config) -> None:
        if options.extract.extractor == "none":
            raise ConfigError(
                'extract.extractor is "none": there is no text to make a corpus of; choose an extractor with --set'
            )
        self._directory = directory
        self._refiner = Refiner(options)
        self._claims: dict[int, int] = {}
        self._robots: dict[str, Robots] = {}
        self.table = NgramTable(options.dedup.table_bytes)
        rule = DuplicateRule.of(options.dedup)
        seen = (lambda ngrams: onion.mark(self.table, ngrams, rule)) if options.dedup.near_duplicates else None
        self._owner = Owner(options.signals, self._claim, seen)

    async def _claim(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        return [self._claims.setdefault(digest, key) for digest, key in pairs]

    async def documents(self) -> AsyncIterator[tuple[Report, bytes]]:
        """Every page's report as it is now, and its document's line, empty where it is not in the corpus."""
        for frame in committed.frames(self._directory / "log"):
            for report in frame.reports:
                if report.robots is not None:
                    self._learn(report)
                elif _is_page(report) and report.place is not None:
                    yield await self._weigh(report, self._entry(report.place))

    def _entry(self, place: Place) -> Entry:
        try:
            return archive.open_entry(self._directory, place)
        except ArchiveError as error:
            raise ConfigError(f"{error}; restore the file from a copy") from None

    def _learn(self, report: Report) -> None:
        """As the frontier does."""
        robots = report.robots
        if robots is None or robots.closed:  # while it cannot be had, the copy from before holds
            return
        known = self._robots.get(robots.origin)
        if report.task.kind is Kind.TDMREP and known is not None and known.fetched != robots.fetched:
            return  # of rules that were fetched anew meanwhile, and so was this
        self._robots[robots.origin] = robots

    async def _weigh(self, old: Report, entry: Entry) -> tuple[Report, bytes]:
        capture = entry.capture
        robots = self._robots.get(urls.origin(old.task.url.text))
        refined = self._refiner(capture, robots.probe if robots is not None and robots.probe != "-" else "")
        assert refined.verdict is not None
        rules, tdm = (robots.rules, tdmrep.told(robots)) if robots is not None else ("", "")
        leaf = Leaf(capture.ip, capture.time, rules, refined, tdm)
        fresh = msgspec.structs.replace(old, kept=0, text=0)
        weighed: Weighed = await self._owner.weigh(fresh, entry.digest, leaf, refined.verdict)
        line = decide.line(weighed, weighed.report, leaf, entry.id) if weighed.draft is not None else b""
        return weighed.report, line


def _is_page(report: Report) -> bool:
    ended = report.final and report.reason not in _UNREAD
    return report.task.kind is Kind.PAGE and ended and 200 <= report.status < 300


def corpus(directory: Path, options: Config, output: Path, watch: Callable[[Rebuilt], None]) -> Rebuilt:
    """Writes the corpus to output/corpus, which appears when it is whole; `watch` hears of the progress now and then."""
    if not log.names(directory / "log"):
        raise ConfigError(f"{directory} holds no crawl: there is no log in it; check the path")
    target = output / "corpus"
    if target.exists():
        raise ConfigError(f"{target} exists already; name another directory, or move it away")
    rebuild = Rebuild(directory, options)
    new = not output.exists()
    temporary = output / ".new.rebuild"
    shutil.rmtree(temporary, ignore_errors=True)
    (temporary / "corpus").mkdir(parents=True)
    try:
        done = asyncio.run(_corpus(rebuild, options, temporary, watch))
        (temporary / "corpus").rename(target)
        files.sync_directory(output)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if new and not target.exists():
            output.rmdir()
    return done


async def _corpus(rebuild: Rebuild, options: Config, output: Path, watch: Callable[[Rebuilt], None]) -> Rebuilt:
    done = Rebuilt()
    with contextlib.closing(Shards(output, options.corpus, options.crawl.node)) as shards:
        async for report, line in rebuild.documents():
            done.pages += 1
            done.reasons[report.reason.value] = done.reasons.get(report.reason.value, 0) + 1
            if line:
                shards.append(report.language, line)
                done.documents += 1
                done.kept += report.kept
            if done.pages % _FLUSH == 0:
                shards.flush()
                watch(done)
        shards.flush()
        shards.sync()
    return done
