"""Check that every hint to install Windrow names the distribution that is ours, and an extra that exists."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The changelog may say what was; every other text that a user may read is checked.
PATTERNS = ("*.md", "docs/**/*.md", "src/**/*.py", "tools/*.py", "benchmarks/**/*", "Makefile", ".ci/*", "*.cff")
OTHERS = re.compile(
    r"\bwindrow\["  # an extra of the other project
    r"|\b(?:pip|pipx|uv|uvx)\b[^\n`;]*\b(?:install|inject|add|run|download)\b[^\n`;]*?(?<![\w./\\-])windrow(?![\w./-])"
)


def texts() -> dict[str, str]:
    """Return every text in which a hint to install may stand, by its path."""
    found = {path for pattern in PATTERNS for path in ROOT.glob(pattern) if path.is_file()}
    found -= {ROOT / "CHANGELOG.md"}
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(found)}


def wrong_hints(text: str) -> list[str]:
    return [found[0] for found in OTHERS.finditer(text)]


def test_the_distribution_has_a_name_of_its_own_and_brings_the_command_windrow() -> None:
    assert PROJECT["name"] == "windrow-corpus"
    assert list(PROJECT["scripts"]) == ["windrow"]


def test_no_hint_names_the_distribution_of_another_project() -> None:
    found = {path: wrong_hints(text) for path, text in texts().items() if wrong_hints(text)}
    assert found == {}, "the distribution is called windrow-corpus"


def test_every_extra_that_a_hint_names_exists() -> None:
    named = {
        (path, extra.strip())
        for path, text in texts().items()
        for extras in re.findall(r"windrow-corpus\[([\w, -]+)\]", text)
        for extra in extras.split(",")
    }
    assert len(named) >= 5  # the pattern still finds the hints
    assert [one for one in sorted(named) if one[1] not in PROJECT["optional-dependencies"]] == []


@pytest.mark.parametrize(
    "hint",
    [
        "pip install windrow",
        "pip install 'windrow[parquet]'",
        "pip install --upgrade windrow",
        "pipx install windrow",
        "uv tool install windrow",
        "uvx --from pip install windrow demo",
        "needs windrow[png]",
    ],
)
def test_a_hint_to_the_other_project_is_found(hint: str) -> None:
    assert wrong_hints(f"Install it with: {hint}\n")


@pytest.mark.parametrize(
    "hint",
    [
        "pip install 'windrow-corpus[parquet]'",
        "pipx install windrow-corpus; then run windrow demo",
        "uv tool install windrow-corpus",
        "pip install .                                   # or: make demo, then use .venv/bin/windrow",
        "pip install dist/windrow_corpus-0.1.0-py3-none-any.whl",
    ],
)
def test_a_right_hint_is_left_alone(hint: str) -> None:
    assert wrong_hints(f"Install it with: {hint}\n") == []


def test_the_addresses_of_a_release_are_those_of_the_repository_that_ci_works_for() -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec and spec.loader
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    assert build.addresses({}) == {}
    named = build.addresses({"GITHUB_SERVER_URL": "https://host.example", "GITHUB_REPOSITORY": "our/windrow"})
    assert named["Source"] == "https://host.example/our/windrow"
    for path in named.values():
        below = path.removeprefix(named["Source"]).split("/main/")
        assert len(below) == 1 or (ROOT / below[1]).exists()
