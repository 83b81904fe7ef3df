"""Batch jobs over files in a real HDFS, through WebHDFS."""

import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from tests.hdfs import Hdfs
from tests.jobs.test_remote import batch, files, indexed, rebuilt, tree
from windrow.io import storage
from windrow.jobs.index import lookup, places, records
from windrow.jobs.index.records import RangeOptions

__all__ = ["files"]  # a fixture
FOLDER = "crawl-data/C/segments/1.0/warc"
pytestmark = pytest.mark.long


def put(hdfs: Hdfs, path: str, data: bytes) -> None:
    """Write a file with a client that shares nothing with ours."""
    name = urllib.parse.quote(path)
    url = f"http://{hdfs.web}/webhdfs/v1/tests/{name}?op=CREATE&overwrite=true&user.name=windrow"
    with pytest.raises(urllib.error.HTTPError) as sent:  # the standard library does not follow this redirect
        urllib.request.urlopen(urllib.request.Request(url, method="PUT"))
    there = urllib.request.Request(sent.value.headers["Location"], data=data, method="PUT")
    there.add_header("Content-Type", "application/octet-stream")
    urllib.request.urlopen(there).close()


@pytest.fixture
def bucket(hdfs: Hdfs, files: list[Path], tmp_path: Path) -> str:
    for name, data in tree(tmp_path / "bucket").items():
        put(hdfs, f"{tmp_path.name}/{name}", data)
    return f"{hdfs.url}/{tmp_path.name}"


def test_a_job_a_corpus_and_an_index_are_those_of_the_files_here(
    bucket: str, files: list[Path], tmp_path: Path
) -> None:
    """The files are found below a folder, and by a list."""
    for inputs, name in ((files, "here"), ([bucket], "folder"), ([f"{bucket}/crawl-data/C/warc.paths.gz"], "list")):
        batch(inputs, tmp_path / f"{name}.json")
        assert rebuilt(inputs, tmp_path / name).documents == 12
        assert (tmp_path / f"{name}.json").read_bytes() == (tmp_path / "here.json").read_bytes()
        assert tree(tmp_path / name) == tree(tmp_path / "here")
    found = indexed([f"{bucket}/crawl-data/C/warc.paths.gz"], tmp_path / "index")
    assert (found.captures, found.files) == (12, 3)
    wanted = list(places.of_lines(lookup.find(tmp_path / "index", "http://a.test/1/*")))
    got = list(records.fetch(wanted, RangeOptions(base=bucket), pytest.fail))
    assert [one.record.target for one in got] == [f"http://a.test/1/{number}" for number in range(4)]


@pytest.mark.parametrize("name", ["a b", "č", "a#b", "a?b=c", "a&b", "a+b", "[x]", "a;b"])
def test_files_of_any_name_are_found_and_read_from_any_offset(hdfs: Hdfs, tmp_path: Path, name: str) -> None:
    data = bytes(range(256)) * 100
    put(hdfs, f"{tmp_path.name}/{name}/{name}.bin", data)
    (found,) = storage.find(f"{hdfs.url}/{tmp_path.name}", ".bin")
    assert storage.read(found, 1000, 500) == data[1000:1500]
    with storage.RemotePath(found).open() as file:
        file.seek(25000)
        assert file.read() == data[25000:]
    assert storage.RemotePath(found).is_file()


def test_a_file_that_was_replaced_by_one_of_the_same_size_has_changed(hdfs: Hdfs, tmp_path: Path) -> None:
    place = f"{hdfs.url}/{tmp_path.name}.bin"
    states = set()
    for data in (b"one", b"two"):
        put(hdfs, f"{tmp_path.name}.bin", data)
        states |= {storage.state(place), storage.state(place)}
    assert len(states) == 2 and {size for size, _ in states} == {3}
