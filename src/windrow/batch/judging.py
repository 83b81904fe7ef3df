"""What every way to make a corpus again shares: the options, the owner of what depends on order, and the output."""

import contextlib
import dataclasses
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from windrow import files
from windrow.config import Config, ConfigError
from windrow.data import Verdict
from windrow.dedup import onion
from windrow.dedup.decide import Candidate, Decider, Decision
from windrow.dedup.onion import DuplicateRule
from windrow.dedup.table import NgramTable


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
        mark = (lambda found: onion.mark(self.table, found, rule)) if options.dedup.near_duplicates else None
        self._decider = Decider(options.signals, self.first_seen, mark)

    async def first_seen(self, fingerprints: Sequence[tuple[int, int]]) -> list[int]:
        return [self._first.setdefault(fingerprint, key) for fingerprint, key in fingerprints]

    async def decide(self, candidate: Candidate, verdict: Verdict) -> Decision:
        return await self._decider.decide(candidate, verdict)


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
