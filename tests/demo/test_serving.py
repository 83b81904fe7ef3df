"""`windrow demo --serve`: the web stays until it is stopped, and the command that it prints makes a crawl of it."""

import json
import shlex
import signal
from pathlib import Path

import pytest

from tests import crashing
from tests.reader import Reader


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_web_is_served_until_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    process = crashing.launch("demo", "--serve", "--json", "--dir", str(tmp_path / "web"))
    try:
        assert process.stdout is not None
        served = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        client = Reader(served["port"])
        assert client.get("http://knihovna.demo.test/cs/article-1.html").status == 200
        client.close()
        assert f"knihovna.demo.test\t127.0.0.1:{served['port']}\n" in Path(served["hosts_file"]).read_text()
        process.send_signal(number)
        assert process.wait(30) == 0
    finally:
        crashing.kill(process)


def test_the_command_that_it_prints_makes_a_crawl_of_the_web(tmp_path: Path) -> None:
    process = crashing.launch("demo", "--serve", cwd=tmp_path)
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(4)]
        program, *arguments = shlex.split(lines[2])
        assert (program, lines[3]) == ("windrow", "windrow crawl mycrawl")
        with crashing.launch(*arguments, cwd=tmp_path) as made:
            assert made.wait(30) == 0
        with crashing.launch("crawl", "mycrawl", "--max-pages", "5", "--json", cwd=tmp_path) as crawled:
            assert json.loads(crawled.communicate(timeout=60)[0])["tally"]["finished"]["ok"] >= 1
    finally:
        crashing.kill(process)


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    result = crashing.run(["demo", "--serve", "--dir", str(tmp_path)])
    assert result.code == 2
    assert "holds other files" in result.err and "--dir DIR" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
