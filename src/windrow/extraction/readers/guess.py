"""Guess the encoding of a body that declares none and is not UTF-8.

The detector is turbohtml's. It excludes an encoding at the first invalid byte, so it must never see half a character:
neither at the end of a sample or of a truncated body, nor around a stray byte. The pieces that are damaged in an
encoding which fits the rest are therefore left out for every encoding, and the detector decides by what remains.
"""

import codecs
import re

from turbohtml import detect  # registers the codecs "whatwg-…" as well

WIDE = {"UTF-16LE": "utf-16-le", "UTF-16BE": "utf-16-be"}

_BEFORE = 1024  # bytes of markup before the first byte over 127 that the detector sees too
_SAMPLE = 3 << 14  # bytes for the detector, which takes 45 to 100 µs per thousand, and the search for damage 50
_DOUBLE = ("GBK", "Big5", "EUC-KR", "Shift_JIS", "EUC-JP")
# Single-byte encodings of which the detector knows no near relative: without them it answers with another script.
_SINGLE = {
    name: "".join("\ufffd" if byte in holes else chr(byte) for byte in range(256))
    for name, holes in {
        "windows-874": {
            *range(0x81, 0x85),
            *range(0x86, 0x91),
            *range(0x98, 0xA0),
            *range(0xDB, 0xDF),
            *range(252, 256),
        },
        "windows-1251": {0x98},
        "windows-1253": {0x81, 0x88, 0x8A, *range(0x8C, 0x91), 0x98, 0x9A, *range(0x9C, 0xA0), 0xAA, 0xD2, 0xFF},
        "windows-1255": {
            0x81,
            0x8A,
            *range(0x8C, 0x91),
            0x9A,
            *range(0x9C, 0xA0),
            *range(0xD9, 0xE0),
            0xFB,
            0xFC,
            0xFF,
        },
    }.items()
}
_HIGH = re.compile(rb"[\x80-\xff]")
_ASCII = bytes(range(128))
_ENDS = ("<", "\n", " ")  # where pieces end: never part of a longer character
_FIRST = 1 << 12  # bytes that refute most encodings, at a twelfth of the cost
_LOST = 4  # an encoding fits if at most one in so many bytes over 127 is in damaged pieces
_FIRST_TAG = re.compile(rb"(?:[\t\n\f\r ]\0)*<\0[!-~]\0|(?:\0[\t\n\f\r ])*\0<\0[!-~]")
_WIDE_HEAD = 1024  # bytes that show whether a body is UTF-16
_INVISIBLE = dict.fromkeys([0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF])
_JAPANESE = re.compile(rb"\x1b\$[@B](?:[!-~]{2})+")  # an escape sequence of ISO-2022-JP and the characters after it


def wide(body: bytes) -> str:
    """Return the name of the UTF-16 in which a body without a byte order mark is written, or ""."""
    match = _FIRST_TAG.match(body)
    if match:
        return "UTF-16BE" if body[0] == 0 else "UTF-16LE"
    head = body[: min(len(body), _WIDE_HEAD) & ~1]
    if b"\0" not in head:
        return ""
    name = "UTF-16LE" if head[1::2].count(0) > head[::2].count(0) else "UTF-16BE"
    text = head.decode(WIDE[name], "replace")
    visible = "".join(text.split()).translate(_INVISIBLE)
    strange = sum(not character.isprintable() or character == "\ufffd" for character in visible)
    ordinary = sum("\x20" <= character < "\x7f" for character in text)
    # Binary data has control characters and unassigned code points. The cut can leave half a surrogate pair.
    return name if ordinary >= max(8, len(text) // 8) and strange <= 1 + len(text) // 64 else ""


def escaped(body: bytes) -> bool:
    """Return whether a body is ISO-2022-JP: escape sequences, and after them almost only characters of its tables."""
    if b"\x1b$" not in body or not _JAPANESE.search(body):
        return False
    text = body.decode("whatwg-ISO-2022-JP")
    return text.count("\ufffd") * 16 <= sum(not character.isascii() for character in text)


def legacy(body: bytes) -> str:
    """Return the detector's name for the encoding of a body with bytes over 127, or ""."""
    high = _HIGH.search(body)
    start = max(0, high.start() - _BEFORE) if high else 0
    sample = _whole(body[start : start + _SAMPLE])
    return detect.detect(_undamaged(sample)).encoding or ""


def _whole(sample: bytes) -> bytes:
    """Return a sample without the first half of a character at its end."""
    last = sample[max(sample.rfind(end.encode()) for end in _ENDS) + 1 :]
    if last.isascii():
        return sample
    # The most encodings find the last characters whole if the right number of bytes is removed.
    fits = [sum("\ufffd" not in _read(last[: len(last) - cut], name) for name in _DOUBLE) for cut in range(4)]
    return sample[: len(sample) - fits.index(max(fits))]


def _undamaged(sample: bytes) -> bytes:
    """Return a sample without the pieces that are damaged in an encoding that fits the rest."""
    high = _count_high(sample)
    end = max(_ENDS, key=lambda end: sample.count(end.encode()))
    pieces: list[bytes] = []
    damaged: set[int] = set()
    for name in (*_DOUBLE, *_SINGLE):
        # A stray byte shifts the characters of two bytes up to the next ASCII byte, and so makes more than one error.
        limit = min(16 + high // 256 if name in _DOUBLE else 2, high // 32)
        if _read(sample[:_FIRST], name).count("\ufffd") > limit:
            continue
        text = _read(sample, name)
        if not 0 < text.count("\ufffd") <= limit:
            continue
        pieces = pieces or sample.split(end.encode())
        lost = {index for index, piece in enumerate(text.split(end)) if "\ufffd" in piece}
        if sum(_count_high(pieces[index]) for index in lost) * _LOST <= high:
            damaged |= lost
    if not damaged:
        return sample
    return end.encode().join(piece for index, piece in enumerate(pieces) if index not in damaged)


def _read(sample: bytes, name: str) -> str:
    """Return a text with U+FFFD where the sample is invalid, and with the ends of its pieces."""
    table = _SINGLE.get(name)
    return codecs.charmap_decode(sample, "strict", table)[0] if table else sample.decode("whatwg-" + name)


def _count_high(piece: bytes) -> int:
    return len(piece.translate(None, _ASCII))
