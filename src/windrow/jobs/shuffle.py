"""`windrow shuffle`: the captures of archive files in a pseudo-random order, so that each file is a sample of all.

Common Crawl does this with every crawl: who reads one file of many reads a sample of the whole, and not the pages of a
few hosts. A capture (request, response, metadata: whatever WARC-Concurrent-To joins) stays together, and every record
stays the gzip member that it was, byte for byte. The order comes from the seed and the ids of the records alone, so it
does not depend on the order of the inputs, on the engine or on the number of workers.

The warcinfo records of all inputs that a file has captures of are at its beginning, because records name them.
"""

import contextlib
import functools
import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow

from windrow import archive
from windrow.archive import ArchiveError, WarcRecord, fields, names
from windrow.config import ConfigError
from windrow.io import storage
from windrow.io.storage import AnyPath
from windrow.jobs.engine.protocol import BadSource, Engine
from windrow.jobs.inputs import archives, committed

SCHEMA = pyarrow.schema(
    [
        ("key", pyarrow.int64()),  # pseudo-random: the order
        ("source", pyarrow.string()),
        ("offsets", pyarrow.list_(pyarrow.int64())),  # of the records of a capture, in their order
        ("lengths", pyarrow.list_(pyarrow.int64())),
        ("info", pyarrow.int64()),  # offset of the warcinfo record before it; -1: there is none
        ("date", pyarrow.string()),  # of its first record
        ("records", pyarrow.int64()),
        ("revisits", pyarrow.int64()),
    ]
)
_ORDER = ["key", "source", "date"]
_ROWS = 1 << 14  # of a batch
_OPEN = 64  # input files that a writer keeps open


class ShuffleOptions(msgspec.Struct, frozen=True, kw_only=True):
    inputs: Sequence[str | Path]
    output: Path  # a directory
    seed: int = 0
    files: int = 0  # of the output; 0: as many as the inputs have
    prefix: str = "SHUFFLED"
    subset: str = "warc"  # of crawl directories
    base: str = ""  # where the relative paths of lists begin


class ShuffleSummary(msgspec.Struct, frozen=True):
    sources: int
    captures: int
    records: int
    revisits: int  # records that name another one by file and offset, where it no longer is
    bytes: int
    files: list[str]
    bad: Sequence[BadSource]


class _Capture(msgspec.Struct):
    """The records of a capture that were found so far."""

    id: str  # of its first record
    date: str
    info: int
    offsets: list[int]
    lengths: list[int]
    revisits: int = 0


def check(options: ShuffleOptions) -> None:
    """Refuse what cannot work before anything is read."""
    if options.output.exists() and (not options.output.is_dir() or any(options.output.iterdir())):
        raise ConfigError(f"{options.output} exists already and is not empty; name another directory")
    names.series(options.prefix, "0")


def run(options: ShuffleOptions, engine: Engine) -> ShuffleSummary:
    sources = archives.find(options.inputs, options.subset, options.base)
    work = functools.partial(captures, seed=options.seed, ends=committed.ends(sources))
    table = engine.map(sources, work, SCHEMA)
    if len(table.bad) == len(sources):
        raise ConfigError(f"no file could be read; the first, {table.bad[0].source}: {table.bad[0].problem}")
    totals = engine.sql(
        "SELECT count(*) AS captures, sum(records) AS records, sum(revisits) AS revisits, min(date) AS start FROM t",
        t=table,
    )
    (total,) = [row for batch in totals.batches() for row in batch.to_pylist()]
    start = "".join(filter(str.isdigit, total["start"] or ""))[:14].ljust(14, "0")
    pattern = options.output / f"{options.prefix}-{start}-{{:05}}.warc.gz"
    target = str(pattern) if (files := options.files or len(sources)) > 1 else str(pattern).format(0)
    written = engine.write(table, target, write, sort=_ORDER, files=files)
    return ShuffleSummary(
        sources=len(sources),
        captures=total["captures"],
        records=total["records"] or 0,
        revisits=total["revisits"] or 0,
        bytes=sum(file.bytes for file in written),
        files=[str(file.path) for file in written],
        bad=table.bad,
    )


