"""Records of files that are derived from archive files: WAT and WET, as Common Crawl writes them.

Their order of headers is Common Crawl's. Equal input gives equal bytes: an id is a hash of what the record describes,
and dates are those of the archive. Each record is a gzip member of its own.
"""

import datetime
import email.utils
import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from isal import igzip_lib

from windrow.archive import fields
from windrow.archive.members import base32

LEVEL = 2  # of 0 to 3; for a WET record level 3 takes half as much time again and saves 2 %

_INFO = (
    b"WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Date: %b\r\nWARC-Filename: %b\r\nWARC-Record-ID: <urn:uuid:%b>\r\n"
    b"Content-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
)
_ABOUT = (
    b"WARC/1.0\r\nWARC-Type: %b\r\n%bWARC-Date: %b\r\nWARC-Record-ID: <urn:uuid:%b>\r\n%b%b"
    b"Content-Type: %b\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
)


class DescribedRecord(NamedTuple):
    """The record of an archive that a derived record is about."""

    target: str
    date: str  # as written
    id: str  # <urn:uuid:…>
    place: str  # file and offset: other programs may write two records with one id


def info(file: str, date: str, pairs: Sequence[tuple[str, str]]) -> bytes:
    """Return the first record of a derived file, as a gzip member."""
    block = fields.encode(pairs) + b"\r\n"
    head = (seconds(date), fields.line(file), _id(file, "warcinfo"), len(block), block)
    return pack(_INFO % head)


def metadata(about: DescribedRecord, block: bytes) -> bytes:
    """Return a record of a WAT file, as a gzip member."""
    return _record(about, b"metadata", b"application/json", b"", block)


def conversion(about: DescribedRecord, language: str, text: bytes) -> bytes:
    """Return a record of a WET file, as a gzip member. `language`: ISO 639-3, several with commas; "": unknown."""
    notes = b"WARC-Block-Digest: sha1:%b\r\n" % base32(hashlib.sha1(text, usedforsecurity=False).digest())
    if language:
        notes += b"WARC-Identified-Content-Language: %b\r\n" % fields.line(language)
    # Without it datatrove guesses the type of each text by its content, and drops one of ten as source code.
    notes += b"WARC-Identified-Payload-Type: text/plain\r\n"
    return _record(about, b"conversion", b"text/plain", notes, text)


def _record(about: DescribedRecord, kind: bytes, content: bytes, notes: bytes, block: bytes) -> bytes:
    target = b"WARC-Target-URI: %b\r\n" % fields.line(about.target) if about.target else b""
    refers = b"WARC-Refers-To: %b\r\n" % fields.line(about.id) if about.id else b""
    name = _id(about.place, kind.decode())
    head = (kind, target, seconds(about.date), name, refers, notes, content, len(block), block)
    return pack(_ABOUT % head)


def seconds(date: str) -> bytes:
    """Return a date without fractions of a second, which WARC/1.0 does not allow."""
    if len(date) > 20 and date[19] == ".":
        date = f"{date[:19]}Z"
    return fields.line(date) or b"1970-01-01T00:00:00Z"


def http_date(date: str) -> str:
    """Return a date as HTTP writes it: Fri, 31 May 2024 01:16:45 GMT; as it is, if it is no date."""
    try:
        moment = datetime.datetime.fromisoformat(date)
    except ValueError:
        return date
    return email.utils.format_datetime(moment.astimezone(datetime.UTC), usegmt=True) if moment.tzinfo else date


def pack(record: bytes) -> bytes:
    return igzip_lib.compress(record, LEVEL, igzip_lib.COMP_GZIP)


def _id(location: str, kind: str) -> bytes:
    """Return a UUID of version 8, made of a hash."""
    digits = hashlib.blake2b(f"{kind} {location}".encode("utf-8", "replace"), digest_size=16).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}".encode()
