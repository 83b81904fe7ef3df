"""The list of slow tests names tests that exist, and is made by a rule."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests import slow

ROOT = Path(__file__).resolve().parents[1]


def test_every_slow_test_exists() -> None:
    files = {
        path: (ROOT / path).read_text() for path in {name.partition("::")[0] for name in slow.names()} if exists(path)
    }
    gone = [
        name
        for name in sorted(slow.names())
        if not re.search(rf"def {name.rpartition('::')[2]}\(", files.get(name.partition("::")[0], ""))
    ]
    assert gone == [], "these tests were renamed or removed: edit tests/slow.txt, or measure again with `make slow`"


def exists(path: str) -> bool:
    return (ROOT / path).exists()


def test_a_test_is_slow_if_one_case_or_all_cases_together_take_long() -> None:
    seconds = {"a.py::test_one": 1.5, "a.py::test_two[x]": 0.1, "a.py::test_two[y]": 1.1, "a.py::test_quick": 0.9}
    many = {f"b.py::test_many[{number}]": 0.3 for number in range(20)}
    assert slow.above_limit({**seconds, **many}) == ["a.py::test_one", "a.py::test_two", "b.py::test_many"]


def test_the_files_with_most_slow_tests_come_first_and_stay_whole() -> None:
    def item(file: str, marked: bool) -> Any:
        return SimpleNamespace(path=Path(file), get_closest_marker=lambda name: name if marked else None)

    items = [item("a", False), item("b", True), item("b", False), item("a", False), item("c", True), item("c", True)]
    assert [str(one.path) for one in slow.first(items)] == ["c", "c", "b", "b", "a", "a"]
