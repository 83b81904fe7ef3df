"""`windrow report` and `what-if`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from windrow import log
from windrow.cli.archive.engines import Workers, installed
from windrow.cli.terminal import Directory, Json, Settings, counter, out, print_json, progress, undivided
from windrow.inspect import report as reports
from windrow.inspect.report.data import Numbers
from windrow.units import count

_SMALL = 16 << 20  # bytes of logs that are read before other processes have started


def report(
    directories: Annotated[
        list[Path], typer.Argument(help="A crawl's directory; several crawls are compared.", metavar="DIR")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File or directory of the page; default: DIR/report.", metavar="OUT"),
    ] = None,
    unit: Annotated[
        str, typer.Option("--by", help="Show the yield per domain or per host.", metavar="UNIT")
    ] = "domain",
    png: Annotated[
        bool, typer.Option("--png", help="Also write the pictures as PNG; needs windrow-corpus[png].")
    ] = False,
    workers: Workers = 0,
    as_json: Json = False,
) -> None:
    """Show what a crawl did, as a page with pictures, from its log alone. With --json, print the numbers instead."""
    parts = undivided(directories)  # says which shards are not here
    size = sum(map(log.length, parts))
    if len(set(directories)) > 1 and (workers > 1 or (workers == 0 and size >= _SMALL and installed())):
        crawls = _in_parallel(directories, unit, workers)
    else:
        with progress("report", size) as watch:
            crawls = reports.read(directories, unit, watch)
    if as_json:
        print_json(crawls[0] if len(crawls) == 1 else crawls)
    for note in [f"{numbers.name}: {note}" for numbers in crawls for note in numbers.notes]:
        typer.echo(note, err=True)
    if output is not None or not as_json:
        made = reports.write(crawls, output or reports.place(directories), png)
        if not as_json:
            out.print(f"{made.page} written, with {count(len(made.pictures), 'picture')}")


def _in_parallel(directories: list[Path], unit: str, workers: int) -> list[Numbers]:
    """Fold the logs of several crawls at the same time."""
    from windrow.jobs import engine

    engine.require()
    from windrow.jobs.engine import results

    paths = list(dict.fromkeys(map(str, directories)))
    with (
        counter("crawls read") as show,
        engine.open("local", workers=workers, watch=lambda progress: show(progress.done)) as run,
    ):
        encoded = results.call(run, "windrow.inspect.report:of_directory", paths, (unit,))
    numbers = dict(zip(paths, [msgspec.json.decode(crawl, type=Numbers) for crawl in encoded], strict=True))
    return reports.named([numbers[str(directory)] for directory in directories], directories)


def what_if(
    directory: Directory,
    thresholds: Annotated[
        list[str] | None,
        typer.Option("--threshold", help="strict, normal, permissive, off, or a,b. Repeatable.", metavar="T"),
    ] = None,
    ladder: Annotated[str, typer.Option(help="Yields separated by commas; default: SpiderLing's.")] = "",
    unit: Annotated[str, typer.Option("--by", help="Retire by domain or by host.", metavar="UNIT")] = "domain",
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute what other yield thresholds would have changed, from the log alone. --set changes options of
    [frontier]."""
    from windrow.inspect import whatif as job

    asked = job.question(directory, thresholds or [], ladder, unit, settings or [])
    with progress("what-if", log.length(directory)) as watch:
        tables = job.run(directory, asked, watch)
    if as_json:
        print_json(tables)
    else:
        out.print(job.text(tables))
