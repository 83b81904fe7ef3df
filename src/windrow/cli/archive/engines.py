"""What the commands share that run on an engine: their options, progress, and the sources that could not be read."""

import contextlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from windrow.cli.terminal import counter, note

if TYPE_CHECKING:
    from windrow.jobs.engine import BadSource, Engine, MapProgress

EngineName = Annotated[str, typer.Option("--engine", help="Where the job runs: local or spark.")]
Workers = Annotated[int, typer.Option(help="Processes at a time; default: one per core.", metavar="N", min=0)]
Subset = Annotated[str, typer.Option(help="Of crawl directories, read warc, robotstxt or diagnostics.")]
Base = Annotated[
    str,
    typer.Option(
        "--base", help="Where the paths in lists begin: a directory, https://data.commoncrawl.org, …", metavar="URL"
    ),
]
Master = Annotated[
    str, typer.Option(help="With --engine spark: spark://HOST:PORT, local[N], yarn or k8s://…", metavar="URL")
]
SparkConf = Annotated[
    list[str] | None,
    typer.Option("--spark-conf", help="With --engine spark: an option of Spark. Repeatable.", metavar="NAME=VALUE"),
]


class EngineChoice(NamedTuple):
    """Where a job runs, as these options say it."""

    name: str = "local"
    workers: int = 0
    master: str = ""
    spark_conf: Sequence[str] | None = None


@contextlib.contextmanager
def opened(choice: EngineChoice, work: Path) -> "Iterator[Engine]":
    """Open an engine with a progress line. After Ctrl-C, say that the same command continues."""
    from windrow.jobs import engine

    with counter("sources done") as show:

        def watch(progress: "MapProgress") -> None:
            show(progress.done)

        spark = engine.SparkOptions(choice.master, tuple(choice.spark_conf or ()))
        try:
            with engine.open(choice.name, work, choice.workers, watch, spark) as run:
                yield run
        except KeyboardInterrupt:
            note(f"stopped; the same command continues after the files that are done (they are in {work})")
            raise typer.Exit(130) from None


def installed() -> bool:
    """Return whether the libraries of an engine are there."""
    return all(importlib.util.find_spec(name) for name in ("pyarrow", "duckdb"))


def report_bad(bad: "Sequence[BadSource]") -> None:
    """Name the sources that could not be read. If there are some, the job was not done: the exit code says so."""
    for problem in bad:
        note(f"windrow: {problem.source}: {problem.problem}; left out")
    if bad:
        raise typer.Exit(2)