def captures(source: str, seed: int, ends: tuple[tuple[str, int], ...] = ()) -> Iterator[pyarrow.RecordBatch]:
    """Yield the captures of a file. `ends`: files that grow, and the bytes of them that count."""
    path = storage.place(source)
    with path.open("rb") as file:  # open while it is read: a remote file is then read once
        located = _captures(path, file.read(2) == b"\x1f\x8b", dict(ends).get(source))
    for start in range(0, len(located), _ROWS):
        rows = [
            {
                "key": _key(seed, capture.id),
                "source": source,
                "offsets": capture.offsets,
                "lengths": capture.lengths,
                "info": capture.info,
                "date": capture.date,
                "records": len(capture.offsets),
                "revisits": capture.revisits,
            }
            for capture in located[start : start + _ROWS]
        ]
        yield pyarrow.RecordBatch.from_pylist(rows, schema=SCHEMA)


def _captures(path: AnyPath, packed: bool, end: int | None) -> list[_Capture]:
    """Return the captures of a file. The records of one need not follow each other."""
    listed: list[_Capture] = []
    by_id: dict[str, _Capture] = {}  # by the id of each record, and of those that it names
    info = -1
    for record in archive.records(path, end=end):
        if not (packed and record.length and record.version.upper().startswith("WARC/")):
            what = "the record that begins here is not a gzip member of its own; write each record of a WARC as one"
            raise ArchiveError(path, record.offset, what)
        if record.type == "warcinfo":
            info = record.offset
            continue
        own, linked = record.header("WARC-Record-ID"), record.all("WARC-Concurrent-To")
        capture = next((by_id[name] for name in (own, *linked) if name in by_id), None)
        if capture is None:
            name = own or f"{path.name}:{record.offset}"
            capture = _Capture(id=name, date=record.header("WARC-Date"), info=info, offsets=[], lengths=[])
            listed.append(capture)
        by_id |= dict.fromkeys((own, *linked), capture)
        _add(capture, record)
    return listed


def _add(capture: _Capture, record: WarcRecord) -> None:
    capture.offsets.append(record.offset)
    capture.lengths.append(record.length)
    capture.revisits += record.type == "revisit"


def _key(seed: int, name: str) -> int:
    digest = hashlib.blake2b(name.encode(), digest_size=8, key=str(seed).encode()[:64]).digest()
    return int.from_bytes(digest, "little", signed=True)


def write(path: Path, batches: Iterator[pyarrow.RecordBatch]) -> str:
    """Copy the members of captures, in the order of the rows."""
    rows = pyarrow.Table.from_batches(batches, SCHEMA)  # some 100 bytes per capture
    with path.open("wb") as file, _Inputs() as inputs:
        for member in _infos(rows, inputs):
            file.write(member)
        for batch in rows.to_batches(_ROWS):
            for row in batch.select(["source", "offsets", "lengths"]).to_pylist():
                for offset, length in zip(row["offsets"], row["lengths"], strict=True):
                    file.write(inputs.read(row["source"], offset, length))
    return ""


def _infos(rows: pyarrow.Table, inputs: "_Inputs") -> list[bytes]:
    """Return the warcinfo records of the captures.

    The last one of a file says whether captures must be complete (see archive/reading/reader.py). So if some need not
    be, those of our own files come first; and if such captures have none, ours are left out.
    """
    pairs = rows.group_by(["source", "info"]).aggregate([]).sort_by([("source", "ascending"), ("info", "ascending")])
    ours: dict[bytes, bool] = {}  # member -> whether it is ours
    bare = False
    for row in pairs.to_pylist():
        if row["info"] < 0:
            bare = True
            continue
        record = next(archive.records(storage.place(row["source"]), row["info"]))
        member = inputs.read(row["source"], record.offset, record.length)
        ours[member] = fields.decode(record.block).get("layout") == fields.LAYOUT
    return sorted((member for member in ours if not (bare and ours[member])), key=lambda member: not ours[member])


class _Inputs(contextlib.AbstractContextManager["_Inputs"]):
    """Input files, of which the last used ones stay open."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, int] = OrderedDict()  # path -> descriptor

    def read(self, source: str, offset: int, length: int) -> bytes:
        if storage.is_remote(source):
            return self._complete(source, storage.persistently(lambda: storage.read(source, offset, length)), length)
        stream = self._open.pop(source, None)
        self._open[source] = file = os.open(source, os.O_RDONLY) if stream is None else stream
        if len(self._open) > _OPEN:
            os.close(self._open.popitem(last=False)[1])
        return self._complete(source, os.pread(file, length, offset), length)

    @staticmethod
    def _complete(source: str, data: bytes, length: int) -> bytes:
        if len(data) != length:
            raise ConfigError(f"{source} has changed since it was read; run the command again")
        return data

    def __exit__(self, *_: object) -> None:
        for file in self._open.values():
            os.close(file)
