"""The demo ends with commands that run as they are printed."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests import crashing


def run(arguments: list[str], directory: Path, path: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(crashing.ROOT / "src")}
    return subprocess.run(arguments, cwd=directory, env=environment, capture_output=True, text=True, timeout=120)


def program(directory: Path) -> Path:
    """Make a program as pip makes one."""
    directory.mkdir(exist_ok=True)
    file = directory / "windrow"
    file.write_text(f"#!{sys.executable}\nfrom windrow.cli import main\nmain()\n")
    file.chmod(0o755)
    return file


def printed(out: str) -> list[str]:
    return [line.strip() for line in out.partition("next:\n")[2].splitlines()]


def test_the_commands_that_the_demo_prints_run_as_printed(tmp_path: Path) -> None:
    program(tmp_path / "a venv")
    bare = "/usr/bin:/bin"
    demo = run(["a venv/windrow", "demo", "--dir", "my demo"], tmp_path, bare)
    assert demo.returncode == 0, demo.stderr
    lines = printed(demo.stdout)
    assert len(lines) >= 4 and all(line.startswith("'a venv/windrow' ") for line in lines)
    for line in lines:
        done = run(["sh", "-c", line], tmp_path, bare)
        assert done.returncode == 0 and (done.stdout or done.stderr == ""), (line, done.stderr)
    assert (tmp_path / "my demo.txt").stat().st_size > 10_000


def test_a_program_that_the_shell_finds_is_named_without_its_path(tmp_path: Path) -> None:
    file = program(tmp_path / "bin")
    (tmp_path / "seeds").write_text("http://a.test/\n")
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    made = run([str(file), "init", "crawl", "--seeds", "seeds"], tmp_path, path)
    assert made.stdout.splitlines()[-1] == "Now: windrow crawl crawl"
    other = run([str(file), "init", "crawl 2", "--seeds", "seeds"], tmp_path, "/usr/bin:/bin")
    assert other.stdout.splitlines()[-1] == "Now: " + shlex.join([str(file), "crawl", "crawl 2"])
