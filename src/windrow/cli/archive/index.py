"""`windrow index`."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.archive.engines import Base, EngineChoice, EngineName, Master, SparkConf, Workers, opened
from windrow.cli.terminal import Json, TakedownList, note, out, print_json
from windrow.units import count, size

_NAMED = 20  # damaged places on the screen


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
    in the index already are not read again. A damaged file is read before and behind the damage; it is named, and the
    exit code is 2."""
    from windrow.jobs import engine

    engine.require()
    from windrow.jobs.index import build, sources

    options = build.IndexOptions(output=output or sources.output(inputs), takedown=takedown, check=verify)
    archives = sources.find(inputs, crawl, base)
    choice = EngineChoice(engine_name, workers, master, spark_conf)
    summary = build.run(options, archives, functools.partial(opened, choice))
    if as_json:
        print_json(summary)
    else:
        what = f"{count(summary.captures, 'capture')} in {count(summary.files, 'archive file')}"
        out.print(f"{summary.output}: {what}; {summary.read:,} of them read now ({size(summary.bytes)})")
    if summary.damaged:
        _name(summary.damaged)
        raise typer.Exit(2)


def _name(damaged: Mapping[str, Sequence[str]]) -> None:
    """Name what was skipped."""
    problems = [problem for texts in damaged.values() for problem in texts]
    for problem in problems[:_NAMED]:
        note(f"windrow: {problem}")
    if len(problems) > _NAMED:
        note(f"windrow: {len(problems) - _NAMED:,} more places are damaged; --json names them")
    note(f"windrow: {count(len(damaged), 'archive file')} damaged; every intact record is in the index")
