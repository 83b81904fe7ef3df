"""The bodies of captures that other programs stored as they were sent: in chunks, and with their content codings.

What the headers say is tried first. It is often wrong: programs join the chunks and keep the header, remove a coding
and keep its name, or drop the header and keep the coding. Then the bytes decide.
"""

import re

import msgspec

from windrow.archive import fields
from windrow.io import coding
from windrow.records import Capture

LIMIT = 64 << 20  # bytes of a decoded body: more than any extractor reads
_CHUNKED = re.compile(rb"(?im)^transfer-encoding:[^\r\n]*chunked")
_TRANSFER = re.compile(rb"(?im)^transfer-encoding:([^\r\n]*)")
_TYPE = re.compile(rb"(?im)^content-type:[ \t]*([^\r\n;]*)")
_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CODINGS = ((b"\x1f\x8b\x08", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))  # by their first bytes
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_TEXT = re.compile(rb"text/|.*(?:html|xml|json|javascript)|\Z", re.IGNORECASE)  # types that are never a packed file
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LAYERS = 3


def decoded(capture: Capture) -> Capture:
    """Return the capture with its body decoded, and as it is stored in `raw`; as it is, if that cannot be done."""
    body = capture.body
    if not capture.encoded and not body.startswith(_SUSPECT):
        return capture
    if _CHUNKED.search(capture.head):
        body = _joined(body, whole=False)
    elif _SIZE.match(body):
        body = _joined(body, whole=True)
    unpacked = _unpacked(body, _named(capture.head)) if capture.encoded else body
    if unpacked is not None and _is_text(capture.head):
        unpacked = _by_bytes(unpacked)
    if unpacked is None:
        return capture
    if unpacked is capture.body:
        return msgspec.structs.replace(capture, encoded=False) if capture.encoded else capture
    return msgspec.structs.replace(capture, body=unpacked, encoded=False, raw=capture.body)


_SUSPECT = (
    *[magic for magic, _ in _CODINGS],
    *[b"%x" % digit for digit in range(16)],
    *[b"%X" % n for n in range(10, 16)],
)


def _named(head: bytes) -> str:
    """Return the codings of a body in the order in which they were applied: those of the transfer come last."""
    transfer = b",".join(_TRANSFER.findall(head)).decode("latin-1")
    return f"{fields.codings(head)},{transfer}" if "gzip" in transfer or "deflate" in transfer else fields.codings(head)


def _unpacked(body: bytes, codings: str) -> bytes | None:
    """Return the body without its codings; None if it is neither coded so, nor otherwise, nor plain text."""
    if not body:
        return body
    result = coding.decode(body, codings, LIMIT)
    if result.body:
        return result.body
    names = {name.strip().lower() for name in codings.split(",")}
    if _ZLIB.match(body):
        names.add("deflate")
    names |= {name for magic, name in _CODINGS if body.startswith(magic)}
    for name in sorted(names):  # one of several was applied, or another than the header says
        step = coding.decode(body, name, LIMIT)
        if step.complete and step.body and step.body is not body:
            return step.body
    return body if _is_plain(body) else None


def _by_bytes(body: bytes) -> bytes:
    """Undo codings that no header names: a page never begins like a packed file."""
    for _ in range(_LAYERS):
        name = next((name for magic, name in _CODINGS if body.startswith(magic)), "")
        decoded_body = coding.decode(body, name, LIMIT).body if name else b""
        if not decoded_body:
            break
        body = decoded_body
    return body


def _is_text(head: bytes) -> bool:
    kind = _TYPE.search(head)
    return kind is None or _TEXT.match(kind[1].strip()) is not None


def _is_plain(body: bytes) -> bool:
    """Return whether a body can be text. In UTF-16, half of the bytes of most texts are zeros."""
    start = body[:1024]
    return start[:2] in (b"\xff\xfe", b"\xfe\xff") or _BINARY.search(start) is None


def _joined(body: bytes, whole: bool) -> bytes:
    """Join the chunks of a body. Some programs join them and keep the header: then there is nothing to do.

    `whole`: join them only if all are there, because no header says that there are chunks.
    """
    parts: list[bytes] = []
    at, ended = 0, False
    while size := _SIZE.match(body, at):
        length = int(size[1], 16)
        if not length:
            ended = True
            break
        part = body[size.end() : size.end() + length]
        end = size.end() + length
        after = body[end : end + 2]
        if after and not after.startswith((b"\r\n", b"\n")):
            break  # the bytes behind a chunk show that it was none
        parts.append(part)
        at = end + (2 if after == b"\r\n" else len(after[:1]))
    if ended:
        return b"".join(parts) if parts or not whole else body
    return body if whole or not parts else b"".join(parts) + body[at:]
