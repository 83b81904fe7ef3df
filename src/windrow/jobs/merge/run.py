"""A merge from start to end. The output appears when it is complete."""

import dataclasses
import functools
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

import windrow
from windrow import files, takedown
from windrow.config import ConfigError, DedupOptions
from windrow.corpus import shards as corpus
from windrow.dedup import table
from windrow.jobs.engine.protocol import Engine, Table
from windrow.jobs.merge import collect, rewrite
from windrow.jobs.merge.collect import MergeWork
from windrow.jobs.merge.decide import MergeOwner, ShardCounts, decide
from windrow.jobs.merge.inputs import FILE, MergeShard


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MergeOptions:
    output: Path
    dedup: DedupOptions
    takedown: Path | None = None  # a list besides those of the shards


class MergeSummary(msgspec.Struct):
    """What a merge did."""

    shards: list[ShardCounts]
    documents_in: int = 0
    documents_out: int = 0
    shortened: int = 0  # of these, documents that lost paragraphs
    tokens_in: int = 0  # words
    tokens_out: int = 0
    left_out: dict[str, int] = {}  # rule -> documents
    files: int = 0  # of the output
    ngrams: int = 0  # in the table at the end
    ngrams_forgotten: int = 0  # more than 0: the table could not hold all of them
    table_bytes: int = 0  # memory of the table at the end


def check(options: MergeOptions, shards: Sequence[MergeShard]) -> None:
    """Raise ConfigError for an output that cannot be made."""
    if options.output.exists() and (not options.output.is_dir() or any(options.output.iterdir())):
        raise ConfigError(f"{options.output} exists already; name another directory, or move it away")
    output = options.output.resolve()
    for shard in shards:
        if shard.directory in (output, *output.parents):
            raise ConfigError(f"{options.output} lies in the shard {shard.directory}; name an output outside of it")
    if not any(shard.files for shard in shards):
        raise ConfigError("no shard has a document yet, so there is nothing to merge; crawl first")


def run(options: MergeOptions, shards: Sequence[MergeShard], engine: Engine, scratch: Path) -> MergeSummary:
    """Merge the shards. `scratch`: a directory on the file system of the output; with a resumable engine, in its work
    directory."""
    check(options, shards)
    listed = takedown.of(*(shard.directory for shard in shards), extra=options.takedown)
    work = MergeWork(shards, options.dedup, listed, scratch.absolute())
    sources = [file.path for file in work.files]
    rows = _complete(engine.map(sources, functools.partial(collect.collect, work=work), collect.SCHEMA))
    columns = ", ".join(collect.SCHEMA.names)
    query = f"SELECT {columns} FROM documents ORDER BY {collect.ORDER}"  # noqa: S608 - columns of our own schema
    ordered = engine.sql(query, documents=rows)
    owner = decide(ordered, work)
    written = _complete(engine.map(sources, functools.partial(rewrite.rewrite, work=work), rewrite.SCHEMA))
    counts = [count for batch in written.batches() for count in batch.column("documents").to_pylist()]
    summary = _summary(owner, counts)
    _publish(options, work, summary)
    return summary


def _complete(table: Table) -> Table:
    """A file that cannot be read makes the whole merge fail: what later ones keep depends on it."""
    if table.bad:
        problem = table.bad[0].problem
        named = problem if table.bad[0].source in problem else f"{table.bad[0].source}: {problem}"
        raise ConfigError(named)
    return table


def _summary(owner: MergeOwner, written: Sequence[int]) -> MergeSummary:
    table = owner.table
    summary = MergeSummary(owner.counts, files=sum(1 for count in written if count))
    for shard in owner.counts:
        for name in ("documents_in", "documents_out", "shortened", "tokens_in", "tokens_out"):
            setattr(summary, name, getattr(summary, name) + getattr(shard, name))
        for rule, count in shard.left_out.items():
            summary.left_out[rule] = summary.left_out.get(rule, 0) + count
    summary.ngrams, summary.ngrams_forgotten, summary.table_bytes = len(table), table.forgotten, table.nbytes
    if sum(written) != summary.documents_out:
        problem = f"{summary.documents_out:,} documents were to be written, and {sum(written):,} were"
        raise ConfigError(f"{problem}; a shard has changed meanwhile: run the same command again")
    return summary


def _publish(options: MergeOptions, work: MergeWork, summary: MergeSummary) -> None:
    """Make the output durable and give it its name."""
    output = work.scratch / "output"
    (output / corpus.DIRECTORY).mkdir(parents=True, exist_ok=True)
    note = {
        "windrow": windrow.__version__,
        "dedup": dataclasses.asdict(options.dedup),
        **msgspec.structs.asdict(summary),
    }
    files.write(output / FILE, msgspec.json.format(msgspec.json.encode(note)) + b"\n")
    for folder in (*(output / corpus.DIRECTORY).iterdir(), output / corpus.DIRECTORY, output):
        files.sync_directory(folder)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    os.rename(output, options.output)
    files.sync_directory(options.output.absolute().parent)


def describe(summary: MergeSummary, options: MergeOptions) -> str:
    """Return the summary as text."""
    lines = []
    for shard in summary.shards:
        lines.append(f"{shard.name}: {shard.documents_out:,} of {shard.documents_in:,} documents")
    removed = summary.tokens_in - summary.tokens_out
    share = f" ({removed / summary.tokens_in:.1%})" if summary.tokens_in else ""
    lines.append(
        f"{summary.documents_out:,} of {summary.documents_in:,} documents in {options.output}, "
        f"{summary.tokens_out:,} words; {removed:,} words{share} removed"
    )
    lines += [f"{count:>12,} left out: {rule}" for rule, count in sorted(summary.left_out.items())]
    if summary.shortened:
        lines.append(f"{summary.shortened:>12,} without some paragraphs, which are near-duplicates")
    if summary.ngrams_forgotten:
        lines.append(table.too_small(summary.ngrams_forgotten, options.dedup.table_bytes))
    return "\n".join(lines)
