"""`windrow shuffle`."""

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.archive.engines import (
    Base,
    EngineChoice,
    EngineName,
    Master,
    SparkConf,
    Subset,
    Workers,
    opened,
    report_bad,
)
from windrow.cli.terminal import Json, out, print_json
from windrow.units import size


def shuffle(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="WARC files, directories of them, crawls, addresses (s3://, https://), or lists of paths.",
            metavar="INPUT",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory for the new files.", metavar="DIR")],
    seed: Annotated[int, typer.Option(help="Another seed gives another order.", metavar="N")] = 0,
    files: Annotated[int, typer.Option(help="Files to write; default: as many as are read.", metavar="N", min=0)] = 0,
    prefix: Annotated[str, typer.Option(help="Beginning of the names of the new files.")] = "SHUFFLED",
    subset: Subset = "warc",
    base: Base = "",
    engine_name: EngineName = "local",
    workers: Workers = 0,
    master: Master = "",
    spark_conf: SparkConf = None,
    as_json: Json = False,
) -> None:
    """Write the captures of WARC files in a pseudo-random order, so that each new file is a sample of all.

    Records stay the same, byte for byte, and those of one capture stay together.
    """
    from windrow.jobs import engine

    engine.require()
    from windrow.jobs import shuffle as job

    options = job.ShuffleOptions(
        inputs=inputs,
        output=output,
        seed=seed,
        files=files,
        prefix=prefix,
        subset=subset,
        base=base,
    )
    job.check(options)
    with opened(EngineChoice(engine_name, workers, master, spark_conf), engine.beside(output)) as run:
        summary = job.run(options, run)
    if as_json:
        print_json(summary)
    else:
        what = f"{summary.captures:,} captures with {summary.records:,} records in {len(summary.files):,} files"
        out.print(f"{output}: {what}, {size(summary.bytes)}")
        if summary.revisits:
            out.print(f"{summary.revisits:,} revisit records still name the file and offset of the record they repeat")
    report_bad(summary.bad)
