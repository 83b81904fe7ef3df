"""Whether a body is HTML: by its content type, and by its first bytes if the type says too little."""

import functools
import re

from windrow.extraction.readers import guess

HTML = {"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"}
# Types that say too little.
_UNSURE = {"", "text/xml", "application/xml", "unknown/unknown", "application/unknown", "*/*"}
_SNIFFED = 1024  # bytes that are examined
_MARKUP = re.compile(
    rb"\A[\xef\xbb\xbf\t\n\f\r ]*"
    rb"<(?:h1|div|font|table|a|style|b|br|p|title|script|iframe|meta|link|center)[\t\n\f\r />]"
    rb"|<(?:!doctype[\t\n\f\r ]+html|html|head|body)[\t\n\f\r />]",
    re.IGNORECASE,
)
_MAGIC = (
    *(b"%PDF-", b"%!PS", b"{\\rtf", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"OggS", b"ID3", b"wOF"),
    *(b"\0\0\1\0", b"\x7fELF", b"PK\3\4", b"\x1f\x8b", b"BZh", b"Rar!", b"7z\xbc\xaf", b"\xfd7zXZ"),
    *(b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0"),
)
# The "binary data bytes" of the MIME Sniffing Standard.
_CONTROLS = bytes([*range(9), 11, *range(14, 27), *range(28, 32)])


def is_html(content_type: str, body: bytes) -> bool:
    """Return whether to parse a body. A body with the magic number of another format is never parsed."""
    kind = media_type(content_type)
    if kind not in HTML and kind not in _UNSURE:
        return False
    start = body[:_SNIFFED]
    if start.startswith(_MAGIC):
        return False
    if b"\0" in start:
        if start[:2] in (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<") or guess.wide(start):  # UTF-16
            start = start.replace(b"\0", b"")
        elif len(start) - len(start.translate(None, _CONTROLS)) > len(start) // 10:
            return False
    return bool(start) if kind in HTML else _MARKUP.search(start) is not None


@functools.lru_cache(1024)
def media_type(content_type: str) -> str:
    """Return a content type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()
