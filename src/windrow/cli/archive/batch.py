"""`windrow batch`: a job of the user over archive files, on this machine or on Spark."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.archive.engines import Base, EngineChoice, EngineName, Master, SparkConf, Workers, opened, report_bad
from windrow.cli.terminal import Json, note, out, print_json
from windrow.config import ConfigError
from windrow.units import size

if TYPE_CHECKING:
    from windrow.jobs.batch.apply import BatchSummary


def batch(
    job: Annotated[
        str, typer.Argument(help="File of Python with process(record), or an installed module.", metavar="JOB")
    ],
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="WARC, WAT, WET or ARC files, files of documents, directories of them, crawls, addresses "
            "(s3://, https://), or lists of paths.",
            metavar="INPUT",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File; a directory with --files above 1; default: standard output.", metavar="OUT"
        ),
    ] = None,
    format: Annotated[str, typer.Option(help="json (one object per line), csv or parquet.")] = "json",
    files: Annotated[int, typer.Option(help="Files of the output, by ranges of keys.", metavar="N", min=1)] = 1,
    subset: Annotated[
        str, typer.Option(help="Of crawl directories, read warc, robotstxt, diagnostics or corpus.")
    ] = "warc",
    base: Base = "",
    engine_name: EngineName = "local",
    workers: Workers = 0,
    master: Master = "",
    spark_conf: SparkConf = None,
    force: Annotated[bool, typer.Option(help="Replace an earlier output.")] = False,
    as_json: Json = False,
) -> None:
    """Run your own job over archive files, or over the documents of a corpus: pairs of key and value from each record,
    summed or reduced by key.

    A job with an output file that was stopped continues when the same command is run again. A file that cannot be read
    is named and left out, and the exit code is 2.
    """
    from windrow.jobs import engine

    engine.require()
    from windrow.jobs.batch import apply as jobs

    if output is None and (format == "parquet" or files > 1):
        raise ConfigError("one file of json or csv can be printed; for parquet or --files name the output: -o OUT")
    with tempfile.TemporaryDirectory(prefix="windrow-batch-") as made:
        options = jobs.BatchOptions(
            job=job,
            inputs=inputs,
            output=output or Path(made, "output"),
            format=format,
            files=files,
            subset=subset,
            base=base,
            force=force,
        )
        jobs.check(options)
        with opened(EngineChoice(engine_name, workers, master, spark_conf), engine.beside(options.output)) as run:
            summary = jobs.run(options, run)
        if output is None:
            _copy_to_stdout(options.output)
    _print(summary, printed=output is None, as_json=as_json)
    report_bad(summary.bad)


def _copy_to_stdout(path: Path) -> None:
    with path.open("rb") as result:
        shutil.copyfileobj(result, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _print(summary: "BatchSummary", printed: bool, as_json: bool) -> None:
    """Print what a job did; on standard error if its output is on standard output."""
    line = f"{summary.keys:,} keys from {summary.sources - len(summary.bad):,} files, {size(summary.bytes)}"
    if printed:
        note(line)
    elif as_json:
        print_json(summary)
    else:
        out.print(line)
