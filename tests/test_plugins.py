"""The user's own code is found by its reference, or one sentence says what is wrong with the reference."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from windrow import plugins
from windrow.config import ConfigError


@pytest.fixture(autouse=True)
def clean_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def complaint(reference: str) -> str:
    with pytest.raises(ConfigError) as raised:
        plugins.load(reference, "judge.judges", ("language", "quality"))
    message = str(raised.value)
    assert "\n" not in message
    return message


def test_a_function_of_an_installed_module_is_loaded() -> None:
    import posixpath

    assert plugins.load("posixpath:join", "judge.judges") is posixpath.join


def test_a_function_of_a_file_beside_the_crawl_is_loaded_with_its_siblings(tmp_path: Path) -> None:
    (tmp_path / "helper_of_mine.py").write_text("LIMIT = 3\n")
    (tmp_path / "judge_of_mine.py").write_text("from helper_of_mine import LIMIT\ndef judge(): return LIMIT\n")
    assert plugins.load(f"{tmp_path}/judge_of_mine:judge", "judge.judges")() == 3
    assert sys.path[-1] == str(tmp_path)


def test_a_reference_without_a_colon_is_refused_with_the_built_in_names() -> None:
    assert complaint("langauge") == (
        "option 'judge.judges' names 'langauge', which is not a reference; "
        'write "package.module:name" for your own code; '
        "the built-in names are language, quality"
    )
    assert "is not a reference" in complaint("module:")
    assert "is not a reference" in complaint(":name")


def test_a_missing_module_is_named_with_the_fix(tmp_path: Path) -> None:
    assert complaint(f"{tmp_path}/absent_one:judge") == (
        f"option 'judge.judges' names '{tmp_path}/absent_one:judge', but there is no module 'absent_one'; "
        "put its file beside crawl.toml, install its package, or correct the name before the colon"
    )
    assert "there is no module 'absent_one'" in complaint("absent_one.judges:judge")


def test_the_error_of_a_module_that_cannot_be_imported_is_shown(tmp_path: Path) -> None:
    (tmp_path / "broken_one.py").write_text("import absent_library\n")
    (tmp_path / "broken_two.py").write_text("1 / 0\n")
    (tmp_path / "broken_three.py").write_text("def judge(:\n")
    shown = complaint(f"{tmp_path}/broken_one:judge")
    assert "cannot be imported (ModuleNotFoundError: No module named 'absent_library'); correct the module" in shown
    assert "cannot be imported (ZeroDivisionError: division by zero)" in complaint(f"{tmp_path}/broken_two:judge")
    assert "cannot be imported (SyntaxError: " in complaint(f"{tmp_path}/broken_three:judge")


def test_a_missing_name_is_shown_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "plain_one.py").write_text("def judge(): ...\n")
    assert complaint(f"{tmp_path}/plain_one:jugde").endswith(
        f"but {tmp_path}/plain_one.py defines no 'jugde'; correct the name after the colon"
    )


def test_a_file_with_the_name_of_a_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("def judge(): ...\n")
    assert "is a module of the same name; give your file another name" in complaint(f"{tmp_path}/json:judge")
