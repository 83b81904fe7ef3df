"""`windrow query`: SQL over the columnar index of a crawl, or over that of Common Crawl.

The table has the name `ccindex`, and also `ccindex.ccindex` as in Athena, so that Common Crawl's example queries run
unchanged. Two functions of Athena that DuckDB calls otherwise are defined too.
"""

import csv
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import duckdb
import pyarrow
import pyarrow.parquet

from windrow.config import ConfigError
from windrow.io import storage
from windrow.jobs.index import merge, sources

NAME = "ccindex"
FORMATS = ("table", "csv", "json", "parquet")
SHOWN = 1000  # rows of a table on the screen
_BATCH = 10_000  # rows
_WIDEST = 120  # characters of a column on the screen
_FILES = ".parquet"
_MACROS = (
    "CREATE MACRO regexp_like(text, pattern) AS regexp_matches(text, pattern)",
    "CREATE MACRO approx_distinct(value) AS approx_count_distinct(value)",
)
_LINE = re.compile(r"\n+LINE (\d+): (.*)\n( *)\^")
_QUOTED = re.compile(r'"([^"]+)"|with name (\S+)')


class QueryResult:
    """The rows of a query, read in batches."""

    def __init__(self, reader: pyarrow.RecordBatchReader) -> None:
        self._reader = reader
        self.columns: list[str] = list(reader.schema.names)
        self.schema = reader.schema

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        try:
            yield from self._reader
        except (duckdb.Error, pyarrow.ArrowException) as error:
            raise ConfigError(f"the query failed: {_first_line(error)}") from None

    def rows(self) -> Iterator[tuple[Any, ...]]:
        for batch in self.batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def find(location: str) -> list[str]:
    """Return the Parquet files of a table: of a crawl's directory, an index, a folder, a URL, or a list of paths."""
    if location.endswith((".paths.gz", ".paths")):
        return _listed(location)
    if storage.is_remote(location):
        files = storage.find(location, _FILES)
    elif Path(location).is_file():
        files = [location]
    else:
        path = Path(location)
        if not path.is_dir():
            raise ConfigError(f"{location}: there is no such directory; name a crawl, an index or a folder of a table")
        homes = (path / sources.INDEX / merge.TABLE, path / merge.TABLE, path)
        home = next(home for home in homes if home.is_dir())
        files = list(map(str, storage.walk(home, _FILES)))
    if not files:
        fix = f"make it with: windrow index {location}" if not storage.is_remote(location) else "check the address"
        raise ConfigError(f"{location} has no table of an index (files that end in {_FILES}); {fix}")
    return files


def _listed(location: str) -> list[str]:
    """Return the files that a list of paths names, as Common Crawl publishes it: relative to its bucket."""
    if storage.is_remote(location):
        system, path = storage.filesystem(location)
        data = storage.attempt(location, lambda: system.cat_file(path))
        root = location.partition("crawl-data/")[0] if "crawl-data/" in location else location.rpartition("/")[0] + "/"
    else:
        data = Path(location).read_bytes()
        parts = Path(location).absolute().parts
        at = parts.index("crawl-data") if "crawl-data" in parts else len(parts) - 1
        root = f"{Path(*parts[:at])}/"
    try:
        text = (gzip.decompress(data) if location.endswith(".gz") else data).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"{location} is not a list of paths ({error}); name another file") from None
    return [root + line for line in text.split() if line.endswith(_FILES)]


def connect(files: list[str]) -> duckdb.DuckDBPyConnection:
    """Return a database with the table."""
    connection = duckdb.connect()
    connection.execute("SET autoinstall_known_extensions = false")  # nothing is fetched but what the user names
    for scheme in sorted({storage.scheme(file) for file in files} - {""}):
        example = next(file for file in files if storage.scheme(file) == scheme)
        connection.register_filesystem(storage.for_duckdb(example))
    names = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    connection.execute(f"CREATE SCHEMA {NAME}")
    try:
        connection.execute(
            f"CREATE VIEW {NAME}.{NAME} AS SELECT * FROM "  # noqa: S608 - `names` are quoted above
            f"read_parquet([{names}], hive_partitioning = true, hive_types_autocast = false, union_by_name = true)"
        )
        connection.execute(f"CREATE VIEW {NAME} AS SELECT * FROM {NAME}.{NAME}")  # noqa: S608 - a constant
    except Exception as error:  # also those of the driver of a remote file
        raise ConfigError(f"{files[0]} cannot be read as a table: {_first_line(error)}; index again") from None
    for macro in _MACROS:
        connection.execute(macro)
    return connection


