"""The pages in files: HTML, plain and compressed, and WARC files of other programs."""

import gzip
import io
import os
import sys
import threading
from pathlib import Path
from unittest.mock import patch

import brotli
import pytest
import zstandard

from tests.jobs import warcs
from windrow.config import ConfigError
from windrow.jobs.inputs import pages
from windrow.records import Capture, Mark, Page, Paragraph

PAGE = b"<!doctype html><title>Mill</title><p>It turns."
URL = "http://a.example/mill"


def captures(name: str | Path, url: str = "") -> list[Capture]:
    with pages.opened(str(name)) as file:
        return list(pages.captures(file, pages.parsed(url), lambda count: None))


def refused(name: str | Path) -> str:
    with pytest.raises(ConfigError) as raised:
        captures(name)
    assert "\n" not in str(raised.value)
    return str(raised.value).replace(str(name), "FILE")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
def test_an_html_file_is_a_page_plain_or_compressed(pack: object, tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(pack(PAGE))  # type: ignore[operator]
    (found,) = captures(tmp_path / "page", URL)
    assert (found.url, found.body, found.header("Content-Type")) == (URL, PAGE, "text/html")


@pytest.mark.parametrize("packing", ["", "gzip", "zstd"])
def test_a_warc_file_is_recognised_by_its_content(packing: str, tmp_path: Path) -> None:
    records = [warcs.record(f"http://a.example/{number}", PAGE) for number in range(3)]
    path = warcs.write(tmp_path / "page.html", records, packing)
    found = captures(path)
    assert [capture.url for capture in found] == [f"http://a.example/{number}" for number in range(3)]
    assert [capture.body for capture in found] == [PAGE] * 3
    assert found[0].time == 1714979289.0


def test_a_zstd_file_may_have_a_dictionary(tmp_path: Path) -> None:
    records = [warcs.record(f"http://a.example/{number}", PAGE * (number + 1)) for number in range(300)]
    dictionary = zstandard.train_dictionary(4000, records).as_bytes()
    for form in (dictionary, zstandard.ZstdCompressor().compress(dictionary)):
        path = warcs.write(tmp_path / "a.warc.zst", records, "zstd", dictionary)
        if form != dictionary:
            tail = path.read_bytes()[8 + len(dictionary) :]
            path.write_bytes(b"\x5d\x2a\x4d\x18" + len(form).to_bytes(4, "little") + form + tail)
        assert [capture.body for capture in captures(path)] == [PAGE * (number + 1) for number in range(300)]


def test_only_html_that_was_answered_with_success_is_a_page(tmp_path: Path) -> None:
    records = [
        warcs.record("http://a.example/", PAGE),
        warcs.record("http://a.example/lost", PAGE, status="404 Not Found"),
        warcs.record("http://a.example/x.png", b"\x89PNG\r\n\x1a\n", "image/png"),
        warcs.resource("http://a.example/saved", PAGE),
        warcs.resource("http://a.example/x.css", b"p {}", "text/css"),
        warcs.resource("urn:pageinfo:x", PAGE),
    ]
    found = captures(warcs.write(tmp_path / "a.warc.gz", records))
    assert [capture.url for capture in found] == ["http://a.example/", "http://a.example/saved"]
    assert found[1].header("content-type") == "text/html" and found[1].body == PAGE


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstandard.ZstdCompressor().compress), ("", bytes)],
)
@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_with_its_codings_is_decoded(encoding: str, pack: object, chunked: bool, tmp_path: Path) -> None:
    body = pack(PAGE)  # type: ignore[operator]
    headers = {"Content_Encoding": encoding} if encoding else {}
    if chunked:
        headers["Transfer_Encoding"] = "chunked"
        parts = (body[:10], body[10:])
        body = b"".join(b"%x;x=1\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    path = warcs.write(tmp_path / "a.warc.gz", [warcs.record(URL, body, **headers)])
    assert [capture.body for capture in captures(path)] == [PAGE]


def test_a_header_of_chunks_that_were_joined_already_does_no_harm(tmp_path: Path) -> None:
    record = warcs.record(URL, PAGE, Transfer_Encoding="chunked")
    assert [capture.body for capture in captures(warcs.write(tmp_path / "a.warc", [record], ""))] == [PAGE]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "FILE is empty; name a file of HTML, or a WARC file"),
        (b"%PDF-1.7 x", "FILE is a PDF file, not an HTML page"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "FILE is a file of the type image/png, not an HTML page"),
        (gzip.compress(b"%PDF-1.7 x", mtime=0), "FILE is gzip with a PDF file in it, not an HTML page"),
        (b"a line of text\n", "FILE is plain text without a tag, not an HTML page"),
        (gzip.compress(b"", mtime=0), "FILE is a gzip file, not an HTML page"),
        (b"\x1f\x8b\x08\x00broken", "FILE is a gzip file, not an HTML page"),
        (bytes(range(32)) * 40, "FILE is a file of the type application/octet-stream, not an HTML page"),
    ],
)
def test_a_file_that_is_no_page_is_one_sentence(data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(data)
    assert refused(tmp_path / "page").startswith(words)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    fix = "check the path and its permissions"
    assert refused(tmp_path / "none.html") == f"cannot read FILE: No such file or directory; {fix}"
    assert refused(tmp_path).startswith("FILE is a directory; name its files, such as FILE/*.html")
    with pytest.raises(ConfigError, match="the name of a file is empty; name a file, or - for standard input"):
        captures("")
    with patch.object(sys, "stdin", None), pytest.raises(ConfigError, match="standard input is closed; name a file"):
        captures("-")


def test_a_warc_file_without_pages_is_one_sentence(tmp_path: Path) -> None:
    path = warcs.write(tmp_path / "a.warc.gz", [warcs.record(URL, b"x", "text/plain")])
    assert refused(path) == "FILE holds no HTML page; name a WARC file with pages that were answered with 200"


@pytest.mark.parametrize("packing", ["", "gzip", "zstd"])
def test_a_cut_warc_file_gives_its_pages_and_the_beginning_of_the_last_one(packing: str, tmp_path: Path) -> None:
    path = warcs.write(tmp_path / "a.warc", [warcs.record(URL, PAGE), warcs.record(URL, PAGE * 9)], packing)
    path.write_bytes(path.read_bytes()[:-30])
    found: list[Capture] = []
    with pages.opened(str(path)) as file, pytest.raises(ConfigError, match="all intact pages were read"):
        found.extend(pages.captures(file, None, lambda count: None))
    assert found[0].body == PAGE and not found[0].truncated
    assert all(cut.truncated and (PAGE * 9).startswith(cut.body) for cut in found[1:])


def test_pages_behind_a_damaged_record_are_read(tmp_path: Path) -> None:
    path = warcs.write(tmp_path / "a.warc.gz", [warcs.record(URL, PAGE + b"%d" % number) for number in range(3)])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + bytes(20) + whole[len(whole) // 2 + 20 :])
    found: list[Capture] = []
    with (
        pages.opened(str(path)) as file,
        pytest.raises(ConfigError, match=r", byte \d+: .*; all intact pages were read"),
    ):
        found.extend(pages.captures(file, None, lambda count: None))
    assert [capture.body[-1:] for capture in found] == [b"0", b"2"]


def test_progress_counts_the_bytes_of_the_file(tmp_path: Path) -> None:
    path = warcs.write(tmp_path / "a.warc.gz", [warcs.record(URL, PAGE)] * 3)
    counts: list[int] = []
    with pages.opened(str(path)) as file:
        assert len(list(pages.captures(file, None, counts.append))) == 3
    assert sum(counts) == path.stat().st_size


@pytest.mark.parametrize("archive", [True, False])
def test_standard_input_and_pipes_are_read(archive: bool, tmp_path: Path) -> None:
    data = gzip.compress(warcs.record(URL, PAGE)) if archive else PAGE
    with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data))):
        assert [capture.body for capture in captures("-")] == [PAGE]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    assert [capture.body for capture in captures(pipe)] == [PAGE]
    writer.join()


def test_the_links_of_a_page_without_url_are_relative() -> None:
    marks = (Mark(0, 1, "link", "http://page.invalid/x"), Mark(0, 1, "link", "http://b.example/"), Mark(0, 1, "em"))
    page = pages.relative(Page(paragraphs=(Paragraph("a", marks=marks),), licence="http://page.invalid/l"))
    assert [mark.target for mark in page.paragraphs[0].marks] == ["/x", "http://b.example/", ""]
    assert page.licence == "/l"


def test_a_url_must_be_one() -> None:
    assert pages.parsed("") is None
    with pytest.raises(ConfigError, match="'ftp://x' is not an http or https URL; write it as"):
        pages.parsed("ftp://x")
