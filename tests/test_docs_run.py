"""Follow the tutorials, the cookbook and the README as a reader does: run their blocks, in order, in one directory.

tests/blocks.py says how a page marks what is run. Nothing here needs a network: the pages crawl the demo web.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import blocks
from tests.blocks import Block
from tests.test_docs import problem

ROOT = Path(__file__).resolve().parents[1]
QUICK = ["docs/index.md", "docs/install.md"]
LONG = [
    "README.md",
    "docs/cookbook.md",
    "docs/tutorial-archive.md",
    "docs/tutorial-czech.md",
    "docs/tutorial-german.md",
]
PATIENCE = 120  # seconds for one block
# The blocks that no test runs, and why. A page that marks another one must be added here on purpose.
NOT_RUN = {
    "README.md": 3,
    "docs/cookbook.md": 2,
    "docs/index.md": 0,
    "docs/install.md": 6,
    "docs/tutorial-archive.md": 1,
    "docs/tutorial-czech.md": 2,
    "docs/tutorial-german.md": 1,
}


class Reader:
    """A reader with a directory and two terminals; `windrow` and `python3` are those of this test."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "work"
        self.directory.mkdir()
        programs = directory / "programs"
        programs.mkdir()
        self.script(programs / "windrow", f'exec "{sys.executable}" -m windrow.cli "$@"')
        self.script(programs / "python3", f'exec "{sys.executable}" "$@"')
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HF_HUB_OFFLINE": "1",  # datasets asks a server otherwise
            "PYTHONPATH": str(ROOT / "src"),
        }
        self.running: list[subprocess.Popen[str]] = []

    def script(self, path: Path, line: str) -> None:
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def start(self, block: Block) -> None:
        """Start a block in the other terminal, and wait for its first line."""
        process = subprocess.Popen(
            ["bash", "-euc", f"exec {block.code}"],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.running.append(process)
        assert process.stdout is not None and process.stdout.readline(), f"line {block.line} printed nothing"

    def run(self, block: Block) -> str:
        """Run a block; return what it printed."""
        program = ["bash", "-euc"] if block.language == "sh" else [sys.executable, "-c"]
        done = subprocess.run(
            [*program, block.code],
            cwd=self.directory,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        printed = done.stdout + done.stderr
        assert done.returncode == 0, f"line {block.line}: exit code {done.returncode}\n{printed}"
        # In a pipe the exit code of the first command is lost; its error sentence is not.
        assert not any(line.startswith(("windrow: ", "Traceback")) for line in done.stderr.splitlines()), printed
        return printed

    def close(self) -> None:
        for process in self.running:
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(30) == 0
            process.communicate()


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    missing = [program for program in ("bash", "curl") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    reader = Reader(tmp_path)
    yield reader
    reader.close()


def runnable(block: Block) -> bool:
    installed = all(importlib.util.find_spec(name) is not None for name in block.needs)
    return installed and not block.why_not


def follow(page: str, reader: Reader) -> int:
    """Run a page; return the number of its blocks that were run."""
    count, printed = 0, ""
    for block in blocks.blocks(ROOT / page):
        if block.mode == "output":
            missing = blocks.matches(block.code, printed)
            assert not missing, f"{page}:{block.line}: {missing}\n{printed}"
        elif block.mode == "background":
            reader.start(block)
        elif block.language in ("sh", "python") and runnable(block):
            printed = reader.run(block)
            count += 1
    return count


@pytest.mark.parametrize("page", QUICK)
def test_a_reader_can_follow_the_page(page: str, reader: Reader) -> None:
    assert follow(page, reader)


@pytest.mark.long
@pytest.mark.parametrize("page", LONG)
def test_a_reader_can_follow_the_long_page(page: str, reader: Reader) -> None:
    assert follow(page, reader)


@pytest.mark.parametrize("page", sorted(QUICK + LONG))
def test_the_blocks_that_are_not_run_are_counted(page: str) -> None:
    marked = [block for block in blocks.blocks(ROOT / page) if block.why_not]
    assert len(marked) == NOT_RUN[page], [f"{block.line}: {block.why_not}" for block in marked]


@pytest.mark.parametrize("page", sorted(QUICK + LONG))
def test_every_block_of_a_page_that_is_run_has_a_language(page: str) -> None:
    known = ("sh", "python", "toml", "text", "json")
    assert [block.line for block in blocks.blocks(ROOT / page) if block.language not in known] == []


def test_an_output_is_compared_line_by_line() -> None:
    assert blocks.matches("a … c\n\nlast", "a b c\nmore\nlast\n") == ""
    assert blocks.matches("a … c\nlast", "last\na b c\n") == "last"
    assert blocks.matches("a … d", "a b c\n") == "a … d"


def test_commands_are_found_in_pipes_comments_and_continued_lines() -> None:
    code = "a=1  # windrow no\nx | windrow one \\\n  --two 'b | c' | head\nwindrow three; .venv/bin/windrow four\n"
    code += "cat <<END\nwindrow five\nEND\n"
    assert list(blocks.commands(code)) == [["one", "--two", "b | c"], ["three"], ["four"]]


def test_a_missing_command_is_a_problem() -> None:
    assert problem(["no-such-command"])