def run(location: str, query: str, source: str = "the query") -> QueryResult:
    """Run one SELECT over the table of a place. `source`: where the query is from, for errors."""
    if not query.strip():
        raise ConfigError(f"{source} is empty; write for example: SELECT count(*) FROM {NAME}")  # noqa: S608 - for the user
    connection = connect(find(location))
    try:
        _check(connection.extract_statements(query), source)
        return QueryResult(connection.sql(query).to_arrow_reader(_BATCH))
    except duckdb.Error as error:
        raise ConfigError(explain(str(error), query, source)) from None


def _check(statements: Sequence[duckdb.Statement], source: str) -> None:
    """Refuse everything but one SELECT: an index is read and never changed."""
    if len(statements) != 1:
        raise ConfigError(f"{source} has {len(statements)} statements; write one SELECT")
    kind = statements[0].type.name
    if kind not in ("SELECT", "EXPLAIN"):
        raise ConfigError(f"{source} is a {kind}, which gives no rows; write a SELECT")


def explain(message: str, query: str, source: str) -> str:
    """Return an error of DuckDB as one sentence with its place in the query."""
    match = _LINE.search(message)
    what = " ".join(message[: match.start()].split() if match else message.split("\n\n")[0].split())
    what = re.sub(r"^[A-Za-z ]*Error: ", "", what).rstrip(".")
    if match:
        whole = query.split("\n")[int(match[1]) - 1 : int(match[1])] == [match[2]]
        position = f", line {match[1]}" + (f", column {len(match[3]) - len(f'LINE {match[1]}: ') + 1}" if whole else "")
        return f"{source}{position}: {what}"
    named = _QUOTED.search(what)
    at = query.find(named[1] or named[2]) if named else -1
    if at < 0:
        return f"{source}: {what}"
    line, column = query.count("\n", 0, at) + 1, at - query.rfind("\n", 0, at)
    return f"{source}, line {line}, column {column}: {what}"


def write(result: QueryResult, form: str, out: TextIO, shown: int = SHOWN) -> int:
    """Write the rows as text; return how many. Of a table at most `shown` rows are written."""
    if form == "csv":
        return _write_csv(result, out)
    if form == "json":
        return _write_json(result, out)
    return _write_table(result, out, shown)


def write_parquet(result: QueryResult, path: Path) -> int:
    rows = 0
    with pyarrow.parquet.ParquetWriter(path, result.schema) as writer:
        for batch in result.batches():
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _write_csv(result: QueryResult, out: TextIO) -> int:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(result.columns)
    rows = 0
    for row in result.rows():
        writer.writerow(["" if value is None else _text(value) for value in row])
        rows += 1
    return rows


def _write_json(result: QueryResult, out: TextIO) -> int:
    """Write an array with one object per line."""
    rows = 0
    for row in result.rows():
        out.write(",\n" if rows else "[\n")
        out.write(json.dumps(dict(zip(result.columns, row, strict=True)), ensure_ascii=False, default=_text))
        rows += 1
    out.write("\n]\n" if rows else "[]\n")
    return rows


def _write_table(result: QueryResult, out: TextIO, shown: int) -> int:
    kept: list[list[str]] = []
    rows = 0
    numeric = [pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) for kind in result.schema.types]
    for row in result.rows():
        rows += 1
        if rows <= shown:
            kept.append(["null" if value is None else _text(value) for value in row])
    for line in _aligned([result.columns, *kept], numeric):
        out.write(line.rstrip() + "\n")
    return rows


def _aligned(rows: list[list[str]], numeric: list[bool]) -> Iterable[str]:
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, numeric, strict=True)
        yield "  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in cells)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]  # of the driver of a remote file
    return re.sub(r"^[A-Za-z ]*Error: ", "", line.strip())
