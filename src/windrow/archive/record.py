"""Read WARC records from any file: every version, plain or gzip, with or without one gzip member per record.

Lengths are checked before anything is kept, and headers have a size limit. Damage is never skipped: every record before
it is returned, then ArchiveError names its offset.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from windrow.archive.stream import ArchiveError, MemberStream

MAX_HEADER = 1 << 18  # bytes of a record's header
MAX_BLOCK = 256 << 20  # bytes of a record's block that are kept; the rest is counted and skipped

_HEADER_END = re.compile(rb"\n\r?\n")
_VERSION = re.compile(r"WARC/\d+\.\d+[ \t]*", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]+")
_END = b"\r\n\r\n"
_DIGESTS = ("md5", "sha1", "sha256", "sha384", "sha512")


class WarcRecord(msgspec.Struct, frozen=True, gc=False):
    """One WARC record."""

    offset: int  # of its gzip member, or of its first byte in a plain file
    length: int  # of its gzip members, or of its bytes; 0 if it shares a member (not yet verified) or has no proper end
    version: str  # "WARC/1.1"
    headers: tuple[tuple[str, str], ...]  # in order, as written
    block: bytes
    size: int  # Content-Length; more than len(block) if the block was cut at MAX_BLOCK

    @property
    def type(self) -> str:
        return self.header("WARC-Type").lower()

    @property
    def id(self) -> bytes:
        """The UUID of the record, without brackets and prefix."""
        return self.header("WARC-Record-ID").removeprefix("<urn:uuid:").removesuffix(">").encode()

    @property
    def target(self) -> str:
        """The target URI; some programs that write WARC/1.0 put it in angle brackets."""
        return self.header("WARC-Target-URI").removeprefix("<").removesuffix(">")

    def header(self, name: str) -> str:
        """Return the first header with this name; "" if there is none."""
        for field, value in self.headers:
            if field == name:  # the usual spelling
                return value
        return next(iter(self.all(name)), "")

    def all(self, name: str) -> list[str]:
        """Return all values of a header."""
        wanted = name.lower()
        return [value for field, value in self.headers if field.lower() == wanted]


def records(path: Path, start: int = 0, end: int | None = None) -> Iterator[WarcRecord]:
    """Yield every record from `start`, and read nothing beyond `end` (for a growing file: its committed length)."""
    with open(path, "rb") as file:
        stream = MemberStream(file, path, start, end)
        while stream.peek(1) or stream.more():
            stream.skip_lines()
            if stream.peek(1):
                yield _record(stream, path)


def tail(path: Path) -> int:
    """Return the end of the last record before any damage: all records up to there are complete, with valid digests."""
    end = 0
    try:
        for record in records(path):
            if record.length == 0 or verify(record) is False:
                break
            end = record.offset + record.length
    except ArchiveError:
        pass
    return end


def is_tombstone(record: WarcRecord) -> bool:
    """Return whether a record takes the place of one that was purged, see purge.py."""
    return record.block.startswith(b"purged: ") and record.type == "metadata" and not record.target


def verify(record: WarcRecord) -> bool | None:
    """Return whether the block matches its digest; None if there is no digest of a known kind.

    Known are MD5, SHA-1, SHA-256, SHA-384 and SHA-512 in hex, base32 or base64, as other programs write them.
    """
    algorithm, _, written = record.header("WARC-Block-Digest").partition(":")
    algorithm = algorithm.lower().replace("-", "")
    if algorithm not in _DIGESTS or not written or len(record.block) < record.size:
        return None
    digest = hashlib.new(algorithm, record.block, usedforsecurity=False).digest()
    try:
        return _unwritten(written.rstrip("="), len(digest)) == digest
    except ValueError:
        return False


def _unwritten(text: str, size: int) -> bytes:
    """Return the bytes of a digest of this size. Its length tells hex, base32 and base64; padding may be missing."""
    if len(text) == 2 * size:
        return bytes.fromhex(text)
    if len(text) == -(-8 * size // 5):
        return base64.b32decode(text + "=" * (-len(text) % 8), casefold=True)
    text = text.replace("-", "+").replace("_", "/")  # the alphabet that is safe in URLs
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _record(stream: MemberStream, path: Path) -> WarcRecord:
    offset, fresh = stream.position, stream.fresh
    while len(start := stream.peek(5).upper()) < 5 and b"WARC/".startswith(start) and stream.more():
        pass  # a member may end anywhere; other data is not searched for a record
    if start != b"WARC/":
        raise ArchiveError(path, offset, f"expected a WARC record here, found {stream.peek(16)!r}")
    head = stream.until(_HEADER_END, MAX_HEADER)
    if head is None:
        raise ArchiveError(path, offset, f"the header that begins here does not end within {MAX_HEADER} bytes")
    version, headers = _headers(head, path, offset)
    size = _size(headers, path, offset)
    block, taken = stream.take(size, MAX_BLOCK)
    if taken < size:
        what = f"the file ends inside the record that begins here ({taken} of {size} bytes of its block)"
        raise ArchiveError(path, offset, what)
    if stream.plain:
        ended = stream.peek(4) == _END
        stream.take(4 * ended, 4)
    else:
        stream.skip_lines()
        ended = fresh and stream.drained
        if not stream.drained and not b"WARC/".startswith(stream.peek(5).upper()):
            # The damaged end of a member often unpacks to too many bytes; its checksum is then never reached.
            raise ArchiveError(path, offset, f"the record that begins here is followed by {stream.peek(16)!r}")
    return WarcRecord(
        offset=offset,
        length=stream.position - offset if ended else 0,
        version=version,
        headers=headers,
        block=block,
        size=size,
    )


def _headers(head: bytes, path: Path, offset: int) -> tuple[str, tuple[tuple[str, str], ...]]:
    text = head.decode("utf-8", "replace")
    if "\n " in text or "\n\t" in text:
        text = _FOLD.sub(" ", text)
    version, *lines = text.rstrip("\r\n").split("\n")
    version = version.rstrip("\r")
    if not _VERSION.fullmatch(version):
        raise ArchiveError(path, offset, f"{version[:32]!r} is not a WARC version")
    pairs = [line.partition(":") for line in lines]
    return version.strip(), tuple([(name.strip(), value.strip()) for name, colon, value in pairs if colon])


def _size(headers: tuple[tuple[str, str], ...], path: Path, offset: int) -> int:
    for name, value in headers:
        if name.lower() == "content-length":
            if value.isascii() and value.isdigit() and len(value) < 19:
                return int(value)
            raise ArchiveError(path, offset, f"Content-Length is {value[:32]!r}, which is not a length")
    raise ArchiveError(path, offset, "the record that begins here has no Content-Length")
