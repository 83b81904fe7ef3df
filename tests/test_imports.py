"""Check the imports: their order, the address of each outside library, and modules that must not be imported."""

import ast
import functools
import graphlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "windrow"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}

# Top to bottom: a part imports only from rows strictly below its own; so the parts of a row never import each other.
ROWS = (
    ("cli", "api", "__main__"),
    ("serve", "scrapy"),
    ("nodes", "demo", "kernels"),
    ("shards",),
    ("crawler", "jobs"),
    ("inspect",),
    ("decide",),
    ("refine",),
    ("frontier", "fetch", "origin", "archive", "extraction", "judge", "dedup", "corpus", "graph", "log"),
    ("plugins", "rules", "takedown", "metrics"),
    ("orders", "sharding", "io"),
    ("config", "urls", "files", "units", "machine", "scripts", "fingerprints", "signals"),
    ("records",),
)
ROW = {part: number for number, row in enumerate(ROWS) for part in row}
# The root is the face of the package: it names the functions of `api`, for type checkers only. Every module imports the
# root before itself, so its imports are no edges of a cycle; a test below checks that none of them happens.
ROOT_MODULE, FACE = "__init__.py", "api"

# Each outside library has one address, so that it can be replaced in one place. A folder ends with a slash; "" is
# everywhere.
ADDRESSES = {
    "boilerpy3": ("extraction/evaluation/peers.py",),
    "brotli": ("io/coding.py",),
    "duckdb": ("jobs/engine/duck.py", "jobs/index/query.py"),
    "fsspec": ("io/storage.py",),
    "goose3": ("extraction/evaluation/peers.py",),
    "hiredis": ("nodes/redis/",),
    "icu4py": ("corpus/segment/icu.py",),
    "jieba": ("extraction/evaluation/peers.py",),
    "justext": ("extraction/evaluation/peers.py",),
    "isal": ("archive/", "io/coding.py", "corpus/", "log/", "io/streams.py"),
    "lmdb": ("frontier/store/lmdb.py",),
    "msgspec": ("",),  # the records themselves
    "newspaper": ("extraction/evaluation/peers.py",),
    "numpy": (
        *(
            "extraction/main/blocks/",
            "extraction/main/lines/",
            "extraction/evaluation/bootstrap.py",
            "extraction/evaluation/summary.py",
        ),
        *("judge/", "dedup/", "jobs/dedup/earlier.py", "jobs/merge/", "log/newpostings.py"),
    ),
    "prometheus_client": ("metrics/families.py",),
    "psycopg": ("jobs/store/postgresql.py",),
    "publicsuffixlist": ("urls/suffixes.py",),
    "py4j": ("jobs/engine/spark.py",),
    "pyarrow": ("corpus/formats/parquet.py", "jobs/"),  # rows of batch jobs
    "py3langid": ("judge/language/decoded.py",),
    "pycld2": ("judge/language/tools.py",),
    "pycurl": ("fetch/client/",),
    "pymongo": ("jobs/store/mongodb.py",),
    "pymysql": ("jobs/store/mysql.py",),
    "pyspark": ("jobs/engine/spark.py",),
    "resvg_py": ("inspect/report/svg.py",),
    "readability": ("extraction/evaluation/peers.py",),
    "redis": ("nodes/redis/",),
    "resiliparse": ("extraction/evaluation/peers.py",),
    "rich": ("cli/", "crawler/display/live.py"),
    "scrapy": ("scrapy/",),
    "sklearn": ("extraction/main/lines/fit.py",),
    "sqlglot": ("jobs/engine/spark.py",),
    "tldextract": ("extraction/evaluation/peers.py",),
    "trafilatura": ("extraction/evaluation/peers.py",),
    "turbohtml": ("extraction/readers/html.py", "extraction/readers/guess.py"),
    "twisted": ("scrapy/",),
    "typer": ("cli/",),
    "url": ("urls/",),
    "uvloop": ("crawler/setup/start.py",),
    "xxhash": (
        *("urls/", "sharding.py", "extraction/readers/html.py", "dedup/", "frontier/policy/hints.py"),
        *("judge/language/decoded.py", "log/"),
    ),
    "zstandard": ("archive/", "shards/", "io/coding.py", "io/streams.py"),
}

# Modules and calls that turn data into code: a poisoned queue, cache or page must not run.
UNSAFE_MODULES = ("pickle", "_pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "yaml")
UNSAFE_CALLS = ("eval", "exec", "compile", "__import__")

# Folders that pages name and that are not of the source: those of a crawl directory, and of a build.
ELSEWHERE = tuple("build/ corpus/ diagnostics/ log/ orders/ report/ robotstxt/ seen/ state/ torn/ warc/".split())

Tree = dict[str, str]  # path below src/windrow -> source


class Import(NamedTuple):
    path: str  # of the importing module
    line: int
    module: str  # imported, absolute: "windrow.fetch.client", "pycurl"

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.module}"


def own_tree() -> Tree:
    """Return the source of the package, with the stubs of the modules written in C."""
    return {
        path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SOURCE.rglob("*.py*"))
        if _ours(path)
    }


