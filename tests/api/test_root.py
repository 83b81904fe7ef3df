"""The names of `import windrow`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import windrow
from windrow.api import corpora, crawls, records


def run(script: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(windrow.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_root_has_every_name_of_the_api() -> None:
    for module in (corpora, crawls, records):
        for name in set(windrow.__all__) & set(vars(module)):
            assert getattr(windrow, name) is getattr(module, name)
    assert all(getattr(windrow, name) for name in windrow.__all__)
    assert set(windrow.__all__) <= set(dir(windrow))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'extrakt'"):
        windrow.extrakt  # type: ignore[attr-defined]  # noqa: B018


def test_no_module_has_the_name_of_a_function_of_the_api() -> None:
    """`windrow.extract` is one thing, whatever was imported before, and type checkers see the same."""
    folder = Path(windrow.__file__).parent
    assert {path.stem for path in folder.iterdir()} & set(windrow.__all__) == set()


@pytest.mark.parametrize(
    ("name", "loaded"), [("documents", "False False"), ("extract('<p>x')", "False False"), ("crawl", "True False")]
)
def test_a_function_imports_only_its_own_part(name: str, loaded: str) -> None:
    before = "import windrow.crawler.loop\n" if name == "crawl" else ""
    script = f"{before}import sys, windrow; windrow.{name}; print('pycurl' in sys.modules, 'typer' in sys.modules)"
    assert run(script) == f"{loaded}\n"
