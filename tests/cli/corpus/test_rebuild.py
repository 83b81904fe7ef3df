"""`windrow rebuild` with archive files: what it prints, and its exit code."""

import json
from pathlib import Path

import pytest

from tests import crashing
from tests.jobs import warcs

TEXT = "".join(
    f"<p>The mill number {number} stands at the river and its wheel turns day and night.</p>" for number in range(9)
)

PLAIN = ("--workers", "1", "--set", "dedup.near_duplicates=false")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    whole = warcs.write(tmp_path / "a.warc.gz", [warcs.record("http://a.example/1", TEXT.encode())])
    other = warcs.write(
        tmp_path / "b.warc", [warcs.record("http://a.example/2", TEXT.replace("mill", "lock").encode())], ""
    )
    return [str(whole), str(other)]


def test_whole_files_give_exit_code_0_and_a_summary(files: list[str], tmp_path: Path) -> None:
    done = crashing.run(["rebuild", *files, "-o", str(tmp_path / "out"), *PLAIN])
    assert done.code == 0
    assert "2 files and 2 pages read, 2 documents with" in done.out and "ok 2" in done.out


def test_a_damaged_file_gives_exit_code_2_and_its_place(files: list[str], tmp_path: Path) -> None:
    with open(files[1], "ab") as file:
        file.write(b"garbage\n")
    size = Path(files[1]).stat().st_size
    done = crashing.run(["rebuild", *files, "-o", str(tmp_path / "out"), *PLAIN])
    assert done.code == 2 and "2 documents" in done.out
    assert f"{files[1]}, bytes {size - 8} to {size}: expected a WARC or ARC record here, found b'garbage" in done.err


def test_json_names_damage_and_bad_files(files: list[str], tmp_path: Path) -> None:
    (tmp_path / "c.warc").write_bytes(b"none")
    done = crashing.run(["rebuild", str(tmp_path / "*.warc*"), "-o", str(tmp_path / "out"), *PLAIN, "--json"])
    found = json.loads(done.out)
    assert done.code == 2 and (found["files"], found["documents"], found["damages"]) == (3, 2, [])
    assert [bad["source"] for bad in found["bad"]] == [str(tmp_path / "c.warc")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.warc", "b.warc"], "one crawl at a time is rebuilt; for archive files give --output too"),
        (["a.warc", "-o", "x", "--corpus", "y"], "--output and --corpus both name the place of the corpus"),
        (["a.warc", "--config", "x.toml"], "--config is for archive files; give --output too"),
        (["gone.warc", "-o", "x"], "there is no file or directory gone.warc"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(arguments: list[str], said: str) -> None:
    done = crashing.run(["rebuild", *arguments])
    assert done.code == 2 and said in done.err and "Traceback" not in done.err
