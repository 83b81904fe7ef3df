"""WARC files as other programs write them."""

import gzip
import io
from pathlib import Path

import zstandard
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HTML = "text/html; charset=utf-8"


def record(url: str, body: bytes, content_type: str = HTML, status: str = "200 OK", **headers: str) -> bytes:
    """Return a response record."""
    fields = [("Content-Type", content_type), *((name.replace("_", "-"), value) for name, value in headers.items())]
    return _written("response", url, body, StatusAndHeaders(status, fields, protocol="HTTP/1.1"))


def resource(url: str, body: bytes, content_type: str = "text/html") -> bytes:
    return _written("resource", url, body, None, content_type)


def _written(kind: str, url: str, body: bytes, head: StatusAndHeaders | None, content_type: str = "") -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=False)
    dated = {"WARC-Date": "2024-05-06T07:08:09Z"}
    made = writer.create_warc_record(
        url,
        kind,
        payload=io.BytesIO(body),
        http_headers=head,
        warc_headers_dict=dated,
        warc_content_type=content_type,
    )
    writer.write_record(made)
    return out.getvalue()


def write(path: Path, records: list[bytes], packing: str = "gzip", dictionary: bytes = b"") -> Path:
    """Write a file. `packing`: "", "gzip" or "zstd", one member or frame per record."""
    if packing == "gzip":
        data = b"".join(map(gzip.compress, records))
    elif packing == "zstd":
        known = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        compressor = zstandard.ZstdCompressor(dict_data=known)
        data = b"".join(map(compressor.compress, records))
        if dictionary:
            data = b"\x5d\x2a\x4d\x18" + len(dictionary).to_bytes(4, "little") + dictionary + data
    else:
        data = b"".join(records)
    path.write_bytes(data)
    return path
