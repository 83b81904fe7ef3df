"""requirements/ has everything that pyproject.toml names, in the versions of constraints.txt, with hashes."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FILES = {path.stem: path.read_text() for path in (ROOT / "requirements").glob("*.txt")}
AGAIN = "run `make lock`"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(*files: str) -> dict[str, str]:
    """Return the version of each name."""
    entries = [re.findall(r"(?m)^([\w.-]+)==(\S+)", FILES[file]) for file in files]
    return {canonical(name): version for found in entries for name, version in found}


def named(requirements: list[str]) -> set[str]:
    return {canonical(re.split(r"[\[=<>~!; ]", requirement)[0]) for requirement in requirements}


def test_every_dependency_is_locked_in_the_files_that_its_target_installs() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    base = named([*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]])
    assert base <= locked("base").keys(), AGAIN
    assert named(extras["docs"]) <= locked("base", "docs").keys(), AGAIN
    assert named(extras["dev"]) <= locked("base", "docs", "dev").keys(), AGAIN
    assert named([name for names in extras.values() for name in names]) <= locked(*FILES).keys(), AGAIN


def test_the_versions_are_those_of_constraints_txt() -> None:
    constraints = dict(re.findall(r"(?m)^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text()))
    assert constraints.pop("uv"), "it writes the lock"
    assert locked(*FILES) == {canonical(name): version for name, version in constraints.items()}, (
        f"add what is missing to constraints.txt, then {AGAIN}"
    )


def test_every_entry_has_hashes_and_no_address() -> None:
    for text in FILES.values():
        assert "://" not in text
        for entry in re.split(r"(?m)^(?=\w)", text)[1:]:
            assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry


def test_no_file_repeats_an_entry_of_another_one() -> None:
    assert sum(len(locked(file)) for file in FILES) == len(locked(*FILES))
