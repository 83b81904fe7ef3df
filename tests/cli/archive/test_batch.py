"""`windrow batch`: what it prints, how it ends, and how it is stopped and continued."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
from typer.testing import CliRunner

from tests import crashing
from tests.jobs import warcs
from windrow import cli
from windrow.config import ConfigError

EXAMPLE = str(crashing.ROOT / "examples" / "pages_by_tld.py")
# Notes each file it begins, with the process; waits forever in a file with a page at /wait while there is a file STOP.
SLOW = """
import os, pathlib, signal
HERE = pathlib.Path(__file__).parent
def process(record):
    with open(HERE / "calls", "a") as file:
        file.write(f"{record.url} {os.getpid()}\\n")
    if record.url.endswith("/wait") and (HERE / "STOP").exists():
        signal.pause()
    yield record.url, 1
"""


def files(directory: Path, *urls: str) -> list[str]:
    """Write one file per URL; the first ones are the largest, so they are read first."""
    found = []
    for number, url in enumerate(urls):
        body = b"<p>" + os.urandom(10000 - 1000 * number).hex().encode()
        found.append(str(warcs.write(directory / f"{number}.warc.gz", [warcs.record(url, body)])))
    return found


def test_without_an_output_the_result_is_printed(tmp_path: Path) -> None:
    sources = files(tmp_path, "http://a.test/", "http://b.example/")
    run = CliRunner().invoke(cli.app, ["batch", EXAMPLE, *sources])
    assert run.exit_code == 0 and run.stderr == "2 keys from 2 files, 53 bytes\n"
    assert [json.loads(line)["key"] for line in run.stdout.splitlines()] == ["example", "test"]
    for options in (["--format", "parquet"], ["--files", "2"]):
        refused = CliRunner().invoke(cli.app, ["batch", EXAMPLE, *sources, *options])
        assert isinstance(refused.exception, ConfigError) and "name the output: -o OUT" in str(refused.exception)


def test_the_summary_is_printed_for_people_and_for_programs(tmp_path: Path) -> None:
    sources = files(tmp_path, "http://a.test/", "http://b.example/")
    run = CliRunner().invoke(cli.app, ["batch", EXAMPLE, *sources, "-o", f"{tmp_path}/out.json"])
    assert (run.exit_code, run.output) == (0, "2 keys from 2 files, 53 bytes\n")
    run = CliRunner().invoke(cli.app, ["batch", EXAMPLE, *sources, "-o", f"{tmp_path}/out.json", "--force", "--json"])
    assert json.loads(run.output) == {
        "sources": 2,
        "keys": 2,
        "bytes": 53,
        "files": [f"{tmp_path}/out.json"],
        "bad": [],
    }
    assert sorted(os.listdir(tmp_path)) == ["0.warc.gz", "1.warc.gz", "out.json"]


def test_a_bad_file_is_named_and_the_exit_code_tells(tmp_path: Path) -> None:
    sources = files(tmp_path, "http://a.test/", "http://b.example/")
    Path(sources[0]).write_bytes(b"no archive")
    run = CliRunner().invoke(cli.app, ["batch", EXAMPLE, *sources, "-o", f"{tmp_path}/out.json"])
    assert run.exit_code == 2
    assert run.stdout == "1 keys from 1 files, 28 bytes\n"
    assert run.stderr.startswith(f"windrow: {sources[0]}: ")


def test_options_of_spark_are_refused_without_it(tmp_path: Path) -> None:
    command = ["batch", EXAMPLE, *files(tmp_path, "http://a.test/"), "-o", f"{tmp_path}/out", "--master", "local[2]"]
    run = CliRunner().invoke(cli.app, command)
    assert isinstance(run.exception, ConfigError)
    assert "a master and options of Spark are for the engine spark, not for local" in str(run.exception)


def launch(directory: Path, sources: list[str]) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "windrow.cli", "batch", str(directory / "slow.py"), *sources]
    command += ["-o", str(directory / "out.json"), "--workers", "1"]
    environment = {**os.environ, "PYTHONPATH": str(crashing.ROOT / "src")}
    return subprocess.Popen(
        command,
        env=environment,
        start_new_session=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored, if the tests run in the background
    )


def waiting(process: "subprocess.Popen[str]", directory: Path) -> psutil.Process:
    """Return the worker that waits in the job."""
    calls = directory / "calls"
    while not calls.exists() or "/wait " not in calls.read_text():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return psutil.Process(int(calls.read_text().split()[-1]))


def begun(directory: Path) -> list[str]:
    return [line.split()[0] for line in (directory / "calls").read_text().splitlines()]


def prepare(directory: Path) -> list[str]:
    (directory / "slow.py").write_text(SLOW)
    (directory / "STOP").write_text("")
    return files(directory, "http://a.test/", "http://b.test/wait", "http://c.test/")


def test_after_ctrl_c_no_worker_is_left_and_the_same_command_continues(tmp_path: Path) -> None:
    sources = prepare(tmp_path)
    process = launch(tmp_path, sources)
    worker = waiting(process, tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "the same command continues after the files that are done" in errors
    assert not worker.is_running()
    (tmp_path / "STOP").unlink()
    process = launch(tmp_path, sources)
    assert process.communicate() == ("3 keys from 3 files, 109 bytes\n", "")
    assert begun(tmp_path) == ["http://a.test/", "http://b.test/wait", "http://b.test/wait", "http://c.test/"]
    assert not (tmp_path / ".out.json.parts").exists()


def test_after_a_kill_no_worker_is_left_and_the_same_command_continues(tmp_path: Path) -> None:
    sources = prepare(tmp_path)
    process = launch(tmp_path, sources)
    worker = waiting(process, tmp_path)
    process.kill()
    process.communicate()
    worker.wait(timeout=60)
    (tmp_path / "STOP").unlink()
    process = launch(tmp_path, sources)
    assert process.communicate()[0] == "3 keys from 3 files, 109 bytes\n"
    assert begun(tmp_path)[-2:] == ["http://b.test/wait", "http://c.test/"]
