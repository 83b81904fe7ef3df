"""Run the job of a user over one file, reduce the values of a key, and write the results."""

import csv
import functools
import io
import operator
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow
import pyarrow.parquet

from windrow import archive, plugins
from windrow.config import ConfigError
from windrow.corpus import document as documents
from windrow.corpus import reader
from windrow.io import storage, streams
from windrow.jobs.batch.record import JobDocument, JobRecord
from windrow.jobs.inputs import archives

Process = Callable[[JobRecord | JobDocument], Iterable[tuple[object, object]] | None]
Reduce = Callable[[Any, Any], Any]

SCHEMA = pyarrow.schema([("key", pyarrow.string()), ("value", pyarrow.string()), ("kind", pyarrow.int32())])
# The rows of all files with one key together. Sorted values make the result the same in whatever order they came;
# without NULLs, ORDER BY means the same in every engine.
GROUPED = "SELECT key, array_sort(array_agg(value)) AS texts FROM pairs GROUP BY key"
KIND = "SELECT max(kind) AS kind FROM pairs"

WHOLE, FRACTION, OTHER = 0, 1, 2  # kinds of values: int, float, anything else that JSON can hold
_TYPES = {WHOLE: pyarrow.int64(), FRACTION: pyarrow.float64(), OTHER: pyarrow.string()}
_HELD = 200_000  # keys of a file that are held in memory; more make more than one row per key
_ENCODER = msgspec.json.Encoder()


class JobCode(NamedTuple):
    """The functions of a job."""

    process: Process
    reduce: Reduce


@functools.cache
def load(reference: str) -> JobCode:
    """Import a job: "/directory/module" for a file, "package.module" for an installed one."""
    process = plugins.load(f"{reference}:process", "JOB")
    module = plugins.load(f"{reference}:__dict__", "JOB")
    reduce = module.get("reduce", operator.add)
    for name, function in (("process", process), ("reduce", reduce)):
        if not callable(function):
            raise ConfigError(f"{reference}: {name} is not a function; define it as: def {name}(…)")
    return JobCode(process, reduce)


def of_file(source: str, reference: str, ends: tuple[tuple[str, int], ...] = ()) -> Iterator[pyarrow.RecordBatch]:
    """Yield the reduced pairs of an archive file, or of a shard of a corpus.

    `ends`: files that grow, and the bytes of them that count.
    """
    process, reduce = load(reference)
    sums: dict[str, Any] = {}
    for record in _records(source, dict(ends).get(source)):
        for key, value in process(record) or ():
            text = key if isinstance(key, str) else _ENCODER.encode(key).decode()
            sums[text] = reduce(sums[text], value) if text in sums else value
        if len(sums) >= _HELD:
            yield _batch(sums)
            sums = {}
    yield _batch(sums)


def _records(source: str, end: int | None) -> Iterator[JobRecord | JobDocument]:
    path = storage.place(source)
    if archives.is_documents(source):
        return (JobDocument(documents.read(line, location), line) for line, location, _ in reader.lines_of(path, end))
    return map(JobRecord, archive.records(path, end=end))


def _batch(sums: dict[str, Any]) -> pyarrow.RecordBatch:
    values = [_ENCODER.encode(value).decode() for value in sums.values()]
    kinds = [_kind(value) for value in sums.values()]
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(column, kind) for column, kind in zip((list(sums), values, kinds), SCHEMA.types, strict=True)],
        schema=SCHEMA,
    )


def _kind(value: object) -> int:
    if isinstance(value, bool):
        return OTHER
    return WHOLE if isinstance(value, int) else FRACTION if isinstance(value, float) else OTHER


def reduced(batches: Iterable[pyarrow.RecordBatch], reference: str, kind: int) -> Iterator[tuple[str, Any]]:
    """Yield each key with its value, from rows of GROUPED."""
    reduce = load(reference).reduce
    for batch in batches:
        for key, texts in zip(batch.column("key").to_pylist(), batch.column("texts").to_pylist(), strict=True):
            value = functools.reduce(reduce, map(msgspec.json.decode, texts))
            if _kind(value) > kind:
                fix = "yield values of the type that reduce returns"
                raise ConfigError(f"{reference}: reduce returned {value!r} for the key {key!r}; {fix}")
            yield key, value


def write_json(path: Path, batches: Iterator[pyarrow.RecordBatch], reference: str, kind: int) -> str:
    """One JSON object per line."""
    with streams.create(path) as file:
        for key, value in reduced(batches, reference, kind):
            file.write(_ENCODER.encode({"key": key, "value": value}) + b"\n")
    return ""


def write_csv(path: Path, batches: Iterator[pyarrow.RecordBatch], reference: str, kind: int) -> str:
    with streams.create(path) as file:
        file.write(b"key,value\n")
        for batch in batches:
            lines = io.StringIO()
            rows = csv.writer(lines, lineterminator="\n")
            for key, value in reduced([batch], reference, kind):
                rows.writerow((key, value if kind < OTHER else _ENCODER.encode(value).decode()))
            file.write(lines.getvalue().encode())
    return ""


def write_parquet(path: Path, batches: Iterator[pyarrow.RecordBatch], reference: str, kind: int) -> str:
    """The column `value` is int64, double, or JSON in a string, by the values of the whole job."""
    schema = pyarrow.schema([("key", pyarrow.string()), ("value", _TYPES[kind])])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            rows = list(reduced([batch], reference, kind))
            keys, values = [key for key, _ in rows], [value for _, value in rows]
            if kind == OTHER:
                values = [_ENCODER.encode(value).decode() for value in values]
            writer.write_table(pyarrow.table([pyarrow.array(keys), pyarrow.array(values, _TYPES[kind])], schema))
    return ""


WRITERS = {"json": write_json, "csv": write_csv, "parquet": write_parquet}
