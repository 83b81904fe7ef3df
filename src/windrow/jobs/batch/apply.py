"""`windrow batch`: the job of a user over archive files or the shards of a corpus, on an engine."""

import functools
from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.jobs.batch import pairs
from windrow.jobs.engine.protocol import BadSource, Engine
from windrow.jobs.inputs import archives, committed


class BatchOptions(msgspec.Struct, frozen=True, kw_only=True):
    job: str  # a file of Python, or an installed module
    inputs: Sequence[str | Path]
    output: Path  # a file; with several files, a directory
    format: str = "json"
    files: int = 1
    subset: str = "warc"  # of crawl directories
    base: str = ""  # where the relative paths of lists begin
    force: bool = False


class BatchSummary(msgspec.Struct, frozen=True):
    """What a job did."""

    sources: int
    keys: int
    bytes: int
    files: list[str]
    bad: Sequence[BadSource]


def reference(job: str) -> str:
    """Return the job in the form that worker processes import."""
    path = Path(job)
    if path.suffix == ".py":
        if not path.is_file():
            raise ConfigError(f"there is no job {job}; name a file of Python, or an installed module")
        return f"{path.resolve().parent}/{path.stem}"
    if "/" in job:
        raise ConfigError(f"{job} is neither a file of Python, which ends in .py, nor the name of a module")
    return job


def check(options: BatchOptions) -> None:
    """Refuse what cannot work before anything is read."""
    if options.format not in pairs.WRITERS:
        raise ConfigError(f"there is no format {options.format!r}; choose one of {', '.join(pairs.WRITERS)}")
    if options.output.exists() and not options.force:
        raise ConfigError(f"{options.output} exists already; name another output, or replace it with --force")
    if options.files == 1 and options.output.is_dir():
        raise ConfigError(f"{options.output} is a directory; name a file, or ask for several with --files")
    pairs.load(reference(options.job))


def target(options: BatchOptions) -> str:
    """Return the path of the output; of several files, with a place for their number."""
    if options.files == 1:
        return str(options.output)
    return str(options.output / f"part-{{:05}}.{options.format}")


def run(options: BatchOptions, engine: Engine) -> BatchSummary:
    code = engine.ship(reference(options.job))
    sources = archives.find(options.inputs, options.subset, options.base, documents=True)
    work = functools.partial(pairs.of_file, reference=code, ends=committed.ends(sources))
    table = engine.map(sources, work, pairs.SCHEMA)
    if table.bad and len(table.bad) == len(sources):
        first = table.bad[0]
        raise ConfigError(f"no file could be read; the first, {first.source}: {first.problem}")
    kind = engine.sql(pairs.KIND, pairs=table)
    kinds = [row["kind"] for batch in kind.batches() for row in batch.to_pylist()]
    writer = functools.partial(pairs.WRITERS[options.format], reference=code, kind=max(kinds[0] or 0, 0))
    grouped = engine.sql(pairs.GROUPED, pairs=table)
    written = engine.write(grouped, target(options), writer, sort=["key"], files=options.files)
    return BatchSummary(
        sources=len(sources),
        keys=sum(file.rows for file in written),
        bytes=sum(file.bytes for file in written),
        files=[str(file.path) for file in written],
        bad=table.bad,
    )
