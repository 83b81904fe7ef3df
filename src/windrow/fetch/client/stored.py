"""Rewrite the response header from the form on the wire to the form in the archive, as Common Crawl does.

The body is stored decoded and without chunks. So the fields that describe the wire are renamed X-Crawler-NAME, and a
correct Content-Length replaces them: any WARC reader can then parse the record. This holds also for a body that could
not be decoded: other readers would try the coding and fail, some at the whole file (warcio 1.8 at any `br`). All other
bytes stay as they arrived, as long as they can be parsed again. With fetch.raw_bodies the content coding stays too, and
only the chunks are joined: they belong to the connection, and the payload of a WARC record is defined without them.
"""

import re

import msgspec

MOST_FIELDS = 256

_CLEAN = re.compile(
    rb"HTTP/1\.[01] [1-9][0-9]{2}(?: [^\r\n\0]*+)?+\r\n(?:[^\0-\x20:\x7f-\xff]++:[^\r\n\0]*+\r\n)*+\r\n"
)
_NAME = re.compile(rb"[^\0-\x20:\x7f-\xff]+")
_STATUS = re.compile(rb"HTTP/([0-9](?:\.[0-9])?)[ \t]+([1-9][0-9]{2})(?:[ \t]([^\r\n]*))?\r?\n")
_FRAMING = re.compile(rb"\n(content-(?:encoding|length)|transfer-encoding):([^\r\n]*)", re.IGNORECASE)
_EARLY = re.compile(rb"HTTP/[0-9.]+[ \t]+1(?!01)[0-9][0-9](?![0-9])")
# The lengths of the three names are enough to distinguish them.
_LENGTH, _ENCODING, _TRANSFER = map(len, (b"content-length", b"content-encoding", b"transfer-encoding"))
_PROTOCOLS = {b"1.0": "http/1.0", b"1.1": "http/1.1", b"2": "h2", b"3": "h3"}


class ResponseHead(msgspec.Struct, frozen=True, gc=False):
    """A parsed response header."""

    status: int
    protocol: str
    block: bytes  # status line and fields, with the empty line
    framing: list[tuple[bytes, bytes]]  # name and value of each field that describes the wire
    encodings: str  # the values of all Content-Encoding fields
    ambiguous: bool  # the message has two possible ends (RFC 9112 §6.3): do not use its connection again


def final(lines: list[bytes]) -> bytes:
    """Return the header of the final answer, without interim ones (100 to 199) and trailers; b"" if incomplete."""
    if (
        len(lines) > 1
        and lines[-1] == b"\r\n"
        and lines.index(b"\r\n") == len(lines) - 1
        and not _EARLY.match(lines[0])
    ):
        return b"".join(lines)
    start = 0
    for at, line in enumerate(lines):
        if line in (b"\r\n", b"\n"):
            if at > start and not _EARLY.match(lines[start]):
                return b"".join(lines[start : at + 1])
            start = at + 1
    return b""


def read(block: bytes) -> ResponseHead | None:
    """Parse a response header; return None if it has no readable status line."""
    if _CLEAN.fullmatch(block):
        status, protocol = int(block[9:12]), "http/1.1" if block[7] == 0x31 else "http/1.0"
    else:
        block = block.translate(None, b"\0")
        match = _STATUS.match(block)
        if match is None:
            return None
        status, protocol, block = int(match[2]), _PROTOCOLS.get(match[1], "http/1.1"), _tidy(match, block)
    framing = _FRAMING.findall(block)
    names, encodings = [], b""
    for name, value in framing:
        names.append(len(name))
        if len(name) == _ENCODING:
            encodings += b"," + value
    return ResponseHead(
        status=status,
        protocol=protocol,
        block=block,
        framing=framing,
        encodings=encodings.decode("latin-1").strip(" \t,"),
        ambiguous=_TRANSFER in names and _LENGTH in names,
    )


def rewrite(head: ResponseHead, size: int, keep_coding: bool = False) -> bytes:
    """Return the header for a stored body of this size. `keep_coding`: the body is stored in its content coding."""
    framing = [pair for pair in head.framing if len(pair[0]) != _ENCODING] if keep_coding else head.framing
    lengths = [value.strip() for name, value in framing if len(name) == _LENGTH]
    right = lengths == [b"%d" % size]
    if right and len(framing) == 1:
        return head.block
    block = head.block
    for name, value in framing:
        if len(name) != (_LENGTH if right else 0):
            field = b"%b:%b\r\n" % (name, value)
            block = block.replace(b"\n" + field, b"\nX-Crawler-" + field, 1)
    return block if right else b"%bContent-Length: %d\r\n\r\n" % (block[:-2], size)


def _tidy(status: re.Match[bytes], block: bytes) -> bytes:
    """Return the header in the form that every parser reads: folded lines joined, lines that are not fields removed."""
    version = status[1] if status[1] in (b"1.0", b"1.1") else b"1.1"
    lines = [b"HTTP/%b %b %b" % (version, status[2], (status[3] or b"").strip())]
    for line in re.split(rb"\r?\n", block[status.end() :]):
        name, colon, value = line.replace(b"\r", b" ").partition(b":")
        if name[:1] in (b" ", b"\t"):
            if len(lines) > 1:
                lines[-1] += b" " + (name + colon + value).strip()
        elif colon and _NAME.fullmatch(name.rstrip()):
            lines.append(name.rstrip() + b":" + value)
    return b"\r\n".join(lines) + b"\r\n\r\n"
