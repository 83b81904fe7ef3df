"""The bodies of captures that other programs stored as they were sent: in chunks, and with their content codings."""

import re

import msgspec

from windrow import coding
from windrow.archive import fields
from windrow.data import Capture

LIMIT = 64 << 20  # bytes of a decoded body: more than any extractor reads
_CHUNKED = re.compile(rb"(?im)^transfer-encoding:[^\r\n]*chunked")
_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")


def decoded(capture: Capture) -> Capture:
    """Return the capture with its body decoded; as it is, if that cannot be done."""
    if not capture.encoded:
        return capture
    body = _joined(capture.body) if _CHUNKED.search(capture.head) else capture.body
    found = coding.decode(body, fields.codings(capture.head), LIMIT)
    if not found.body and body:
        return capture
    return msgspec.structs.replace(capture, body=found.body, encoded=False)


def _joined(body: bytes) -> bytes:
    """Join the chunks of a body. Some programs join them and keep the header: then there is nothing to do."""
    parts: list[bytes] = []
    at = 0
    while (size := _SIZE.match(body, at)) and (length := int(size[1], 16)):
        parts.append(body[size.end() : size.end() + length])
        at = size.end() + length
        at += 2 if body[at : at + 2] == b"\r\n" else body[at : at + 1] == b"\n"
    return b"".join(parts) if parts else body
