"""The three verbs over tables in files. Two things differ between engines: who runs tasks, and who answers queries."""

import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import pyarrow

from windrow.config import ConfigError
from windrow.jobs.engine import parts, tasks, worker
from windrow.jobs.engine.parts import PartTable
from windrow.jobs.engine.protocol import BadSource, FileWriter, MapFunction, MapProgress, OutputFile, Table
from windrow.jobs.engine.worker import WorkerAnswer

Work = Callable[[str, str], WorkerAnswer]


class Runner(Protocol):
    """Runs tasks, each of two texts, in worker processes, somewhere."""

    def run(
        self, tasks: Sequence[tuple[str, str]], work: Work, beat: Callable[[int], None]
    ) -> Generator[tuple[str, WorkerAnswer]]:
        """Yield the first text of each task with its answer, in any order.

        `beat` is called with the number of tasks that are done, where that is known before their answers.
        """

    def ship(self, module: str) -> str: ...

    def close(self) -> None: ...


class Database(Protocol):
    """Answers queries over tables, with results in files."""

    def query(self, query: str, tables: Mapping[str, PartTable], path: Path) -> PartTable:
        """Return a table with its rows at this path, which is that of a file or of a directory."""

    def ranges(self, table: PartTable, sort: Sequence[str], paths: Sequence[Path]) -> None:
        """Sort the rows and write them to these files, by ranges."""

    def close(self) -> None: ...


class StoredEngine:
    """See `Engine`."""

    def __init__(
        self, work: Path | None, runner: Runner, database: Database, watch: Callable[[MapProgress], None]
    ) -> None:
        """`work`: the directory of unfinished work; None: a temporary one."""
        self._temporary = work is None
        self._work = Path(tempfile.mkdtemp(prefix="windrow-")) if work is None else work.absolute()
        self._work.mkdir(parents=True, exist_ok=True)
        self._runner, self._database, self._watch = runner, database, watch
        self._maps = self._tables = 0  # made so far: the same command makes them in the same order
        self._bad = False  # whether a source was bad: the same command tries it again

    def map(self, sources: Sequence[str], function: MapFunction, schema: pyarrow.Schema) -> PartTable:
        self._maps += 1
        sources = list(dict.fromkeys(sources))
        done = parts.MapParts(self._work / f"map-{self._maps}", function, schema)
        rows_done = {source: done.rows(source) for source in sources}
        rows = sum(count or 0 for count in rows_done.values())
        left = [source for source in sources if rows_done[source] is None]
        before, finished = len(sources) - len(left), 0
        bad: dict[str, BadSource] = {}

        def watch(count: int) -> None:
            self._watch(MapProgress(before + max(finished, count), len(sources), rows, len(bad)))

        watch(0)
        pairs = [(source, str(done.path(source))) for source in sorted(left, key=_size, reverse=True)]
        work = functools.partial(tasks.map_source, function, schema)
        with contextlib.closing(self._runner.run(pairs, work, watch)) as answers:  # closing ends the workers
            for source, answer in answers:
                if answer.problem:
                    bad[source] = BadSource(source, answer.problem)
                finished, rows = finished + 1, rows + answer.rows
                watch(finished)
        self._bad |= bool(bad)
        good = [done.path(source) for source in sources if source not in bad]
        return PartTable(schema, good, [bad[source] for source in sources if source in bad])

    def sql(self, query: str, **tables: Table) -> PartTable:
        own = {name: _own(table) for name, table in tables.items()}
        return self._database.query(query, own, self._next_path())

    def write(
        self, table: Table, target: str, writer: FileWriter, sort: Sequence[str] = (), files: int = 1
    ) -> list[OutputFile]:
        paths = _targets(target, files)
        paths[0].parent.mkdir(parents=True, exist_ok=True)
        own = _own(table)
        if not sort and files == 1:
            return [_written(writer, own, paths[0])]
        chunks = [self._next_path() for _ in paths]
        if sort:
            self._database.ranges(own, sort, chunks)
        else:
            parts.cut(own.paths, own.schema, chunks)
        if files == 1:
            return [_written(writer, PartTable(own.schema, chunks), paths[0])]
        pairs = [(str(chunk), str(path)) for chunk, path in zip(chunks, paths, strict=True)]
        names = dict(pairs)
        written: dict[str, OutputFile] = {}
        work = functools.partial(tasks.write_part, writer, own.schema)
        with contextlib.closing(self._runner.run(pairs, work, lambda count: None)) as answers:
            for chunk, answer in answers:
                path = Path(names[chunk])
                if answer.problem:
                    raise _unwritten(path, answer.problem)
                written[chunk] = OutputFile(path, answer.rows, path.stat().st_size, answer.note)
        return [written[str(chunk)] for chunk in chunks]

    def ship(self, module: str) -> str:
        return self._runner.ship(module)

    def close(self) -> None:
        self._database.close()
        self._runner.close()
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

    def _next_path(self) -> Path:
        self._tables += 1
        path = self._work / f"table-{self._tables}.parquet"
        if path.is_dir():  # of an earlier run
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        return path


def _written(writer: FileWriter, table: PartTable, path: Path) -> OutputFile:
    """Write a single file in this process: another one would not be faster."""
    try:
        return tasks.write(writer, table.batches(), path)
    except Exception as error:  # the writer is part of a job, see worker.py
        raise _unwritten(path, worker.problem(error)) from error


def _unwritten(path: Path, problem: str) -> ConfigError:
    return ConfigError(f"{path} could not be written: {problem}; fix that and run the same command again")


def _targets(target: str, files: int) -> list[Path]:
    """Return the path of each file; only the name may have a place for the number."""
    path = Path(target).absolute()
    targets = [path.with_name(path.name.format(number)) for number in range(files)] if files > 1 else [path]
    if len(set(targets)) < len(targets):
        raise ConfigError(f"{target} names one file, and {files} are to be written; put {{:05}} into the name")
    return targets


def _own(table: Table) -> PartTable:
    assert isinstance(table, PartTable), "a table belongs to the engine that made it"
    return table


def _size(source: str) -> int:
    """Return the bytes of a source: the largest come first, so that no worker is left alone with one at the end."""
    try:
        return os.stat(source).st_size
    except OSError:
        return 0
