import functools
import importlib.util
import multiprocessing
import os
import re
from pathlib import Path

import psutil
import pytest

from tests.jobs.engine import jobs
from windrow.config import ConfigError
from windrow.jobs import engine
from windrow.jobs.engine import MapProgress, Table


def words(table: Table) -> list[str]:
    return [row["word"] for batch in table.batches() for row in batch.to_pylist()]


def test_rows_come_in_the_order_of_the_sources_whatever_ends_first(tmp_path: Path) -> None:
    sources = jobs.sources(tmp_path, "a b\nc", "d " * 500, "e", "")
    with engine.open("local", workers=2) as run:
        table = run.map(sources, jobs.words, jobs.WORDS)
        assert words(table) == ["a", "b", "c", *["d"] * 500, "e"]
        assert table.schema == jobs.WORDS
        assert table.bad == []


def test_a_source_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    sources = jobs.sources(tmp_path, "a")
    with engine.open("local") as run:
        assert words(run.map(sources * 2, jobs.words, jobs.WORDS)) == ["a"]


def test_sql_runs_over_the_rows_of_a_map_and_over_its_own_results(tmp_path: Path) -> None:
    sources = jobs.sources(tmp_path, "a bb a", "bb c a")
    with engine.open("local", workers=2) as run:
        rows = run.map(sources, jobs.words, jobs.WORDS)
        sums = run.sql("SELECT word, sum(count)::BIGINT AS size FROM words GROUP BY word", words=rows)
        best = run.sql("SELECT word, size FROM sums WHERE size > 1 ORDER BY size DESC, word", sums=sums)
        assert [row for batch in best.batches() for row in batch.to_pylist()] == [
            {"word": "bb", "size": 4},
            {"word": "a", "size": 3},
        ]


def test_a_table_without_rows_and_one_without_sources_can_be_asked_too(tmp_path: Path) -> None:
    with engine.open("local") as run:
        for sources in ([], jobs.sources(tmp_path, "")):
            table = run.map(sources, jobs.words, jobs.WORDS)
            assert words(run.sql("SELECT word FROM t", t=table)) == []
            assert [file.rows for file in run.write(table, f"{tmp_path}/none.txt", jobs.lines)] == [0]


def test_a_query_with_a_mistake_is_an_error_with_one_message() -> None:
    with engine.open("local") as run, pytest.raises(ConfigError, match=r"the query failed: .*nowhere"):
        run.sql("SELECT * FROM nowhere")


def test_write_sorts_by_bytes_and_cuts_into_ranges(tmp_path: Path) -> None:
    sources = jobs.sources(tmp_path, "b é a", "Z c", "b d")
    with engine.open("local", workers=2) as run:
        table = run.map(sources, jobs.words, jobs.WORDS)
        found = run.write(table, f"{tmp_path}/out/{{:02}}.txt", jobs.lines, sort=["word", "count"], files=3)
    assert [(file.path.name, file.rows, file.note) for file in found] == [
        ("00.txt", 3, "Z 1"),
        ("01.txt", 2, "b 1"),
        ("02.txt", 2, "d 1"),
    ]
    assert "".join(file.path.read_text() for file in found) == "Z 1\na 1\nb 1\nb 1\nc 1\nd 1\né 1\n"
    assert [file.bytes for file in found] == [file.path.stat().st_size for file in found]
    assert sorted(os.listdir(tmp_path / "out")) == ["00.txt", "01.txt", "02.txt"]


def test_write_without_a_sort_keeps_the_order(tmp_path: Path) -> None:
    with engine.open("local") as run:
        table = run.map(jobs.sources(tmp_path, "b a", "c"), jobs.words, jobs.WORDS)
        (file,) = run.write(table, f"{tmp_path}/out.txt", jobs.lines)
    assert file.path.read_text() == "b 1\na 1\nc 1\n"


def test_more_files_need_a_place_for_their_number(tmp_path: Path) -> None:
    with engine.open("local") as run:
        table = run.map(jobs.sources(tmp_path, "a"), jobs.words, jobs.WORDS)
        with pytest.raises(ConfigError, match=re.escape("put {:05} into the name")):
            run.write(table, f"{tmp_path}/out.txt", jobs.lines, files=2)


@pytest.mark.parametrize("files", [1, 2])
def test_a_writer_that_fails_leaves_no_file(tmp_path: Path, files: int) -> None:
    with engine.open("local") as run:
        table = run.map(jobs.sources(tmp_path, "!full a"), jobs.words, jobs.WORDS)
        with pytest.raises(ConfigError, match="could not be written: no space left"):
            run.write(table, f"{tmp_path}/out/{{}}.txt", jobs.lines, sort=["word"], files=files)
    assert not any(name.startswith("0.txt") for name in os.listdir(tmp_path / "out"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\n!raise", r"ValueError: this line is bad \(.*jobs\.py, line \d+\)"),
        ("a\n!die", r"the worker process was killed \(SIGKILL\)"),
        ("a\n!exit", "the worker process ended with exit code 7"),
    ],
)
def test_a_bad_source_is_named_and_gives_no_rows_and_the_others_go_on(tmp_path: Path, text: str, problem: str) -> None:
    sources = jobs.sources(tmp_path, "a", text, "b", "c")
    with engine.open("local", workers=1) as run:
        table = run.map(sources, jobs.words, jobs.WORDS)
    assert [found.source for found in table.bad] == [sources[1]]
    assert re.match(problem, table.bad[0].problem)


