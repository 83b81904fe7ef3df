"""The header of a WARC record that is written as almost all are: by the C kernel `_head`, or by its reference here.

Whatever is not usual (another version, other line ends, folded or empty fields, blanks where none are needed, a length
that is no number) gives None, and `warc.head` reads it with all its rules.
"""

import re

try:
    from windrow.archive import _head
except ImportError:  # built without a compiler: the reference runs instead
    _head = None  # type: ignore[assignment]

Headers = tuple[tuple[str, str], ...]
UsualHead = tuple[int, int, str, Headers]  # where the block begins, Content-Length, version, headers

LONGEST = 1 << 18  # bytes
_LINES = 64
_END = b"\r\n\r\n"
_VERSION = re.compile(rb"WARC/1\.[01]\r\n")
_FIELD = re.compile(rb"([^:\r\n \t](?:[^:\r\n]*[^:\r\n \t])?): ([^\r\n \t](?:[^\r\n]*[^\r\n \t])?)")


def reference(data: bytes, at: int) -> UsualHead | None:
    """Return what a header holds; None if it is not usual."""
    blank = data.find(_END, at, at + LONGEST)
    if blank < 0 or not _VERSION.match(data, at):
        return None
    lines = data[at + 10 : blank].split(b"\r\n") if blank > at + 8 else []
    fields = [_FIELD.fullmatch(line) for line in lines]
    found = [field.groups() for field in fields if field is not None]
    lengths = [(name, value) for name, value in found if name.lower() == b"content-length"]
    if len(found) < len(lines) or len(lines) > _LINES or len(lengths) != 1:
        return None
    name, length = lengths[0]
    if name != b"Content-Length" or not length.isdigit() or len(length) > 18:
        return None
    headers = tuple([(name.decode("utf-8", "replace"), value.decode("utf-8", "replace")) for name, value in found])
    return blank + 4, int(length), data[at : at + 8].decode(), headers


usual = _head.head if _head else reference
