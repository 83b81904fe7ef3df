"""Call a function once per source on an engine, and return what it returned, as JSON.

For work that is a record per source and not rows, such as the fold over the log of a crawl.
"""

import functools
from collections.abc import Iterator, Sequence

import msgspec
import pyarrow

from windrow import plugins
from windrow.config import ConfigError
from windrow.jobs.engine.protocol import Engine

SCHEMA = pyarrow.schema([pyarrow.field("result", pyarrow.binary(), nullable=False)])


def call(engine: Engine, reference: str, sources: Sequence[str], arguments: tuple[str, ...] = ()) -> list[bytes]:
    """Return the results in the order of the sources, each of which is named once. ConfigError: one has failed.

    `reference`: "package.module:function"; it is called with a source and the arguments.
    """
    work = functools.partial(rows, reference=reference, arguments=arguments)
    table = engine.map(sources, work, SCHEMA)
    if table.bad:
        raise ConfigError(table.bad[0].problem)
    return [data for batch in table.batches() for data in batch.column(0).to_pylist()]


def rows(source: str, reference: str, arguments: tuple[str, ...]) -> Iterator[pyarrow.RecordBatch]:
    value = plugins.load(reference, "job")(source, *arguments)
    yield pyarrow.RecordBatch.from_arrays([pyarrow.array([msgspec.json.encode(value)])], schema=SCHEMA)
