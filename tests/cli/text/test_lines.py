"""With --log-json everything on standard error is JSON, an object per line."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth
from tests.world import World
from windrow.cli.text import lines
from windrow.crawler.display.notes import LogLine, Notes


def decoded(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_fields", None)  # put back afterwards: the form holds for the process
    lines.use_json(tmp_path / "mine")


def test_the_lines_of_a_crawl_are_objects_with_time_level_event_and_figures(tmp_path: Path) -> None:
    with World(seed=61, pages=8, hosts=2, kinds=("absent",)) as world:
        directory = truth.prepare(tmp_path / "crawl", world)
        done = crashing.run(["crawl", str(directory), "--log-json", "--verbose", "--set", "crawl.progress_seconds=0.2"])
        requests = len(world.requests())
    assert (done.code, done.out) == (0, ""), done.err
    found = decoded(done.err)
    assert all(line["crawl"] == "crawl" and line["message"] for line in found)
    for line in found:
        assert line["time"].endswith("Z") and datetime.datetime.fromisoformat(line["time"]).tzinfo is not None
    assert {line["event"] for line in found} >= {"start", "progress", "outcome", "end"}
    assert {line["level"] for line in found} <= {"debug", "info", "warning"}
    outcomes = [line for line in found if line["event"] == "outcome"]
    assert {line["url"] for line in outcomes} >= truth.committed(directory).keys()
    assert found[-1]["why"] == "done" and found[-1]["requests"] == requests
    log = (directory / "crawl.log").read_text()
    assert "ended (done) after" in log and "{" not in log, "the file stays text for people"


def test_an_error_of_the_user_is_an_object_too(tmp_path: Path) -> None:
    done = crashing.run(["crawl", str(tmp_path / "none"), "--log-json"])
    (line,) = decoded(done.err)
    assert (done.code, line["level"], line["event"], line["crawl"]) == (2, "error", "error", "none")
    assert "has no crawl.toml" in line["message"]


def test_a_quiet_run_gives_programs_warnings_and_errors_only(tmp_path: Path) -> None:
    found: list[LogLine] = []
    notes = Notes(print, quiet=True, program=found.append)
    notes.say("a note")
    notes.record("begins", "start")
    notes.progress("far", {"pages": 1})
    notes.warn("a warning")
    notes.record("broken", "error")
    assert [(line.level, line.event, line.message) for line in found] == [
        ("warning", "note", "a warning"),
        ("error", "error", "broken"),
    ]


def test_the_lines_of_shards_keep_their_own_fields(as_json: None, capsys: pytest.CaptureFixture[str]) -> None:
    lines.note('shard 3: {"level":"warning","message":"m","shard":"003"}')
    lines.note("shard 12: Traceback (most recent call last):")
    lines.note('shard 1: "text"')
    lines.note("2 of 2 shards at work")
    first, second, third, last = decoded(capsys.readouterr().err)
    assert first == {"level": "warning", "message": "m", "shard": "003"}
    assert (second["shard"], second["message"]) == ("012", "Traceback (most recent call last):")
    assert (third["shard"], third["message"], third["crawl"]) == ("001", '"text"', "mine")
    assert (last["level"], last["message"]) == ("info", "2 of 2 shards at work") and "shard" not in last


def test_a_relayed_line_says_whose_it_is(as_json: None, capsys: pytest.CaptureFixture[str]) -> None:
    lines.relay('{"message":"m","crawl":"theirs"}', crawl="job", node="n1")
    lines.relay("died \udcff", crawl="job", node="n1")
    first, second = decoded(capsys.readouterr().err)
    assert first == {"message": "m", "crawl": "theirs", "node": "n1"}
    assert (second["message"], second["crawl"], second["node"]) == ("died ?", "job", "n1")


def test_hostile_text_stays_on_its_line(as_json: None, capsys: pytest.CaptureFixture[str]) -> None:
    lines.note('a "quoted"\nforged\u2028line \x1b[31m \udcff')
    (line,) = decoded(capsys.readouterr().err)
    assert line["message"] == 'a "quoted"?forged?line ?[31m ?'
