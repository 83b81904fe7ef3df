"""`windrow store`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.terminal import Directory, Json, counter, note, out, print_json
from windrow.crawl import status
from windrow.units import count


def store(
    directory: Directory,
    to: Annotated[
        str,
        typer.Option(
            help="postgresql://…, mysql://…, mongodb://…, sqlite:///FILE, s3://BUCKET/FOLDER, hdfs://…, or a "
            "directory; -: read it from standard input.",
            metavar="URL",
        ),
    ],
    follow: Annotated[bool, typer.Option("--follow", help="Continue until the crawl ends.")] = False,
    captures: Annotated[bool, typer.Option("--captures", help="Store a row per capture too.")] = False,
    name: Annotated[
        str, typer.Option(help="Name of the crawl in the storage; default: that of its directory.", metavar="NAME")
    ] = "",
    check: Annotated[bool, typer.Option("--check", help="Open the storage, make its tables, and end.")] = False,
    takedown: Annotated[
        Path | None,
        typer.Option(help="File of URLs, hosts and domains to leave out, besides DIR/takedown.txt.", metavar="FILE"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Copy the documents of a crawl to a database or an object storage, each exactly once.

    The same command continues where it has stopped; the storage knows how far it is.
    """
    from windrow.batch.storages import run as job

    if to == "-":
        to = sys.stdin.readline().strip()
    if check:
        job.check(to, captures)
        return
    options = job.StoreOptions(
        directory=directory, target=to, name=name, captures=captures, follow=follow, takedown=takedown
    )
    with counter("documents stored") as watch:
        context = job.StoreContext(running=lambda: status.is_running(directory), watch=watch, note=note)
        try:
            summary = job.run(options, context)
        except KeyboardInterrupt:
            note("stopped; the same command continues where it has stopped")
            raise typer.Exit(130) from None
    if as_json:
        return print_json(summary)
    rows = f"{count(summary.documents, 'document')}" + (f", {count(summary.captures, 'capture')}" if captures else "")
    out.print(f"{summary.target}: {rows} of {summary.crawl} stored, up to frame {summary.frame:,} of its log")
    if summary.removed:
        out.print(f"{count(summary.removed, 'document')} removed: purged, or on the takedown list")
