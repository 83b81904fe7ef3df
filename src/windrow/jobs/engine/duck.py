"""Queries of the local engine: DuckDB over Parquet files. Rows that do not fit in memory go to the work directory."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import pyarrow

from windrow.config import ConfigError
from windrow.jobs.engine import parts
from windrow.jobs.engine.parts import PartTable


class DuckDatabase:
    """See `Database`."""

    def __init__(self, threads: int) -> None:
        self._connection = duckdb.connect()
        self._connection.execute(f"SET threads = {threads}")
        self._spills = False  # whether the directory for rows that do not fit in memory is set
        self._connection.execute("SET TimeZone = 'UTC'")  # so that a result does not depend on the machine

    def query(self, query: str, tables: Mapping[str, PartTable], path: Path) -> PartTable:
        for name, table in tables.items():
            self._view(name, table)
        return self._store(query, path)

    def ranges(self, table: PartTable, sort: Sequence[str], paths: Sequence[Path]) -> None:
        keys = ", ".join(f'"{column}" NULLS FIRST' for column in sort)
        self._view("unsorted", table)
        query = f"SELECT * FROM unsorted ORDER BY {keys}"  # noqa: S608 - columns of our own schemas
        ordered = self._store(query, paths[0].with_suffix(".sorted"), table.schema)
        parts.cut(ordered.paths, table.schema, paths)
        ordered.paths[0].unlink()

    def close(self) -> None:
        self._connection.close()

    def _view(self, name: str, table: PartTable) -> None:
        paths = [str(path) for path in table.paths]
        empty = table.schema.empty_table()
        rows = self._connection.read_parquet(paths) if paths else self._connection.from_arrow(empty)
        rows.create_view(name, replace=True)

    def _store(self, query: str, path: Path, schema: pyarrow.Schema | None = None) -> PartTable:
        """`schema`: of the result, where DuckDB's own types are not those of the table it read."""
        if not self._spills:  # DuckDB refuses another directory, even the same, once it has used one
            self._connection.execute("SET temp_directory = ?", [str(path.parent / "spill")])
            self._spills = True
        try:
            relation = self._connection.sql(query)
            if relation is None:
                raise ConfigError(f"this query gives no rows, so it is no SELECT: {query}")
            reader: pyarrow.RecordBatchReader = relation.to_arrow_reader(parts.BATCH)
            schema = parts.plain(reader.schema) if schema is None else schema
            parts.write(path, (batch.cast(schema) for batch in reader), schema)
        except duckdb.Error as error:
            raise ConfigError(f"the query failed: {str(error).strip()}") from None
        return PartTable(schema, [path])
