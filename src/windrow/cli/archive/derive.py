"""`windrow derive`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.archive.engines import Base, EngineChoice, EngineName, Master, SparkConf, Workers, opened, report_bad
from windrow.cli.terminal import Json, Settings, TakedownList, note, out, print_json
from windrow.units import size

if TYPE_CHECKING:
    from windrow.jobs.derive.run import DeriveSummary


def derive(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="A crawl's directory, WARC or ARC files, directories of them, addresses (s3://, https://), or lists "
            "of paths.",
            metavar="INPUT",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Directory of the files that are made.", metavar="OUT")
    ],
    wat: Annotated[bool, typer.Option("--wat", help="Write WAT files: headers, metadata and links as JSON.")] = False,
    wet: Annotated[bool, typer.Option("--wet", help="Write WET files: the text of the pages.")] = False,
    text: Annotated[
        str, typer.Option(help="Text of WET files: all of a page, or main: what a crawl would keep of it.")
    ] = "all",
    links: Annotated[bool, typer.Option("--links", help="Write links.parquet: one row per link.")] = False,
    pages: Annotated[bool, typer.Option("--pages", help="Write pages.parquet: one row per response.")] = False,
    languages: Annotated[
        bool, typer.Option("--languages", help="Detect the languages of pages whose archive names none.")
    ] = False,
    base: Base = "",
    takedown: TakedownList = None,
    engine_name: EngineName = "local",
    workers: Workers = 0,
    master: Master = "",
    spark_conf: SparkConf = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Make WAT and WET files, and tables of links and pages, from archive files.

    Each output is one file per archive file. A command that was stopped continues when it is run again. A file that
    is damaged gives its intact records; it is named, and the exit code is 2.
    """
    from windrow.jobs import engine

    engine.require()
    from windrow.jobs.derive import run as job

    request = job.DeriveRequest(
        inputs=inputs,
        output=output,
        wat=wat,
        wet=text if wet else "",
        links=links,
        pages=pages,
        languages=languages,
        base=base,
        takedown=takedown,
        settings=settings or (),
    )
    job.check(request)
    with opened(EngineChoice(engine_name, workers, master, spark_conf), engine.beside(output)) as run:
        summary = job.run(request, run)
    if as_json:
        print_json(summary)
    else:
        for line in job.lines(summary):
            out.print(line)
        out.print(f"{output}: {size(summary.bytes)}")
    _report(summary)


def _report(summary: "DeriveSummary") -> None:
    """Name the sources that are damaged or could not be read. If there are some, the exit code says so."""
    for problem in summary.damaged:
        note(f"windrow: {problem.source}: {problem.problem}; the rest was read")
    report_bad(summary.bad)
    if summary.damaged:
        raise typer.Exit(2)
