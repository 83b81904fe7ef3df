"""`windrow derive`."""

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.terminal import Json, Settings, note, out, print_json, sources
from windrow.units import size


def derive(
    inputs: Annotated[
        list[Path], typer.Argument(help="A crawl's directory, a folder of archive files, or archive files.", metavar="DIR|FILE…")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory of the files that are made.", metavar="OUT")],
    wat: Annotated[bool, typer.Option("--wat", help="Write WAT files: headers, metadata and links as JSON.")] = False,
    wet: Annotated[bool, typer.Option("--wet", help="Write WET files: the text of the pages.")] = False,
    text: Annotated[
        str,
        typer.Option(help="Text of the WET files: all of a page, or main: what a crawl would keep.", metavar="all|main"),
    ] = "all",
    links: Annotated[bool, typer.Option("--links", help="Write links.parquet: one row per link.")] = False,
    pages: Annotated[bool, typer.Option("--pages", help="Write pages.parquet: one row per response.")] = False,
    takedown: Annotated[
        Path | None,
        typer.Option(help="File of URLs, hosts and domains to leave out, besides DIR/takedown.txt.", metavar="FILE"),
    ] = None,
    engine: Annotated[str, typer.Option(help="Where the work runs.", metavar="NAME")] = "local",
    workers: Annotated[int, typer.Option(help="Processes; 0: one per core.", metavar="N", min=0)] = 0,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Make WAT and WET files, and tables of links and pages, from archive files."""
    from windrow.batch.derive import run as job

    request = job.DeriveRequest(
        inputs=tuple(inputs),
        output=output,
        wat=wat,
        wet=text if wet else "",
        links=links,
        pages=pages,
        takedown=takedown,
        settings=tuple(settings or ()),
        engine=engine,
        workers=workers,
    )
    job.check(request)
    with sources("derive") as watch:
        summary = job.run(request, lambda progress: watch(progress.done, progress.sources))
    for problem in summary.problems:
        note(f"windrow: {problem.source}: {problem.problem}")
    if as_json:
        print_json(summary)
    else:
        for line in job.lines(summary):
            out.print(line)
        out.print(f"{output}: {size(summary.bytes)}")
    if summary.problems:
        raise typer.Exit(2)