def test_the_rows_of_good_sources_remain(tmp_path: Path) -> None:
    sources = jobs.sources(tmp_path, "a", "x\n!raise", "b")
    with engine.open("local", workers=1) as run:
        assert words(run.map(sources, jobs.words, jobs.WORDS)) == ["a", "b"]


def test_a_file_that_is_missing_is_a_bad_source(tmp_path: Path) -> None:
    with engine.open("local") as run:
        table = run.map([str(tmp_path / "none")], jobs.words, jobs.WORDS)
        assert "No such file" in table.bad[0].problem


def test_progress_counts_sources_rows_and_bad_sources(tmp_path: Path) -> None:
    seen: list[MapProgress] = []
    with engine.open("local", workers=1, watch=seen.append) as run:
        run.map(jobs.sources(tmp_path, "a bb ccc dddd", "!raise", ""), jobs.words, jobs.WORDS)
    assert seen == [MapProgress(0, 3, 0, 0), MapProgress(1, 3, 4, 0), MapProgress(2, 3, 4, 1), MapProgress(3, 3, 4, 1)]


def calls(source: str) -> int:
    return len(Path(f"{source}.calls").read_text().splitlines())


def test_the_same_job_continues_after_the_sources_that_are_done(tmp_path: Path) -> None:
    work = tmp_path / "work"
    sources = jobs.sources(tmp_path, "a", "b", "c\n!raise")
    job = functools.partial(jobs.capitals, prefix="-")
    first = engine.open("local", work=work)
    assert [found.source for found in first.map(sources, job, jobs.WORDS).bad] == sources[2:]
    first.close()
    Path(sources[1]).write_text("changed")
    Path(sources[2]).write_text("c")
    with engine.open("local", work=work) as second:
        table = second.map(["", *sources][1:], job, jobs.WORDS)
        assert words(table) == ["-A", "-CHANGED", "-C"]
    assert [calls(source) for source in sources] == [1, 2, 2]
    assert not work.exists()


def test_a_part_that_is_damaged_is_made_again(tmp_path: Path) -> None:
    work = tmp_path / "work"
    sources = jobs.sources(tmp_path, "a", "b")
    job = functools.partial(jobs.capitals, prefix="")
    first = engine.open("local", work=work, workers=1)
    first.map(sources, job, jobs.WORDS)
    first.close()
    part = sorted((work / "map-1").glob("*.parquet"))[0]
    part.write_bytes(part.read_bytes()[:-3])
    with engine.open("local", work=work) as second:
        assert words(second.map(sources, job, jobs.WORDS)) == ["A", "B"]
    assert sum(calls(source) for source in sources) == 3


def test_the_work_of_a_job_with_other_options_is_refused(tmp_path: Path) -> None:
    work = tmp_path / "work"
    sources = jobs.sources(tmp_path, "a")
    first = engine.open("local", work=work)
    first.map(sources, functools.partial(jobs.capitals, prefix="x"), jobs.WORDS)
    first.close()
    second = engine.open("local", work=work)
    with pytest.raises(ConfigError, match=r"unfinished work of a job with other options .*capitals.*prefix='x'"):
        second.map(sources, functools.partial(jobs.capitals, prefix="y"), jobs.WORDS)
    second.close()


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ConfigError, match="there is no engine 'hadoop'; choose one of local, spark"):
        engine.open("hadoop")


def test_a_watcher_that_raises_leaves_no_worker(tmp_path: Path) -> None:
    """Ctrl-C may come at any line."""
    pids: list[int] = []

    def watch(progress: MapProgress) -> None:
        if progress.done:
            pids.extend(child.pid for child in multiprocessing.active_children() if child.pid)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught, engine.open("local", workers=2, watch=watch) as run:
        run.map(jobs.sources(tmp_path, "a", "!hang"), jobs.words, jobs.WORDS)
    assert caught.value.__traceback__ is not None  # the frames are alive
    assert pids and not any(map(psutil.pid_exists, pids))


def test_rows_that_do_not_fit_in_memory_go_to_the_disk_again_and_again() -> None:
    rows = "SELECT (i * 7919) % 1000003 || repeat('x', 40) AS word FROM range(600000) t(i) ORDER BY word"
    with engine.open("local", workers=1) as run:
        run.sql("SET memory_limit = '30MB'; SELECT 1 AS one")
        for _ in range(2):
            firsts = [batch["word"][0].as_py() for batch in run.sql(rows).batches()]
            assert firsts == sorted(firsts)
            assert len(firsts) == 10


def test_without_its_libraries_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "duckdb" else find(name))
    with pytest.raises(
        ConfigError, match=r"batch jobs need duckdb; install it with: pip install 'windrow-corpus\[query\]'"
    ):
        engine.open("local")
