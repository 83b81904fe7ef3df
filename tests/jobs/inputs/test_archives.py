"""Inputs of batch jobs become archive files."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.jobs import warcs
from windrow.config import ConfigError
from windrow.jobs.inputs import archives

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


def test_the_paths_of_a_published_list_begin_at_the_bucket_or_at_the_base(tmp_path: Path) -> None:
    name = "crawl-data/CC-1/segments/1.0/warc/a.warc.gz"
    (tmp_path / name).parent.mkdir(parents=True)
    path = warcs.write(tmp_path / name, PAGE)
    listed = tmp_path / "crawl-data" / "CC-1" / "warc.paths"
    listed.write_text(f"{name}\n")
    assert archives.find([listed]) == [str(path)]
    other = tmp_path / "mine.paths"
    other.write_text(f"{name}\nhttps://b.example/b.warc.gz\n")
    address = "https://data.example/cc"
    assert archives.find([other], base=address) == [f"{address}/{name}", "https://b.example/b.warc.gz"]
    other.write_text("b.warc.gz\n")
    with pytest.raises(ConfigError, match=r"mine\.paths, line 1: there is no file .*; .*--base"):
        archives.find([other])


def test_an_address_is_a_file_a_list_or_a_folder_by_its_name(s3: Any, tmp_path: Path) -> None:
    for name in ("x/b.warc.gz", "x/deep/a.warc", "x/notes.md", "docs/1.jsonl.gz"):
        s3.pipe_file(f"bucket/{name}", b"")
    s3.pipe_file("bucket/crawl-data/C/warc.paths.gz", gzip.compress(b"crawl-data/C/a.warc.gz\n"))
    assert archives.find(["s3://bucket/none.warc.gz"]) == ["s3://bucket/none.warc.gz"]  # a reader says that it is not
    assert archives.find(["s3://bucket/x"]) == ["s3://bucket/x/b.warc.gz", "s3://bucket/x/deep/a.warc"]
    assert archives.find(["s3://bucket/crawl-data/C/warc.paths.gz"]) == ["s3://bucket/crawl-data/C/a.warc.gz"]
    assert archives.find(["s3://bucket/docs/"], documents=True) == ["s3://bucket/docs/1.jsonl.gz"]
    with pytest.raises(ConfigError, match="there is no archive file in s3://bucket/docs"):
        archives.find(["s3://bucket/docs"])
    with pytest.raises(ConfigError, match=r"none\.paths: there is no such file"):
        archives.find(["s3://bucket/none.paths"])


def test_a_crawl_gives_its_corpus_and_a_directory_its_documents_if_a_job_reads_them(tmp_path: Path) -> None:
    for name in ("warc/a.warc.gz", "corpus/eng/n0-00000.jsonl.gz", "log/00000.jsonl.gz", "crawl.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert names(archives.find([tmp_path], "corpus", documents=True), tmp_path) == ["corpus/eng/n0-00000.jsonl.gz"]
    assert names(archives.find([tmp_path], documents=True), tmp_path) == ["warc/a.warc.gz"]
    shards = archives.find([tmp_path / "corpus"], documents=True)
    assert names(shards, tmp_path) == ["corpus/eng/n0-00000.jsonl.gz"]
