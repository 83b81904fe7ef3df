"""`windrow batch`: a job of the user over archive files, on this machine or on Spark."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.engines import Base, EngineName, Master, SparkConf, Workers, opened, report_bad
from windrow.cli.terminal import Json, note, out, print_json
from windrow.config import ConfigError
from windrow.units import size


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
    from windrow.batch import engine

    engine.require()
    from windrow.batch.jobs import run as jobs

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
        with opened(engine_name, engine.beside(options.output), workers, master, spark_conf) as run:
            summary = jobs.run(options, run)
        if output is None:
            with options.output.open("rb") as result:
                shutil.copyfileobj(result, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    if as_json and output is not None:
        print_json(summary)
    else:
        line = f"{summary.keys:,} keys from {summary.sources - len(summary.bad):,} files, {size(summary.bytes)}"
        note(line) if output is None else out.print(line)
    report_bad(summary.bad)
