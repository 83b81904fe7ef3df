"""What a body is: by its declared type, and by its first bytes.

Which of the two wins? What the first bytes prove, a magic number or the root element of XML, wins over a declared type
of text: HTML, XML, text/plain and application/octet-stream are what servers send with files that they do not know, and
no text begins with a magic number. Over any other declared type the bytes do not win, because they then show only what
it is packed in: a .docx is a zip file, many formats are XML. The WHATWG MIME Sniffing Standard trusts a declared
text/html more than that (it looks for feeds alone, §7.3): a browser must not run what was not meant to be run. A reader
runs nothing. Where the winner has no reader, the other one counts.

Whether a body is HTML is a question of its own, because every crawl asks it, and because pages without any markup that
proves it are HTML if they are declared so.
"""

import functools
import re

from windrow.extraction.readers import guess

SITEMAP = "application/x-sitemap+xml"  # a name of our own: sitemaps have no registered type
GZIP = "application/gzip"
HTML = {"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"}
# Types that say too little.
_UNSURE = {"", "text/xml", "application/xml", "unknown/unknown", "application/unknown", "*/*"}
# Types over which wins what the first bytes prove, besides text/*.
_LOOSE = {*HTML, *_UNSURE, "application/octet-stream", "binary/octet-stream"}
SNIFFED = 1024  # bytes that are examined
_MARKUP = re.compile(
    rb"\A[\xef\xbb\xbf\t\n\f\r ]*"
    rb"<(?:h1|div|font|table|a|style|b|br|p|title|script|iframe|meta|link|center)[\t\n\f\r />]"
    rb"|<(?:!doctype[\t\n\f\r ]+html|html|head|body)[\t\n\f\r />]",
    re.IGNORECASE,
)
_FORMATS = {
    b"%PDF-": "application/pdf",
    b"%!PS": "application/postscript",
    b"{\\rtf": "application/rtf",
    b"\x89PNG": "image/png",
    b"GIF8": "image/gif",
    b"\xff\xd8\xff": "image/jpeg",
    b"RIFF": "application/x-riff",
    b"OggS": "application/ogg",
    b"ID3": "audio/mpeg",
    b"wOF": "font/woff",
    b"\0\0\1\0": "image/x-icon",
    b"\x7fELF": "application/x-elf",
    b"PK\3\4": "application/zip",
    b"\x1f\x8b": GZIP,
    b"BZh": "application/x-bzip2",
    b"Rar!": "application/vnd.rar",
    b"7z\xbc\xaf": "application/x-7z-compressed",
    b"\xfd7zXZ": "application/x-xz",
    b"\x28\xb5\x2f\xfd": "application/zstd",
    b"\xd0\xcf\x11\xe0": "application/x-ole-storage",
}
_MAGIC = tuple(_FORMATS)
_PROLOG = re.compile(rb"[\xef\xbb\xbf\s]*+<(?:!--.*?--|\?.*?\?|![^>\[]*+(?:\[[^\]]*+\])?+\s*+)>", re.DOTALL)
_ROOT = re.compile(rb"[\xef\xbb\xbf\s]*+<(?:[\w.-]+:)?+([\w.-]++)")
_ROOTS = {
    b"rss": "application/rss+xml",
    b"feed": "application/atom+xml",
    b"rdf": "application/rdf+xml",
    b"urlset": SITEMAP,
    b"sitemapindex": SITEMAP,
}
# The "binary data bytes" of the MIME Sniffing Standard.
_CONTROLS = bytes([*range(9), 11, *range(14, 27), *range(28, 32)])


def is_html(content_type: str, body: bytes) -> bool:
    """Return whether to parse a body. A body with the magic number of another format is never parsed."""
    kind = media_type(content_type)
    if kind not in HTML and kind not in _UNSURE:
        return False
    start = body[:SNIFFED]
    if start.startswith(_MAGIC):
        return False
    if b"\0" in start:
        if start[:2] in (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<") or guess.wide(start):  # UTF-16
            start = start.replace(b"\0", b"")
        elif len(start) - len(start.translate(None, _CONTROLS)) > len(start) // 10:
            return False
    return bool(start) if kind in HTML else _MARKUP.search(start) is not None


def media_types(content_type: str, body: bytes) -> tuple[str, ...]:
    """Return the media types as which a body may be read, the best first; HTML only if it is."""
    declared, start = media_type(content_type), body[:SNIFFED]
    packed = start.startswith(_MAGIC)
    proven = next(kind for magic, kind in _FORMATS.items() if start.startswith(magic)) if packed else _of_root(start)
    loose = declared in _LOOSE or declared.startswith("text/")
    kinds = [kind for kind in ((proven, declared) if loose else (declared, proven)) if kind and kind not in HTML]
    return (*kinds, "text/html") if is_html(content_type, body) else tuple(kinds)


def _of_root(start: bytes) -> str:
    """Return the type that the root element of XML proves; it follows declaration, comments and document type."""
    at = 0
    while match := _PROLOG.match(start, at):
        at = match.end()
    root = _ROOT.match(start, at)
    return _ROOTS.get(root[1].lower(), "") if root else ""


@functools.lru_cache(1024)
def media_type(content_type: str) -> str:
    """Return a content type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()
