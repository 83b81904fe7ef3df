"""CDXJ: the index of an archive by URL and time, one line per http response, as pywb and Common Crawl write it.

A line is the sort key of the URL, the time with 14 digits, and a JSON object. Sorted by their bytes, the lines of all
files are one index.
"""

import re
from collections.abc import Mapping

import msgspec

from windrow import urls
from windrow.archive import fields
from windrow.archive.record import WarcRecord

REVISIT = "warc/revisit"
_DIGITS = re.compile(r"\D")
_CONTENT_TYPE = re.compile(rb"(?im)^content-type:[ \t]*([^;\s,]+)")
_encode = msgspec.json.Encoder().encode


def line(record: WarcRecord, file: str, offset: int) -> bytes:
    """Return the line of a record at this offset of a file; empty for a record that is no http response."""
    if record.type not in ("response", "revisit") or "/http" not in record.header("Content-Type").lower():
        return b""
    url = urls.parse(record.target)
    if url is None:
        return b""
    found: Mapping[str, str] = {
        "url": record.target,
        "mime": mime(record),
        "status": str(fields.status(record.block)),
        "digest": record.header("WARC-Payload-Digest"),
        "length": str(record.length),
        "offset": str(offset),
        "filename": file,
    }
    return b"%b %b %b\n" % (urls.surt(url.text).encode(), moment(record).encode(), _encode(found))


def mime(record: WarcRecord) -> str:
    """Return the media type that the server stated, in small letters; for a revisit, the one that CDX files use."""
    if record.type == "revisit":
        return REVISIT
    match = _CONTENT_TYPE.search(fields.split(record.block, {})[0])
    return match[1].decode("latin-1").lower() if match else "unk"


def moment(record: WarcRecord) -> str:
    """Return the time of the record with 14 digits."""
    return _DIGITS.sub("", record.header("WARC-Date"))[:14].ljust(14, "0")
