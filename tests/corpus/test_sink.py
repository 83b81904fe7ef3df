"""The files of an export while they are written."""

import contextlib
from pathlib import Path

import pytest

from tests.corpus.formats.encoded import OPTIONS, read
from tests.corpus.samples import SAMPLES
from windrow.config import ConfigError
from windrow.corpus import sink
from windrow.corpus.formats import FORMATS
from windrow.corpus.formats.format import Format, Item, each
from windrow.corpus.sink import Sink
from windrow.io.streams import ByteStream

FRAMED = Format(".txt", each(lambda item, options: item.line, header=b"(\n", footer=b")\n"))


def item(number: int) -> Item:
    return Item(read(SAMPLES[0]), b"%d\n" % number, number, "crawl")


def unpacked(path: Path) -> bytes:
    with contextlib.closing(ByteStream(path)) as stream:
        return b"".join(iter(stream.read, b""))


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".txt.zst"])
def test_a_file_keeps_its_header_and_footer_while_others_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(sink, "OPEN", 1)
    made = Sink(FRAMED, OPTIONS)
    paths = [tmp_path / f"{name}{suffix}" for name in "abc"]
    for number in range(9):
        assert made.add(paths[number % 3], item(number)) == 2
    made.close()
    found = [unpacked(path) for path in paths]
    assert found == [b"(\n0\n3\n6\n)\n", b"(\n1\n4\n7\n)\n", b"(\n2\n5\n8\n)\n"]


def test_a_file_without_documents_has_header_and_footer(tmp_path: Path) -> None:
    made = Sink(FRAMED, OPTIONS)
    made.touch(tmp_path / "a.txt")
    made.close()
    assert (tmp_path / "a.txt").read_bytes() == b"(\n)\n"


def test_a_columnar_format_has_a_limit_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(sink, "MOST_TABLES", 2)
    made = Sink(FORMATS["parquet"], OPTIONS)
    for name in "ab":
        made.add(tmp_path / name, item(1))
    with pytest.raises(
        ConfigError, match="this format cannot write more than 2 files at once; split the corpus by tld"
    ):
        made.add(tmp_path / "c", item(1))
    made.drop()


def test_parquet_files_are_whole_even_if_they_are_closed_and_reopened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(sink, "OPEN", 1)
    monkeypatch.setattr("windrow.corpus.formats.parquet.ROWS", 2)
    made = Sink(FORMATS["parquet"], OPTIONS)
    for number in range(10):
        made.add(tmp_path / f"{number % 2}.parquet", item(number))
    made.close()
    for name in "01":
        table = parquet.ParquetFile(tmp_path / f"{name}.parquet")
        assert (table.metadata.num_rows, table.metadata.num_row_groups) == (5, 3)
        assert table.read().column("url").to_pylist() == [SAMPLES[0].url] * 5


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_written_after_a_drop(tmp_path: Path, name: str) -> None:
    made = Sink(FORMATS[name], OPTIONS)
    made.add(tmp_path / "a", item(1))
    made.drop()
    (tmp_path / "a").unlink()
    del made
    assert list(tmp_path.iterdir()) == []
