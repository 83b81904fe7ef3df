"""The engine of one machine: worker processes for `map` and `write`, DuckDB for `sql` and for sorting."""

import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import pyarrow

from windrow.batch.engine import parts, pool, tasks, worker
from windrow.batch.engine.protocol import BadSource, FileWriter, MapFunction, MapProgress, OutputFile, Table
from windrow.config import ConfigError

_BATCH = 1 << 16  # rows


class LocalTable:
    """Rows in files of a work directory."""

    def __init__(self, schema: pyarrow.Schema, paths: Sequence[Path], bad: Sequence[BadSource] = ()) -> None:
        self.schema = schema
        self.paths = paths
        self.bad = bad

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        return parts.read(self.paths)


class LocalEngine:
    """See `Engine`."""

    def __init__(self, work: Path | None, workers: int, watch: Callable[[MapProgress], None]) -> None:
        self._temporary = work is None
        self._work = Path(tempfile.mkdtemp(prefix="windrow-")) if work is None else work
        self._work.mkdir(parents=True, exist_ok=True)
        self._workers = workers or pool.cores()
        self._watch = watch
        self._maps = self._tables = 0  # made so far: the same command makes them in the same order
        self._bad = False  # whether a source was bad: the same command tries it again
        self._connection = duckdb.connect()
        self._connection.execute(f"SET threads = {self._workers}")
        self._connection.execute("SET temp_directory = ?", [str(self._work / "spill")])

    def map(self, sources: Sequence[str], function: MapFunction, schema: pyarrow.Schema) -> LocalTable:
        self._maps += 1
        sources = list(dict.fromkeys(sources))
        done = parts.MapParts(self._work / f"map-{self._maps}", function, schema)
        known = {source: done.rows(source) for source in sources}
        rows = sum(count or 0 for count in known.values())
        left = [source for source in sources if known[source] is None]
        finished, bad = len(sources) - len(left), {}
        self._watch(MapProgress(finished, len(sources), rows, 0))
        pairs = [(source, str(done.path(source))) for source in sorted(left, key=_size, reverse=True)]
        work = functools.partial(tasks.map_source, function, schema)
        for source, answer in pool.run(pairs, work, self._workers):
            if answer.problem:
                bad[source] = BadSource(source, answer.problem)
            else:
                done.finish(source, answer.rows)
            finished, rows = finished + 1, rows + answer.rows
            self._watch(MapProgress(finished, len(sources), rows, len(bad)))
        self._bad |= bool(bad)
        good = [done.path(source) for source in sources if source not in bad]
        return LocalTable(schema, good, [bad[source] for source in sources if source in bad])

    def sql(self, query: str, **tables: Table) -> LocalTable:
        for name, table in tables.items():
            self._view(name, table)
        return self._query(query)

    def write(
        self, table: Table, target: str, writer: FileWriter, sort: Sequence[str] = (), files: int = 1
    ) -> list[OutputFile]:
        paths = _targets(target, files)
        paths[0].parent.mkdir(parents=True, exist_ok=True)
        ordered = self._sorted(table, sort) if sort else _local(table)
        if files == 1:
            try:
                return [tasks.write(writer, ordered.batches(), paths[0])]
            except Exception as error:  # the writer is part of a job, see worker.py
                raise _unwritten(paths[0], worker.problem(error)) from error
        chunks = self._chunks(ordered, files)
        pairs = [(str(chunk), str(path)) for chunk, path in zip(chunks, paths, strict=True)]
        written: dict[str, OutputFile] = {}
        for chunk, answer in pool.run(pairs, functools.partial(tasks.write_part, writer), self._workers):
            path = paths[chunks.index(Path(chunk))]
            if answer.problem:
                raise _unwritten(path, answer.problem)
            written[chunk] = OutputFile(path, answer.rows, path.stat().st_size, answer.note)
        return [written[str(chunk)] for chunk in chunks]

    def ship(self, module: str) -> str:
        return module  # the workers see the same files

    def close(self) -> None:
        self._connection.close()
        if self._temporary:
            shutil.rmtree(self._work, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if kind is None and not self._bad:
            shutil.rmtree(self._work, ignore_errors=True)

    def _view(self, name: str, table: Table) -> None:
        paths = [str(path) for path in _local(table).paths]
        empty = table.schema.empty_table()
        rows = self._connection.read_parquet(paths) if paths else self._connection.from_arrow(empty)
        rows.create_view(name, replace=True)

    def _sorted(self, table: Table, sort: Sequence[str]) -> LocalTable:
        keys = ", ".join(f'"{column}" NULLS FIRST' for column in sort)
        self._view("unsorted", table)
        return self._query(f"SELECT * FROM unsorted ORDER BY {keys}", table.schema)

    def _query(self, query: str, schema: pyarrow.Schema | None = None) -> LocalTable:
        """`schema`: of the result, where DuckDB's own types are not those of the table it read."""
        path = self._next_path()
        try:
            found = self._connection.sql(query)
            if found is None:
                raise ConfigError(f"this query gives no rows, so it is no SELECT: {query}")
            reader: pyarrow.RecordBatchReader = found.to_arrow_reader(_BATCH)
            schema = reader.schema if schema is None else schema
            parts.write(path, (batch.cast(schema) for batch in reader), schema)
        except duckdb.Error as error:
            raise ConfigError(f"the query failed: {str(error).strip()}") from None
        return LocalTable(schema, [path])

    def _chunks(self, table: LocalTable, files: int) -> list[Path]:
        """Cut the rows into files of equal length; the first ones have one row more."""
        each, more = divmod(parts.count(table.paths), files)
        rows = _Cut(table.batches())
        found = []
        for number in range(files):
            found.append(self._next_path())
            parts.write(found[-1], rows.take(each + (number < more)), table.schema)
        return found

    def _next_path(self) -> Path:
        self._tables += 1
        return self._work / f"table-{self._tables}.parquet"


class _Cut:
    """Batches, taken by number of rows."""

    def __init__(self, batches: Iterator[pyarrow.RecordBatch]) -> None:
        self._batches = batches
        self._rest: pyarrow.RecordBatch | None = None

    def take(self, rows: int) -> Iterator[pyarrow.RecordBatch]:
        while rows:
            batch = self._rest if self._rest is not None else next(self._batches)
            self._rest = batch.slice(rows) if batch.num_rows > rows else None
            batch = batch.slice(0, rows)
            rows -= batch.num_rows
            yield batch


def _targets(target: str, files: int) -> list[Path]:
    """Return the path of each file; only the name may have a place for the number."""
    path = Path(target)
    found = [path.with_name(path.name.format(number)) for number in range(files)] if files > 1 else [path]
    if len(set(found)) < len(found):
        raise ConfigError(f"{target} names one file, and {files} are to be written; put {{:05}} into the name")
    return found


def _unwritten(path: Path, problem: str) -> ConfigError:
    return ConfigError(f"{path} could not be written: {problem}; fix that and run the same command again")


def _local(table: Table) -> LocalTable:
    assert isinstance(table, LocalTable), "a table belongs to the engine that made it"
    return table


def _size(source: str) -> int:
    """Return the bytes of a source: the largest come first, so that no worker is left alone with one at the end."""
    try:
        return os.stat(source).st_size
    except OSError:
        return 0
