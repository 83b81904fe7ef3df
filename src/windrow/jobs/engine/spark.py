"""The engine on Spark: its tasks run a source each, its SQL answers queries. Retries and shuffles are Spark's own.

Rows go through files, as on the local engine (parts.py), not through the JVM: measured, that is faster than
`mapInArrow`, a job continues where it was stopped, and both engines have the same rows of a map by construction. So the
work directory and the output must be on storage that every machine sees under the same path.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import urllib.parse
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import pyarrow.parquet

from windrow.config import ConfigError
from windrow.jobs.engine import parts, worker
from windrow.jobs.engine.parts import PartTable
from windrow.jobs.engine.protocol import SparkOptions
from windrow.jobs.engine.worker import WorkerAnswer

if TYPE_CHECKING:
    from windrow.jobs.engine.stored import Work

try:
    import pyspark.errors
    import pyspark.sql
    import sqlglot
    from py4j.protocol import Py4JError
    from pyspark.sql import functions, types
except ImportError as error:
    raise ConfigError(
        f"the engine spark needs a library that is missing ({error}); pip install 'windrow-corpus[spark]'"
    ) from None

Result = TypeVar("Result")

_REACH = 5.0  # seconds to reach a master
_POLL = 1.0  # seconds between two looks at how far a job is
_FAILURES = (pyspark.errors.PySparkException, Py4JError)


def start(options: SparkOptions, workers: int) -> "SparkSession":
    """Start Spark, or say in one sentence why that is not possible."""
    given = dict(_pair(text) for text in options.conf)
    master = options.master or given.get("spark.master", "") or _own_master(workers)
    _check(master)
    builder = pyspark.sql.SparkSession.builder.appName("windrow")
    if master:
        builder = builder.master(master)
    chosen = {**_defaults(master), **given}
    for name, value in chosen.items():
        builder = builder.config(name, value)
    if python := chosen.get("spark.pyspark.python"):
        os.environ["PYSPARK_PYTHON"] = python  # pyspark reads the option only in spark-submit
    with _quiet() as notes:
        try:
            session = SparkSession(builder.getOrCreate())
        except Exception as error:  # py4j and pyspark raise RuntimeError, their own classes, and others
            raise ConfigError(
                f"Spark did not start: {_reason(error, notes())}; check --master and --spark-conf"
            ) from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # pyspark's own calls Java from the handler
    return session


class SparkSession:
    """A session, and what both halves of the engine need of it."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.context = session.sparkContext

    def wait(self, job: Callable[[], Result], beat: Callable[[int], None] = lambda count: None) -> Result:
        """Run a job of Spark and wait for it, reporting how many tasks are done.

        It has a thread of its own, because py4j does not bear an interrupt: Ctrl-C ends this wait, and `close` the job.
        """
        tracker, over = self.context.statusTracker(), threading.Event()
        answer: Future[Result] = Future()

        def run() -> None:
            try:
                answer.set_result(job())
            except BaseException as error:  # raised again where the answer is read
                answer.set_exception(error)
            over.set()

        threading.Thread(target=run, daemon=True).start()
        while not over.wait(_POLL):
            stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            beat(sum(stage.numCompletedTasks for stage in stages if stage is not None))
        return answer.result()

    def close(self) -> None:
        self.session.stop()


class SparkRunner:
    """See `Runner`."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def run(
        self, tasks: Sequence[tuple[str, str]], work: "Work", beat: Callable[[int], None]
    ) -> Generator[tuple[str, WorkerAnswer]]:
        """Spark ends a job if a worker dies again and again. Then the tasks run one by one, to find which do it."""
        if not tasks:
            return
        try:
            answers = self._session.wait(lambda: self._collect(tasks, work), beat)
        except _FAILURES as error:
            _check_executors(error)
            if len(tasks) == 1:
                yield tasks[0][0], WorkerAnswer(problem=_death(error))
                return
            for task in tasks:
                yield from self.run([task], work, lambda count: None)
            return
        yield from zip([name for name, _ in tasks], answers, strict=True)

    def _collect(self, tasks: Sequence[tuple[str, str]], work: "Work") -> list[WorkerAnswer]:
        """Run one task of Spark per task of ours. The answers come back as text in a column."""
        listed = self._session.context.broadcast(list(tasks))

        def answer(number: int) -> str:
            try:
                answer = work(*listed.value[number])
            except Exception as error:  # a job is the user's code: whatever it raises becomes a record
                answer = WorkerAnswer(problem=worker.problem(error))
            return msgspec.json.encode(answer).decode()

        call = functions.udf(answer, "string", useArrow=False).asNondeterministic()
        numbers = self._session.session.range(0, len(tasks), 1, len(tasks))
        rows = numbers.select("id", call("id").alias("answer")).collect()
        listed.unpersist()
        answers = {row["id"]: msgspec.json.decode(row["answer"], type=WorkerAnswer) for row in rows}
        return [answers[number] for number in range(len(tasks))]

    def ship(self, module: str) -> str:
        """Send the file of a module to every worker."""
        directory, _, name = module.rpartition("/")
        if directory:
            self._session.context.addPyFile(f"{directory}/{name}.py")
        return name

    def close(self) -> None:
        """The database closes the session, which both share."""


class SparkDatabase:
    """See `Database`."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def query(self, query: str, tables: Mapping[str, PartTable], path: Path) -> PartTable:
        for name, table in tables.items():
            self._frame(table).createOrReplaceTempView(name)
        try:
            spoken = sqlglot.transpile(query, read="duckdb", write="spark")[0]
            frame = _plain(self._session.session.sql(spoken))
            self._session.wait(lambda: frame.write.parquet(path.as_uri()))
        except (*_FAILURES, sqlglot.errors.SqlglotError) as error:
            raise ConfigError(f"the query failed: {_first_line(error)}") from None
        written = sorted(path.glob("part-*.parquet"))
        schema = parts.plain(pyarrow.parquet.read_schema(written[0]))
        return PartTable(schema, written)

    def ranges(self, table: PartTable, sort: Sequence[str], paths: Sequence[Path]) -> None:
        keys = [functions.col(f"`{column}`").asc_nulls_first() for column in sort]
        folder = paths[0].with_suffix(".sorted")
        shutil.rmtree(folder, ignore_errors=True)
        frame = self._frame(table).repartitionByRange(len(paths), *keys).sortWithinPartitions(*keys)
        self._session.wait(lambda: frame.write.parquet(folder.as_uri()))
        files = {int(path.name.split("-")[1]): path for path in folder.glob("part-*.parquet")}
        for number, path in enumerate(paths):
            if number in files:
                files[number].replace(path)
            else:  # Spark writes no file for a range without rows
                parts.write(path, (), table.schema)
        shutil.rmtree(folder)

    def close(self) -> None:
        self._session.close()

    def _frame(self, table: PartTable) -> Any:
        reader = self._session.session
        if not table.paths:
            return reader.createDataFrame(table.schema.empty_table())
        return reader.read.parquet(*[path.as_uri() for path in table.paths])


