"""The code of docs/batch.md runs as printed."""

import re
import sys
from pathlib import Path

import pytest

from tests.jobs import warcs

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "batch.md").read_text(), re.DOTALL)


def test_the_example_is_that_of_the_folder_of_examples() -> None:
    assert (ROOT / "examples" / "zindex.py").read_text().endswith(BLOCKS[0])


def test_the_functions_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job_of_the_page.py").write_text(BLOCKS[1])
    monkeypatch.syspath_prepend(tmp_path)
    import job_of_the_page  # type: ignore[import-not-found]

    records = [warcs.record(f"http://{host}/", b"<p>" * size) for host, size in (("b.test", 1), ("a.test", 2))]
    sources = [str(warcs.write(tmp_path / f"{number}.warc.gz", records)) for number in range(2)]
    job_of_the_page.total(sources, str(tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "a.test 12\nb.test 6\n"
    sys.modules.pop("job_of_the_page")
