"""What every way to make a corpus again shares: the options, the owner of what depends on order, and the output."""

import contextlib
import dataclasses
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from windrow import files, takedown
from windrow.config import Config, ConfigError
from windrow.corpus.shards import Shards
from windrow.decide import Candidate, Decider, Decision
from windrow.dedup import onion
from windrow.dedup.onion import DuplicateRule
from windrow.dedup.table import NgramTable
from windrow.records import Verdict

_FLUSH = 256  # pages between two writes


def without_links(options: Config) -> Config:
    """Return the options of a refiner that follows no link. Without an extractor there is no corpus."""
    if options.extract.extractor == "none":
        raise ConfigError(
            'extract.extractor is "none": without text there is no corpus; choose an extractor with --set'
        )
    return dataclasses.replace(options, extract=dataclasses.replace(options.extract, link_context=False))


class Owner:
    """Holds what earlier pages left, fingerprints and n-grams, and decides on pages in their order."""

    def __init__(self, options: Config) -> None:
        self._first: dict[int, int] = {}  # fingerprint -> key of the URL that had it first
        self.table = NgramTable(options.dedup.table_bytes)
        rule = DuplicateRule.of(options.dedup)
        mark = (lambda document: onion.mark(self.table, document, rule)) if options.dedup.near_duplicates else None
        self._decider = Decider(options.signals, self.first_seen, mark)

    async def first_seen(self, fingerprints: Sequence[tuple[int, int]]) -> list[int]:
        return [self._first.setdefault(fingerprint, key) for fingerprint, key in fingerprints]

    async def decide(self, candidate: Candidate, verdict: Verdict) -> Decision:
        return await self._decider.decide(candidate, verdict)


class CorpusCounts(Protocol):
    """What a summary counts of the pages that were decided on."""

    pages: int
    documents: int
    kept: int  # bytes of text
    listed: int  # documents left out, because they are on the takedown list
    reasons: dict[str, int]


class CorpusWriter(contextlib.AbstractContextManager["CorpusWriter"]):
    """Writes the documents of decided pages to new shards, and counts."""

    def __init__(self, output: Path, options: Config, counts: CorpusCounts, watch: Callable[[int], None]) -> None:
        """`watch` is called with the number of pages so far, after each write."""
        self._shards = Shards(output, options.corpus, options.crawl.node)
        self._counts, self._watch = counts, watch

    def add(self, decision: Decision, line: bytes) -> None:
        """Add a page. A page that has a draft and no line is on the takedown list."""
        counts = self._counts
        counts.pages += 1
        listed = decision.draft is not None and not line
        name = takedown.RULE if listed else decision.reason.value
        counts.reasons[name] = counts.reasons.get(name, 0) + 1
        counts.listed += listed
        if line:
            self._shards.append(decision.language, line)
            counts.documents += 1
            counts.kept += decision.kept
        if counts.pages % _FLUSH == 0:
            self._shards.flush()
            self._watch(counts.pages)

    def finish(self) -> None:
        """Make everything durable."""
        self._shards.flush()
        self._shards.sync()

    def __exit__(self, *_: object) -> None:
        self._shards.close()


@contextlib.contextmanager
def output(directory: Path) -> Iterator[Path]:
    """Yield a directory for a new corpus, which becomes directory/corpus when the block ends well."""
    target = directory / "corpus"
    if target.exists():
        raise ConfigError(f"{target} exists already; name another directory, or move it away")
    new = not directory.exists()
    temporary = directory / ".new.rebuild"
    shutil.rmtree(temporary, ignore_errors=True)
    (temporary / "corpus").mkdir(parents=True)
    try:
        yield temporary
        (temporary / "corpus").rename(target)
        files.sync_directory(directory)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if new and not target.exists():
            directory.rmdir()
