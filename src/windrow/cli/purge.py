"""`windrow purge`."""

from typing import Annotated

import typer

from windrow.cli.terminal import Directory, Json, counter, load, out, print_json
from windrow.crawl import purge as job
from windrow.takedown import FILE
from windrow.units import size

_SHOWN = 10  # copies named on the screen


def purge(
    directory: Directory,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be removed.")] = False,
    as_json: Json = False,
) -> None:
    """Remove the pages of DIR/takedown.txt from archive and corpus for good. An interrupted purge is finished."""
    options = load(directory)
    with counter("bytes overwritten") as watch:
        done = job.preview(directory, watch) if dry_run else job.purge(directory, options, watch)
    if as_json:
        return print_json(done)
    if not (directory / FILE).exists():
        out.print(
            f"{directory / FILE} does not exist: write the pages, hosts and domains to remove into it, one per line"
        )
    verb = "would be" if dry_run else "are"
    out.print(
        f"{done.pages:,} pages of {directory / FILE}: {done.captures:,} captures and {done.documents:,} documents"
    )
    out.print(f"{size(done.bytes)} in {len(done.files):,} files {verb} overwritten:")
    for name, count in done.files.items():
        out.print(f"{count:>14,} bytes in {name}")
    if done.revisits:
        out.print(
            f"{done.revisits:,} of the captures are of other pages, whose payload was archived with a listed page"
        )
    if done.torn:
        out.print(f"{len(done.torn):,} files in torn/ {verb} removed ({size(sum(done.torn.values()))})")
    if done.copies:
        out.print(f"{len(done.copies):,} pages that are not on the list have the same payload or text; list them too?")
        for url in done.copies[:_SHOWN]:
            out.print(f"    {url}")
        if len(done.copies) > _SHOWN:
            out.print(f"    … all of them: windrow purge {directory} --dry-run --json")
    out.print("Exports made earlier, copies and backups are not changed. The log keeps the URLs of purged pages.")
