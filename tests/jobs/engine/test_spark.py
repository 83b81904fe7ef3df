"""The engine on Spark gives the rows of the local one. Starting Java takes seconds, so all tests share one."""

import importlib.util
import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.corpus import samples
from tests.corpus.samples import SAMPLES
from tests.jobs import warcs
from tests.jobs.engine import jobs
from windrow import archive, config
from windrow.config import ConfigError
from windrow.jobs import dedup, engine, shuffle
from windrow.jobs.batch import apply as user
from windrow.jobs.dedup import earlier
from windrow.jobs.engine import Engine, MapProgress, SparkOptions, Table
from windrow.jobs.engine.worker import WorkerAnswer
from windrow.jobs.export import rendering, write
from windrow.jobs.export.write import ExportOptions
from windrow.jobs.shuffle import ShuffleOptions

MISSING = importlib.util.find_spec("pyspark") is None or shutil.which("java") is None
spark = pytest.mark.skipif(MISSING, reason="the engine spark needs pyspark and Java: pip install '.[spark]'")
OPTIONS = SparkOptions("local[2]", ("spark.sql.shuffle.partitions=3",))
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
QUERIES = (
    "SELECT word, sum(count) AS size, count(*) AS times FROM words GROUP BY word ORDER BY word",
    "SELECT file, array_sort(array_agg(word)) AS found FROM words GROUP BY file ORDER BY file",
    "SELECT word, count FROM words WHERE count > 1 ORDER BY count DESC, word LIMIT 2",
    "SELECT a.word, count(DISTINCT a.file) AS files FROM words a JOIN words b ON a.word = b.word GROUP BY a.word "
    "ORDER BY a.word",
    "SELECT word, CASE WHEN count > 1 THEN word END AS long FROM words ORDER BY long, word, file",
    "SELECT avg(count) AS mean, max(word) AS last, count * 1.0 / 4 AS part FROM words GROUP BY count ORDER BY part",
)


@pytest.fixture(scope="module")
def run() -> Iterator[Engine]:
    with engine.open("spark", spark=OPTIONS) as opened:
        yield opened


def rows(table: Table) -> list[dict[str, object]]:
    return [row for batch in table.batches() for row in batch.to_pylist()]


@spark
@pytest.mark.long
def test_a_map_gives_the_rows_of_the_local_engine_in_their_order(run: Engine, tmp_path: Path) -> None:
    sources = jobs.sources(tmp_path, "a b\nc", "d " * 500, "!raise", "e é", "")
    found = run.map(sources, jobs.words, jobs.WORDS)
    with engine.open("local", workers=2) as local:
        expected = local.map(sources, jobs.words, jobs.WORDS)
        assert found.bad == expected.bad
        assert rows(found) == rows(expected)
        assert len(found.bad) == 1


@spark
@pytest.mark.long
@pytest.mark.parametrize("query", QUERIES)
def test_a_query_gives_equal_rows_and_types(run: Engine, tmp_path: Path, query: str) -> None:
    sources = jobs.sources(tmp_path, "bb a é", "Z bb ccc", "a")
    with engine.open("local", workers=1) as local:
        expected = local.sql(query, words=local.map(sources, jobs.words, jobs.WORDS))
        found = run.sql(query, words=run.map(sources, jobs.words, jobs.WORDS))
        assert found.schema == expected.schema
        assert rows(found) == rows(expected)


@spark
@pytest.mark.long
def test_a_table_without_rows_can_be_asked_and_written(run: Engine, tmp_path: Path) -> None:
    table = run.map([], jobs.words, jobs.WORDS)
    assert rows(run.sql("SELECT word FROM t", t=table)) == []
    found = run.write(table, f"{tmp_path}/{{}}.txt", jobs.lines, sort=["word"], files=2)
    assert [file.rows for file in found] == [0, 0]


@spark
@pytest.mark.long
def test_a_query_with_a_mistake_is_an_error_with_one_message(run: Engine) -> None:
    with pytest.raises(ConfigError, match=r"the query failed: .*nowhere"):
        run.sql("SELECT * FROM nowhere")
    with pytest.raises(ConfigError, match="the query failed: "):
        run.sql("SELECT FROM WHERE")