def _ours(path: Path) -> bool:
    return path.suffix in (".py", ".pyi")


def modules(tree: Tree) -> dict[str, str]:
    """Return module name -> path."""
    return {
        ".".join(
            ["windrow", *path.removesuffix("i").removesuffix(".py").removesuffix("__init__").strip("/").split("/")]
        ).rstrip("."): path
        for path in tree
    }


@functools.cache
def nodes(path: str, source: str) -> list[ast.AST]:
    """Return the imports and calls of a module; parsed once for all tests."""
    found = (ast.Import, ast.ImportFrom, ast.Call)
    return [node for node in ast.walk(ast.parse(source, path)) if isinstance(node, found)]


def imports(tree: Tree) -> Iterator[Import]:
    """Yield every import, also in functions and under TYPE_CHECKING; `from windrow import urls` is windrow.urls."""
    known = modules(tree)
    names = {path: module for module, path in known.items()}
    for path, source in tree.items():
        for node in nodes(path, source):
            if isinstance(node, ast.Import):
                yield from (Import(path, node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = absolute(names[path], path.endswith("__init__.py"), node)
                for alias in node.names:
                    inner = f"{base}.{alias.name}"
                    yield Import(
                        path,
                        node.lineno,
                        inner if inner in known or (part(inner) in ROW and base == "windrow") else base,
                    )


def absolute(module: str, package: bool, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parents = module.split(".")
    kept = parents[: len(parents) - node.level + package]
    return ".".join([*kept, *([node.module] if node.module else [])])


def part(module: str) -> str:
    """Return the part of the tree: "fetch" for windrow.fetch.client, "" for windrow itself and for outside modules."""
    names = module.split(".")
    if names[:3] == ["windrow", "dedup", "decide"]:
        return "dedup.decide"
    return names[1] if names[0] == "windrow" and len(names) > 1 else ""


def out_of_order(tree: Tree) -> list[str]:
    found = []
    for row in imports(tree):
        importer, imported = part(path_module(row.path)), part(row.module)
        if row.path == ROOT_MODULE and imported == FACE:
            continue
        if imported and importer != imported and not ROW.get(importer, len(ROWS)) < ROW.get(imported, -1):
            found.append(str(row))
    return found


def path_module(path: str) -> str:
    return (
        "windrow." + path.removesuffix("i").removesuffix(".py").replace("/", ".")
        if path != "__init__.py"
        else "windrow"
    )


def out_of_place(tree: Tree) -> list[str]:
    found = []
    for row in imports(tree):
        library = row.module.partition(".")[0]
        if row.path.endswith(".pyi"):  # a stub imports nothing when the program runs
            continue
        if (
            library != "windrow"
            and library not in sys.stdlib_module_names
            and not row.path.startswith(ADDRESSES.get(library, ("?",)))
        ):
            found.append(str(row))
    return found


def unsafe(tree: Tree) -> list[str]:
    found = [str(row) for row in imports(tree) if row.module.partition(".")[0] in UNSAFE_MODULES]
    for path, source in tree.items():
        for node in nodes(path, source):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in UNSAFE_CALLS:
                found.append(f"{path}:{node.lineno} calls {node.func.id}")
    return found


def cycle(tree: Tree) -> list[str]:
    """Return the modules of one import cycle; an empty list if there is none."""
    known = modules(tree)
    names = {path: module for module, path in known.items()}
    graph: dict[str, set[str]] = {module: set() for module in known}
    for row in imports(tree):
        if row.module in known and row.path != ROOT_MODULE:
            graph[names[row.path]].add(row.module)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_imports_go_down_the_rows() -> None:
    assert out_of_order(own_tree()) == []


def test_every_part_has_a_row() -> None:
    parts = {part(path_module(path)) for path in own_tree()} - {""}
    assert parts - set(ROW) == set()


def test_the_documentation_has_these_rows() -> None:
    text = (SOURCE.parents[1] / "docs/architecture.md").read_text("utf-8")
    blocks = [[tuple(line.split()) for line in block.splitlines() if line] for block in text.split("```")]
    assert [list(row) for row in ROWS] in [[list(row) for row in block] for block in blocks]


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_module_that_a_page_names_exists(page: str) -> None:
    root = SOURCE.parents[1]
    text = (root / page).read_text("utf-8")
    names = set(re.findall(r"`(?:src/windrow/)?((?:tests/|tools/|docs/|benchmarks/)?[a-z0-9_/]+(?:\.py|/))`", text))
    known = (*ELSEWHERE, *(path for path in names if (SOURCE / path).exists() or (root / path).exists()))
    assert names.difference(known) == set()


def test_every_name_that_the_architecture_finds_in_a_module_is_defined_there() -> None:
    text = (SOURCE.parents[1] / "docs/architecture.md").read_text("utf-8")
    places = re.findall(r"`([a-z0-9_/]+\.py):([A-Za-z_.0-9]+)`", text)
    assert len(places) > 30, "the life of a page says where each step is"
    assert [f"{path}:{name}" for path, name in places if name not in defined((SOURCE / path).read_text("utf-8"))] == []


def defined(source: str) -> set[str]:
    """Return the classes and functions of a module, and the methods of its classes as Class.method."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    top = [node for node in ast.parse(source).body if isinstance(node, kinds)]
    methods = [(node.name, part.name) for node in top for part in node.body if isinstance(part, kinds)]
    return {node.name for node in top} | {f"{of}.{name}" for of, name in methods}


def test_every_outside_library_is_imported_only_at_its_address() -> None:
    assert out_of_place(own_tree()) == []


def test_nothing_turns_data_into_code() -> None:
    assert unsafe(own_tree()) == []


def test_importing_the_package_imports_no_other_module_of_it() -> None:
    script = "import sys, windrow; print([name for name in sys.modules if name.startswith('windrow.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert done.stdout == "[]\n"


def test_a_command_imports_only_its_own_part() -> None:
    loaded = "print(sorted(sys.modules.keys() & {'numpy', 'windrow.jobs', 'windrow.crawler.loop'}), file=sys.stderr)"
    script = f"import atexit, sys\natexit.register(lambda: {loaded})\nfrom windrow import cli\ncli.main()"
    command = [sys.executable, "-c", script, "options", "fetch.delay"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert "fetch.delay" in done.stdout
    assert done.stderr == "[]\n"


def test_the_driver_of_a_crawl_does_without_the_parser() -> None:
    script = "import sys, windrow.cli.crawl.start, windrow.crawler.workers.pool; print('turbohtml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert done.stdout == "False\n"


def test_a_worker_of_a_crawl_starts_without_numpy() -> None:
    script = "import sys, windrow.crawler.workers.process; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert done.stdout == "False\n"


def test_there_is_no_import_cycle() -> None:
    assert cycle(own_tree()) == []


GROUND = {
    "__init__.py": "",
    "records/__init__.py": "",
    "urls.py": "",
    "config.py": "",
    "fetch/__init__.py": "",
    "archive/__init__.py": "",
    "crawler/__init__.py": "",
}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("fetch/client.py", "from windrow import archive"),
        ("fetch/client.py", "from windrow.archive import writer"),
        ("fetch/client.py", "import windrow.archive.writer"),
        ("fetch/client.py", "from .. import archive"),
        ("fetch/client.py", "from ..archive.writer import Writer"),
        ("fetch/client.py", "def f():\n    from windrow import crawler"),
        ("fetch/client.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from windrow import refine"),
        ("fetch/__init__.py", "from .. import judge"),
        ("io/storage.py", "from windrow import takedown"),
        ("urls/parts.py", "from windrow import config"),
        ("records/task.py", "from windrow.urls import parse"),
        ("refine.py", "from windrow import crawler"),
        ("crawler/loop.py", "from windrow import jobs"),
        ("jobs/engine.py", "from windrow.crawler import loop"),
        ("demo/web.py", "from windrow import nodes"),
        ("serve/app.py", "from windrow import cli"),
        ("__init__.py", "from windrow import records"),
        ("api/crawls.py", "from windrow.cli import terminal"),
        ("jobs/export/write.py", "from windrow import api"),
    ],
)
def test_an_import_upwards_or_sideways_is_found(path: str, source: str) -> None:
    assert len(out_of_order({**GROUND, path: source})) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "fetch/client.py",
            "from windrow import urls\nfrom windrow.records import Task\n"
            "from windrow.fetch import address\nfrom . import resolve",
        ),
        ("crawler/loop.py", "from windrow import archive, fetch, refine"),
        ("cli.py", "from windrow import __version__, crawl, demo"),
        ("demo/web.py", "from windrow.crawler import loop"),
        ("api/crawls.py", "from windrow.crawler import loop\nfrom windrow.jobs import export"),
        ("__init__.py", "if TYPE_CHECKING:\n    from windrow.api import extract"),
    ],
)
def test_an_import_downwards_or_within_a_part_is_allowed(path: str, source: str) -> None:
    assert out_of_order({**GROUND, path: source}) == []


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("fetch/client/multi.py", "import pycurl", 0),
        ("fetch/robots.py", "import pycurl", 1),
        ("archive/writer.py", "from isal import igzip", 0),
        ("frontier/store/lmdb.py", "import lmdb", 0),
        ("frontier/memory.py", "def f():\n    import lmdb", 1),
        ("urls.py", "import requests", 1),
        ("urls.py", "import asyncio, os.path", 0),
    ],
)
def test_a_library_away_from_its_address_is_found(path: str, source: str, count: int) -> None:
    assert len(out_of_place({path: source})) == count


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from marshal import loads",
        "import yaml",
        "eval('1')",
        "exec(b'')",
        "x = compile('', '', 'exec')",
    ],
)
def test_a_module_or_call_that_turns_data_into_code_is_found(source: str) -> None:
    assert len(unsafe({"records/task.py": source})) == 1


def test_a_cycle_is_found_and_a_method_named_compile_is_allowed() -> None:
    assert set(cycle({"a.py": "from windrow import b", "b.py": "import windrow.a"})) == {"windrow.a", "windrow.b"}
    assert cycle({"a.py": "from windrow import b", "b.py": ""}) == []
    assert unsafe({"a.py": "import re\nre.compile('x')"}) == []
