"""Inputs of batch jobs become archive files."""

import gzip
from pathlib import Path

import pytest

from tests.batch import warcs
from windrow.batch import archives
from windrow.config import ConfigError

PAGE = [warcs.record("http://a.test/", b"<p>a")]


def names(found: list[str], root: Path) -> list[str]:
    return [Path(path).relative_to(root).as_posix() for path in found]


def test_a_directory_gives_its_archives_by_name_and_nothing_else(tmp_path: Path) -> None:
    for name in ("b.warc.gz", "a.warc", "deep/c.arc.gz", "d.warc.wet.gz", "e.warc.zst", "f.warc.gz.new", "g.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = names(archives.find([tmp_path]), tmp_path)
    assert found == ["a.warc", "b.warc.gz", "d.warc.wet.gz", "deep/c.arc.gz", "e.warc.zst"]


def test_of_a_crawl_only_one_subset_is_read(tmp_path: Path) -> None:
    for name in ("warc/a.warc.gz", "diagnostics/b.warc.gz", "log/00000.jsonl.gz"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"")
    assert names(archives.find([tmp_path]), tmp_path) == ["warc/a.warc.gz"]
    assert names(archives.find([tmp_path], "diagnostics"), tmp_path) == ["diagnostics/b.warc.gz"]


@pytest.mark.parametrize("name", ["warc.paths", "warc.paths.gz", "list.txt"])
def test_a_list_of_paths_is_read_from_its_own_directory(tmp_path: Path, name: str) -> None:
    warcs.write(tmp_path / "a.warc.gz", PAGE)
    other = warcs.write(tmp_path / "b.dat", PAGE)
    text = f"# two files\na.warc.gz\n\n{other}\na.warc.gz\n".encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert names(archives.find([tmp_path / name]), tmp_path) == ["a.warc.gz", "b.dat"]


def test_a_file_that_is_named_is_read_whatever_its_name_is(tmp_path: Path) -> None:
    path = warcs.write(tmp_path / "archive.txt", PAGE)
    assert archives.find([path, path]) == [str(path)]


def test_a_path_of_a_list_that_is_missing_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "warc.paths").write_text("\nnone.warc.gz\n")
    with pytest.raises(ConfigError, match=r"warc\.paths, line 2: there is no file .*none\.warc\.gz"):
        archives.find([tmp_path / "warc.paths"])


def test_an_input_without_archives_and_one_that_is_missing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no archive file in"):
        archives.find([tmp_path])
    with pytest.raises(ConfigError, match="there is no file or directory"):
        archives.find([tmp_path / "none"])
