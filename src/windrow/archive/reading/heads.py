"""The work that every record needs, by the C kernel `_records` or by its references here: headers as almost all are
written, and the search for the next gzip member.

Whatever is not usual in a header (another version, other line ends, folded or repeated fields, blanks where none are
needed, a length that is no number) gives None, and it is read by other functions, with all their rules.
"""

import re

try:
    from windrow.archive import _records
except ImportError:  # built without a compiler: the reference runs instead
    _records = None  # type: ignore[assignment]

Headers = tuple[tuple[str, str], ...]
UsualHead = tuple[int, int, str, Headers]  # where the block begins, Content-Length, version, headers

UsualHttp = tuple[int, dict[str, str]]  # where the payload begins, fields

LONGEST = 1 << 18  # bytes
_LINES = 64
_END = b"\r\n\r\n"
_VERSION = re.compile(rb"WARC/1\.[01]\r\n")
_FIELD = re.compile(rb"([^:\r\n \t](?:[^:\r\n]*[^:\r\n \t])?): ([^\r\n \t](?:[^\r\n]*[^\r\n \t])?)")
_STATUS = re.compile(rb"[^\r\n]+")
_HTTP_FIELD = re.compile(
    rb"([!-9;-~](?:[\x00-\x09\x0b\x0c\x0e-9;-\x7f]{0,62}[\x00-\x08\x0b\x0c\x0e-\x1f!-9;-\x7f])?):([^\r\n]*)"
)


def reference_head(data: bytes, at: int) -> UsualHead | None:
    """Return what a header holds; None if it is not usual."""
    blank = data.find(_END, at, at + LONGEST)
    if blank < 0 or not _VERSION.match(data, at):
        return None
    lines = data[at + 10 : blank].split(b"\r\n") if blank > at + 8 else []
    fields = [_FIELD.fullmatch(line) for line in lines]
    pairs = [field.groups() for field in fields if field is not None]
    lengths = [(name, value) for name, value in pairs if name.lower() == b"content-length"]
    if len(pairs) < len(lines) or len(lines) > _LINES or len(lengths) != 1:
        return None
    name, length = lengths[0]
    if name != b"Content-Length" or not length.isdigit() or len(length) > 18:
        return None
    headers = tuple([(name.decode("utf-8", "replace"), value.decode("utf-8", "replace")) for name, value in pairs])
    return blank + 4, int(length), data[at : at + 8].decode(), headers


def reference_http(block: bytes) -> UsualHttp | None:
    """Return the fields of an HTTP header by name in lower case; None if it is not usual."""
    blank = block.find(_END, 0, LONGEST)
    lines = block[: max(blank, 0)].split(b"\r\n")
    fields = [_HTTP_FIELD.fullmatch(line) for line in lines[1:]]
    pairs = [(field[1].lower(), field[2]) for field in fields if field is not None]
    if blank < 1 or len(pairs) < len(fields) or not _STATUS.fullmatch(lines[0]):
        return None
    named = {name.decode("ascii"): value.strip(b" \t").decode("latin-1") for name, value in pairs}
    return (blank + 4, named) if len(named) == len(pairs) else None


def reference_member(data: bytes, start: int, stop: int) -> int:
    """Return where the first three bytes of a gzip member are; -1 if they are not there."""
    return data.find(b"\x1f\x8b\x08", start, stop)


head = _records.head if _records else reference_head
http = _records.http if _records else reference_http
member = _records.member if _records else reference_member
