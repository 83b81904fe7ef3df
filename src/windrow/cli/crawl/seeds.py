"""`windrow seeds`."""

import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from windrow import files
from windrow.cli.archive import query as queries
from windrow.cli.terminal import note
from windrow.config import ConfigError
from windrow.units import count


def seeds(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Lists of URLs or hosts, sitemaps, WARC files, dumps of externallinks.",
            metavar="FILE|URL",
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        str,
        typer.Option("--from-index", help="Ask the index of a crawl, or of Common Crawl.", metavar="DIR|URL"),
    ] = "",
    language: Annotated[
        str, typer.Option("--language", help="With --from-index: hosts with pages in it.", metavar="CODE")
    ] = "",
    crawl: Annotated[str, typer.Option("--crawl", help="With --from-index: only this crawl.", metavar="NAME")] = "",
    min_pages: Annotated[
        int, typer.Option("--min-pages", help="With --from-index: pages that a host has.", metavar="N", min=1)
    ] = 5,
    min_share: Annotated[
        float,
        typer.Option("--min-share", help="Per cent of its pages that have the language.", metavar="P", min=0, max=100),
    ] = 5.0,
    per_host: Annotated[
        int | None,
        typer.Option("--per-host", help="URLs per host; 0: all; default with --from-index: 5.", metavar="N", min=0),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the list to this file.", metavar="FILE")
    ] = None,
) -> None:
    """Make a list of seeds: one URL per line, each once, from what is there already. Exit code 2: something could not
    be read, and the rest is in the list."""
    if bool(sources) == bool(table):
        raise ConfigError("say where the seeds come from: either files and URLs, or --from-index DIR --language CODE")
    if bool(table) != bool(language):
        raise ConfigError(
            "--from-index and --language belong together: hosts are chosen by the language of their pages"
        )
    problems: list[str] = []

    def complain(problem: str) -> None:
        problems.append(problem)
        note(f"windrow: {problem}")

    from windrow.jobs.seeds import collect

    if table:
        options = {"language": language, "crawl": crawl, "min_pages": min_pages, "min_share": min_share}
        urls = _of_table(table, options, per_host)
    else:
        urls = itertools.chain.from_iterable(collect.read(source, complain) for source in sources or ())
    written = _write(collect.unique(urls, per_host or 0), output)
    note(f"{count(written, 'URL')}" + (f" in {output}" if output else ""))
    if not written and not problems:
        note(f"windrow: {_nothing(table, language, min_pages, min_share)}")
    if problems or not written:
        raise typer.Exit(2)


def _nothing(table: str, language: str, min_pages: int, min_share: float) -> str:
    """Say why the list is empty, and what to change."""
    if not table:
        return "there is no http or https URL in these sources; windrow seeds --help says what can be read"
    return (
        f"no host in {table} has {count(min_pages, 'page')} in {language} that are {min_share:g} % of its pages; "
        "lower --min-pages or --min-share"
    )


def _of_table(location: str, options: dict[str, Any], per_host: int | None) -> Iterator[str]:
    queries.load_job()
    from windrow.jobs.seeds import table

    limit = table.PER_HOST if per_host is None else per_host
    return table.find(location, table.LanguageHosts(**options, per_host=limit))


def _write(urls: Iterable[str], output: Path | None) -> int:
    lines = (f"{url}\n".encode() for url in urls)
    if output is None:
        return sum(bool(sys.stdout.buffer.write(line)) for line in lines)
    with files.replacing(output) as file:
        return sum(bool(file.write(line)) for line in lines)
