"""Where a batch job runs: on the cores of this machine, or on Spark.

In come sources (archive files, shards of a corpus) and a job: a plain function at the top of a module, from one source
to Arrow record batches. It knows nothing of the engine, so it is tested without one. Out comes a table, on which the
three verbs work:

    with engine.open("local", work=output / ".parts") as run:
        table = run.map(sources, function, schema)
        totals = run.sql("SELECT key, sum(value) AS value FROM pairs GROUP BY key", pairs=table)
        run.write(totals, "out/part-{:05}.jsonl", writer, sort=["key"], files=4)

`map` calls the function once per source, in worker processes. The rows of a table are in the order of the sources, and
within a source in the order of the function, on every engine. A source that fails gives no rows and is named in
`Table.bad`; the others continue. `sql` is DuckDB's language, as far as Spark's has the same meaning. `write` sorts the
rows, cuts them into ranges, and calls a writer once per file.

With a work directory a job can be stopped at any moment: the rows of each finished source are in a file of their own
(parts.py), and the same command continues after them. The directory is removed when the job is done.

What a worker process sends back is never unpickled, because it may have parsed hostile input: rows are Parquet files,
answers are JSON.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path

from windrow import machine
from windrow.config import ConfigError
from windrow.jobs.engine.protocol import (
    BadSource,
    Engine,
    FileWriter,
    MapFunction,
    MapProgress,
    OutputFile,
    SparkOptions,
    Table,
    silent,
)

__all__ = [
    "ENGINES",
    "BadSource",
    "Engine",
    "FileWriter",
    "MapFunction",
    "MapProgress",
    "OutputFile",
    "SparkOptions",
    "Table",
    "beside",
    "open",
    "require",
]

ENGINES = ("local", "spark")


def open(
    name: str,
    work: Path | None = None,
    workers: int = 0,
    watch: Callable[[MapProgress], None] = silent,
    spark: SparkOptions | None = None,
) -> Engine:
    """Open an engine by its name. It is a context manager.

    `work`: the directory of unfinished work; None: a temporary one, so that a job that is stopped starts again.
    `workers`: processes at a time; 0: one per core. `watch` is called after each source. `spark`: only for that engine.
    """
    if name not in ENGINES:
        raise ConfigError(f"there is no engine {name!r}; choose one of {', '.join(ENGINES)}")
    if name != "spark" and spark is not None and (spark.master or spark.conf):
        raise ConfigError(f"a master and options of Spark are for the engine spark, not for {name}; remove them")
    require()
    from windrow.jobs.engine import duck, pool
    from windrow.jobs.engine.stored import StoredEngine

    if name == "spark":
        from windrow.jobs.engine import spark as cluster

        session = cluster.start(spark or SparkOptions(), workers)
        return StoredEngine(work, cluster.SparkRunner(session), cluster.SparkDatabase(session), watch)
    workers = workers or machine.cores()
    return StoredEngine(work, pool.ProcessRunner(workers), duck.DuckDatabase(workers), watch)


def require() -> None:
    """Refuse a job without its libraries. Modules that import these at their top are imported after this."""
    missing = [library for library in ("pyarrow", "duckdb") if importlib.util.find_spec(library) is None]
    if missing:
        fix = "install it with: pip install 'windrow-corpus[query]'"
        raise ConfigError(f"batch jobs need {' and '.join(missing)}; {fix}")


def beside(output: Path) -> Path:
    """Return the work directory of a job with this output: hidden next to it, so that the same command finds it."""
    return output.parent / f".{output.name}.parts"
