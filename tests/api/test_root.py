"""The names of `import windrow`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import windrow
from windrow import api


def run(script: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(Path(windrow.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_root_has_every_name_of_the_api() -> None:
    assert windrow.__all__ == api.__all__
    for name in ("Document", "Error", "documents", "captures", "init", "status"):
        assert getattr(windrow, name) is getattr(api, name)
    assert set(windrow.__all__) <= set(dir(windrow))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'extrakt'"):
        windrow.extrakt  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    "before",
    [
        "",
        "import windrow.extract",
        "from windrow import extract",
        "import windrow.refine",
        "from windrow.api import extract",
    ],
)
def test_extract_can_be_called_whatever_was_imported_before(before: str) -> None:
    script = f"{before}\nimport windrow\nprint(windrow.extract('<title>T</title>').title, windrow.extract.EXTRACTORS)"
    assert run(script).startswith("T {'blocks'")


def test_a_name_imports_only_what_it_needs() -> None:
    script = "import sys, windrow; windrow.Error; print('pyarrow' in sys.modules, 'typer' in sys.modules)"
    assert run(script) == "False False\n"
