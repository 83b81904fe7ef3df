"""Decode content codings, up to a limit: it bounds the decoded size, because a small body can unpack to gigabytes."""

import re
from collections.abc import Callable
from typing import NamedTuple

import brotli
import zstandard
from isal import isal_zlib

LAYERS = 2  # nested codings; honest servers use one, a few apply gzip twice
MEMBERS = 256  # gzip members in one body: each costs a copy of the rest
WINDOW = 8 << 20  # bytes of zstd window (RFC 8878 §3.1.1.1.2: a sender may rely on support for 8 MiB)
STEP = 256 << 10  # bytes of zstd output per call

ACCEPTED = "gzip, deflate, br, zstd"

# Values of Content-Encoding that are not codings and change nothing: servers send them, and browsers ignore them.
_PLAIN = re.compile(r"|identity|none|binary|text|plain|[78]-?bit|chunked|(utf|iso|windows|cp|ascii|us-ascii)[-_0-9]*")
_Garbled: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # isal's type stub says that it is an instance
_ZSTD_FRAME = 0xFD2FB528
_ZSTD_SKIP = 0x184D2A50
_ZSTD = zstandard.ZstdDecompressor(max_window_size=WINDOW)


class Decoded(NamedTuple):
    """The result of decoding."""

    body: bytes
    complete: bool  # every coding is known, and was decoded to its end or to the limit
    cut: bool  # the decoded body is longer than the limit


_FAILED = Decoded(b"", False, False)


def decode(body: bytes, encodings: str, limit: int) -> Decoded:
    """Return the body without its Content-Encoding: as much as can be decoded and the limit allows."""
    if encodings == "gzip":
        return _gzip(body, limit) if body else Decoded(body, True, False)
    names = [name for name in map(str.strip, encodings.lower().split(",")) if not _PLAIN.fullmatch(name)]
    if not body or not names:
        return Decoded(body[:limit], True, len(body) > limit)
    if len(names) > LAYERS:
        return _FAILED
    complete, cut = True, False
    for name in reversed(names):
        decoder = _DECODERS.get(name)
        if decoder is None:
            return _FAILED
        body, ended, more = decoder(body, limit)
        complete, cut = complete and (ended or cut), cut or more
    return Decoded(body, complete, cut)


def _gzip(data: bytes, limit: int) -> Decoded:
    """Decode gzip. Checksums and bytes after the last member are ignored, because browsers show such pages."""
    parts: list[bytes] = []
    room, at = limit + 1, 0
    for _ in range(MEMBERS):
        start = _gzip_header(data, at)
        if start < 0:
            return Decoded(b"".join(parts), at > 0, False)
        inflater = isal_zlib.decompressobj(-15)
        try:
            parts.append(inflater.decompress(memoryview(data)[start:], room))
        except _Garbled:
            return Decoded(b"".join(parts), False, False)
        room -= len(parts[-1])
        at = len(data) - len(inflater.unused_data) + 8
        if room <= 0 or not inflater.eof or at >= len(data):
            break
    body = parts[0] if len(parts) == 1 else b"".join(parts)
    return Decoded(body[:limit], True, True) if room <= 0 else Decoded(body, inflater.eof and at >= len(data), False)


def _gzip_header(data: bytes, at: int) -> int:
    """Return the start of the deflate stream of the member at `at`; -1 if there is no member (RFC 1952 §2.3)."""
    if data[at : at + 3] != b"\x1f\x8b\x08":
        return -1
    flags, start = data[at + 3] if at + 3 < len(data) else 0, at + 10
    if flags:
        start = _gzip_extras(data, start, flags)
    return start if 0 < start <= len(data) else -1


def _gzip_extras(data: bytes, start: int, flags: int) -> int:
    """Return the end of the extra field, name, comment and header checksum; 0 if they have no end."""
    if flags & 4:
        start += 2 + int.from_bytes(data[start : start + 2], "little")
    for flag in (8, 16):
        if flags & flag:
            start = data.find(b"\0", start) + 1
            if not start:
                return 0
    return start + (flags & 2)


def _deflate(data: bytes, limit: int) -> Decoded:
    """Decode deflate. RFC 9110 means a zlib stream, but many servers send a raw deflate stream."""
    if len(data) > 1 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0 and not data[1] & 0x20:
        wrapped = _inflate(data, 2, limit)
        if wrapped.complete or wrapped.body:
            return wrapped
    return _inflate(data, 0, limit)


def _inflate(data: bytes, start: int, limit: int) -> Decoded:
    inflater = isal_zlib.decompressobj(-15)
    try:
        body = inflater.decompress(memoryview(data)[start:], limit + 1)
    except _Garbled:
        return _FAILED
    return Decoded(body[:limit], True, True) if len(body) > limit else Decoded(body, inflater.eof, False)


def _brotli(data: bytes, limit: int) -> Decoded:
    decompressor = brotli.Decompressor()
    parts: list[bytes] = []
    room = limit + 1
    try:
        while room > 0 and not decompressor.is_finished():
            parts.append(decompressor.process(data, output_buffer_limit=room))
            if not parts[-1]:
                break
            room -= len(parts[-1])
            data = b""
    except brotli.error:
        return Decoded(b"".join(parts), False, False)
    body = b"".join(parts)
    return Decoded(body[:limit], True, True) if room <= 0 else Decoded(body, decompressor.is_finished(), False)


def _zstd(data: bytes, limit: int) -> Decoded:
    parts: list[bytes] = []
    room = limit + 1
    reader = _ZSTD.stream_reader(data, read_across_frames=True)
    try:
        while room > 0 and (piece := reader.read(min(room, STEP))):
            parts.append(piece)
            room -= len(piece)
    except zstandard.ZstdError:
        return Decoded(b"".join(parts), False, False)
    body = b"".join(parts)
    return Decoded(body[:limit], True, True) if room <= 0 else Decoded(body, _zstd_ends(data), False)


def _zstd_ends(data: bytes) -> bool:
    """Return whether the last frame is complete: the reader does not report a stream that ends inside a frame.

    The structure of frames is in RFC 8878 §3.1.
    """
    at, size = 0, len(data)
    while at < size:
        magic = int.from_bytes(data[at : at + 4], "little")
        if magic & 0xFFFFFFF0 == _ZSTD_SKIP:
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        if magic != _ZSTD_FRAME or size < at + 6:
            return False
        checksum = data[at + 4] & 4
        at += zstandard.frame_header_size(data[at : at + 18])
        last = 0
        while not last:
            if at + 3 > size:
                return False
            block = int.from_bytes(data[at : at + 3], "little")
            last = block & 1
            at += 4 if block >> 1 & 3 == 1 else 3 + (block >> 3)
        at += checksum
    return at == size


_DECODERS: dict[str, Callable[[bytes, int], Decoded]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
