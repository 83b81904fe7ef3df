"""The completion scripts, run by a shell."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import crashing
from windrow.cli import completion


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a program called windrow."""
    place = tmp_path_factory.mktemp("bin")
    program = place / "windrow"
    source = crashing.ROOT / "src"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{source}" exec "{sys.executable}" -m windrow.cli "$@"\n')
    program.chmod(0o755)
    return place


def completed(path: Path, *words: str) -> list[str]:
    """Return what bash offers for the last of these words."""
    script = f"""
        eval "$(windrow completion bash)"
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)})
        COMP_CWORD={len(words) - 1}
        _windrow_completion windrow
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    result = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": f"{path}:/usr/bin:/bin"},
    )
    assert result.returncode == 0 and result.stderr == "", result.stderr
    return result.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_options_and_names(path: Path) -> None:
    assert completed(path, "windrow", "st") == ["status", "stop", "store"]
    assert completed(path, "windrow", "crawl", "x", "--max-p") == ["--max-pages"]
    assert completed(path, "windrow", "crawl", "x", "--set", "fetch.del") == ["fetch.delay="]
    assert completed(path, "windrow", "options", "fetch.header_t") == ["fetch.header_timeout"]
    assert completed(path, "windrow", "list", "x", "--reason", "near") == ["near-duplicate"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script_that_says_how_to_install_it(shell: str) -> None:
    result = crashing.run(["completion", shell])
    assert result.code == 0
    assert result.out.startswith("# ") and f"windrow completion {shell}" in result.out.splitlines()[0]
    assert "_WINDROW_COMPLETE" in result.out


@pytest.mark.parametrize(
    ("name", "typed", "word"),
    [
        ("COMP_WORDS", "windrow\ncrawl\nx\n--max-p", "crawl"),
        ("_TYPER_COMPLETE_ARGS", "windrow crawl x --max-p", "crawl"),
        ("COMP_WORDS", "windrow\ncr", ""),
        ("COMP_WORDS", "", ""),
    ],
)
def test_only_the_command_whose_rest_is_completed_is_imported(
    name: str, typed: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, typed)
    assert completion.word() == "", "without a request of a shell"
    monkeypatch.setenv("_WINDROW_COMPLETE", "complete_bash")
    assert completion.word() == word


def test_an_unknown_shell_is_refused() -> None:
    result = crashing.run(["completion", "tcsh"])
    assert (result.code, result.err) == (2, "windrow: there is no completion for 'tcsh'; choose bash, zsh, fish\n")
