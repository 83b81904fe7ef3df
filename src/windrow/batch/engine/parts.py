"""The rows of finished sources on disk: one Parquet file per source, and a manifest that names those which count."""

import functools
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow
import pyarrow.parquet

from windrow import files
from windrow.batch.engine.protocol import MapFunction
from windrow.config import ConfigError

_ROWS = 1 << 16  # of a group of rows
_BYTES = 32 << 20  # after which a group is written even with fewer rows


class FinishedPart(msgspec.Struct, frozen=True):
    """A source that is done: one line of the manifest."""

    source: str
    size: int  # bytes of the source; -1 if it is not a file here
    changed: int  # when the source was last changed, in nanoseconds
    rows: int


class MapParts:
    """The directory of one map."""

    def __init__(self, directory: Path, function: MapFunction, schema: pyarrow.Schema) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._manifest = directory / "done.jsonl"
        _claim(directory / "job.txt", f"{describe(function)}\n{schema.to_string(show_schema_metadata=False)}\n")
        self._done = {row.source: row for row in _rows(self._manifest)}

    def path(self, source: str) -> Path:
        """Return the file of a source's rows. The name does not depend on the other sources."""
        return self._directory / f"{hashlib.blake2b(source.encode(), digest_size=12).hexdigest()}.parquet"

    def rows(self, source: str) -> int | None:
        """Return how many rows a source has given; None if it is not done, or has changed since."""
        row = self._done.get(source)
        same = row is not None and (row.size, row.changed) == _state(source) and self.path(source).exists()
        return row.rows if row is not None and same else None

    def finish(self, source: str, rows: int) -> None:
        """Note that the part of a source is complete."""
        size, changed = _state(source)
        row = self._done[source] = FinishedPart(source, size, changed, rows)
        with self._manifest.open("ab") as file:
            file.write(msgspec.json.encode(row) + b"\n")


def write(path: Path, batches: Iterable[pyarrow.RecordBatch], schema: pyarrow.Schema) -> int:
    """Write a file of rows, which appears when it is complete; return how many."""
    rows = 0
    with (
        files.replacing(path) as file,
        pyarrow.parquet.ParquetWriter(file, schema, compression="lz4") as writer,
    ):
        for table in _groups(batches, schema):
            writer.write_table(table)
            rows += table.num_rows
    return rows


def read(paths: Sequence[Path]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of files, in order."""
    for path in paths:
        with pyarrow.parquet.ParquetFile(path) as file:
            yield from file.iter_batches(_ROWS)


def count(paths: Sequence[Path]) -> int:
    return sum(pyarrow.parquet.read_metadata(path).num_rows for path in paths)


def describe(function: MapFunction) -> str:
    """Return the name of a function, with the options bound to it: what must be equal for a run to continue."""
    if isinstance(function, functools.partial):
        options = [repr(value) for value in function.args]
        options += [f"{name}={value!r}" for name, value in sorted(function.keywords.items())]
        return f"{describe(function.func)}({', '.join(options)})"
    return f"{function.__module__}:{function.__qualname__}"


def _claim(path: Path, description: str) -> None:
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


def _rows(manifest: Path) -> Iterator[FinishedPart]:
    """Yield the lines that are whole: the last one may have been cut short."""
    if manifest.exists():
        for line in manifest.read_bytes().split(b"\n"):
            try:
                yield msgspec.json.decode(line, type=FinishedPart)
            except msgspec.DecodeError:
                continue


def _state(source: str) -> tuple[int, int]:
    try:
        found = os.stat(source)
    except OSError:
        return -1, 0
    return found.st_size, found.st_mtime_ns


def _groups(batches: Iterable[pyarrow.RecordBatch], schema: pyarrow.Schema) -> Iterator[pyarrow.Table]:
    """Gather small batches: each group of rows costs some kB in the file, whatever its size."""
    held: list[pyarrow.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= _ROWS or size >= _BYTES:
            yield pyarrow.Table.from_batches(held, schema)
            held, rows, size = [], 0, 0
    if held:
        yield pyarrow.Table.from_batches(held, schema)
