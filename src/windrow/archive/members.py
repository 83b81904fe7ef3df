"""A capture as gzip members, one a record, ready to be appended: the part of archiving that costs CPU and needs no file.

The records name the warcinfo record of the file they go to. A capture is compressed when it arrives and appended when its verdict is
known; if a new file was begun in between, bind() puts the new name in.
"""

import functools
import hashlib
import os
import time
from collections.abc import Iterator, Mapping

import msgspec
from isal import igzip_lib

from windrow.archive import fields, names, sniff
from windrow.data import Capture, Place

PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

# Common Crawl's order of headers. WARC/1.1 and not its 1.0, because only there a date may have milliseconds.
_START = b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Date: %b\r\nWARC-Record-ID: <urn:uuid:%b>\r\nContent-Length: %d\r\nContent-Type: %b\r\n"
_WARCINFO = _START + b"WARC-Filename: %b\r\n\r\n%b\r\n\r\n"
_REQUEST = _START + b"WARC-Warcinfo-ID: <urn:uuid:%b>\r\n%b\r\n%b\r\n\r\n"
_RESPONSE = _START + (
    b"WARC-Warcinfo-ID: <urn:uuid:%b>\r\n%b%bWARC-Payload-Digest: sha1:%b\r\nWARC-Block-Digest: sha1:%b\r\n%b\r\n%b%b\r\n\r\n"
)
_METADATA = _START + (
    b"WARC-Warcinfo-ID: <urn:uuid:%b>\r\nWARC-Concurrent-To: <urn:uuid:%b>\r\nWARC-Target-URI: %b\r\n\r\n%b\r\n\r\n"
)
_FIELDS = b"application/warc-fields"


class Origin(msgspec.Struct, frozen=True, gc=False):
    """The earlier capture of a payload, to which a revisit record points."""

    url: str
    time: float  # epoch seconds
    place: Place


class Members(msgspec.Struct, frozen=True, gc=False):
    """A capture between compress and append. It no longer holds the capture, only its compressed form."""

    subset: str
    digest: str  # sha1 of the payload in base32, without prefix
    request: bytes  # gzip member; empty where the capture has no request
    response: bytes  # gzip member: a response or a revisit record
    info: bytes  # id of the warcinfo record that both name
    id: bytes  # of the response record
    time: float
    target: bytes
    fields: bytes  # of the metadata record, but for those that append adds

    @property
    def size(self) -> int:
        """Bytes that wait in memory."""
        return len(self.request) + len(self.response)


def build(capture: Capture, origin: Origin | None, info: bytes, level: int) -> Members:
    """The request and response records; with an origin the response becomes a revisit of it, without the body."""
    moment, target, digest = (
        date(capture.time),
        fields.line(capture.task.url.text),
        base32(hashlib.sha1(capture.body).digest()),
    )
    before, behind = _peer(capture.ip, capture.protocol, capture.cipher)
    exchange, concurrent, request = before + target + behind, b"", b""
    if capture.request:
        asked = next(_ids)
        concurrent = b"WARC-Concurrent-To: <urn:uuid:%b>\r\n" % asked
        start = (b"request", moment, asked, len(capture.request), b"application/http; msgtype=request", info)
        request = _pack_small(_REQUEST % (*start, exchange, capture.request), level)
    answered = next(_ids)
    if origin is None:
        block = hashlib.sha1(capture.head)
        block.update(capture.body)
        start = (
            b"response",
            moment,
            answered,
            len(capture.head) + len(capture.body),
            b"application/http; msgtype=response",
            info,
        )
        rest = (digest, base32(block.digest()), _notes(capture), capture.head, capture.body)
    else:
        start = (b"revisit", moment, answered, len(capture.head), b"message/http", info)
        rest = (
            digest,
            base32(hashlib.sha1(capture.head).digest()),
            _reference(origin) + _notes(capture),
            capture.head,
            b"",
        )
    response = _pack(_RESPONSE % (*start, concurrent, exchange, *rest), level)
    return Members(
        names.subset(capture),
        digest.decode(),
        request,
        response,
        info,
        answered,
        capture.time,
        target,
        fields.pack(capture),
    )


def metadata(members: Members, seq: int, extra: Mapping[str, str], level: int) -> bytes:
    """The third record. The request's length leads from a response, whose Place is known, back to its request."""
    block = b"seq: %d\r\n%b" % (seq, members.fields)
    if members.request:
        block += b"requestLength: %d\r\n" % len(members.request)
    if extra:
        if not fields.NAMES.isdisjoint(extra):
            raise ValueError(
                f"metadata fields {sorted(fields.NAMES.intersection(extra))} are the archive's own; choose other names"
            )
        block += fields.encode(list(extra.items()))
    start = (b"metadata", date(members.time), next(_ids), len(block), _FIELDS, members.info)
    return _pack_small(_METADATA % (*start, members.id, members.target, block), level)


