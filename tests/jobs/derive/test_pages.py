"""The table of pages."""

from pathlib import Path

import duckdb

from tests.jobs import warcs
from tests.jobs.derive.made import derived, records, rows, sample
from windrow import archive
from windrow.jobs.derive import pages


def test_a_page_has_what_its_record_and_its_head_say(tmp_path: Path) -> None:
    body = (
        b"<html lang=en><title>T</title><meta name=description content=D><meta property=og:type content=article>"
        b"<link rel='x Canonical' href=/c><base href=/b/><a href=x>y</a>"
    )
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.record("http://a.example/", body, Server="s")])
    derived(source, tmp_path / "out", pages=True)
    (row,) = rows(tmp_path / "out" / "pages.parquet")
    record = next(iter(archive.records(source)))
    assert row["fetch_time"].isoformat() == "2024-05-06T07:08:09+00:00"
    assert row["warc_record_id"] == record.header("WARC-Record-ID")
    assert row["content_digest"] == record.header("WARC-Payload-Digest").removeprefix("sha1:")
    assert (row["warc_record_offset"], row["warc_record_length"]) == (0, source.stat().st_size)
    assert (row["fetch_status"], row["content_mime_type"], row["content_charset"]) == (200, "text/html", "UTF-8")
    assert (row["content_mime_detected"], row["content_length"]) == ("text/html", len(body))
    assert row["headers"] == [{"name": "Content-Type", "value": warcs.HTML}, {"name": "Server", "value": "s"}]
    assert (row["title"], row["html_lang"], row["base"]) == ("T", "en", "/b/")
    assert row["canonical"] == "http://a.example/c"
    assert row["metas"] == [
        {"name": "description", "property": None, "http_equiv": None, "content": "D"},
        {"name": None, "property": "og:type", "http_equiv": None, "content": "article"},
    ]
    assert (row["links"], row["text_length"]) == (2, len("T\ny"))


def test_a_response_without_a_page_has_a_row_too(tmp_path: Path) -> None:
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [
            warcs.record("http://a.example/1", b"", status="302 Found", Location="/x y"),
            warcs.record("http://a.example/2", b"%PDF-1.7 x", "application/pdf"),
        ],
    )
    account = derived(source, tmp_path / "out", pages=True)
    moved, pdf = rows(tmp_path / "out" / "pages.parquet")
    assert (moved["fetch_status"], moved["fetch_redirect"], moved["title"]) == (302, "http://a.example/x%20y", None)
    assert (pdf["content_mime_type"], pdf["content_mime_detected"]) == ("application/pdf", "application/pdf")
    assert (pdf["links"], account["pages"]) == (None, 2)


def test_languages_are_those_that_the_archive_notes(tmp_path: Path) -> None:
    derived(sample(tmp_path, "whirlwind.warc.gz"), tmp_path / "out", pages=True)
    (row,) = rows(tmp_path / "out" / "pages.parquet")
    assert (row["content_languages"], row["html_lang"]) == ("spa", "an")


def test_languages_are_detected_on_request(tmp_path: Path) -> None:
    german = (
        "Der Wind weht über das weite Feld, und die Mühle am Bach dreht sich langsam, weil das Wasser niedrig steht."
    )
    english = "The wind blows over the wide field, and the mill at the brook turns slowly, because the water is low."
    body = f"<p>{german}</p>" * 3 + f"<p>{english}</p>" + "<p>123</p>"
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.record("http://a.example/", body.encode())])
    for languages, expected in ((False, None), (True, "deu,eng")):
        derived(source, tmp_path / "out", pages=True, wet="all", languages=languages)
        assert rows(tmp_path / "out" / "pages.parquet")[0]["content_languages"] == expected
        noted = records(tmp_path / "out" / "wet")[1].header("WARC-Identified-Content-Language")
        assert noted == (expected or "")


def test_both_tables_are_joined_by_the_place_of_the_record(tmp_path: Path) -> None:
    made = [warcs.record(f"http://a.example/{page}", b"<title>%d</title><a href=x>y</a>" % page) for page in range(3)]
    derived(warcs.write(tmp_path / "a.warc.gz", made), tmp_path / "out", links=True, pages=True)
    query = f"""
        SELECT pages.title, text FROM '{tmp_path}/out/links.parquet/*.parquet'
        JOIN '{tmp_path}/out/pages.parquet/*.parquet' AS pages USING (warc_filename, warc_record_offset) ORDER BY 1
    """
    assert duckdb.sql(query).fetchall() == [("0", "y"), ("1", "y"), ("2", "y")]


def test_the_rows_are_those_of_the_function_of_the_engine(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.record("http://a.example/", b"<title>T")])
    derived(source, tmp_path / "out", pages=True)
    assert [row for batch in pages.rows(str(source)) for row in batch.to_pylist()] == rows(
        tmp_path / "out" / "pages.parquet"
    )
