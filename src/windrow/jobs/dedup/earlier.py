"""The rule `all-earlier`: an n-gram is a duplicate if any earlier document has it, whether that was kept or not.

Onion remembers only text that it kept, so each document depends on the decisions about all before it. This rule depends
on the input alone. So it runs in three steps, each of which is a map over files or over parts of the n-grams:

1. `collect`: the n-grams of each file, cut into parts by their first bits, and the keys of its URLs.
2. `compare`: for each part, which n-grams of each file an earlier file has.
3. `rewrite`: each file alone, with a table of these n-grams and of those of its own documents so far.

The result is the same for any number of parts and workers, on every engine. A step takes a few bytes of memory per
n-gram of one file, or of one part, whatever the size of the corpus.
"""

import dataclasses
import functools
import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pyarrow

from windrow.config import ConfigError
from windrow.dedup import onion
from windrow.dedup.generation import BITS
from windrow.dedup.hashing import Hashes
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.onion import DuplicateRule, Marks
from windrow.dedup.table import NgramTable
from windrow.io import storage, streams
from windrow.io.storage import AnyPath
from windrow.jobs.dedup import outputs
from windrow.jobs.dedup.outputs import FilePlan
from windrow.jobs.dedup.rewrite import DedupJob, DedupSummary, Rewriter, appearing
from windrow.jobs.engine import parts
from windrow.jobs.engine.protocol import Engine, Table

SCHEMA = pyarrow.schema([("counts", pyarrow.string())])  # a DedupSummary as JSON, or a number

_HELD = 4 << 20  # n-grams that `collect` holds before it writes them
_PART = 4 << 20  # n-grams of a part, about
_PACKED = 4  # how many times longer a compressed file is when unpacked, about
_PER_NGRAM = 6  # bytes of text, about
_MOST = 4096  # parts
_TABLE = 32  # bytes of a table per n-gram: it is never full, so it forgets nothing
_KNOWN = np.uint64((1 << 64) - (1 << (64 - BITS)))  # the bits by which a table knows an n-gram


class EarlierWork:
    """What each task needs. Two jobs with the same `repr` are the same."""

    def __init__(self, plans: Sequence[FilePlan], options: DedupJob, scratch: Path, count: int) -> None:
        """`count`: parts of the n-grams, a power of two."""
        self.plans, self.options, self.scratch, self.count = plans, options, scratch, count
        self.crawls = outputs.crawls(plans)

    def __repr__(self) -> str:
        files = [(str(plan.output), [parts.state(str(path)) for path in plan.inputs]) for plan in self.plans]
        options = (self.options.dedup, self.options.level, self.options.format, self.options.takedown)
        return hashlib.blake2b(repr((files, options, self.count)).encode(), digest_size=12).hexdigest()

    def folder(self, number: int) -> Path:
        return self.scratch / f"{number:05}"

    def sections(self) -> dict[tuple[int, int], int]:
        """Number the crawls, one after another: (file, input) -> number. Without crawls all are 0."""
        numbers: dict[tuple[int, int], int] = {}
        crawl, number = "", 0
        for file, plan in enumerate(self.plans):
            for index, path in enumerate(plan.inputs):
                number += self.crawls.get(path, "") != crawl
                crawl = self.crawls.get(path, "")
                numbers[file, index] = number
        return numbers