def warcinfo(file: str, start: float, block: bytes) -> tuple[bytes, bytes]:
    """The first record of a file, and its id."""
    name = next(_ids)
    head = (b"warcinfo", date(start), name, len(block), _FIELDS, file.encode())
    return _pack(_WARCINFO % (*head, block), 2), name


def bind(members: Members, info: bytes, level: int) -> Members:
    """The same members for another file. Needed for the few that were under way when a file was full."""
    if members.info == info:
        return members
    old, new = b"\r\nWARC-Warcinfo-ID: <urn:uuid:%b>" % members.info, b"\r\nWARC-Warcinfo-ID: <urn:uuid:%b>" % info
    request, response = (
        _pack(igzip_lib.decompress(member, igzip_lib.DECOMP_GZIP).replace(old, new, 1), level) if member else b""
        for member in (members.request, members.response)
    )
    return msgspec.structs.replace(members, request=request, response=response, info=info)


def _pack(record: bytes, level: int) -> bytes:
    return igzip_lib.compress(record, level, igzip_lib.COMP_GZIP)


def _pack_small(record: bytes, level: int) -> bytes:
    """For records of a few hundred bytes, levels 1 and 2 take 7 µs where 0 takes 1.5, mostly for a code table that 160 bytes of gain
    hardly pay: 5 % of the archive. Who sets level 3 wants them all the same."""
    return igzip_lib.compress(record, level if level > 2 else 0, igzip_lib.COMP_GZIP)


def date(moment: float) -> bytes:
    """Epoch seconds as W3C date and time with milliseconds."""
    seconds, milliseconds = divmod(round(moment * 1000), 1000)
    return b"%b.%03dZ" % (_second(seconds), milliseconds)


@functools.lru_cache(256)
def _second(seconds: int) -> bytes:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)).encode()


@functools.lru_cache(4096)
def _peer(ip: str, protocol: str, cipher: str) -> tuple[bytes, bytes]:
    """The headers that request and response share, before and behind the target URI: with whom, and over what."""
    before = b"WARC-IP-Address: %b\r\nWARC-Target-URI: " % fields.line(ip) if ip else b"WARC-Target-URI: "
    layer, blank, suite = cipher.partition(" ")
    over = [
        ("WARC-Protocol", protocol),
        ("WARC-Protocol", layer if blank else ""),
        ("WARC-Cipher-Suite", suite if blank else layer),
    ]
    return before, b"\r\n" + fields.encode([(name, value) for name, value in over if value])


def _notes(capture: Capture) -> bytes:
    """The last headers of a response."""
    kind = sniff.identify(capture.head, capture.body).encode()
    lines = b"WARC-Truncated: %b\r\n" % fields.line(capture.truncated) if capture.truncated else b""
    return lines + b"WARC-Identified-Payload-Type: %b\r\n" % kind if kind else lines


def _reference(origin: Origin) -> bytes:
    """What a revisit says of the record that has its payload; file and offset as OpenWayback and Heritrix name them."""
    pairs = (
        ("WARC-Refers-To-Target-URI", origin.url),
        ("WARC-Refers-To-Date", date(origin.time).decode()),
        ("WARC-Refers-To-Filename", origin.place.file),
        ("WARC-Refers-To-File-Offset", str(origin.place.offset)),
        ("WARC-Profile", PROFILE),
    )
    return fields.encode(pairs)


def _spread() -> list[tuple[int, int, int]]:
    """Masks that move 32 groups of 5 bits, in halves of halves, to the low ends of 32 bytes."""
    steps, groups = [], 32
    while groups > 1:
        groups //= 2
        low = sum(((1 << groups * 5) - 1) << slot * groups * 16 for slot in range(16 // groups))
        steps.append((low, low << groups * 5, groups * 3))
    return steps


_STEPS = _spread()
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" + bytes(224)


def base32(digest: bytes) -> bytes:
    """base64.b32encode for the 20 bytes of a SHA-1: 0.8 µs against 2.2, twice a page."""
    number = int.from_bytes(digest, "big")
    for low, high, shift in _STEPS:
        number = number & low | (number & high) << shift
    return number.to_bytes(32, "big").translate(_LETTERS)


def _uuids() -> Iterator[bytes]:
    """UUIDs in the form of version 4, of which a million at a time share their random end and count in their first group.

    As unique as if each were random, 0.2 µs where uuid.uuid4() takes 1.5, and the records of a capture name each other with ids that
    compress: 2 % of the archive.
    """
    while True:
        digits = os.urandom(16).hex()
        variant = "89ab"[int(digits[15], 16) & 3]
        shared = f"{digits[8:12]}-4{digits[12:15]}-{variant}{digits[16:19]}-{digits[19:31]}".encode()
        first = int(digits[:8], 16)
        for number in range(first, first + (1 << 20)):
            yield b"%08x-%b" % (number & 0xFFFFFFFF, shared)


_ids = _uuids()
