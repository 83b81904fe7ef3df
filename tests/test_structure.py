"""Check the size and the names of what is in src: short modules, one class per name in a package, long records with
keywords.

Ruff checks the complexity of functions (C901, at most 12) and the length of lines; see pyproject.toml.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "windrow"
LONGEST = 350  # lines of a module; above that it holds more than one thing
LONGER = {  # path -> reason. Modules that are longer because dividing them would make them worse.
    "config/schema.py": "every option in one place, with its documentation",
}
GENERIC = ("log/format.py",)  # builds a record from the list of its own fields, whatever these are
FIELDS = 5  # a record with more fields is built with keywords
POSITIONAL = 2  # positional arguments of such a call: the subject of the record, as in Task(url, kind)

Tree = dict[str, str]  # path below src/windrow -> source


def own_tree() -> Tree:
    return {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}


def too_long(tree: Tree) -> list[str]:
    """Return the modules with too many lines, and the exceptions that no longer need to be one."""
    lines = {path: len(source.splitlines()) for path, source in tree.items()}
    found = [f"{path} has {count} lines" for path, count in lines.items() if count > LONGEST and path not in LONGER]
    return found + [f"{path} is no exception any more" for path in LONGER if lines.get(path, LONGEST + 1) <= LONGEST]


def classes(tree: Tree) -> Iterator[tuple[str, ast.ClassDef]]:
    for path, source in tree.items():
        yield from ((path, node) for node in ast.walk(ast.parse(source, path)) if isinstance(node, ast.ClassDef))


def shared_names(tree: Tree) -> list[str]:
    """Return the class names that occur more than once in a package, with their places."""
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path, node in classes(tree):
        places[path.partition("/")[0] if "/" in path else "", node.name].append(f"{path}:{node.lineno}")
    return [f"{name}: {', '.join(where)}" for (_, name), where in sorted(places.items()) if len(where) > 1]


def long_records(tree: Tree) -> dict[str, int]:
    """Return the records (Struct, NamedTuple, dataclass) with more than `FIELDS` fields, inherited ones included."""
    nodes = {node.name: node for _, node in classes(tree)}

    def fields(node: ast.ClassDef) -> int:
        inherited = sum(fields(nodes[base]) for base in map(name_of, node.bases) if base in nodes and base != node.name)
        own = [part for part in node.body if isinstance(part, ast.AnnAssign) and "ClassVar" not in ast.dump(part)]
        return inherited + len(own)

    def is_record(node: ast.ClassDef) -> bool:
        marks = [name_of(part) for part in (*node.bases, *node.decorator_list)]
        return any(
            mark in ("Struct", "NamedTuple", "dataclass")
            or (mark in nodes and mark != node.name and is_record(nodes[mark]))
            for mark in marks
        )

    return {name: fields(node) for name, node in nodes.items() if is_record(node) and fields(node) > FIELDS}


def name_of(node: ast.expr) -> str:
    """Return the last part of a dotted name, also of a call: "dataclass" for dataclasses.dataclass(slots=True)."""
    match node:
        case ast.Call(func=function):
            return name_of(function)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def positional(tree: Tree) -> list[str]:
    """Return the calls that build a long record from its position in the list of fields."""
    records = long_records(tree)
    found = []
    for path, source in tree.items():
        for node in ast.walk(ast.parse(source, path)) if path not in GENERIC else ():
            if not isinstance(node, ast.Call) or name_of(node.func) not in records:
                continue
            if len(node.args) > POSITIONAL or any(isinstance(argument, ast.Starred) for argument in node.args):
                name = name_of(node.func)
                found.append(f"{path}:{node.lineno} builds {name}, which has {records[name]} fields, without keywords")
    return found


def test_no_module_is_too_long() -> None:
    assert too_long(own_tree()) == []


def test_no_two_classes_of_a_package_share_a_name() -> None:
    assert shared_names(own_tree()) == []


def test_records_with_many_fields_are_built_with_keywords() -> None:
    assert positional(own_tree()) == []


def test_a_module_that_is_too_long_is_found() -> None:
    assert too_long({"a.py": "x\n" * LONGEST, "b.py": "x\n" * (LONGEST + 1)}) == ["b.py has 351 lines"]


def test_an_exception_that_is_not_needed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LONGER, "a.py", "a table")
    assert too_long({"a.py": "x\n" * (LONGEST + 1)}) == []
    assert too_long({"a.py": "x\n"}) == ["a.py is no exception any more"]


def test_a_class_name_that_occurs_twice_is_found() -> None:
    tree = {"a.py": "class Row: ...\nclass Other: ...", "b.py": "def f():\n    class Row: ..."}
    assert shared_names(tree) == ["Row: a.py:1, b.py:2"]


LONG_RECORD = "class Long(Struct):\n" + "".join(f"    field{number}: int = 0\n" for number in range(6))
SHORT_RECORD = "class Short(NamedTuple):\n" + "".join(f"    field{number}: int = 0\n" for number in range(5))


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("Long(1, 2, field2=3)", 0),
        ("Long(1, 2, 3)", 1),
        ("data.Long(1, 2, 3)", 1),
        ("Long(*row)", 1),
        ("Long(**row)", 0),
        ("Short(1, 2, 3, 4, 5)", 0),
        ("class Longer(Long):\n    more: int\nLonger(1, 2, 3)", 1),
        ("@dataclasses.dataclass(slots=True)\nclass Other:\n" + "    a: int\n" * 6 + "Other(1, 2, 3)", 1),
        ("class State:\n" + "    a: int\n" * 6 + "State(1, 2, 3)", 0),
    ],
)
def test_a_long_record_built_by_position_is_found(source: str, count: int) -> None:
    assert len(positional({"records/": LONG_RECORD + SHORT_RECORD, "a.py": source})) == count
