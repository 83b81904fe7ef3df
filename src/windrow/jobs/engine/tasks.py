"""What worker processes do on every engine: rows of one source to a part, rows of one part to an output file.

DuckDB and Spark are not imported here: a worker does not need them.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow

from windrow import files
from windrow.jobs.engine import parts
from windrow.jobs.engine.protocol import FileWriter, MapFunction, OutputFile
from windrow.jobs.engine.worker import WorkerAnswer


def map_source(function: MapFunction, schema: pyarrow.Schema, source: str, part: str) -> WorkerAnswer:
    """Spark may repeat a task that is done, or run a slow one twice: then two workers write to different files."""
    state = parts.state(source)  # before it is read: a change meanwhile makes the rows void
    done = parts.finished(Path(part), state)
    if done is not None:
        return WorkerAnswer(rows=done)
    own = Path(f"{part}.{os.uname().nodename}.{os.getpid()}")
    rows = parts.write(own, function(source), schema, state)
    own.replace(part)
    return WorkerAnswer(rows=rows)


def write_part(writer: FileWriter, schema: pyarrow.Schema, part: str, path: str) -> WorkerAnswer:
    written = write(writer, parts.cast(parts.read([Path(part)]), schema), Path(path))
    return WorkerAnswer(rows=written.rows, note=written.note)


def write(writer: FileWriter, batches: Iterator[pyarrow.RecordBatch], path: Path) -> OutputFile:
    """Write one output file, which appears when it is complete."""
    rows = 0

    def counted() -> Iterator[pyarrow.RecordBatch]:
        nonlocal rows
        for batch in batches:
            rows += batch.num_rows
            yield batch

    new = path.with_name(f".new.{os.getpid()}.{path.name}")  # the suffix stays: it may say how the file is packed
    try:
        note = writer(new, counted())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    files.sync_directory(path.parent)
    return OutputFile(path, rows, path.stat().st_size, note)
