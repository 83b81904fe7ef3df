"""Text, HTML and WARC files become texts."""

import gzip
from pathlib import Path

import pytest

from tests.jobs import warcs
from tests.judge import declarations
from windrow.config import ConfigError
from windrow.jobs.inputs import texts

LINES = declarations.shipped("en")[5:15]
PAGE = "<html><body><article>{}</article></body></html>".format("".join(f"<p>{line}</p>" for line in LINES)).encode()


def found(*paths: Path) -> list[tuple[str, list[str]]]:
    return [(source.name, list(source.lines)) for source in texts.sources(map(str, paths), lambda _: None)]


def test_the_lines_of_a_text_are_read_whatever_its_packing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffone\ntwo\r\n\nthree".encode())
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"four\n"))
    assert found(tmp_path / "a.txt", tmp_path / "b.gz") == [
        (str(tmp_path / "a.txt"), ["one\n", "two\r\n", "\n", "three"]),
        (str(tmp_path / "b.gz"), ["four\n"]),
    ]


def test_each_page_of_an_archive_is_a_text_of_its_main_text(tmp_path: Path) -> None:
    records = [warcs.record(f"http://a.example/{number}", PAGE) for number in range(3)]
    warcs.write(tmp_path / "a.warc.gz", records)
    (tmp_path / "page").write_bytes(PAGE)
    pages = found(tmp_path / "a.warc.gz", tmp_path / "page")
    assert [name for name, _ in pages] == [
        *(f"http://a.example/{number}" for number in range(3)),
        str(tmp_path / "page"),
    ]
    assert all(lines == LINES for _, lines in pages)


def test_the_bytes_that_were_read_are_watched(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one line\n" * 5000)
    steps: list[int] = []
    assert len(list(texts.lines([str(tmp_path / "a.txt")], steps.append))) == 5000
    assert sum(steps) == texts.size([str(tmp_path / "a.txt")]) == 45_000


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"one\ntw\xff\n", "line 2: not UTF-8"), (gzip.compress(b"one\n" * 99, mtime=0)[:-9], "truncated or damaged")],
)
def test_a_file_that_is_not_text_gets_one_sentence(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ConfigError, match=message):
        found(tmp_path / "a")
