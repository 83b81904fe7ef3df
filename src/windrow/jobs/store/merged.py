"""The output of `windrow merge` as batches for a storage. It has no log, and never changes: a position is a number of
documents of each file."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.corpus import document as documents
from windrow.corpus import reader
from windrow.jobs.merge import inputs
from windrow.jobs.store import feed
from windrow.jobs.store.feed import document_row, named
from windrow.jobs.store.protocol import DocumentRow, Gone, StorageBatch, StoragePosition


def is_merged(directory: Path) -> bool:
    return (directory / inputs.FILE).is_file()


class MergedFeed:
    """Reads one merged corpus. `frame` of its positions counts batches."""

    def __init__(self, directory: Path, name: str = "", captures: bool = False) -> None:
        if captures:
            raise ConfigError(f"{directory} is a merged corpus and has no captures; store those of its shards")
        self._directory = directory
        self.name = named(directory, name)

    def start(self) -> StoragePosition:
        digest = hashlib.blake2b((self._directory / inputs.FILE).read_bytes(), digest_size=6).digest()
        return StoragePosition(crawl=self.name, first=float(int.from_bytes(digest)))

    def mark(self) -> bytes:
        return b""  # it never changes

    def resume(self, stored: StoragePosition) -> StoragePosition:
        """Return where to continue; refuse a position that is not one of this corpus."""
        if stored.first != self.start().first:
            fix = "store this one under another name with --name"
            raise ConfigError(f"the storage has another crawl, or another merge, with the name {self.name}; {fix}")
        return stored

    def batches(self, position: StoragePosition, listed: Gone) -> Iterator[StorageBatch]:
        """Yield what is behind a position, without the pages that are listed."""
        for shard in reader.find(self._directory / "corpus"):
            rows: list[DocumentRow] = []
            size = 0
            for number, (line, location, _) in enumerate(reader.lines(shard), 1):
                if number <= position.lengths.get(shard.name, 0):
                    continue
                row = document_row(documents.read(line, location), line, self.name)
                rows.append(row)
                size += len(row.text)
                if len(rows) >= feed.ROWS or size >= feed.TEXT:
                    position = _behind(position, shard.name, number)
                    yield _batch(rows, position, listed)
                    rows, size = [], 0
            if rows:
                position = _behind(position, shard.name, position.lengths.get(shard.name, 0) + len(rows))
                yield _batch(rows, position, listed)


def _behind(position: StoragePosition, name: str, count: int) -> StoragePosition:
    lengths = {**position.lengths, name: count}
    return msgspec.structs.replace(position, frame=position.frame + 1, lengths=lengths)


def _batch(rows: list[DocumentRow], position: StoragePosition, listed: Gone) -> StorageBatch:
    kept = tuple(row for row in rows if not listed(row.url))
    return StorageBatch(kept, (), frozenset(), first=position.frame, position=position)
