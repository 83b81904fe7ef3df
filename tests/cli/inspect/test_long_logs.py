"""Commands keep what they have read of a long log in `views/`, and say the same without it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests import crashing
from tests.logs import entry, frame, page, task, url, write
from windrow.log import search, views
from windrow.records import Order, Reason

COMMANDS = {
    "status": ["status", "--json"],
    "metrics": ["status", "--format", "openmetrics"],
    "finished": ["why", url("first").text, "--json"],
    "waiting": ["why", url("waits").text, "--json"],
    "copy": ["why", url("copy").text, "--json"],
    "dropped": ["why", url("dropped", "poor.example").text, "--json"],
    "nowhere": ["why", "http://nowhere.example/", "--json"],
    "list": ["list", "--waiting", "--json"],
}


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl with a long log: two lines with much detail make it as long as thousands of pages would."""
    directory = tmp_path / "crawl"
    directory.mkdir()
    (directory / "crawl.toml").write_text('[frontier]\nyield_threshold = "normal"\n')
    poor = [page(str(number), "poor.example", downloaded=10_000, kept=10, text=0) for number in range(20)]
    long = [page(f"long/{number}", detail=os.urandom(views.KEEP // 3 * 2).hex()) for number in (1, 2)]
    write(
        directory / "log",
        frame(1, page("first", links=["waits", "copy"], digest="SAME", text=7), *poor, seeds=(task("first"),)),
        frame(2, long[0], page("copy", reason=Reason.DUPLICATE, digest="SAME", text=7)),
        frame(3, long[1], entry(task("gone"), Reason.TIMEOUT), orders=(Order("1", 5.0, "block", ("b.example",)),)),
        frame(4, page("dropped", "poor.example", reason=Reason.LOW_YIELD, status=0, seconds=0.0, place=None)),
    )
    return directory


def answers(directory: Path, *names: str) -> dict[str, str]:
    """Return what commands print, without the free bytes of the disk."""
    outputs = {}
    for name in names or COMMANDS:
        verb, *rest = COMMANDS[name]
        result = crashing.run([verb, str(directory), *rest])
        assert result.code == 0, result.err
        outputs[name] = "".join(line for line in result.out.splitlines(True) if "windrow_disk_free" not in line)
    return outputs


def test_commands_say_the_same_the_first_time_the_next_time_and_without_views(crawl: Path) -> None:
    first = answers(crawl)
    kept = {path.name for path in (crawl / "views").iterdir()}
    families = {f"00000.{family}" for family in search.TOKENS}
    assert kept == {"status", "metrics", "retirements", "lock", *families}
    assert answers(crawl) == first
    shutil.rmtree(crawl / "views")
    (crawl / "views").write_text("not a folder, as where nothing can be written")
    assert answers(crawl) == first
    stories = {name: json.loads(first[name]) for name in ("finished", "waiting", "copy", "dropped", "nowhere")}
    assert [story["state"] for story in stories.values()] == ["finished", "waiting", *["finished"] * 2, "not admitted"]
    assert stories["copy"]["explanation"].endswith(f"first seen at {url('first').text}")
    assert "gave 200 bytes of text for 200 kB in 20 responses" in stories["dropped"]["explanation"]


def test_a_crawl_that_continues_is_read_from_there(crawl: Path) -> None:
    names = ("status", "waiting", "copy")
    answers(crawl, *names)
    write(crawl / "log", frame(5, page("waits", links=["new"])))
    then = answers(crawl, *names)
    assert json.loads(then["waiting"])["state"] == "finished"
    assert json.loads(then["status"])["frames"] == 5
    shutil.rmtree(crawl / "views")
    assert answers(crawl, *names) == then


def test_damaged_views_change_nothing(crawl: Path) -> None:
    names = ("status", "waiting", "copy")
    first = answers(crawl, *names)
    for path in (crawl / "views").iterdir():
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] + b"damage")
    assert answers(crawl, *names) == first


def test_each_shard_of_a_crawl_has_its_views(crawl: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    (whole / "shards").mkdir(parents=True)
    (whole / "job.json").write_text(json.dumps({"job": {"id": "1", "name": "whole", "shards": 2}}))
    for name in ("000", "001"):
        shutil.copytree(crawl, whole / "shards" / name)
    status = [crashing.run(["status", str(whole), "--json"]) for _ in range(2)]
    assert status[0].out == status[1].out
    one = crashing.run(["status", str(crawl), "--json"]).json
    assert status[0].json["seen"] == 2 * one["seen"] and status[0].json["frames"] == 2 * one["frames"]
    for name in ("000", "001"):
        assert (whole / "shards" / name / "views" / "status").is_file()
    assert not (whole / "views").exists()
