"""Tasks of worker processes, without an engine."""

import os
from pathlib import Path

import pytest

from tests.jobs.engine import jobs
from windrow.jobs.engine import parts, tasks


def test_a_task_that_is_repeated_does_not_read_its_source_again(tmp_path: Path) -> None:
    (source,) = jobs.sources(tmp_path, "a b")
    part = tmp_path / "part"
    first = tasks.map_source(jobs.words, jobs.WORDS, source, str(part))
    made = part.stat().st_ino
    assert tasks.map_source(jobs.words, jobs.WORDS, source, str(part)) == first
    assert part.stat().st_ino == made
    Path(source).write_text("a b c")
    assert tasks.map_source(jobs.words, jobs.WORDS, source, str(part)).rows == 3


def test_a_source_that_changes_while_it_is_read_is_not_done(tmp_path: Path) -> None:
    (source,) = jobs.sources(tmp_path, "a b")

    def changing(path: str):  # type: ignore[no-untyped-def]
        yield from jobs.words(path)
        Path(path).write_text("other words now")

    part = tmp_path / "part"
    tasks.map_source(changing, jobs.WORDS, source, str(part))
    assert parts.finished(part, parts.state(source)) is None


def test_a_task_that_fails_leaves_no_part(tmp_path: Path) -> None:
    (source,) = jobs.sources(tmp_path, "a\n!raise")
    with pytest.raises(ValueError, match="this line is bad"):
        tasks.map_source(jobs.words, jobs.WORDS, source, str(tmp_path / "part"))
    assert os.listdir(tmp_path) == ["0.txt"]


def test_rows_are_read_in_batches_that_are_not_larger_than_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_BYTES", 100)
    (source,) = jobs.sources(tmp_path, "\n".join(["word"] * 50))
    tasks.map_source(jobs.words, jobs.WORDS, source, str(tmp_path / "part"))
    batches = list(parts.read([tmp_path / "part"]))
    assert sum(batch.num_rows for batch in batches) == 50
    assert max(batch.nbytes for batch in batches) < 400