def _plain(frame: Any) -> Any:
    """Return the frame in the types that every engine has, see `parts.plain`."""
    kinds = {field.name: field.dataType for field in frame.schema if isinstance(field.dataType, types.DecimalType)}
    casts = {
        name: functions.col(f"`{name}`").cast("double" if kind.scale else "bigint") for name, kind in kinds.items()
    }
    return frame.withColumns(casts) if casts else frame


def _own_master(workers: int) -> str:
    """Return the master if none is named: Spark's own configuration, if there is one, otherwise this machine."""
    configured = any(name in os.environ for name in ("SPARK_CONF_DIR", "SPARK_HOME"))
    return "" if configured else f"local[{workers or '*'}]"


def _defaults(master: str) -> dict[str, str]:
    """Return options that fit most jobs; those of the user come after them."""
    defaults = {
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.session.timeZone": "UTC",
    }
    if master.startswith("local"):
        defaults |= {"spark.pyspark.python": sys.executable, "spark.ui.enabled": "false"}
        defaults |= {"spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        defaults |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return defaults


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise ConfigError(f"--spark-conf {text!r} is no option of Spark; write spark.executor.memory=4g")
    return name, value


def _check(master: str) -> None:
    """Refuse at once what Spark would refuse after a minute."""
    java = Path(os.environ.get("JAVA_HOME", ""), "bin", "java") if os.environ.get("JAVA_HOME") else None
    if shutil.which("java") is None and not (java and java.exists()):
        raise ConfigError("Spark needs Java 17 or newer; install it (apt install openjdk-17-jre-headless)")
    kind, _, rest = master.removeprefix("k8s://").partition("://")
    if kind in ("spark", "http", "https"):
        addresses = rest.split(",")  # a master may have others that stand by
        if not any(_reached(address) for address in addresses):
            raise ConfigError(f"no Spark master answers at {master}; start it, or correct --master")
    elif master and not master.startswith(("local", "yarn", "k8s")):
        raise ConfigError(
            f"--master {master} is no master of Spark; write spark://HOST:PORT, local[N], yarn or k8s://…"
        )


def _reached(address: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(f"//{address}")
        with socket.create_connection((parts.hostname or "", parts.port or 7077), _REACH):
            return True
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def _quiet() -> Iterator[Callable[[], str]]:
    """Keep what Java prints while it starts off the terminal; yield a function that returns it.

    Java keeps this standard error: what it prints later is not shown either.
    """
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        sys.stderr.flush()
        os.dup2(file.fileno(), 2)
        try:
            yield lambda: _contents(file.fileno())
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _contents(descriptor: int) -> str:
    return os.pread(descriptor, 1 << 20, 0).decode("utf-8", "replace")


def _reason(error: Exception, notes: str) -> str:
    """Return the line that says most: an error in the notes of Java, otherwise the first line of the exception."""
    lines = [line for line in notes.splitlines() if "rror" in line or "xception" in line]
    return lines[0].strip() if lines else _first_line(error)


def _check_executors(error: Exception) -> None:
    """Raise ConfigError if no task can run there: errors of a job are answers, so this one is of Python or Windrow."""
    raised = re.findall(r"^\w+(?:Error|Exception): .+$", str(error), re.MULTILINE)  # in the traceback of a worker
    if raised:
        fix = "install Windrow there, and name its Python with --spark-conf spark.pyspark.python=PATH"
        raise ConfigError(f"the executors of Spark cannot run Windrow: {raised[-1]}; {fix}") from None


def _death(error: Exception) -> str:
    text = str(error)
    if "worker exited unexpectedly" in text:
        return "the worker process died; probably the memory was full: give executors more, or fewer cores"
    causes = [line.removeprefix("Caused by: ") for line in text.splitlines() if line.startswith("Caused by: ")]
    return f"Spark gave up: {causes[-1] if causes else _first_line(error)}"


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
