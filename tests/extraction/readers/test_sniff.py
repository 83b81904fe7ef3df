"""What a body is, by its declared type and by its first bytes."""

import pytest

from windrow.extraction.readers import sniff
from windrow.extraction.readers.sniff import SITEMAP

RSS = b'<?xml version="1.0"?>\n<!-- a feed -->\n<!DOCTYPE rss [<!ENTITY x "<feed>">]>\n<rss version="2.0"><channel>'
PDF = b"%PDF-1.7 ..."


@pytest.mark.parametrize(
    ("declared", "body", "types"),
    [
        ("text/html; charset=utf-8", b"<p>words", ["text/html"]),
        ("application/xhtml+xml", b"words", ["text/html"]),
        ("", b"<!doctype html><p>words", ["text/html"]),
        ("", b"words", []),
        ("text/csv", b"a,b", ["text/csv"]),
        ("Text/CSV ; header=present", b"a,b", ["text/csv"]),
        ("text/plain", b"<html>", ["text/plain"]),
        # What the bytes prove wins over the types that servers give to anything,
        ("text/html", PDF, ["application/pdf"]),
        ("text/plain", PDF, ["application/pdf", "text/plain"]),
        ("application/octet-stream", PDF, ["application/pdf", "application/octet-stream"]),
        ("", PDF, ["application/pdf"]),
        ("text/xml", RSS, ["application/rss+xml", "text/xml"]),
        ("text/html", RSS, ["application/rss+xml", "text/html"]),
        ("text/plain", b"\xef\xbb\xbf <urlset xmlns='x'>", [SITEMAP, "text/plain"]),
        ("application/xml", b"<s:sitemapindex xmlns:s='x'>", [SITEMAP, "application/xml"]),
        ("text/xml", b"<feed xmlns='http://www.w3.org/2005/Atom'>", ["application/atom+xml", "text/xml"]),
        ("text/xml", b"<rdf:RDF>", ["application/rdf+xml", "text/xml"]),
        # and not over those that name a format: the bytes show only what it is packed in.
        (
            "application/vnd.oasis.opendocument.text",
            b"PK\3\4",
            ["application/vnd.oasis.opendocument.text", "application/zip"],
        ),
        ("application/x-gzip", b"\x1f\x8b\x08", ["application/x-gzip", "application/gzip"]),
        ("application/podcast+xml", RSS, ["application/podcast+xml", "application/rss+xml"]),
    ],
)
def test_the_media_types_of_a_body_best_first(declared: str, body: bytes, types: list[str]) -> None:
    assert sniff.media_types(declared, body) == tuple(types)


@pytest.mark.parametrize(
    "body",
    [
        b"<",
        b"<!--" * 5000,
        b"<!" * 5000,
        b"<![" * 5000,
        b"<?" * 5000,
        b" " * 5000,
        b"<a:" * 5000,
        b"<!x[" + b"]" * 5000,
    ],
)
def test_a_prolog_without_an_end_proves_nothing(body: bytes) -> None:
    assert sniff.media_types("text/xml", body) == ("text/xml",)


def test_html_is_named_only_where_it_is_read_as_html() -> None:
    cases = [("text/html", b""), ("text/html", b"\0\1\2" * 99), ("image/png", b"<html>"), ("text/css", b"<html>")]
    assert not any("text/html" in sniff.media_types(*case) or sniff.is_html(*case) for case in cases)
