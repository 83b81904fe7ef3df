"""ZipNum shards: their layout, and the search in them."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.config import ConfigError
from windrow.jobs.index import lookup, zipnum
from windrow.jobs.index.zipnum import ZipNumWriter


def write(directory: Path, lines: list[bytes], per_member: int = 3, members: int = 2) -> None:
    directory.mkdir(exist_ok=True)
    writer = ZipNumWriter(directory, per_member, members)
    for line in lines:
        writer.add(line)
    writer.close()


def test_members_shards_and_cluster_fit(tmp_path: Path) -> None:
    lines = [b"key%02d 20240101000000 {}\n" % number for number in range(14)]
    write(tmp_path, lines)
    rows = [line.split("\t") for line in (tmp_path / "cluster.idx").read_text().splitlines()]
    assert [row[1] for row in rows] == ["cdx-00000.gz"] * 2 + ["cdx-00001.gz"] * 2 + ["cdx-00002.gz"]
    assert [row[4] for row in rows] == ["1", "2", "3", "4", "5"]
    found = b""
    for key, name, offset, length, _ in rows:
        data = (tmp_path / name).read_bytes()[int(offset) : int(offset) + int(length)]
        member = gzip.decompress(data)
        assert member.startswith(key.encode())
        found += member
    assert found == b"".join(lines)
    assert (tmp_path / "cluster.loc").read_text().splitlines()[0] == "cdx-00000.gz\tcdx-00000.gz"


@given(
    st.lists(st.text("abc", min_size=1, max_size=3), max_size=40),
    st.text("abc", min_size=1, max_size=2),
)
def test_a_search_finds_the_lines_of_a_range(
    tmp_path_factory: pytest.TempPathFactory, keys: list[str], wanted: str
) -> None:
    directory = tmp_path_factory.mktemp("zipnum")
    lines = sorted(f"{key} 20240101000000 {{}}\n".encode() for key in keys)
    write(directory, lines)
    for start, end in (
        (b"%b " % wanted.encode(), b"%b!" % wanted.encode()),
        (wanted.encode(), wanted.encode() + b"\xff"),
    ):
        assert list(zipnum.search(directory, start, end)) == [line for line in lines if start <= line < end]


@pytest.mark.parametrize(
    ("pattern", "start", "end"),
    [
        ("http://www.example.org/a", b"org,example)/a ", b"org,example)/a!"),
        ("example.org/a*", b"org,example)/a", b"org,example)/a\xff"),
        ("*.example.org", b"org,example)", b"org,example-"),
    ],
)
def test_a_pattern_is_a_range_of_keys(pattern: str, start: bytes, end: bytes) -> None:
    assert lookup.bounds(pattern) == (start, end)


def test_a_pattern_that_is_no_url_and_a_directory_without_index_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a URL"):
        lookup.bounds("no URL")
    with pytest.raises(ConfigError, match="has no index; make it with: windrow index"):
        lookup.home(tmp_path)
