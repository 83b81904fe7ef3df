"""Identify a payload by its first bytes, for WARC-Identified-Payload-Type, with a part of the WHATWG MIME sniffing."""

import re

_BLANK = b" \t\n\r\f"
_MAGIC = (
    (b"%pdf-", "application/pdf"),
    (b"\x89png\r\n", "image/png"),
    (b"gif87a", "image/gif"),
    (b"gif89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"pk\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"(\xb5/\xfd", "application/zstd"),
    (b"%!ps-adobe-", "application/postscript"),
    (b"{\\rtf", "application/rtf"),
    (b"\xd0\xcf\x11\xe0", "application/x-ole-storage"),
)
_HTML = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|iframe|h1|div|font|table|a|b|br|p|!--)"
    rb"(?=[\s>/]|(?<=--))"
)
_ROOTS = (
    (b"<html", "application/xhtml+xml"),
    (b"<rss", "application/rss+xml"),
    (b"<rdf:rdf", "application/rdf+xml"),
    (b"<feed", "application/atom+xml"),
    (b"<svg", "image/svg+xml"),
)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_JSON = re.compile(rb"\s*[\[{]\s*[\[{\"]")
_DECLARED = re.compile(rb"\r\ncontent-type:[ \t]*((?:text|application)/[a-z0-9.+-]+)")
_SPECIFIC = (
    "text/",
    "application/json",
    "application/javascript",
    "application/x-javascript",
    "application/ecmascript",
)


def identify(head: bytes, body: bytes) -> str:
    """Return the media type; "" if there is no payload. The declared type counts only for plain text."""
    if not body:
        return ""
    start = body[:64].lstrip(_BLANK).lower()
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or len(start) < 16:
        start = _text(body).lstrip(_BLANK).lower()
    if _HTML.match(start):
        return "text/html"
    for magic, kind in _MAGIC:
        if start.startswith(magic):
            return kind
    if start.startswith(b"<?xml"):
        return _xml(body)
    return _plain(head, body)


def _text(body: bytes) -> bytes:
    """Return the first bytes as ASCII-compatible text without byte order mark."""
    first = body[:1024]
    if first.startswith((b"\xff\xfe", b"\xfe\xff")):
        return first.decode("utf-16", "replace").encode()
    return first.removeprefix(b"\xef\xbb\xbf")


def _xml(body: bytes) -> str:
    """Return the type that the root element implies; it follows prolog, doctype and comments."""
    first = _text(body).lower()
    roots = [(at, kind) for root, kind in _ROOTS if (at := first.find(root)) >= 0]
    return min(roots)[1] if roots else "application/xml"


def _plain(head: bytes, body: bytes) -> str:
    first = _text(body)
    if _BINARY.search(first):
        return "application/octet-stream"
    declared = _DECLARED.search(head.lower())
    if declared and (kind := declared[1].decode()).startswith(_SPECIFIC):
        return kind
    return "application/json" if _JSON.match(first) else "text/plain"
