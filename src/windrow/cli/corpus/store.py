"""`windrow store`."""

import contextlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from windrow import sharding
from windrow.cli.terminal import Directory, Json, counter, note, out, print_json, undivided
from windrow.inspect import status
from windrow.signals import STOPS
from windrow.units import count


def store(
    directory: Directory,
    to: Annotated[
        str,
        typer.Option(
            help="postgresql://…, mysql://…, mongodb://…, sqlite:///FILE, s3://BUCKET/FOLDER, webhdfs://…, or a "
            "directory; -: read it from standard input.",
            metavar="URL",
        ),
    ],
    follow: Annotated[bool, typer.Option("--follow", help="Continue until the crawl ends.")] = False,
    captures: Annotated[bool, typer.Option("--captures", help="Store a row per capture too.")] = False,
    name: Annotated[
        str,
        typer.Option(
            help="Name of the crawl in the storage; default: that of its directory. A shard is NAME/NNN.",
            metavar="NAME",
        ),
    ] = "",
    check: Annotated[bool, typer.Option("--check", help="Open the storage, make its tables, and end.")] = False,
    takedown: Annotated[
        Path | None,
        typer.Option(help="File of URLs, hosts and domains to leave out, besides DIR/takedown.txt.", metavar="FILE"),
    ] = None,
    held: Annotated[
        bool,
        typer.Option(
            "--held",
            help="Store the shards that standard input names, line by line, until it ends; `windrow crawl` and "
            "`windrow node` use this.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Copy the documents of a crawl to a database or an object storage, each exactly once.

    The same command continues where it has stopped; the storage knows how far it is.
    """
    from windrow.jobs.store import transfer as job

    if to == "-":
        to = sys.stdin.readline().strip()
    options = job.StoreOptions(
        directory=directory, target=to, name=name, captures=captures, follow=follow, takedown=takedown
    )
    if check:
        return job.check(options)
    if held:
        return _store_held(options)
    with counter("documents stored") as watch:
        try:
            summary = _store(options, watch)
        except KeyboardInterrupt:
            note("stopped; the same command continues where it has stopped")
            raise typer.Exit(130) from None
    if as_json:
        print_json(summary)
    else:
        _print(summary, options)


def _store(options: Any, watch: Callable[[int], None]) -> Any:
    """Store a crawl, or all shards of one that are here."""
    from windrow.jobs.store import transfer as job

    directory = options.directory
    if not sharding.is_divided(directory):
        context = job.StoreContext(running=lambda: status.is_running(directory), watch=watch, note=note)
        return job.run(options, context)
    places = undivided([directory])
    context = job.StoreContext(running=lambda: any(status.is_running(path) for path in places), watch=watch, note=note)
    return job.run_all(options, context, lambda: places)


def _print(summary: Any, options: Any) -> None:
    from windrow.jobs.store.transfer import DividedSummary

    rows = count(summary.documents, "document")
    rows += f", {count(summary.captures, 'capture')}" if options.captures else ""
    if isinstance(summary, DividedSummary):
        parts = count(len(summary.shards), "shard")
        out.print(f"{summary.target}: {rows} of {options.name or options.directory.resolve().name} stored, {parts}")
    else:
        out.print(f"{summary.target}: {rows} of {summary.crawl} stored, up to frame {summary.frame:,} of its log")
    if summary.removed:
        out.print(f"{count(summary.removed, 'document')} removed: purged, or on the takedown list")


def _store_held(options: Any) -> None:
    """Store shards for the process at the other end of standard input. Its end is ours, so signals are ignored."""
    from windrow.jobs.store import transfer as job
    from windrow.jobs.store.held import HeldShards

    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    held = HeldShards(sys.stdin, status.is_running)

    def tell(text: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # nobody is there to read it
            note(text)

    context = job.StoreContext(running=held.running, watch=lambda documents: None, note=tell)
    job.run_all(options, context, held)
