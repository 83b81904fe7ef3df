"""Files that the user names are read, or one sentence says why not."""

import io
import sys
from pathlib import Path

import pytest

from windrow.config import ConfigError
from windrow.jobs.inputs import arguments


def test_a_file_and_standard_input_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page").write_bytes(b"\xef\xbb\xbfcaf\xc3\xa9")
    assert arguments.read(str(tmp_path / "page")) == b"\xef\xbb\xbfcaf\xc3\xa9"
    assert arguments.text(str(tmp_path / "page")) == "café"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from stdin")))
    assert arguments.text("-") == "from stdin"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "the name of a file is empty; name a file, or - for standard input"),
        (".", ". is a directory; name its files, such as *.html"),
        ("absent", "cannot read absent: No such file or directory; check the path and its permissions"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(name: str, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        arguments.read(name)
    assert str(raised.value) == words


def test_text_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(b"one\ntw\xff\n")
    with pytest.raises(ConfigError, match=r"sample, line 2: not UTF-8 text; convert it first, for instance with iconv"):
        arguments.text(str(path))
