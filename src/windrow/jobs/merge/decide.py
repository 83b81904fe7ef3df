"""Step 2: one owner decides on every document, in the order (shard, seq), from keys and n-grams alone."""

import mmap
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from windrow import takedown
from windrow.dedup import onion
from windrow.dedup.earlier import EarlierKeys
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.onion import DuplicateRule, Marks
from windrow.dedup.table import NgramTable
from windrow.jobs.engine.protocol import Table
from windrow.jobs.inputs import selection
from windrow.jobs.merge.collect import MergeRow, MergeWork, ngrams_of, stored

NEAR_DUPLICATE = "near-duplicate"  # rule: of the whole document
_HELD = 1 << 16  # changes that are held before they are written
_OPEN = 256  # files of n-grams
_SIGNED = 1 << 64


class Change(msgspec.Struct, frozen=True, array_like=True):
    """A document that does not stay as it is."""

    number: int  # in its file
    rule: str = ""  # by which all of it is removed; "": only some paragraphs are
    stays: str = ""  # "1" for each paragraph that stays, "0" for the others
    share: float = 0.0  # of the page's words that were removed as near-duplicates, in its crawl and now


class ShardCounts(msgspec.Struct):
    """One shard in a merge."""

    name: str
    directory: str
    documents_in: int = 0
    documents_out: int = 0
    shortened: int = 0  # of these, documents that lost paragraphs
    tokens_in: int = 0  # words
    tokens_out: int = 0
    left_out: dict[str, int] = {}  # rule -> documents


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Change).decode


class MergeOwner:
    """Holds what earlier documents left."""

    def __init__(self, work: MergeWork) -> None:
        self._work = work
        self._earlier = EarlierKeys()
        self._rule = DuplicateRule.of(work.options)
        self._no_duplicates = msgspec.structs.replace(self._rule, threshold=2.0, smoothing=0, whole=1.0)
        self._files = _NgramFiles(work)
        self._shard = 0
        self.table = NgramTable(work.options.table_bytes)
        self.counts = [
            ShardCounts(name=shard.name or shard.directory.name, directory=str(shard.directory))
            for shard in work.shards
        ]

    def decide(self, row: MergeRow) -> Change | None:
        """Return what changes in a document, and count it; None if it stays as it is."""
        while self._shard < row.shard:
            self._earlier.next()
            self._shard += 1
        counts = self.counts[row.shard]
        counts.documents_in += 1
        counts.tokens_in += row.words
        change, left = self._change(row)
        if change is not None and change.rule:
            counts.left_out[change.rule] = counts.left_out.get(change.rule, 0) + 1
        else:
            counts.documents_out += 1
            counts.tokens_out += left
            counts.shortened += change is not None
        return change

    def _change(self, row: MergeRow) -> tuple[Change | None, int]:
        """Return what changes, and how many words are left."""
        if row.listed:
            return Change(row.number, takedown.RULE), 0  # not read: a purged document would not be there either
        keys = [key % _SIGNED for key in (row.url, row.payload, row.clean)]
        repeated = next(
            (rule for key, rule in zip(keys, selection.REPEATED, strict=True) if self._earlier.has(key)), ""
        )
        if row.shard < len(self.counts) - 1:
            self._earlier.add(keys)
        if repeated:
            return Change(row.number, repeated), 0
        if not self._work.options.near_duplicates:
            return None, row.words
        marks = self._mark(row)
        if marks is None or not marks.removed:
            return None, row.words
        if not marks.left:
            return Change(row.number, NEAR_DUPLICATE), 0
        stays = "".join("0" if duplicate else "1" for duplicate in marks.duplicate)
        return Change(row.number, "", stays, round(row.share + (1 - row.share) * marks.share, 4)), marks.left

    def _mark(self, row: MergeRow) -> Marks | None:
        """Mark the duplicate paragraphs and remember the others; None for the first shard, which is only remembered."""
        if len(self.counts) == 1:
            return None
        rule = self._rule_for(row.share) if row.shard else self._no_duplicates
        marks = onion.mark(self.table, self._files.read(row), rule)
        self.table.take()  # discard the entries for a redo file: a merge repeats this step
        return marks if row.shard else None

    def _rule_for(self, share: float) -> DuplicateRule:
        """Return the rule for a page that has lost this share of its words in its own crawl.

        A crawl drops a page if more than `whole` of all its words are duplicates. Here only 1 - share of them are left.
        """
        if not share or self._rule.whole >= 1:
            return self._rule
        whole = max(0.0, (self._rule.whole - share) / (1 - share)) if share < 1 else 0.0
        return msgspec.structs.replace(self._rule, whole=whole)


class _NgramFiles:
    """The files of n-grams, some of them open."""

    def __init__(self, work: MergeWork) -> None:
        self._work = work
        self._open: dict[int, memoryview] = {}  # the longest unused first

    def read(self, row: MergeRow) -> Ngrams:
        data = self._open.pop(row.file, None)
        if data is None:
            if len(self._open) >= _OPEN:
                del self._open[next(iter(self._open))]
            data = _mapped(ngrams_of(self._work, row.file))
        self._open[row.file] = data
        return stored(data, row)


def _mapped(path: Path) -> memoryview:
    if not path.stat().st_size:
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def decide(table: Table, work: MergeWork) -> MergeOwner:
    """Decide on the documents of a table, which are in order, and write what changes for step 3."""
    for number in range(len(work.files)):
        changes_of(work, number).unlink(missing_ok=True)  # of an earlier run
    owner = MergeOwner(work)
    held: dict[int, list[bytes]] = {}
    count = 0
    for row in _rows(table):
        change = owner.decide(row)
        if change is not None:
            held.setdefault(row.file, []).append(_encode(change) + b"\n")
            count += 1
            if count % _HELD == 0:
                _write(held, work)
    _write(held, work)
    return owner


def _rows(table: Table) -> Iterator[MergeRow]:
    for batch in table.batches():
        yield from (MergeRow(**row) for row in batch.to_pylist())


def _write(held: dict[int, list[bytes]], work: MergeWork) -> None:
    for number, rows in held.items():
        with changes_of(work, number).open("ab") as file:
            file.writelines(rows)
    held.clear()


def changes_of(work: MergeWork, number: int) -> Path:
    return work.folder(number) / "changes"


def changes(work: MergeWork, number: int) -> Mapping[int, Change]:
    """Return the changes of a file, by the number of the document."""
    path = changes_of(work, number)
    if not path.exists():
        return {}
    with path.open("rb") as file:
        return {change.number: change for change in map(_decode, file)}
