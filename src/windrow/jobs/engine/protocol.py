"""What a job and its caller see of an engine."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import msgspec

if TYPE_CHECKING:
    import pyarrow

# From one source, a path or an address, to its rows. At the top of a module; options are bound with functools.partial.
MapFunction = Callable[[str], "Iterator[pyarrow.RecordBatch]"]

# Writes the rows to a new file of this path. What it returns is the `note` of the file: text of a few kB that the
# caller needs of each file, for example its lines of a secondary index.
FileWriter = Callable[[Path, "Iterator[pyarrow.RecordBatch]"], str]


class BadSource(msgspec.Struct, frozen=True):
    """A source whose rows are missing, and why."""

    source: str
    problem: str


class MapProgress(msgspec.Struct, frozen=True):
    """How far a map is."""

    done: int  # sources, with those of an earlier run and those that failed
    sources: int
    rows: int
    bad: int  # sources that failed


class SparkOptions(msgspec.Struct, frozen=True):
    """How to reach Spark."""

    master: str = ""  # spark://HOST:PORT, local[N], yarn, k8s://…; empty: as Spark's own configuration says
    conf: tuple[str, ...] = ()  # NAME=VALUE


class OutputFile(msgspec.Struct, frozen=True):
    """A file that `Engine.write` wrote."""

    path: Path
    rows: int
    bytes: int
    note: str  # what its writer returned


class Table(Protocol):
    """Rows, somewhere. They are read with `batches`, or handed to the engine that made the table."""

    @property
    def schema(self) -> "pyarrow.Schema": ...

    @property
    def bad(self) -> Sequence[BadSource]:
        """Return the sources that a map could not read, in their order."""

    def batches(self) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the rows in order, with bounded memory."""


class Engine(Protocol):
    """Runs a job. See the package for the order of rows, bad sources and stopped jobs."""

    def map(self, sources: Sequence[str], function: MapFunction, schema: "pyarrow.Schema") -> Table:
        """Call the function for each source; a source that is named twice counts once."""

    def sql(self, query: str, **tables: Table) -> Table:
        """Return the rows of a SELECT over tables, under the names they have here. Only ORDER BY orders them."""

    def write(
        self, table: Table, target: str, writer: FileWriter, sort: Sequence[str] = (), files: int = 1
    ) -> list[OutputFile]:
        """Write the rows, sorted by these columns, to this many files of about equal size.

        Strings sort by their UTF-8 bytes, nulls first; rows with equal keys come in any order. Without `sort` the order
        stays. With more than one file the name in `target` has a place for the number: "out/cdx-{:05}.gz". A file
        appears under its name when it is complete.
        """

    def ship(self, module: str) -> str:
        """Make a module of the user importable in the workers: "/directory/module", or the name of an installed one.

        Return the name under which they import it, for `plugins.load`.
        """

    def close(self) -> None:
        """End the workers. The work directory stays, for the same command to continue."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close. After a block that ended well and without a bad source, remove the work directory too."""


def silent(progress: MapProgress) -> None:
    """Watch nothing."""