@spark
@pytest.mark.long
def test_write_sorts_by_bytes_with_nulls_first_and_cuts_into_ranges(run: Engine, tmp_path: Path) -> None:
    sources = jobs.sources(tmp_path, "b é a", "Z c", "b d " + " ".join(f"w{number:03}" for number in range(300)))
    with engine.open("local", workers=2) as local:
        texts = []
        for opened in (local, run):
            table = opened.map(sources, jobs.words, jobs.WORDS)
            found = opened.write(table, f"{tmp_path}/out/{{:02}}.txt", jobs.lines, sort=["word", "count"], files=3)
            assert sum(file.rows for file in found) == 307
            assert all(file.rows for file in found)
            texts.append("".join(file.path.read_text() for file in found))
    assert texts[0] == texts[1]
    assert sorted(os.listdir(tmp_path / "out")) == ["00.txt", "01.txt", "02.txt"]


@spark
@pytest.mark.long
def test_write_without_a_sort_keeps_the_order(run: Engine, tmp_path: Path) -> None:
    table = run.map(jobs.sources(tmp_path, "b a", "c d e"), jobs.words, jobs.WORDS)
    found = run.write(table, f"{tmp_path}/{{}}.out", jobs.lines, files=2)
    assert [file.path.read_text() for file in found] == ["b 1\na 1\nc 1\n", "d 1\ne 1\n"]


@spark
@pytest.mark.long
def test_a_worker_that_dies_costs_its_source_and_not_the_job(run: Engine, tmp_path: Path) -> None:
    sources = jobs.sources(tmp_path, "a", "!die", "b")
    table = run.map(sources, jobs.words, jobs.WORDS)
    assert [row["word"] for row in rows(table)] == ["a", "b"]
    assert [found.source for found in table.bad] == [sources[1]]
    assert table.bad[0].problem.startswith("the worker process died")


@spark
@pytest.mark.long
def test_a_job_of_a_user_gives_the_bytes_of_the_local_engine(run: Engine, tmp_path: Path) -> None:
    records = [warcs.record(f"http://{host}/", b'<p style="z-index:7; z-index: 8">') for host in ("a.test", "b.cz")]
    sources = [warcs.write(tmp_path / f"{number}.warc.gz", [record]) for number, record in enumerate(records)]
    with engine.open("local") as local:
        for opened, name in ((local, "local"), (run, "spark")):
            options = user.BatchOptions(job=str(EXAMPLES / "zindex.py"), inputs=sources, output=tmp_path / name)
            user.run(options, opened)
    assert (tmp_path / "local").read_bytes() == (tmp_path / "spark").read_bytes()
    assert json.loads((tmp_path / "spark").read_text().splitlines()[0]) == {"key": "7", "value": 2}


@spark
@pytest.mark.long
def test_a_time_stays_the_same_through_a_query(run: Engine, tmp_path: Path) -> None:
    (source,) = jobs.sources(tmp_path, "2026-11-16T09:00:00.123456")
    with engine.open("local") as local:
        tables = [
            opened.sql("SELECT time FROM t", t=opened.map([source], jobs.times, jobs.TIMES)) for opened in (local, run)
        ]
        assert rows(tables[0]) == rows(tables[1])
        assert tables[0].schema == tables[1].schema == jobs.TIMES


@spark
@pytest.mark.long
def test_a_job_continues_and_counts_what_is_done(run: Engine, tmp_path: Path) -> None:
    """Another engine on the same session of Spark; it must not stop the shared one."""
    sources = jobs.sources(tmp_path, "a", "b")
    seen: list[MapProgress] = []
    first = engine.open("local", work=tmp_path / "work")
    first.map(sources[:1], jobs.words, jobs.WORDS)
    first.close()
    again = engine.open("spark", work=tmp_path / "work", watch=seen.append, spark=OPTIONS)
    again.map(sources, jobs.words, jobs.WORDS)
    assert seen[0] == MapProgress(1, 2, 1, 0)
    assert seen[-1] == MapProgress(2, 2, 2, 0)


