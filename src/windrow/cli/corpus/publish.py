"""`windrow publish`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.terminal import Directory, Json, TakedownList, counter, out, print_json, progress
from windrow.config import ConfigError
from windrow.units import size


def publish(
    directory: Directory,
    target: Annotated[
        str,
        typer.Argument(
            help="s3://BUCKET/FOLDER, or a directory: write the folders of Common Crawl.",
            metavar="URL",
            show_default=False,
        ),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; its name ends in .wacz.", metavar="FILE")
    ] = None,
    wacz: Annotated[bool, typer.Option("--wacz", help="Write a WACZ file: archive, index and list of pages.")] = False,
    title: Annotated[str, typer.Option(help="Title of the collection; default: the name of the directory.")] = "",
    description: Annotated[str, typer.Option(help="Description of the collection, in Markdown.")] = "",
    text: Annotated[
        bool, typer.Option("--text", help="Put the main text of each page into the list of pages.")
    ] = False,
    takedown: TakedownList = None,
    crawl: Annotated[
        str, typer.Option("--crawl", help="With URL: name of the crawl; default: of the directory.", metavar="NAME")
    ] = "",
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    as_json: Json = False,
) -> None:
    """Write the archive of a crawl as one file that programs for web archives replay, or publish it on a server in the
    folders of Common Crawl, with its indexes."""
    if bool(target) == wacz:
        fix = "name either --wacz, or s3://BUCKET for the folders of Common Crawl"
        raise ConfigError(f"publish needs the kind of file to write, or a place; {fix}")
    if target:
        return _publish_tree(directory, target, crawl, takedown, as_json)
    if output is None:
        raise ConfigError("--wacz needs a file; name it with -o FILE.wacz")
    from windrow.jobs.publish import wacz as job

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
    files = job.find(options)
    with progress("publish", sum(file.length for file in files)) as watch:
        summary = job.run(options, files, time.time(), watch)
    if as_json:
        return print_json(summary)
    counts = f"{summary.captures:,} captures and {summary.pages:,} pages from {summary.files:,} WARC files"
    out.print(f"{output}: {counts}, {size(summary.bytes)}")
    if summary.left_out:
        out.print(f"{summary.left_out:,} records of pages on the takedown list left out")


def _publish_tree(directory: Path, target: str, crawl: str, takedown: Path | None, as_json: bool) -> None:
    try:
        from windrow.jobs.publish import bucket
    except ImportError as error:
        fix = "install it with: pip install 'windrow-corpus[parquet]'"
        raise ConfigError(f"the index of what is published needs the library pyarrow ({error}); {fix}") from None
    options = bucket.BucketOptions(directory=directory, target=target, crawl=crawl, takedown=takedown)
    with counter("bytes published") as shown:
        total = 0

        def watch(more: int) -> None:
            nonlocal total
            total += more
            shown(total)

        summary = bucket.run(options, watch)
    if as_json:
        return print_json(summary)
    copied = f"{summary.copied:,} copied now ({size(summary.bytes)})"
    out.print(f"{target}: {summary.captures:,} captures in {summary.files:,} files, {copied}")
    if summary.left_out:
        out.print(f"{summary.left_out:,} records of pages on the takedown list left out")
