import contextlib
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from windrow.config import ConfigError
from windrow.corpus import detect
from windrow.corpus.formats import text as plain_text
from windrow.io import streams

VERTICAL = (
    "<corpus>\n<doc id='1'>\n<p>\nNew York\tNP\nis\tVB\n</p>\n<p>\nbig\tJJ\n</p>\n</doc>\n</corpus>\n"
    "<doc>\nx\ty\n</doc>\n"
)
PREVERTICAL = "<doc>\n<p>\nOne line of text\n</p>\n<div>\n<p>\nand one\n</p>\n</div>\n</doc>\n"
TEXT = "one paragraph\nof two lines\n\n\nanother\n"
JSON = '{"text": "one\\n\\ntwo"}\n\n{"paragraphs": ["three", {"text": "four"}]}\n'
SAMPLES = {"vertical": VERTICAL, "prevertical": PREVERTICAL, "text": TEXT, "jsonl": JSON}
PARAGRAPHS = {
    "vertical": [[], [b"New York\tNP\nis\tVB\n", b"big\tJJ\n"], [], [b"x\ty\n"]],
    "prevertical": [[b"One line of text\n", b"and one\n"]],
    "text": [[b"one paragraph\nof two lines", b"another"]],
    "jsonl": [[b"one", b"two"], [b"three", b"four"]],
}


def frames(raw: bytes) -> bytes:
    """Return zstd frames, with one to be skipped before the first, as pzstd writes."""
    return b"\x50\x2a\x4d\x18\x04\0\0\0skip" + zstandard.compress(raw[:7]) + zstandard.compress(raw[7:])


@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 8, 1 << 20])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress, frames])
def test_documents_and_paragraphs_do_not_depend_on_how_a_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, chunk: int, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(streams, "CHUNK", chunk)
    raw = SAMPLES[format].encode()
    (tmp_path / "file").write_bytes(pack(raw))
    assert detect.detect(tmp_path / "file") == format
    records = [record for record, _ in detect.read(tmp_path / "file")]
    assert [record.paragraphs for record in records] == PARAGRAPHS[format]
    assert b"".join(record.raw for record in records) == raw.replace(b"\n\n{", b"\n{")


@pytest.mark.parametrize("format", SAMPLES)
def test_a_document_is_written_without_its_removed_paragraphs(tmp_path: Path, format: str) -> None:
    (tmp_path / "file").write_text(SAMPLES[format])
    record = next(record for record, _ in detect.read(tmp_path / "file") if record.strip)
    assert record.strip is not None
    assert (
        record.strip([False, True])
        == {
            "vertical": b"<doc id='1'>\n<p>\nbig\tJJ\n</p>\n</doc>\n",
            "prevertical": b"<doc>\n<div>\n<p>\nand one\n</p>\n</div>\n</doc>\n",
            "text": b"another\n",
            "jsonl": b'{"text":"two"}\n',
        }[format]
    )


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.vert", "<doc>\n<p>\nword\n</p>\n</doc>\n", "vertical"),
        ("a.prevert", "<doc>\n<p>\nword\n</p>\n</doc>\n", "prevertical"),
        ("a.prevert.gz", "", "prevertical"),
        ("a.vert", "only\ntokens\n", "vertical"),
        ("a", "", "text"),
        ("a.jsonl", "", "jsonl"),
        ("a.txt", '\ufeff {"text": "by its content"}\n', "jsonl"),
        ("a.txt", "a < b and <p> is a tag\n", "text"),
    ],
)
def test_a_format_is_detected_by_content_then_by_name(tmp_path: Path, name: str, content: str, format: str) -> None:
    (tmp_path / name).write_text(content)
    assert detect.detect(tmp_path / name) == format


@pytest.mark.parametrize("name", ["a.jsonl.zst", "a.vert.gz", "A.txt.GZ", "a.b.prevert.ZST"])
def test_the_suffix_of_a_compression_does_not_hide_the_format(name: str) -> None:
    assert detect.by_name(Path(name)) == detect.by_name(Path(name).with_suffix("")) != ""


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_a_zstd_file_that_ends_early_is_read_to_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(streams, "CHUNK", chunk)
    whole = zstandard.compress(b'{"text": "one"}\n')
    for rest in (zstandard.compress(b'{"text": "two"}\n')[:-5], b"\0\1\2\3\4\5"):
        (tmp_path / "cut.jsonl.zst").write_bytes(whole + rest)
        found = []
        with pytest.raises(ConfigError, match="the zstd data ends here"):
            for record, _ in detect.read(tmp_path / "cut.jsonl.zst", "jsonl"):
                found.append(record.raw)
        assert found[0] == b'{"text": "one"}\n'


def test_zstd_that_unpacks_to_much_is_read_in_parts(tmp_path: Path) -> None:
    with streams.create(tmp_path / "a.txt.zst") as file:
        for _ in range(256):
            file.write(b"\n" * (1 << 20))
    assert (tmp_path / "a.txt.zst").stat().st_size < 1 << 16
    with contextlib.closing(streams.ByteStream(tmp_path / "a.txt.zst")) as unpacked:
        sizes = [len(data) for data in iter(unpacked.read, b"")]
    assert sum(sizes) == 256 << 20 and max(sizes) <= 65 << 20


def test_a_document_that_does_not_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST", 1000)
    monkeypatch.setattr(streams, "CHUNK", 100)
    (tmp_path / "a.vert").write_text("<doc>\n" + "word\n" * 1000)
    with pytest.raises(ConfigError, match=r"a\.vert, line 1: the document does not end within"):
        list(detect.read(tmp_path / "a.vert"))


def test_long_plain_text_is_cut_at_blank_lines_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_text, "MOST", 50)
    (tmp_path / "a.txt").write_text(text := "\n\n".join(["some words on a line\nand on another"] * 9))
    records = [record for record, _ in detect.read(tmp_path / "a.txt")]
    assert [len(record.paragraphs) for record in records] == [2, 2, 2, 2, 1]
    assert b"".join(record.raw for record in records).decode() == text


@pytest.mark.parametrize("format", ["vertical", "prevertical"])
def test_jsonl_under_another_format_is_refused(tmp_path: Path, format: str) -> None:
    (tmp_path / "a").write_text('\n{"text": "a b"}\n')
    with pytest.raises(
        ConfigError,
        match=r"a, line 1: a JSON document, where a line of markup or a word was expected; use --format jsonl",
    ):
        list(detect.read(tmp_path / "a", format))
    (tmp_path / "b").write_text("{\n}\n{}a\n")
    assert len(list(detect.read(tmp_path / "b", format))) == 1