@spark
def test_executors_without_windrow_are_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from windrow.jobs.engine import spark as module

    def fail(*_: object) -> None:
        raise module.Py4JError("Traceback:\n  line 1\nModuleNotFoundError: No module named 'windrow'\n\tat java")

    monkeypatch.setattr(module.SparkRunner, "_collect", fail)
    monkeypatch.setattr(module.SparkSession, "wait", lambda self, job, beat: job())
    runner = module.SparkRunner(module.SparkSession(SimpleNamespace(sparkContext=None)))
    with pytest.raises(
        ConfigError, match="cannot run Windrow: ModuleNotFoundError: No module named 'windrow'; install"
    ):
        list(runner.run([("a", ""), ("b", "")], lambda *_: WorkerAnswer(), lambda _: None))


@spark
def test_a_master_that_does_not_answer_is_refused_at_once() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{closed.getsockname()[1]}"
        for name in (master, master.replace("spark://", "k8s://https://")):
            with pytest.raises(ConfigError, match=f"no Spark master answers at {name}"):
                engine.open("spark", spark=SparkOptions(name))


@spark
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (SparkOptions("yard"), "--master yard is no master of Spark"),
        (SparkOptions("", ("executor.memory=4g",)), "'executor.memory=4g' is no option of Spark"),
        (SparkOptions("", ("spark.executor.memory",)), "'spark.executor.memory' is no option of Spark"),
    ],
)
def test_options_that_spark_does_not_know_are_refused(options: SparkOptions, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        engine.open("spark", spark=options)


@spark
def test_without_a_master_the_configuration_of_spark_decides_and_otherwise_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from windrow.jobs.engine import spark as module

    for name in ("SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert module._own_master(3) == "local[3]"
    assert module._own_master(0) == "local[*]"
    monkeypatch.setenv("SPARK_CONF_DIR", "/etc/spark")
    assert module._own_master(0) == ""
    assert "spark.driver.host" not in module._defaults("")


@spark
def test_without_java_the_fix_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ConfigError, match="Spark needs Java 17 or newer"):
        engine.open("spark", spark=OPTIONS)


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is not None, reason="pyspark is installed")
def test_without_pyspark_the_extra_is_named() -> None:
    with pytest.raises(ConfigError, match=r"pip install 'windrow-corpus\[spark\]'"):
        engine.open("spark")


@spark
@pytest.mark.long
def test_a_shuffle_has_the_same_captures_in_the_same_order(run: Engine, tmp_path: Path) -> None:
    for number in range(3):
        records = [warcs.record(f"http://a.test/{number}/{place}", b"<p>") for place in range(20)]
        warcs.write(tmp_path / f"{number}.warc.gz", records)
    sources = sorted(tmp_path.iterdir())
    orders = []
    with engine.open("local") as local:
        for opened, name in ((local, "local"), (run, "spark")):
            found = shuffle.run(ShuffleOptions(inputs=sources, output=tmp_path / name, files=2), opened)
            orders.append([record.id for path in found.files for record in archive.records(Path(path))])
    assert orders[0] == orders[1]
    assert len(set(orders[0])) == 60


@spark
@pytest.mark.long
def test_near_duplicates_in_parallel_are_the_same(run: Engine, tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(60))
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(f"{text}\n\n{text[number:]} and more of file {number} {text[::-1]}\n")
    sources = sorted(tmp_path.iterdir())
    options = dedup.options("paragraph", "", config.DedupOptions())
    with engine.open("local") as local:
        for opened, name in ((local, "local"), (run, "spark")):
            plans = dedup.plan(sources, tmp_path / name)
            earlier.run(plans, options, opened, tmp_path / f"{name}.scratch", 2)
    for path in sources:
        assert (tmp_path / "local" / path.name).read_bytes() == (tmp_path / "spark" / path.name).read_bytes()


@spark
@pytest.mark.long
def test_an_export_has_the_bytes_of_one_process(run: Engine, tmp_path: Path) -> None:
    crawls = [samples.crawl(tmp_path / name, SAMPLES[start:]) for name, start in (("one", 2), ("two", 0))]
    written = []
    for name in ("alone", "spark"):
        output = tmp_path / name / "out.prevert.gz"
        output.parent.mkdir()
        options = ExportOptions(inputs=crawls, output=output, format="prevertical")
        found = write.find(options)
        if name == "alone":
            summary = write.run(options, found, lambda count: None)
        else:
            summary = rendering.run(options, found, run, tmp_path / "work")
        written.append((summary, output.read_bytes()))
    assert written[0] == written[1]
    assert (written[0][0].documents_in, written[0][0].documents_out) == (10, 4)
