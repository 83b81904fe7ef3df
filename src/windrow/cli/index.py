"""`windrow index`."""

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.engines import Base, EngineName, Master, SparkConf, Workers, opened
from windrow.cli.terminal import Json, TakedownList, note, out, print_json
from windrow.units import count, size


def index(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="A crawl's directory, a folder, WARC files, addresses (s3://, https://), or lists of paths.",
            metavar="DIR|FILE",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory of the index; default: DIR/index.", metavar="DIR")
    ] = None,
    crawl: Annotated[
        str, typer.Option("--crawl", help="Name of the crawl in the table; default: of the directory.", metavar="NAME")
    ] = "",
    base: Base = "",
    takedown: TakedownList = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all files again and compare each record with its digest.")
    ] = False,
    engine_name: EngineName = "local",
    workers: Workers = 0,
    master: Master = "",
    spark_conf: SparkConf = None,
    as_json: Json = False,
) -> None:
    """Index an archive by URL: CDXJ files, ZipNum shards, and a Parquet table for `windrow query`. Files that are
    in the index already are not read again. Exit code 2: a file is damaged."""
    from windrow.batch import engine

    engine.require()
    from windrow.batch.index import run, sources

    options = run.IndexOptions(output=output or sources.output(inputs), takedown=takedown, check=verify)
    found = sources.find(inputs, crawl, base)
    summary = run.run(options, found, lambda work: opened(engine_name, work, workers, master, spark_conf))
    if as_json:
        print_json(summary)
    else:
        what = f"{count(summary.captures, 'capture')} in {count(summary.files, 'archive file')}"
        out.print(f"{summary.output}: {what}; {summary.read:,} of them read now ({size(summary.bytes)})")
    for problem in summary.damaged.values():
        note(f"windrow: {problem}; everything before that is in the index")
    if summary.damaged:
        raise typer.Exit(2)
