"""Read one WARC record from a stream: every version, with any line ends.

Lengths are checked before anything is kept, and headers have a size limit. What is not as it should be is an error;
`repair` reads such records too.
"""

import re

from windrow.archive.record import WarcRecord
from windrow.archive.stream import MemberStream
from windrow.archive.unpack import BadRecord

MAX_HEADER = 1 << 18  # bytes of a record's header
MAX_BLOCK = 256 << 20  # bytes of a record's block that are kept; the rest is counted and skipped
MAGIC = b"WARC/"
START = re.compile(rb"^(?i:WARC)/\d+\.\d+[ \t]*\r?\n", re.MULTILINE)  # what a record begins with

_HEADER_END = re.compile(rb"\n\r?\n")
_VERSION = re.compile(r"WARC/\d+\.\d+[ \t]*", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]+")
_END = b"\r\n\r\n"
_LZ4 = b"\x04\x22\x4d\x18"
_USUAL = ("WARC/1.0", "WARC/1.1")
_LENGTH = "\r\nContent-Length: "

_Headers = tuple[tuple[str, str], ...]


def begins(stream: MemberStream) -> bool:
    """Return whether the next bytes are the beginning of a WARC record. A member may end anywhere within them."""
    while len(start := stream.peek(5).upper()) < 5 and start and MAGIC.startswith(start) and stream.more():
        pass
    return start == MAGIC


def usual(stream: MemberStream) -> WarcRecord | None:
    """Return the next record if it is written as almost all are, and wholly at hand; None, and nothing read, if not.

    This does nothing that `read` does not do. It takes a fifth of the time, because it copies and checks nothing twice.
    """
    data, at, plain = stream.data, stream.at, stream.plain
    if not plain and (at or not stream.piece.first or not stream.piece.end):
        return None
    blank = data.find(_END, at)
    if blank < 0 or blank - at > MAX_HEADER:
        return None
    text = data[at:blank].decode("utf-8", "replace")
    version, *lines = text.split("\r\n")
    found = text.find(_LENGTH) + len(_LENGTH)
    length = text[found : found + 20].partition("\r")[0]
    if version not in _USUAL or not length.isdigit() or not length.isascii() or len(length) > 18:
        return None
    end = blank + 4 + int(length)
    if data[end : end + 4] != _END or (not plain and end + 4 != len(data)) or end - blank > MAX_BLOCK:
        return None
    pairs = [line.partition(": ") for line in lines]
    headers = tuple([(name, value) for name, colon, value in pairs if colon])
    if len(headers) < len(lines) or _unusual(text):
        return None
    offset = stream.position if plain else stream.piece.start
    stream.at = end + 4
    return WarcRecord(
        offset=offset,
        length=stream.position - offset,
        version=version,
        headers=headers,
        block=data[blank + 4 : end],
        size=end - blank - 4,
    )


def _unusual(text: str) -> bool:
    """Return whether a header has folded lines, bare line feeds, or blanks around a name or a value."""
    return text.count("\n") != text.count("\r\n") or " \r" in text or "\n " in text or ":  " in text or "\t" in text


def read(stream: MemberStream) -> WarcRecord:
    """Return the record that begins here."""
    path, offset, fresh = stream.path, stream.position, stream.fresh
    version, headers = head(stream)
    size = size_of(headers)
    if size is None:
        raise BadRecord(path, offset, without_length(headers))
    block, taken = stream.take(size, MAX_BLOCK)
    if taken < size:
        what = f"the file ends inside the record that begins here ({taken} of {size} bytes of its block)"
        raise BadRecord(path, offset, what, cut=True)
    if stream.plain:
        ended = stream.peek(4) == _END
        stream.take(4 * ended, 4)
    else:
        stream.skip_lines()
        ended = fresh and stream.drained
        if not stream.drained and not MAGIC.startswith(stream.peek(5).upper()):
            # The damaged end of a member often unpacks to too many bytes; its checksum is then never reached.
            raise BadRecord(path, offset, f"the record that begins here is followed by {stream.peek(16)!r}")
    length = stream.position - offset if ended else 0
    return WarcRecord(offset=offset, length=length, version=version, headers=headers, block=block, size=size)


def head(stream: MemberStream) -> tuple[str, _Headers]:
    """Consume the header of a record; return its version and its fields."""
    path, offset = stream.path, stream.position
    if not begins(stream):
        raise BadRecord(path, offset, not_a_record(stream.peek(16)))
    written = stream.until(_HEADER_END, MAX_HEADER)
    if written is None:
        long = len(stream.data) - stream.at > MAX_HEADER
        what = f"does not end within {MAX_HEADER} bytes" if long else "is cut: the file ends inside it"
        raise BadRecord(path, offset, f"the header that begins here {what}", cut=not long)
    return _headers(written, stream, offset)


def not_a_record(found: bytes) -> str:
    """Say what is wrong with bytes that begin no record."""
    if found.startswith(_LZ4):
        return "this is a file of lz4, which is not read; pack it with gzip or zstd"
    return f"expected a WARC or ARC record here, found {found!r}"


def size_of(headers: _Headers) -> int | None:
    """Return the Content-Length; None if there is none, or it is not a length."""
    for name, value in headers:
        if name.lower() == "content-length":
            return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None
    return None


def without_length(headers: _Headers) -> str:
    """Say why `size_of` found no length."""
    written = next((value for name, value in headers if name.lower() == "content-length"), None)
    if written is None:
        return "the record that begins here has no Content-Length"
    return f"Content-Length is {written[:32]!r}, which is not a length"


def _headers(written: bytes, stream: MemberStream, offset: int) -> tuple[str, _Headers]:
    text = written.decode("utf-8", "replace")
    if "\n " in text or "\n\t" in text:
        text = _FOLD.sub(" ", text)
    version, *lines = text.rstrip("\r\n").split("\n")
    version = version.rstrip("\r")
    if not _VERSION.fullmatch(version):
        raise BadRecord(stream.path, offset, f"{version[:32]!r} is not a WARC version")
    pairs = [line.partition(":") for line in lines]
    return version.strip(), tuple([(name.strip(), value.strip()) for name, colon, value in pairs if colon])
