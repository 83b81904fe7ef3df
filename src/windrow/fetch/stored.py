"""From the header as it came over the wire to the header as it is stored, the way Common Crawl does it.

The body is stored decoded and without chunks, so what the header said of the wire is renamed X-Crawler-NAME, and a Content-Length that
is true stands in its place: whoever reads the record parses it without knowing more. All else stays as it came, byte for byte, as long
as it can be parsed again.
"""

import re
from typing import NamedTuple

MOST_FIELDS = 256

_CLEAN = re.compile(rb"HTTP/1\.[01] [1-9][0-9]{2}(?: [^\r\n\0]*)?\r\n(?:[!-9;-~]+:[^\r\n\0]*\r\n)*\r\n")
_STATUS = re.compile(rb"HTTP/([0-9](?:\.[0-9])?)[ \t]+([1-9][0-9]{2})(?:[ \t]([^\r\n]*))?\r?\n")
_FRAMING = re.compile(rb"\n(content-(?:encoding|length)|transfer-encoding):([^\r\n]*)", re.IGNORECASE)
_LENGTH, _ENCODING, _TRANSFER = map(len, (b"content-length", b"content-encoding", b"transfer-encoding"))  # tells the three apart
_PROTOCOLS = {b"1.0": "http/1.0", b"1.1": "http/1.1", b"2": "h2", b"3": "h3"}


class Head(NamedTuple):
    status: int
    protocol: str
    block: bytes  # status line and fields, with the empty line
    framing: list[tuple[bytes, bytes]]  # name and value of each field that speaks of the wire

    @property
    def encodings(self) -> str:
        """What Content-Encoding says, all of them."""
        return ",".join(value.decode("latin-1") for name, value in self.framing if len(name) == _ENCODING).strip(" \t,")

    @property
    def ambiguous(self) -> bool:
        """Whether the end of the message can be read in two ways (RFC 9112 §6.3): such a connection is not used again."""
        names = [len(name) for name, _ in self.framing]
        return _TRANSFER in names and _LENGTH in names


def read(block: bytes) -> Head | None:
    """None where there is no status line to be made out."""
    if not _CLEAN.fullmatch(block):
        match = _STATUS.match(block)
        if match is None:
            return None
        return Head(int(match[2]), _PROTOCOLS.get(match[1], "http/1.1"), clean := _tidy(match, block), _FRAMING.findall(clean))
    return Head(int(block[9:12]), "http/1.1" if block[7] == 0x31 else "http/1.0", block, _FRAMING.findall(block))


def rewrite(head: Head, size: int, encoded: bool) -> bytes:
    """The header for a body of this size; encoded: it keeps its Content-Encoding."""
    lengths = [value.strip() for name, value in head.framing if len(name) == _LENGTH]
    right = lengths == [b"%d" % size]
    if right and len(head.framing) == 1:
        return head.block
    block = head.block
    for name, value in head.framing:
        if not (encoded and len(name) == _ENCODING or right and len(name) == _LENGTH):
            field = b"%b:%b\r\n" % (name, value)
            block = block.replace(b"\n" + field, b"\nX-Crawler-" + field, 1)
    return block if right else b"%bContent-Length: %d\r\n\r\n" % (block[:-2], size)


def _tidy(status: re.Match[bytes], block: bytes) -> bytes:
    """The same in the one form that every parser reads: lines that are no field are left out, folded ones are joined."""
    version = status[1] if status[1] in (b"1.0", b"1.1") else b"1.1"
    lines = [b"HTTP/%b %b %b" % (version, status[2], (status[3] or b"").strip())]
    for line in re.split(rb"\r?\n", block[status.end() :].translate(None, b"\0")):
        if line[:1] in (b" ", b"\t"):
            if len(lines) > 1:
                lines[-1] += b" " + line.strip()
            continue
        name, colon, value = line.replace(b"\r", b" ").partition(b":")
        name = name.strip().replace(b" ", b"-").replace(b"\t", b"-")
        if colon and name:
            lines.append(name + b":" + value)
    return b"\r\n".join(lines) + b"\r\n\r\n"
