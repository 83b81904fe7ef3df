"""`windrow purge`."""

from pathlib import Path
from typing import Annotated

import typer

from windrow import log, sharding, takedown
from windrow.cli.terminal import Directory, Json, counter, load, out, print_json, undivided
from windrow.crawler.orders import purge as job
from windrow.takedown import FILE
from windrow.units import count, size

_SHOWN = 10  # copies named on the screen


def purge(
    directory: Directory,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be removed.")] = False,
    as_json: Json = False,
) -> None:
    """Remove the pages of DIR/takedown.txt from archive and corpus for good. An interrupted purge is finished."""
    done = _purge(directory, dry_run)
    if as_json:
        return print_json(done)
    if not any(path.exists() for path in takedown.lists(directory, *sharding.places(directory))):
        out.print(
            f"{directory / FILE} does not exist: write the pages, hosts and domains to remove into it, one per line"
        )
    verb = "would be" if dry_run else "are"
    what = f"{count(done.captures, 'capture')} and {count(done.documents, 'document')}"
    out.print(f"{count(done.pages, 'page')} of {directory / FILE}: {what}")
    out.print(f"{size(done.bytes)} in {count(len(done.files), 'file')} {verb} overwritten:")
    for name, number in done.files.items():
        out.print(f"{number:>14,} bytes in {name}")
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


def _purge(directory: Path, dry_run: bool) -> job.Purged:
    """Purge a crawl, or each of its shards. A page of one shard may have copies in another."""
    places = [path for path in undivided([directory]) if path == directory or log.names(log.home(path))]
    elsewhere = job.PurgedContent()
    for crawled in places if len(places) > 1 else ():
        elsewhere.add(job.content(crawled))
    done: dict[str, job.Purged] = {}
    with counter("bytes overwritten") as shown:

        def watch(now: int) -> None:
            shown(now + sum(before.bytes for before in done.values()))

        for crawled in places:
            purged = (
                job.preview(crawled, watch, elsewhere)
                if dry_run
                else job.purge(crawled, load(crawled), watch, elsewhere)
            )
            done[crawled.relative_to(directory).as_posix()] = purged
    return done["."] if list(done) == ["."] else job.total(done)
