"""`windrow query`."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from windrow.cli.terminal import note
from windrow.config import ConfigError

Place = Annotated[
    str,
    typer.Argument(help="A crawl's directory, an index, or folder, file or URL of Parquet files.", metavar="DIR|URL"),
]


def query(
    place: Place,
    sql: Annotated[
        str, typer.Argument(help="A SELECT over the table ccindex.", metavar="SQL", show_default=False)
    ] = "",
    file: Annotated[Path | None, typer.Option("--file", help="Read the query from a file.", metavar="FILE.sql")] = None,
    form: Annotated[
        str, typer.Option("--format", "-f", help="table, csv, json or parquet.", metavar="FORMAT")
    ] = "table",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.", metavar="FILE")] = None,
) -> None:
    """Run SQL over the index of a crawl, or of Common Crawl. Its table is named ccindex."""
    job = load_job()
    text, source = given(sql, file)
    if form not in job.FORMATS:
        raise ConfigError(f"there is no format {form!r}; choose one of {', '.join(job.FORMATS)}")
    if form == "parquet" and output is None:
        raise ConfigError("a Parquet file is not text; name it with -o FILE")
    result = job.run(place, text, source)
    if form == "parquet":
        job.write_parquet(result, output)
    elif output is not None:
        with output.open("w", encoding="utf-8") as stream:
            job.write(result, form, stream)
    else:
        rows = job.write(result, form, sys.stdout)
        if form == "table" and rows > job.SHOWN:
            note(f"{rows - job.SHOWN:,} more rows; see all of them with --format csv")


def load_job() -> ModuleType:
    """Import what needs the library DuckDB."""
    try:
        from windrow.jobs.index import query as job
    except ImportError as error:
        fix = "install them with: pip install 'windrow-corpus[query]'"
        raise ConfigError(f"queries need the libraries duckdb and pyarrow ({error}); {fix}") from None
    return job


def given(sql: str, file: Path | None) -> tuple[str, str]:
    """Return the text of the query, and where it is from."""
    if bool(sql) == (file is not None):
        raise ConfigError("give the query either as an argument or with --file FILE.sql")
    if file is None:
        return sql, "the query"
    try:
        return file.read_text("utf-8-sig"), str(file)
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8; save the query as UTF-8") from None
