"""The documents of an export, encoded in parallel: jobs of the engine over parts of shards.

A shard is cut where a commit ended, so that one large file occupies all workers. `encode` gives the bytes of each
document and the counts of a part; the caller writes them one after another, in the order of the parts, and ends each
file where its size is reached. So the files are those that a single process writes, byte for byte.

Two things depend on other documents. The number of a document in the export, which some formats write, is put into its
first bytes by the caller. Whether an earlier source has the same page must be known before: only if several are read,
`look` gives the keys of the documents that pass the filters, and the caller decides on them in order.
"""

import dataclasses
import functools
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow

from windrow import files, takedown
from windrow.config import ConfigError
from windrow.corpus import document as documents
from windrow.corpus import formats, outputs, reader
from windrow.corpus.census import Census
from windrow.corpus.formats.format import Item
from windrow.corpus.outputs import Output
from windrow.corpus.sink import Sink
from windrow.dedup.earlier import EarlierKeys
from windrow.jobs.engine.protocol import Engine, Table
from windrow.jobs.export import write
from windrow.jobs.export.write import PARTS, ExportOptions, ExportSummary
from windrow.jobs.index import manifest
from windrow.jobs.inputs import selection
from windrow.jobs.inputs.filters import Filter
from windrow.jobs.inputs.sources import CorpusSource
from windrow.records import Document
from windrow.takedown import Takedown

PIECE = 4 << 20  # bytes of a shard that one task reads, about
LOOKED = pyarrow.schema([("part", pyarrow.int64()), *[(name, pyarrow.uint64()) for name in ("url", "payload", "text")]])
# One row per document; behind those of a part, one with the counts.
ENCODED = pyarrow.schema([("data", pyarrow.binary()), ("file", pyarrow.string()), ("counts", pyarrow.string())])
_HELD = 8 << 20  # bytes of documents in a batch of rows


class ShardPart(msgspec.Struct, frozen=True, kw_only=True):
    """A source of the engine, written as JSON."""

    number: int
    path: str
    start: int
    end: int
    source: int  # number of the corpus that it is of
    name: str  # of that
    state: tuple[int, int]  # of the file: rows of another content do not count


class RenderJob(msgspec.Struct, frozen=True, kw_only=True):
    """What each task needs. Two jobs with the same `repr` are the same."""

    options: ExportOptions
    crawls: tuple[str, ...]  # whose takedown lists hold
    lists: str  # fingerprint of all takedown lists
    several: bool  # whether documents say of which corpus they are
    decisions: str = ""  # file of a PartDecision per part; "": there is none


class PartDecision(msgspec.Struct, frozen=True):
    """Decided after all parts before it."""

    dropped: tuple[int, ...] = ()  # of the documents that pass the filters, by their position


class PartCounts(msgspec.Struct):
    documents_in: int = 0
    paragraphs_out: int = 0
    left_out: dict[str, int] = {}  # rule -> documents
    scores: list[str] = []  # names that documents had
    census: Census = msgspec.field(default_factory=Census)


def parts(sources: Sequence[CorpusSource], size: int) -> list[ShardPart]:
    """Cut the shards of all sources."""
    made: list[ShardPart] = []
    for number, source in enumerate(sources):
        for shard in source.shards:
            starts = [0, *reader.cuts(shard, size)]
            changed = shard.path.stat().st_mtime_ns
            for start, end in zip(starts, [*starts[1:], shard.length], strict=True):
                part = ShardPart(
                    number=len(made),
                    path=str(shard.path.absolute()),
                    start=start,
                    end=end,
                    source=number,
                    name=source.name,
                    state=(shard.length, changed),
                )
                made.append(part)
    return made


def look(source: str, job: RenderJob) -> Iterator[pyarrow.RecordBatch]:
    """Yield the keys of the documents of a part that pass the filters."""
    part = _decode(source)
    filter = _filter(job)
    rows = []
    for _, document in _documents(part):
        if not selection.refused(filter, document):
            rows.append((part.number, *selection.keys(document)))
    columns = list(zip(*rows, strict=True)) or [()] * len(LOOKED)
    arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, LOOKED.types, strict=True)]
    yield pyarrow.RecordBatch.from_arrays(arrays, schema=LOOKED)


def decide(parts: Sequence[ShardPart], rows: Iterator[pyarrow.RecordBatch], path: Path) -> dict[str, int]:
    """Write the decision on each part, from the rows of `look`; return how many documents each rule leaves out."""
    earlier = EarlierKeys()
    last = max((part.source for part in parts), default=0)
    dropped: list[list[int]] = [[] for _ in parts]
    passed = [0] * len(parts)
    left_out: dict[str, int] = {}
    source = 0
    for batch in rows:
        for number, *keys in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            part = parts[number]
            for _ in range(source, part.source):
                earlier.next()
            source = part.source
            rule = selection.repeated(earlier, keys, part.source == last)
            if rule:
                left_out[rule] = left_out.get(rule, 0) + 1
                dropped[number].append(passed[number])
            passed[number] += 1
    files.write(path, msgspec.msgpack.encode([PartDecision(tuple(numbers)) for numbers in dropped]))
    return left_out