def run(plans: Sequence[FilePlan], options: DedupJob, engine: Engine, scratch: Path, count: int = 0) -> DedupSummary:
    """Remove near-duplicates. The output files appear when all of them are complete, or not at all.

    `scratch`: a directory on the file system of the outputs; with a resumable engine, in its work directory. `count`:
    parts of the n-grams; 0: by the size of the inputs.
    """
    work = EarlierWork(plans, options, scratch.absolute(), count or _parts(plans))
    files = [f"{number:05}" for number in range(len(plans))]
    _complete(engine.map(files, functools.partial(collect, work=work), SCHEMA), plans)
    pieces = [*(f"part-{number:04}" for number in range(work.count)), "urls"]
    compared = _complete(engine.map(pieces, functools.partial(compare, work=work), SCHEMA), plans)
    rewritten = _complete(engine.map(files, functools.partial(rewrite, work=work), SCHEMA), plans)
    with appearing(plans):
        for number, plan in enumerate(plans):
            shutil.move(work.folder(number) / plan.output.name, plan.temporary)
    summary = DedupSummary(ngrams=sum(map(int, compared)))
    for text in rewritten:
        for name, value in msgspec.json.decode(text, type=dict[str, int]).items():
            setattr(summary, name, getattr(summary, name) + value)
    return summary


