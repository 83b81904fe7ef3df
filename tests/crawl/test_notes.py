"""crawl.log keeps the notes of a run, is bounded, and never disturbs the crawl."""

from pathlib import Path

import pytest

from windrow.crawl import notes
from windrow.crawl.notes import Notes


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
