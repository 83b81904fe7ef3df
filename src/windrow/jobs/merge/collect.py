"""Step 1: the keys and n-grams of the documents of one corpus file.

The keys are rows of the table. The n-grams, eight bytes per word, are too many for a sort: they are in a file beside,
and the row says where.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
import pyarrow

from windrow import urls
from windrow.config import DedupOptions
from windrow.corpus import document as documents
from windrow.corpus import reader
from windrow.corpus.reader import ShardFile
from windrow.decide import NEAR
from windrow.dedup import ngrams
from windrow.dedup.ngrams import Ngrams
from windrow.jobs.engine import parts
from windrow.jobs.inputs import selection
from windrow.jobs.merge.inputs import MergeFile, MergeShard
from windrow.records import Document
from windrow.takedown import Takedown

_BATCH = 4096  # rows


class MergeRow(msgspec.Struct, frozen=True):
    """A document, as far as the owner needs it."""

    shard: int
    archive: int  # rank of its archive file in the shard
    record: int  # where the record begins in that file
    file: int  # number of its corpus file
    number: int  # of the document in that file
    url: int  # this and the next two: keys, as signed numbers, which every engine sorts and stores alike
    payload: int
    clean: int
    listed: bool  # on a takedown list
    share: float  # of the page's words: those that its own crawl removed as near-duplicates
    words: int
    paragraphs: int
    hashes: int  # n-grams
    repeated: bool  # whether the file of n-grams says which of them occur earlier in the document
    start: int  # in the file of n-grams


SCHEMA = pyarrow.schema(
    [
        pyarrow.field(
            field.name,
            {int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}[field.type],
            nullable=False,
        )
        for field in msgspec.structs.fields(MergeRow)
    ]
)
ORDER = "shard, archive, record, file, number"  # (shard, seq)


class MergeWork:
    """What each task needs. Two merges with the same `repr` are the same."""

    def __init__(self, shards: Sequence[MergeShard], options: DedupOptions, listed: Takedown, scratch: Path) -> None:
        self.shards, self.options, self.listed, self.scratch = shards, options, listed, scratch
        self.files = [file for shard in shards for file in shard.files]
        self.numbers = {file.path: number for number, file in enumerate(self.files)}

    def __repr__(self) -> str:
        files = [(file, parts.state(file.path)) for file in self.files]
        shards = [(str(shard.directory), shard.name) for shard in self.shards]
        said = repr((files, shards, self.options, self.listed, str(self.scratch)))
        return hashlib.blake2b(said.encode(), digest_size=12).hexdigest()

    def folder(self, number: int) -> Path:
        """Return the directory for what the steps pass on about a corpus file."""
        return self.scratch / f"{number:05}"

    def output(self, file: MergeFile) -> Path:
        return self.scratch / "output" / file.output


def lines(file: MergeFile) -> Iterator[tuple[int, bytes, str]]:
    """Yield the documents of a file as lines, numbered, with their places for error messages."""
    lines = reader.lines(ShardFile(Path(file.path), file.length, file.path))
    for number, (line, location, _) in enumerate(lines):
        yield number, line, location


def collect(source: str, work: MergeWork) -> Iterator[pyarrow.RecordBatch]:
    """Yield a row per document, and write the n-grams of all."""
    number = work.numbers[source]
    file = work.files[number]
    work.folder(number).mkdir(parents=True, exist_ok=True)
    held: list[MergeRow] = []
    with ngrams_of(work, number).open("wb") as output:
        for location, line, name in lines(file):
            document = documents.read(line, name)
            held.append(_row(document, work, (number, location), output))
            if len(held) == _BATCH:
                yield _packed(held)
                held = []
    if held:
        yield _packed(held)


def ngrams_of(work: MergeWork, number: int) -> Path:
    return work.folder(number) / "ngrams"


def _row(document: Document, work: MergeWork, at: tuple[int, int], output: BinaryIO) -> MergeRow:
    shard = work.files[at[0]].shard
    start = output.tell()
    listed = bool(work.listed) and _covered(work.listed, document.url)
    grams = ngrams.of([paragraph.text for paragraph in document.paragraphs], work.options.ngram)
    if work.options.near_duplicates and not listed:
        output.writelines((grams.lengths, grams.hashes, grams.repeated))
    url, payload, clean = (key - (1 << 64) if key >> 63 else key for key in selection.keys(document))
    return MergeRow(
        shard=shard,
        archive=work.shards[shard].archives.get(document.place.file, 0),
        record=document.place.offset,
        file=at[0],
        number=at[1],
        url=url,
        payload=payload,
        clean=clean,
        listed=listed,
        share=document.scores.get(NEAR, 0.0),
        words=int(np.frombuffer(grams.lengths, np.int64).sum()),
        paragraphs=len(document.paragraphs),
        hashes=len(grams.hashes) // 8,
        repeated=bool(grams.repeated),
        start=start,
    )


def stored(data: memoryview, row: MergeRow) -> Ngrams:
    """Return the n-grams of a document, from the bytes of their file."""
    lengths = row.start + 8 * row.paragraphs
    hashes = lengths + 8 * row.hashes
    repeated = hashes + (row.hashes if row.repeated else 0)
    return Ngrams(bytes(data[row.start : lengths]), bytes(data[lengths:hashes]), bytes(data[hashes:repeated]))


def _covered(listed: Takedown, text: str) -> bool:
    url = urls.parse(text)
    return url is not None and listed.covers(url.text)


def _packed(rows: Sequence[MergeRow]) -> pyarrow.RecordBatch:
    return pyarrow.RecordBatch.from_pylist([msgspec.structs.asdict(row) for row in rows], schema=SCHEMA)
