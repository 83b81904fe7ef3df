"""Media types by the first bytes."""

import pytest

from windrow.archive.reading import sniff


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", ""),
        (b"<!DOCTYPE html><html>", "text/html"),
        (b"\n\n  <HTML lang=en>", "text/html"),
        (b" " * 900 + b"<!doctype html>", "text/html"),
        (b"\xef\xbb\xbf<!DOCTYPE html>", "text/html"),
        ("<html>".encode("utf-16"), "text/html"),
        (b"<!-- a note --><p>x", "text/html"),
        (b"<br/>", "text/html"),
        (b"<article>", "text/plain"),
        (b"<abc>", "text/plain"),
        (b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x">\n<html xmlns="y">', "application/xhtml+xml"),
        (b'<?xml version="1.0"?><rss version="2.0"><html>', "application/rss+xml"),
        (b'<?xml version="1.0"?><feed>', "application/atom+xml"),
        (b'<?xml version="1.0"?><urlset>', "application/xml"),
        (b"%PDF-1.7", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08\x00", "application/gzip"),
        (b'{\n  "a": 1}', "application/json"),
        (b"[[1]]", "application/json"),
        (b"{ color: red }", "text/plain"),
        (b"plain words", "text/plain"),
        (b"caf\xe9 \x1b[0m", "text/plain"),
        (b"\x00\x01\x02", "application/octet-stream"),
    ],
)
def test_a_payload_is_identified_by_its_first_bytes(body: bytes, kind: str) -> None:
    assert sniff.identify(b"HTTP/1.1 200 OK\r\n\r\n", body) == kind


@pytest.mark.parametrize(
    ("declared", "body", "kind"),
    [
        (b"text/css; charset=utf-8", b"p { color: red }", "text/css"),
        (b"TEXT/HTML", b"no tag at all", "text/html"),
        (b"application/json", b"17", "application/json"),
        (b"image/png", b"plain words", "text/plain"),
        (b"text/html", b"%PDF-1.7", "application/pdf"),
        (b"text/html", b"\x00\x01", "application/octet-stream"),
    ],
)
def test_the_declared_type_counts_only_for_text(declared: bytes, body: bytes, kind: str) -> None:
    assert sniff.identify(b"HTTP/1.1 200 OK\r\nContent-Type: " + declared + b"\r\n\r\n", body) == kind
