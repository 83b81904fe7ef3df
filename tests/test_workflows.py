"""The workflows of CI: valid, safe, with pinned actions, and for the versions of Python that pyproject.toml names."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="a source distribution has no workflows")


@pytest.mark.parametrize(
    "check",
    [
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
        ("zizmor", "--offline", "--no-progress"),
    ],
    ids=lambda check: check[0],
)
def test_a_checker_finds_nothing_wrong(check: tuple[str, ...]) -> None:
    program = Path(sys.executable).with_name(check[0])
    if not program.exists():
        pytest.skip(f"needs {check[0]}, of the extra dev")
    done = subprocess.run([program, *check[1:], *WORKFLOWS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_action_is_pinned_to_a_commit_and_names_its_version() -> None:
    uses = [line for path in WORKFLOWS for line in path.read_text().splitlines() if "uses:" in line]
    assert uses
    for line in uses:
        assert re.search(r"uses: (\./\.github/workflows/\w+\.yml #.*|[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$", line), (
            line
        )


def test_tests_and_wheels_are_made_for_each_version_of_python_that_the_classifiers_name() -> None:
    named = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if ":: 3." in line]
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["tool"]["cibuildwheel"]["build"] == f"cp3{{{','.join(one[2:] for one in named)}}}-manylinux_*"


def test_every_target_of_make_that_a_workflow_calls_exists() -> None:
    called = {name for path in WORKFLOWS for name in re.findall(r"run: make (\w+)", path.read_text())}
    assert called == set(re.findall(r"(?m)^(\w+):", (ROOT / "Makefile").read_text())) & called
    assert "test" in called


def test_a_commit_runs_make_and_fetches_nothing() -> None:
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert local["repo"] == "local"
    for hook in local["hooks"]:
        words = hook["entry"].split()
        assert (words[0], hook["language"]) == ("make", "system")
        assert re.search(rf"(?m)^{words[1]}:", (ROOT / "Makefile").read_text())
