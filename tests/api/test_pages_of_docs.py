"""The Python code of docs/python.md and of the notebook runs as printed, on the web of the demo."""

import asyncio
import json
import os
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from windrow.demo import directory as demos
from windrow.demo import web

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOTEBOOK = DOCS / "first-corpus.ipynb"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield each block of Python with the line where it begins, for error messages."""
    text = page.read_text("utf-8")
    for found in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield f"{page.name}:{text.count(chr(10), 0, found.start()) + 1}", found[1]


def test_the_code_of_the_page_runs_as_printed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = types.ModuleType("page")
    with web.serve() as site:
        demos.write(here / "mycrawl", site)
        for place, source in blocks(DOCS / "python.md"):
            exec(compile(source, place, "exec"), module.__dict__)
    printed = capsys.readouterr().out
    assert "Die Mühle 2024-02-29 deu\n" in printed and 'accepted = ["ces"]' in printed
    assert re.search(r"^pages \{.*'ok': \d+", printed, re.MULTILINE)
    assert "http://library.demo.test/ 200 text/html" in printed
    assert "unknown language 'germn'; did you mean" in printed


def test_every_function_of_the_api_is_on_the_page() -> None:
    import windrow

    text = (DOCS / "python.md").read_text("utf-8")
    functions = [name for name in windrow.__all__ if name.islower()]
    assert [name for name in functions if f"windrow.{name}(" not in text] == []


def code_cells() -> list[dict[str, Any]]:
    return [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_runs_where_an_event_loop_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the cells one after another in one namespace, inside a running loop, as Jupyter does."""
    module = types.ModuleType("notebook")

    async def run() -> None:
        for number, cell in enumerate(code_cells(), 1):
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}, cell {number}", "exec"), module.__dict__)

    asyncio.run(run())
    assert "done" in capsys.readouterr().out and os.listdir(here / "first-corpus")


def test_the_notebook_has_the_output_of_each_cell_that_prints_and_no_error() -> None:
    for cell in code_cells():
        assert bool(cell["outputs"]) == ("print" in "".join(cell["source"]))
        assert all(output["output_type"] == "stream" and output["name"] == "stdout" for output in cell["outputs"])