def encode(source: str, job: RenderJob) -> Iterator[pyarrow.RecordBatch]:
    """Yield the bytes of each document of a part with the name of its file, and the counts behind them."""
    part, counts = _decode(source), PartCounts()
    decision = _decisions(job.decisions)[part.number] if job.decisions else PartDecision()
    dropped = set(decision.dropped)
    filter = _filter(job)
    add, file = _encoder(job.options), PARTS.get(job.options.by)
    position = -1
    data: list[bytes] = []
    names: list[str] = []
    size = 0
    for line, document in _documents(part):
        counts.documents_in += 1
        rule = selection.refused(filter, document)
        position += not rule
        if rule:
            counts.left_out[rule] = counts.left_out.get(rule, 0) + 1
        elif position not in dropped:
            document_line = selection.selected(part.name, job.several, document, line)
            data.append(add(Item(document_line.document, document_line.line, 0, document_line.dump)))
            names.append(file(document) if file else "")
            size += len(data[-1])
            counts.paragraphs_out += len(document.paragraphs)
            counts.census.add(document_line.document, sys.maxsize)
        if size >= _HELD:
            yield _rows(data, names)
            data, names, size = [], [], 0
    counts.scores = sorted(filter.scores)
    yield _rows(data, names, counts)


def run(options: ExportOptions, corpora: Sequence[CorpusSource], engine: Engine, scratch: Path) -> ExportSummary:
    """Write the output as `export.run` does, whole or not at all.

    `scratch`: a directory that the workers see; with a resumable engine, its work directory.
    """
    crawls = tuple(dict.fromkeys(source.crawl.resolve() for source in corpora if source.crawl))
    several = len(corpora) > 1
    job = RenderJob(
        options=_anywhere(options),
        crawls=tuple(map(str, crawls)),
        lists=manifest.fingerprint(crawls, options.takedown),
        several=several,
    )
    cut = parts(corpora, PIECE)
    sources = [msgspec.json.encode(part).decode() for part in cut]
    summary = ExportSummary()
    if several:
        table = _complete(engine.map(sources, functools.partial(look, job=job), LOOKED))
        scratch.mkdir(parents=True, exist_ok=True)
        decisions = scratch.absolute() / "decisions.msgpack"
        summary.left_out = decide(cut, table.batches(), decisions)
        job = msgspec.structs.replace(job, decisions=str(decisions))
    table = _complete(engine.map(sources, functools.partial(encode, job=job), ENCODED))
    _write(options, corpora, table, summary, _filter(job))
    return summary


def _anywhere(options: ExportOptions) -> ExportOptions:
    """Return the options for workers in another directory, without what does not change the documents."""
    return dataclasses.replace(
        options,
        force=False,
        takedown=options.takedown.absolute() if options.takedown else None,
        models=tuple(model.absolute() for model in options.models),
    )


def _write(
    options: ExportOptions, sources: Sequence[CorpusSource], table: Table, summary: ExportSummary, filter: Filter
) -> None:
    format = formats.FORMATS[options.format]
    target = options.target(format)
    sink = Sink(format, write.format_options(options))
    census = Census()
    beginning = format.numbered
    unnumbered = len(beginning % 0) if beginning else 0
    with outputs.opened(target) as output:
        try:
            for batch in table.batches():
                for data, file, counts in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    if counts is None:
                        if beginning:
                            data = beginning % (summary.documents_out + 1) + data[unnumbered:]
                        _put(data, output.path(file), sink, output, summary)
                    else:
                        _count(msgspec.json.decode(counts, type=PartCounts), summary, census, filter)
            write.close(sink, output, options)
        except BaseException:
            sink.drop()
            raise
        write.complete(output, options, sources, summary, (census, filter))


def _put(data: bytes, path: Path, sink: Sink, output: Output, summary: ExportSummary) -> None:
    size = sink.put(path, data)
    summary.documents_out += 1
    summary.bytes_out += size
    if output.count(path, size):
        sink.finish(path)


def _count(counts: PartCounts, summary: ExportSummary, census: Census, filter: Filter) -> None:
    summary.documents_in += counts.documents_in
    summary.paragraphs_out += counts.paragraphs_out
    for rule, count in counts.left_out.items():
        summary.left_out[rule] = summary.left_out.get(rule, 0) + count
    filter.scores.update(counts.scores)
    census.join(counts.census)


def _complete(table: Table) -> Table:
    """Refuse an output without the documents of a part."""
    if table.bad:
        raise ConfigError(table.bad[0].problem)
    return table


def _decode(source: str) -> ShardPart:
    return msgspec.json.decode(source, type=ShardPart)


def _documents(part: ShardPart) -> Iterator[tuple[bytes, Document]]:
    for line, location, _ in reader.lines_of(Path(part.path), part.end - part.start, part.start):
        yield line, documents.read(line, location)


def _filter(job: RenderJob) -> Filter:
    """Return a filter that has seen no document."""
    return Filter(job.options.wanted, _takedown(job.crawls, job.options.takedown, job.lists))


@functools.lru_cache(1)
def _takedown(crawls: tuple[str, ...], extra: Path | None, lists: str) -> Takedown:
    return takedown.of(*map(Path, crawls), extra=extra)


@functools.lru_cache(1)
def _decisions(path: str) -> list[PartDecision]:
    return msgspec.msgpack.decode(Path(path).read_bytes(), type=list[PartDecision])


def _encoder(options: ExportOptions) -> Callable[[Item], bytes]:
    """Return what encodes a document: the encoder of the format, whose output is caught."""
    caught = io.BytesIO()
    encoder = formats.FORMATS[options.format].open(caught, write.format_options(options))

    def add(item: Item) -> bytes:
        caught.seek(0)
        caught.truncate()
        encoder.add(item)
        return caught.getvalue()

    return add


def _rows(data: list[bytes], names: list[str], counts: PartCounts | None = None) -> pyarrow.RecordBatch:
    """Return one row per document, and perhaps one with the counts."""
    last = [None] if counts is not None else []
    texts = [None] * len(data) + ([msgspec.json.encode(counts).decode()] if counts is not None else [])
    columns = ([*data, *last], [*names, *last], texts)
    arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, ENCODED.types, strict=True)]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=ENCODED)
