"""The user's own code is found by its reference, or one sentence says what is wrong with the reference."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from windrow import plugins
from windrow.config import ConfigError
from windrow.plugins import OpenTable


@pytest.fixture(autouse=True)
def clean_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(plugins, "_references", {})
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
        "the known names are language, quality; did you mean 'language'?"
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


TABLE: OpenTable[str, Callable[[], str]] = OpenTable(
    "test.option",
    {"one": lambda options, inner: lambda: f"one of {options}", "two": lambda options, inner: lambda: "two"},
    inner="one",
)


def wrapping(options: dict[str, object], inner: Callable[[], str]) -> Callable[[], str]:
    return lambda: f"{options} around {inner()}"


class Wrapping:
    def __init__(self, options: dict[str, object], inner: Callable[[], str]) -> None:
        self.text = inner()

    def __call__(self) -> str:
        return f"object around {self.text}"


def broken(options: dict[str, object], inner: Callable[[], str]) -> Callable[[], str]:
    raise KeyError("word")


def plain() -> str:
    return "plain"


def build(name: str, **sections: dict[str, object]) -> str:
    return plugins.build(TABLE, name, sections, "ours")()


def test_a_row_of_a_table_is_built_with_the_options_of_windrow() -> None:
    assert build("one") == "one of ours"


def test_the_users_builder_gets_its_section_and_what_it_can_wrap() -> None:
    assert build(f"{__name__}:wrapping", wrapping={"a": 1}) == "{'a': 1} around one of ours"
    assert build(f"{__name__}:wrapping") == "{} around one of ours"
    assert build(f"{__name__}:wrapping", wrapping={"inner": "two"}) == "{} around two"
    assert build(f"{__name__}:Wrapping") == "object around one of ours"


def test_a_section_with_use_is_a_name_of_its_own_even_a_built_in_one() -> None:
    use = f"{__name__}:wrapping"
    assert build("mine", mine={"use": use, "a": 1}) == "{'a': 1} around one of ours"
    assert build("one", one={"use": use, "a": 2}) == "{'a': 2} around one of ours"
    assert build(use, wrapping={"use": "other:wrapping", "a": 1}) == "{} around one of ours"


def test_any_other_object_of_the_user_is_used_as_it_is_and_has_no_options() -> None:
    assert build(f"{__name__}:plain") == "plain"
    with pytest.raises(ConfigError, match=r"plain takes no options.*write it as def plain\(options, inner\)"):
        build(f"{__name__}:plain", plain={"a": 1})


def test_an_error_of_a_builder_names_the_line_of_the_user() -> None:
    line = broken.__code__.co_firstlineno + 1
    with pytest.raises(
        ConfigError, match=f"'test.option': {__name__}:broken failed at {__file__}, line {line}: KeyError"
    ):
        build(f"{__name__}:broken")


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="the known names are one, two, mine; did you mean 'mine'"):
        build("mime", mine={"use": "a:b"})
    with pytest.raises(ConfigError, match="there is no 'three' to wrap; inner is one of one, two"):
        build(f"{__name__}:wrapping", wrapping={"inner": "three"})


def test_a_fault_names_the_plug_in_its_line_and_the_way_from_there(tmp_path: Path) -> None:
    (tmp_path / "helper_of_faults.py").write_text("def deep(value):\n    return 1 / value\n")
    (tmp_path / "faults_of_mine.py").write_text(
        "from helper_of_faults import deep\n\ndef other(): ...\n\ndef judge(value):\n    return deep(value)\n"
    )
    plugins.load(f"{tmp_path}/faults_of_mine:other", "judge.judges")
    judge = plugins.load(f"{tmp_path}/faults_of_mine:judge", "judge.judges")
    with pytest.raises(ZeroDivisionError) as raised:
        judge(0)
    fault = plugins.fault(raised.value)
    assert fault is not None
    place = f"{tmp_path}/faults_of_mine.py, line 6"
    assert fault.key == (f"{tmp_path}/faults_of_mine:judge", "ZeroDivisionError", place)
    assert str(fault) == f"{tmp_path}/faults_of_mine:judge failed at {place}: ZeroDivisionError: division by zero"
    assert "return deep(value)" in fault.trace and "return 1 / value" in fault.trace
    assert __file__ not in fault.trace


def test_an_error_without_the_users_code_is_no_fault_of_it() -> None:
    with pytest.raises(ValueError) as raised:
        int("x")
    assert plugins.fault(raised.value) is None


def test_a_wrong_result_is_placed_where_the_code_is_defined() -> None:
    fault = plugins.fault(plugins.WrongResult("the judge returned None", "mine:plain", plain))
    assert fault is not None
    assert fault.place == f"{__file__}, line {plain.__code__.co_firstlineno}"
    called = plugins.fault(plugins.WrongResult("the judge returned None", "mine:w", Wrapping({}, plain)))
    assert called is not None and called.place.startswith(f"{__file__}, line ")
