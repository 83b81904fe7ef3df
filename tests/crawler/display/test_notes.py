"""crawl.log keeps the notes of a run, is bounded, and never disturbs the crawl."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.world import World
from windrow.crawler.display import notes
from windrow.crawler.display.notes import Notes


def said(directory: Path) -> list[str]:
    return [line[21:] for line in (directory / notes.NAME).read_text().splitlines()]  # behind the time


def test_notes_reach_the_operator_and_the_file(tmp_path: Path) -> None:
    shown: list[str] = []
    voice = Notes(shown.append)
    voice.open(tmp_path)
    voice.say("a note")
    voice.record("only for the file")
    voice.progress("progress", {"pages": 1})
    voice.warn("a warning")
    assert said(tmp_path) == ["a note", "only for the file", "progress", "a warning"]
    assert shown[0] == "a note" and shown[1].endswith("  progress") and shown[2] == "a warning"


def test_a_quiet_run_shows_only_warnings(tmp_path: Path) -> None:
    shown: list[str] = []
    voice = Notes(shown.append, quiet=True)
    voice.open(tmp_path)
    voice.say("a note")
    voice.progress("progress", {"pages": 1})
    voice.warn("a warning")
    assert shown == ["a warning"]
    assert said(tmp_path) == ["a note", "progress", "a warning"]


def test_a_run_that_is_refused_leaves_no_file(tmp_path: Path) -> None:
    voice = Notes(lambda text: None)
    voice.say("before the crawl is set up")
    assert list(tmp_path.iterdir()) == []
    voice.open(tmp_path)
    assert said(tmp_path) == ["before the crawl is set up"]


def test_the_file_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "LONGEST", 1000)
    voice = Notes(lambda text: None)
    voice.open(tmp_path)
    for number in range(200):
        voice.record(f"line {number}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.log", "crawl.log.1"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2500
    assert said(tmp_path)[-1] == "line 199"


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / notes.NAME).mkdir()
    voice = Notes(lambda text: None)
    voice.open(tmp_path)
    voice.record("lost")


def test_control_characters_reach_neither_screen_nor_file(tmp_path: Path) -> None:
    shown: list[str] = []
    voice = Notes(shown.append)
    voice.open(tmp_path)
    voice.say("red \x1b[31m\nline")
    assert shown == ["red ?[31m?line"] and said(tmp_path) == ["red ?[31m?line"]


@pytest.mark.parametrize("words", [["--verbose"], ["--verbose", "--log-json"]])
def test_a_reader_that_has_gone_does_not_end_a_crawl(words: list[str], tmp_path: Path) -> None:
    """The program behind a pipe was killed."""
    reads, writes = os.pipe()
    os.close(reads)
    try:
        with World(seed=61, pages=12, hosts=2, domains=True, kinds=()) as world:
            directory = truth.prepare(tmp_path / "crawl", world)
            command = [sys.executable, "-m", "windrow.cli", "crawl", str(directory), "--json", *words]
            environment = {**os.environ, "PYTHONPATH": f"{crashing.ROOT}:{crashing.ROOT / 'src'}"}
            ended = subprocess.run(
                command, cwd=crashing.ROOT, env=environment, stdout=subprocess.PIPE, stderr=writes, timeout=280
            )
    finally:
        os.close(writes)
    assert ended.returncode == 0 and json.loads(ended.stdout)["why"] == "done"