def _parts(plans: Sequence[FilePlan]) -> int:
    files = [path for plan in plans for path in plan.inputs]
    size = sum(
        max(storage.state(str(path))[0], 0) * (_PACKED if path.suffix in streams.PACKERS else 1) for path in files
    )
    return min(_MOST, 1 << max(0, size // (_PER_NGRAM * _PART)).bit_length())


def _complete(table: Table, plans: Sequence[FilePlan]) -> list[str]:
    """Return the rows. A file that cannot be read makes the whole job fail: later ones depend on it."""
    if table.bad:
        source, problem = table.bad[0].source, table.bad[0].problem
        shown = f"{plans[int(source)].inputs[0]}: " if source.isdecimal() else ""
        raise ConfigError(f"{shown}{problem}")
    return [text for batch in table.batches() for text in batch.column("counts").to_pylist()]


def collect(source: str, work: EarlierWork) -> Iterator[pyarrow.RecordBatch]:
    """Write the n-grams of a file, by parts, and the keys of the URLs of each input."""
    number = int(source)
    folder = work.folder(number)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    marker = _Collector(folder, work.count)
    reader = Rewriter(work.options, _unwatched, work.crawls, marker)
    for index, plan_input in enumerate(work.plans[number].inputs):
        for _ in reader.marked(plan_input, reader.format_of(plan_input)):
            pass
        np.array(marker.keys, np.uint64).tofile(folder / f"urls-{index}")
        marker.keys.clear()
    marker.flush()
    yield _row(str(marker.count))


class _Collector:
    """A marker that remembers every document and marks nothing."""

    def __init__(self, folder: Path, parts: int) -> None:
        self._folder, self._parts = folder, parts
        self._held: list[bytes] = []
        self._size = 0
        self.count = 0
        self.keys: list[int] = []

    def enter(self, path: AnyPath, other: bool) -> None: ...

    def repeats(self, key: int) -> bool:
        self.keys.append(key)
        return False

    def mark(self, document: Ngrams) -> Marks:
        self._held.append(document.hashes)
        self._size += len(document.hashes) // 8
        if self._size >= _HELD:
            self.flush()
        return _NOTHING

    def flush(self) -> None:
        hashes = _unique(np.frombuffer(b"".join(self._held), np.uint64) & _KNOWN)
        self._held, self._size = [], 0
        self.count += len(hashes)
        for number, piece in enumerate(np.split(hashes, np.searchsorted(hashes, _borders(self._parts)))):
            if len(piece):
                with (self._folder / f"part-{number:04}").open("ab") as file:
                    piece.tofile(file)


def _borders(parts: int) -> Hashes:
    """Return the first n-gram of each part but the first."""
    return np.arange(1, parts, dtype=np.uint64) << np.uint64(64 - (parts.bit_length() - 1)) if parts > 1 else _EMPTY


def compare(source: str, work: EarlierWork) -> Iterator[pyarrow.RecordBatch]:
    """Write, for each file, which n-grams of one part an earlier file has; or which URLs an earlier crawl has."""
    if source == "urls":
        sections = work.sections()
        places = {work.folder(file) / f"urls-{index}": number for (file, index), number in sections.items()}
    else:
        places = {work.folder(file) / source: file for file in range(len(work.plans))}
    lists_of_paths = _compare(places)
    yield _row(str(lists_of_paths if source != "urls" else 0))


def _compare(places: Mapping[Path, int]) -> int:
    """Write beside each list of numbers those that a list with a lower rank has; return how many numbers there are."""
    lists = [_unique(_read(path)) for path in places]
    everything = np.concatenate([*lists, _EMPTY])
    order = np.argsort(everything, kind="stable")  # equal numbers stay in the order of the lists
    ranks = np.repeat(np.array(list(places.values()), np.int64), [len(keys) for keys in lists])[order]
    numbers = everything[order]
    first = np.ones(len(numbers), np.bool_)
    first[1:] = numbers[1:] != numbers[:-1]
    lowest = ranks[first][np.cumsum(first) - 1] if len(numbers) else ranks
    seen = np.zeros(len(numbers), np.bool_)
    seen[order] = ranks > lowest
    start = 0
    for path, hashes in zip(places, lists, strict=True):
        hashes[seen[start : start + len(hashes)]].tofile(_earlier(path))
        start += len(hashes)
    return int(first.sum())


def rewrite(source: str, work: EarlierWork) -> Iterator[pyarrow.RecordBatch]:
    """Write a file again without its duplicates."""
    number = int(source)
    plan, folder = work.plans[number], work.folder(number)
    marker = _FromEarlier(folder, plan, work)
    writer = Rewriter(work.options, _unwatched, work.crawls, marker)
    own = dataclasses.replace(plan, output=folder / plan.output.name)
    writer.write(own)
    own.temporary.replace(own.output)
    yield _row(msgspec.json.encode(dataclasses.asdict(writer.finish())).decode())


class _FromEarlier:
    """Knows the n-grams of this file that earlier files have, and those of all its documents so far."""

    def __init__(self, folder: Path, plan: FilePlan, work: EarlierWork) -> None:
        self._rule = DuplicateRule.of(work.options.dedup)
        size = sum(path.stat().st_size for path in folder.glob("part-*")) // 8
        self._table = NgramTable(max(16 << 20, size * _TABLE))
        for path in sorted(folder.glob("part-*.earlier")):
            self._add(_read(path))
        self._repeated = {path: _read(_earlier(folder / f"urls-{index}")) for index, path in enumerate(plan.inputs)}
        self._keys = _EMPTY

    def enter(self, path: AnyPath, other: bool) -> None:
        self._keys = self._repeated[path]

    def repeats(self, key: int) -> bool:
        at = int(np.searchsorted(self._keys, np.uint64(key)))
        return at < len(self._keys) and int(self._keys[at]) == key

    def mark(self, document: Ngrams) -> Marks:
        marks = onion.mark(self._table, document, self._rule)
        self._table.take()  # discard the entries for a redo file
        if marks.removed:  # onion's rule has added what is kept
            self._add(np.frombuffer(document.hashes, np.uint64))
        return marks

    def _add(self, hashes: Hashes) -> None:
        self._table.add(hashes)
        self._table.take()  # discard the entries for a redo file


_EMPTY: Hashes = np.empty(0, np.uint64)
_NOTHING = Marks((), (), lengths=(), words=0, removed=0, left=0)


def _read(path: Path) -> Hashes:
    return np.fromfile(path, np.uint64) if path.exists() else _EMPTY


def _unique(numbers: Hashes) -> Hashes:
    """Return the numbers in order, each once: 0.09 s of CPU time for four million, where np.unique takes 5.7 s."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def _earlier(path: Path) -> Path:
    return path.with_name(f"{path.name}.earlier")


def _row(text: str) -> pyarrow.RecordBatch:
    return pyarrow.RecordBatch.from_pylist([{"counts": text}], schema=SCHEMA)


def _unwatched(count: int) -> None:
    """The engine watches the files."""
