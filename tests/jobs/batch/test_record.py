"""What the job of a user sees of a record."""

import gzip
from pathlib import Path

from tests.jobs import warcs
from windrow import archive
from windrow.jobs.batch.record import JobRecord


def seen(directory: Path, *records: bytes) -> list[JobRecord]:
    return [JobRecord(record) for record in archive.records(warcs.write(directory / "a.warc.gz", list(records)))]


def test_a_page_has_its_url_status_headers_and_text(tmp_path: Path) -> None:
    body = "<p>čas".encode("iso-8859-2")
    (page,) = seen(tmp_path, warcs.record("http://a.test/x", body, "text/html; charset=iso-8859-2", X_Age="7"))
    assert (page.type, page.url, page.date) == ("response", "http://a.test/x", "2024-05-06T07:08:09Z")
    assert (page.status, page.http_header("x-age"), page.http_header("none")) == (200, "7", "")
    assert (page.body, page.text, page.is_html) == (body, "<p>čas", True)
    assert page.header("WARC-Type") == "response"


def test_compression_is_removed_from_a_body(tmp_path: Path) -> None:
    (page,) = seen(tmp_path, warcs.record("http://a.test/", gzip.compress(b"<p>text"), Content_Encoding="gzip"))
    assert page.body == b"<p>text"


def test_a_picture_and_a_resource_are_not_html_pages(tmp_path: Path) -> None:
    found = seen(
        tmp_path,
        warcs.record("http://a.test/", b"\x89PNG\r\n\x1a\n", "image/png"),
        warcs.resource("http://a.test/", b"<p>"),
    )
    assert [record.is_html for record in found] == [False, False]


def test_a_record_without_http_is_its_block(tmp_path: Path) -> None:
    (record,) = seen(tmp_path, warcs.resource("http://a.test/", '{"a": ["ž"]}'.encode(), "application/json"))
    assert (record.status, record.http_header("Content-Type"), record.json()) == (0, "", {"a": ["ž"]})
    assert record.text == '{"a": ["ž"]}'
