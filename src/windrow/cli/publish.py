"""`windrow publish`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.terminal import Directory, Json, out, print_json, progress
from windrow.config import ConfigError
from windrow.units import size


def publish(
    directory: Directory,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file; its name ends in .wacz.", metavar="FILE")],
    wacz: Annotated[bool, typer.Option("--wacz", help="Write a WACZ file: archive, index and list of pages.")] = False,
    title: Annotated[str, typer.Option(help="Title of the collection; default: the name of the directory.")] = "",
    description: Annotated[str, typer.Option(help="Description of the collection, in Markdown.")] = "",
    text: Annotated[
        bool, typer.Option("--text", help="Put the main text of each page into the list of pages.")
    ] = False,
    takedown: Annotated[
        Path | None,
        typer.Option(help="File of URLs, hosts and domains to leave out, besides DIR/takedown.txt.", metavar="FILE"),
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    as_json: Json = False,
) -> None:
    """Write the archive of a crawl as one file that programs for web archives replay."""
    from windrow.batch import publish as job

    if not wacz:
        raise ConfigError("publish needs the kind of file to write; the only one is --wacz")
    options = job.PublishOptions(
        directory=directory,
        output=output,
        title=title,
        description=description,
        text=text,
        takedown=takedown,
        force=force,
    )
    job.check(options)
    found = job.find(options)
    with progress("publish", sum(file.length for file in found)) as watch:
        summary = job.run(options, found, time.time(), watch)
    if as_json:
        return print_json(summary)
    counts = f"{summary.captures:,} captures and {summary.pages:,} pages from {summary.files:,} WARC files"
    out.print(f"{output}: {counts}, {size(summary.bytes)}")
    if summary.left_out:
        out.print(f"{summary.left_out:,} records of pages on the takedown list left out")
