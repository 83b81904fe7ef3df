"""Rows in Parquet files: of each finished source of a map one file, and of each query and sort some.

The footer of a source's file says of which source the rows are, and in which state it was. So a file that is there is
complete and counts, whichever process or machine wrote it, and there is no second record that could disagree with it.
"""

import functools
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow
import pyarrow.parquet

from windrow import files
from windrow.config import ConfigError
from windrow.io import storage
from windrow.jobs.engine.protocol import BadSource, MapFunction

BATCH = 1 << 16  # rows
_BYTES = 32 << 20  # after which a group of rows is written even with fewer rows
_FOOTER = b"windrow.source"


class SourceState(msgspec.Struct, frozen=True):
    """Which file the rows are of: if it has changed since, they do not count."""

    source: str
    size: int  # bytes; -1 if it is not a file
    changed: int  # when it was last changed, in nanoseconds; of an address, a hash of what its server says


class PartTable:
    """A table in files, in order."""

    def __init__(self, schema: pyarrow.Schema, paths: Sequence[Path], bad: Sequence[BadSource] = ()) -> None:
        self.schema = schema
        self.paths = paths
        self.bad = bad

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        return cast(read(self.paths), self.schema)


class MapParts:
    """The directory of one map."""

    def __init__(self, directory: Path, function: MapFunction, schema: pyarrow.Schema) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        _check_same(directory / "job.txt", f"{describe(function)}\n{schema.to_string(show_schema_metadata=False)}\n")

    def path(self, source: str) -> Path:
        """Return the file of a source's rows. The name does not depend on the other sources."""
        return self._directory / f"{hashlib.blake2b(source.encode(), digest_size=12).hexdigest()}.parquet"

    def rows(self, source: str) -> int | None:
        """Return how many rows a source has given; None if it is not done, or has changed since."""
        path = self.path(source)
        return finished(path, state(source)) if path.exists() else None  # an address is asked only if need be


def state(source: str) -> SourceState:
    return SourceState(source, *storage.state(source))


def finished(path: Path, of: SourceState) -> int | None:
    """Return the number of rows in a file that holds those of a source in this state; None if it does not."""
    try:
        metadata = pyarrow.parquet.read_metadata(path)
    except (OSError, pyarrow.ArrowInvalid):
        return None
    return int(metadata.num_rows) if metadata.metadata.get(_FOOTER) == msgspec.json.encode(of) else None


def write(
    path: Path, batches: Iterable[pyarrow.RecordBatch], schema: pyarrow.Schema, of: SourceState | None = None
) -> int:
    """Write a file of rows, which appears when it is complete; return how many."""
    rows = 0
    with (
        files.replacing(path) as file,
        pyarrow.parquet.ParquetWriter(file, schema, compression="snappy") as writer,
    ):
        for table in _groups(batches, schema):
            writer.write_table(table)
            rows += table.num_rows
        if of is not None:
            writer.add_key_value_metadata({_FOOTER: msgspec.json.encode(of)})
    return rows


def read(paths: Iterable[Path]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of files, in order; no batch is larger than a group of rows, whatever the rows hold."""
    for path in paths:
        with pyarrow.parquet.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                yield from file.iter_batches(BATCH, row_groups=[group])


def cast(batches: Iterator[pyarrow.RecordBatch], schema: pyarrow.Schema) -> Iterator[pyarrow.RecordBatch]:
    """Give the rows the types that their table has: the files of a database may have others."""
    return (batch.cast(schema) for batch in batches)


def count(paths: Iterable[Path]) -> int:
    return sum(pyarrow.parquet.read_metadata(path).num_rows for path in paths)


def cut(paths: Sequence[Path], schema: pyarrow.Schema, targets: Sequence[Path]) -> None:
    """Write the rows again, into files of equal length; the first ones have one row more."""
    each, more = divmod(count(paths), len(targets))
    rows = _Rows(read(paths))
    for number, target in enumerate(targets):
        write(target, rows.take(each + (number < more)), schema)


def plain(schema: pyarrow.Schema) -> pyarrow.Schema:
    """Return the schema of a query in the types that every engine has, so that equal rows have equal types.

    DuckDB sums integers to 128 bits, which become a decimal; Spark makes decimals of some fractions; each names the
    elements of lists in its own way.
    """
    return pyarrow.schema([(field.name, _plain(field.type)) for field in schema])


def _plain(kind: pyarrow.DataType) -> pyarrow.DataType:
    if pyarrow.types.is_decimal(kind):
        return pyarrow.float64() if kind.scale else pyarrow.int64()
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        return pyarrow.list_(_plain(kind.value_type))
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([(field.name, _plain(field.type)) for field in kind])
    return kind


def describe(function: MapFunction) -> str:
    """Return the name of a function, with the options bound to it: what must be equal for a run to continue."""
    if isinstance(function, functools.partial):
        options = [repr(value) for value in function.args]
        options += [f"{name}={value!r}" for name, value in sorted(function.keywords.items())]
        return f"{describe(function.func)}({', '.join(options)})"
    return f"{function.__module__}:{function.__qualname__}"


def _check_same(path: Path, description: str) -> None:
    """Refuse to mix the rows of two jobs."""
    try:
        other = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        with files.replacing(path) as file:
            file.write(description.encode())
        return
    if other != description:
        raise ConfigError(
            f"{path.parent} holds the unfinished work of a job with other options ({other.splitlines()[0]}); "
            "run that command to its end, or delete the directory"
        )


def _groups(batches: Iterable[pyarrow.RecordBatch], schema: pyarrow.Schema) -> Iterator[pyarrow.Table]:
    """Gather small batches: each group of rows costs some kB in the file, whatever its size."""
    held: list[pyarrow.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= BATCH or size >= _BYTES:
            yield pyarrow.Table.from_batches(held, schema)
            held, rows, size = [], 0, 0
    if held:
        yield pyarrow.Table.from_batches(held, schema)


class _Rows:
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
