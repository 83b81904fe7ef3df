"""`windrow index`."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.terminal import Json, counter, note, out, print_json
from windrow.config import ConfigError
from windrow.units import count, size

if TYPE_CHECKING:
    from windrow.batch.engine import MapProgress

Engine = Annotated[str, typer.Option("--engine", help="Where to run: local or spark.", metavar="NAME")]
Workers = Annotated[int, typer.Option("--workers", help="Processes; 0: one per core.", metavar="N", min=0)]


def index(
    inputs: Annotated[
        list[Path], typer.Argument(help="A crawl's directory, a folder, or WARC files.", metavar="DIR|FILE...")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory of the index; default: DIR/index.", metavar="DIR")
    ] = None,
    crawl: Annotated[
        str, typer.Option("--crawl", help="Name of the crawl in the table; default: of the directory.", metavar="NAME")
    ] = "",
    takedown: Annotated[
        Path | None,
        typer.Option(help="File of URLs, hosts and domains to leave out, besides DIR/takedown.txt.", metavar="FILE"),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all files again and compare each record with its digest.")
    ] = False,
    engine: Engine = "local",
    workers: Workers = 0,
    as_json: Json = False,
) -> None:
    """Index an archive by URL: CDXJ files, ZipNum shards, and a Parquet table for `windrow query`. Files that are
    in the index already are not read again. Exit code 1: a file is damaged."""
    sources, run = _jobs()
    options = run.IndexOptions(
        output=output or sources.output(inputs),
        takedown=takedown,
        check=verify,
        engine=engine,
        workers=workers,
    )
    found = sources.find(inputs, crawl)
    with _watched("files") as watch:
        summary = run.run(options, found, watch)
    if as_json:
        print_json(summary)
    else:
        what = f"{count(summary.captures, 'capture')} in {count(summary.files, 'archive file')}"
        out.print(f"{summary.output}: {what}; {summary.read:,} of them read now ({size(summary.bytes)})")
    for problem in summary.damaged.values():
        note(f"windrow: {problem}; everything before that is in the index")
    if summary.damaged:
        raise typer.Exit(1)


def _jobs() -> tuple[ModuleType, ModuleType]:
    """Import what needs the library pyarrow."""
    try:
        from windrow.batch.index import run, sources
    except ImportError as error:
        fix = "install it with: pip install 'windrow-corpus[query]'"
        raise ConfigError(f"an index needs the libraries pyarrow and duckdb ({error}); {fix}") from None
    return sources, run


@contextlib.contextmanager
def _watched(name: str) -> Iterator[Callable[["MapProgress"], None]]:
    """Show how many sources of a job are done."""
    with counter(name) as shown:
        yield lambda progress: shown(progress.done)
