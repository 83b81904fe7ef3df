"""Read one record of an ARC file, the format before WARC: a line of five or ten fields, then the bytes.

Version 1 of the line is `URL IP-address Archive-date Content-type Archive-length`, version 2 has five more fields
before the length. The line itself tells which it is, so a record can be read from any offset. Files of twenty years
break the rules: URLs and content types with blanks, fields that are dashes, a first record (`filedesc:`) whose length
counts its two version lines or does not. A record gets the headers that it would have in a WARC file.
"""

import re

from windrow.archive.reading.stream import MemberStream
from windrow.archive.reading.unpack import BadRecord
from windrow.archive.record import WarcRecord
from windrow.archive.warc import MAX_BLOCK

MAX_LINE = 1 << 16  # bytes

_ADDRESS = rb"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]+|-|0|unknown)"
# A line must end with a length. To check that first keeps the time linear for any content.
_SCHEMED = rb"[A-Za-z][A-Za-z0-9+.\-]{1,30}:(?=[^\r\n]*\d[ \t]*\r?\n)"
_FIELDS = _SCHEMED + rb"[^\r\n]* " + _ADDRESS + rb" (?:\d{4,17}|-) [^\r\n]*\r?\n"
START = re.compile(rb"^(?:" + _FIELDS + rb"|filedesc://[^\r\n]*\r?\n)", re.MULTILINE)  # what a record begins with
_LINE = re.compile(
    rb"(?=.*\d[ \t]*\r?\n\Z)(.*) (" + _ADDRESS + rb") (\d{4,17}|-) (?:(.*) )?(\d+)[ \t]*\r?\n", re.DOTALL
)
_SECOND = re.compile(rb"(.*?) ?(\d{3}|-) (\S+) (\S+) (\d+|-) (\S+)", re.DOTALL)  # what version 2 has before the length
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.\-]{0,30}(?::|\Z)")
FILE = b"filedesc:"
_HTTP = b"application/http; msgtype=response"


def begins(stream: MemberStream) -> bool:
    """Return whether the next bytes can be the line of an ARC record."""
    start = stream.peek(32)
    if not _SCHEME.match(start):
        return False
    line = _line(stream)
    return START.match(line) is not None


def read(stream: MemberStream) -> WarcRecord:
    """Return the record that begins here."""
    path, offset, fresh = stream.path, stream.position, stream.fresh
    line, size = head(stream)
    if size is None:
        raise BadRecord(path, offset, f"the line of the ARC record that begins here has no length: {line[:64]!r}")
    block, taken = stream.take(size, MAX_BLOCK)
    if taken < size:
        what = f"the file ends inside the record that begins here ({taken} of {size} bytes of its block)"
        raise BadRecord(path, offset, what, cut=True)
    if line.startswith(FILE):
        block += version_lines(stream)
        size = len(block)  # see version_lines
    if stream.plain:
        ended = stream.peek(1) in (b"\n", b"\r", b"") or begins(stream)
        stream.skip_lines()
    else:
        stream.skip_lines()
        ended = fresh and stream.drained
        if not stream.drained and not begins(stream):
            raise BadRecord(path, offset, f"the record that begins here is followed by {stream.peek(16)!r}")
    return record(line, block, (offset, stream.position - offset if ended else 0, size))


def head(stream: MemberStream) -> tuple[bytes, int | None]:
    """Consume the line of a record; return it with its length, if it has one."""
    line = _line(stream)
    stream.take(len(line), 0)
    fields = _LINE.fullmatch(line)
    return line, int(fields[5]) if fields and len(fields[5]) < 19 else None


def record(line: bytes, block: bytes, position: tuple[int, int, int]) -> WarcRecord:
    """Return a record with the headers of a WARC record. `place`: offset, length and size."""
    offset, length, size = position
    fields = _LINE.fullmatch(line)
    target, address, date, kind = fields.group(1, 2, 3, 4) if fields else (line.strip(), b"-", b"-", b"")
    second = _SECOND.fullmatch(kind or b"")
    filed = target.startswith(FILE)
    described = (second[1] if second else kind) or b""
    if not filed and block[:5].upper() == b"HTTP/":
        described = _HTTP
    written = [
        ("WARC-Type", b"warcinfo" if filed else b"response"),
        ("WARC-Filename" if filed else "WARC-Target-URI", target.removeprefix(b"filedesc://") if filed else target),
        ("WARC-Date", _date(date)),
        ("WARC-IP-Address", b"" if address in (b"-", b"0", b"unknown", b"0.0.0.0") else address),
        ("Content-Type", b"" if described == b"-" else described),
        ("Content-Length", b"%d" % size),
    ]
    if second and second[3] != b"-":
        written.append(("ARC-Checksum", second[3]))
    headers = tuple([(name, value.decode("utf-8", "replace")) for name, value in written if value])
    version = "ARC/1.1" if filed and block.startswith(b"1 1") else "ARC/2.0" if second else "ARC/1.0"
    return WarcRecord(offset=offset, length=length, version=version, headers=headers, block=block, size=size)


def version_lines(stream: MemberStream) -> bytes:
    """Consume what is left of a first record whose length does not count its version lines."""
    parts: list[bytes] = []
    while stream.peek(1) not in (b"", b"\n", b"\r") and not begins(stream) and sum(map(len, parts)) < MAX_LINE:
        parts.append(stream.take(len(_line(stream)), MAX_LINE)[0])
    return b"".join(parts)


def _line(stream: MemberStream) -> bytes:
    """Return the next line with its end, without consuming it; what there is of it, if it is longer than allowed."""
    while (end := stream.data.find(b"\n", stream.at)) < 0 and len(stream.data) - stream.at < MAX_LINE and stream.more():
        pass
    return stream.data[stream.at : end + 1 if end >= 0 else stream.at + MAX_LINE]


def _date(digits: bytes) -> bytes:
    """Return 14 digits as WARC writes a time; fewer digits are a time of less precision."""
    if digits == b"-" or len(digits) < 8:
        return b"" if digits == b"-" else digits
    whole = digits[:14].ljust(14, b"0")
    parts = (whole[:4], whole[4:6], whole[6:8], whole[8:10], whole[10:12], whole[12:14])
    return b"%b-%b-%bT%b:%b:%bZ" % parts
