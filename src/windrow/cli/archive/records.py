"""`windrow records`."""

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from windrow import config, plugins
from windrow.cli.archive import query as queries
from windrow.cli.terminal import Json, note, out, print_json, print_json_line
from windrow.config import ConfigError
from windrow.config.kinds import Plugin
from windrow.units import count, size

if TYPE_CHECKING:
    from windrow.jobs.index.places import Complain, RecordPlace
    from windrow.jobs.index.records import FetchedRecord


def records(
    place: Annotated[
        str,
        typer.Argument(help="A crawl's directory, an index or a table.", metavar="DIR|URL", show_default=False),
    ] = "",
    sql: Annotated[str, typer.Option("--sql", help="Take the records of a query over it.", metavar="SQL")] = "",
    file: Annotated[Path | None, typer.Option("--file", help="Read the query from a file.", metavar="FILE.sql")] = None,
    urls: Annotated[
        list[str] | None,
        typer.Option("--url", help="Take the captures of a URL, of URL* or of *.HOST. Repeatable.", metavar="URL"),
    ] = None,
    rows: Annotated[
        str,
        typer.Option("--csv", help="Take the records of a CSV file (- is standard input).", metavar="FILE"),
    ] = "",
    base: Annotated[str, typer.Option("--base", help="Directory or URL of the archive files.", metavar="DIR|URL")] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the records to this WARC file.", metavar="FILE")
    ] = None,
    extract: Annotated[
        bool, typer.Option("--extract", help="Print the main text of each page as a line of JSON.")
    ] = False,
    function: Annotated[
        str,
        typer.Option("--function", help="Call MODULE:NAME with each capture; print what it yields.", metavar="NAME"),
    ] = "",
    connections: Annotated[
        int, typer.Option("--connections", help="Requests at a time.", metavar="N", min=1, max=64)
    ] = 4,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    as_json: Json = False,
) -> None:
    """Fetch single records of an archive by byte range, from files here, HTTP or S3, and write them to a WARC file or
    read them on the fly. Exit code 2: some records could not be fetched."""
    if [bool(output), extract, bool(function)].count(True) != 1:
        raise ConfigError("say what to do with the records: either -o FILE, --extract or --function MODULE:NAME")
    if output is not None and output.exists() and not force:
        raise ConfigError(f"{output} already exists; name another file, or replace it with --force")
    job = queries.load_job()
    from windrow import files
    from windrow.jobs.index import records as fetching

    problems: list[str] = []

    def complain(problem: str) -> None:
        problems.append(problem)
        note(f"windrow: {problem}")

    wanted = _places(job, place, (sql, file, urls or [], rows), complain)
    options = fetching.RangeOptions(base=base or _base(place), connections=connections)
    fetched = fetching.fetch(wanted, options, complain)
    if output is not None:
        with files.replacing(output) as target:
            summary = fetching.write(fetched, target)
    else:
        summary = _process(fetched, _extracted() if extract else _loaded(function), complain)
    summary.problems = len(problems)
    if as_json and output is not None:
        print_json(summary)
    elif output is not None:
        out.print(f"{output}: {count(summary.records, 'record')}, {size(summary.bytes)}")
    if problems:
        note(f"windrow: {count(len(problems), 'record')} could not be read")
        raise typer.Exit(2)


def _places(
    job: Any, location: str, given: tuple[str, Path | None, list[str], str], complain: "Complain"
) -> "Iterator[RecordPlace]":
    """Return where the records are, from the one source that is given."""
    from windrow.jobs.index import lookup, places

    sql, file, urls, rows = given
    if [bool(sql or file), bool(urls), bool(rows)].count(True) != 1:
        raise ConfigError("say which records: either --sql SQL, --file FILE.sql, --url URL or --csv FILE")
    if not rows and not location:
        raise ConfigError("--sql and --url need an index; name the crawl's directory or the index first")
    if rows:
        stream = sys.stdin if rows == "-" else places.open_csv(Path(rows))
        return places.of_csv(stream, "stdin" if rows == "-" else rows, complain)
    if urls:
        return places.of_lines(line for pattern in urls for line in lookup.find(Path(location), pattern))
    result = job.run(location, *queries.given(sql, file))
    return places.of_rows(result.rows(), result.columns, complain)


def _base(location: str) -> str:
    """Return the directory of the archive files of an index here."""
    from windrow.jobs.index import lookup, manifest

    fix = "name their directory or URL with --base, for example --base https://data.commoncrawl.org"
    if not location or not Path(location).is_dir():
        raise ConfigError(f"the archive files of these records are not known; {fix}")
    home = lookup.home(Path(location))
    existing = manifest.read(home)
    if existing is None:
        raise ConfigError(f"{home} does not say where its archive files are; {fix}")
    return str(existing.root(home))


def _process(fetched: "Iterable[FetchedRecord]", function: Callable[[Any], Any], complain: "Complain") -> Any:
    """Print what the function gives for each capture."""
    from windrow.jobs.index.records import RecordsSummary

    summary = RecordsSummary()
    for record in fetched:
        if record.entry is None:
            complain(f"{record.place}: the record is a {record.record.type} without the body of a page")
            continue
        summary.records += 1
        summary.bytes += len(record.data)
        result = function(record.entry.capture)
        results = [result] if isinstance(result, dict | str | msgspec.Struct) else result or ()
        for value in results:
            print_json_line(value)
    return summary


def _loaded(reference: str) -> Callable[[Any], Any]:
    function: Callable[[Any], Any] = plugins.load(Plugin().apply(reference, "--function", Path.cwd()), "--function")
    return function


def _extracted() -> Callable[[Any], Any]:
    from windrow import extraction

    read = extraction.extractor(config.make(["extract.max_links=0"], Path.cwd()))

    def line(capture: Any) -> dict[str, Any]:
        page = read(capture)
        text = "\n".join(paragraph.text for paragraph in page.paragraphs if paragraph.kept)
        url = capture.task.url.text
        return {"url": url, "time": capture.time, "title": page.title, "date": page.date, "text": text}

    return line
