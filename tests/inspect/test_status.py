"""The counts of a crawl add up, and the table for people shows them."""

import fcntl
import os
import platform
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests import crashing, logs, truth
from tests.finished import Finished
from windrow.inspect import status as states
from windrow.records import Controls


def test_the_counts_are_those_of_an_independent_reading_of_the_log(finished: Finished) -> None:
    found = crashing.run(["status", str(finished.directory), "--json"]).json
    lines = [line for frame in truth.frames(finished.directory) for line in frame[1:]]
    ends = [line["reason"] for line in lines if line.get("kind", 0) == 0 and line.get("final", True)]
    assert found["finished"] == {reason: ends.count(reason) for reason in set(ends)}
    assert found["downloaded"] == sum(line.get("downloaded", 0) for line in lines)
    assert found["captures"] == sum("place" in line for line in lines) == len(truth.seqs(finished.directory))
    assert found["bytes"] == {
        subset: sum(path.stat().st_size for path in (finished.directory / subset).iterdir()) for subset in truth.SUBSETS
    }
    assert found["hosts"] == len({line["url"].split("/")[2] for line in lines if line.get("kind", 0) == 0})
    assert found["frames"] == len(truth.frames(finished.directory))


def test_status_for_people_shows_the_same_numbers(finished: Finished) -> None:
    found = crashing.run(["status", str(finished.directory), "--json"]).json
    shown = crashing.run(["status", str(finished.directory)])
    assert shown.code == 0
    for number in (found["seen"], found["requests"], found["captures"], found["pages"], *found["finished"].values()):
        assert f"{number:,}" in shown.out
    assert all(reason in shown.out for reason in found["finished"])


def test_a_directory_without_a_crawl_is_refused(tmp_path: Path) -> None:
    result = crashing.run(["status", str(tmp_path)])
    assert (result.code, result.out) == (2, "")
    assert (
        result.err
        == f"windrow: {tmp_path} holds no crawl: there is neither a log/ nor a crawl.toml in it; check the path\n"
    )


def test_a_crawl_that_has_not_begun_is_empty(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("")
    status = crashing.run(["status", str(tmp_path), "--json"])
    assert status.code == 0
    assert (status.json["seen"], status.json["waiting"], status.json["finished"], status.json["frames"]) == (
        0,
        0,
        {},
        0,
    )
    assert crashing.run(["status", str(tmp_path)]).code == 0
    story = crashing.run(["why", str(tmp_path), "http://a.test/", "--json"])
    assert (story.code, story.json["state"]) == (0, "not admitted")


def test_a_process_that_takes_the_lock_meanwhile_is_not_taken_for_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.write(tmp_path / "log", msgspec.structs.replace(logs.frame(1, logs.ok(1, "/")), time=1000.0, offline=900.0))
    lock, read = tmp_path / "lock", Path.read_text
    lock.write_text("the process before")
    os.utime(lock, (500.0, 500.0))

    def read_late(path: Path, *arguments: Any, **options: Any) -> str:
        if path == lock:
            lock.write_text(f"{os.getpid()} on {platform.node()}")
            os.utime(lock, (2000.0, 2000.0))
        return read(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", read_late)
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found = states.status(tmp_path)
    assert found.running and not found.offline


def test_the_sum_of_shards_shows_what_orders_have_changed_in_all_of_them(finished: Finished) -> None:
    found = states.status(finished.directory)
    one = Controls(paused=5.0, blocked=("a.example",), options={"fetch.delay": "2", "fetch.ip_delay": "1"})
    two = Controls(paused=7.0, blocked=("b.example", "a.example"), options={"fetch.delay": "2", "fetch.ip_delay": "3"})
    shards = [msgspec.structs.replace(found, controls=controls) for controls in (one, two)]
    assert states.total(shards).controls == Controls(7.0, ("a.example", "b.example"), {"fetch.delay": "2"})
    assert states.total([*shards, found]).controls == Controls(0.0, ("a.example", "b.example"), {})
