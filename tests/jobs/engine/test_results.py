"""Results per source: the logs of several crawls are folded on an engine, with the same numbers."""

import json
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from tests.inspect.report import crawls
from tests.jobs import inline
from windrow import cli
from windrow.config import ConfigError
from windrow.inspect import report
from windrow.inspect.report.data import Numbers
from windrow.jobs.engine import results


def test_the_numbers_of_each_crawl_are_those_of_one_process(tmp_path: Path) -> None:
    directories = [crawls.german(tmp_path / name) for name in ("one", "two")]
    with inline.engine() as run:
        found = results.call(run, "windrow.inspect.report:of_directory", list(map(str, directories)), ("domain",))
    assert [msgspec.json.decode(one, type=Numbers) for one in found] == report.read(directories)


def test_a_crawl_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with inline.engine() as run, pytest.raises(ConfigError, match="none"):
        results.call(run, "windrow.inspect.report:of_directory", [str(tmp_path / "none")], ("domain",))


def test_the_command_prints_the_same_with_workers(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    directories = [str(crawls.german(tmp_path / folder / "crawl")) for folder in ("one", "two")]
    alone, several = (
        CliRunner().invoke(cli.app, ["report", *directories, "--json", "--workers", workers]) for workers in ("1", "2")
    )
    assert (alone.exit_code, several.exit_code) == (0, 0)
    assert json.loads(several.stdout) == json.loads(alone.stdout)
    assert [crawl["name"] for crawl in json.loads(several.stdout)] == directories
