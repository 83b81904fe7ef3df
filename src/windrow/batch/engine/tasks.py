"""What the worker processes of the local engine do: rows of one source to a part, rows of one part to an output file.

DuckDB is not imported here: a worker does not need it.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow

from windrow import files
from windrow.batch.engine import parts
from windrow.batch.engine.protocol import FileWriter, MapFunction, OutputFile
from windrow.batch.engine.worker import WorkerAnswer


def map_source(function: MapFunction, schema: pyarrow.Schema, source: str, part: str) -> WorkerAnswer:
    return WorkerAnswer(rows=parts.write(Path(part), function(source), schema))


def write_part(writer: FileWriter, part: str, path: str) -> WorkerAnswer:
    written = write(writer, parts.read([Path(part)]), Path(path))
    return WorkerAnswer(rows=written.rows, note=written.note)


def write(writer: FileWriter, batches: Iterator[pyarrow.RecordBatch], path: Path) -> OutputFile:
    """Write one output file, which appears when it is complete."""
    rows = 0

    def counted() -> Iterator[pyarrow.RecordBatch]:
        nonlocal rows
        for batch in batches:
            rows += batch.num_rows
            yield batch

    new = path.with_name(f".new.{path.name}")  # the suffix stays: it may say how the file is packed
    try:
        note = writer(new, counted())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    files.sync_directory(path.parent)
    return OutputFile(path, rows, path.stat().st_size, note)
