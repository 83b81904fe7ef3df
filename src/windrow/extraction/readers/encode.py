"""Write the query of a link in the charset of its page, as browsers send it (URL Standard §1.3).

turbohtml decodes and never encodes. The Encoding Standard defines both directions by the same tables, so an encoder is
the inverse of turbohtml's decoder, with the exceptions that the standard lists and this module repeats. Python's codecs
are no substitute: they follow the vendors of old systems, not browsers.
"""

import functools
import unicodedata
from collections.abc import Iterable, Iterator

from windrow.extraction.readers import guess  # registers the codecs "whatwg-…"

_UTF8 = {"", "UTF-8", "replacement", *guess.WIDE}  # queries of pages in these are sent in UTF-8
_IGNORED = dict.fromkeys(map(ord, "\t\n\r"))  # the URL parser removes these everywhere,
_OUTSIDE = "".join(map(chr, range(33)))  # and these at both ends
_HOLE = "\ufffd"  # what a decoder writes for octets without a character

# Octets as they stand in a query: those of its percent-encode set are escaped.
_OCTETS = [chr(octet) if 0x20 < octet < 0x7F and octet not in b"\"#'<>" else f"%{octet:02X}" for octet in range(256)]

_SINGLE = [bytes([octet]) for octet in range(0x80, 0x100)]
_KANJI = [*range(0xA1, 0xFF)]
_HIGH = [*range(0x81, 0xFF)]
# First and second octets of the characters that an encoder writes in two. Big5: without the characters of Hong Kong.
# Shift_JIS: without NEC's selection of IBM's characters and without the user's own.
_PAIRS = {
    "Big5": (_KANJI, [*range(0x40, 0x7F), *_KANJI]),
    "EUC-JP": ([0x8E, *_KANJI], _KANJI),
    "EUC-KR": (_HIGH, [*range(0x41, 0xFF)]),
    "GBK": (_HIGH, [*range(0x40, 0x7F), *range(0x80, 0xFF)]),
    "Shift_JIS": (
        [*range(0x81, 0xA0), *range(0xE0, 0xED), *range(0xFA, 0xFD)],
        [*range(0x40, 0x7F), *range(0x80, 0xFD)],
    ),
}
_LAST = "═╞╡╪十卅"  # of these the last place in Big5 counts, not the first
_JAPANESE = {"\xa5": b"\\", "\u203e": b"~"}  # yen and overline stand at the octets of two ASCII characters
_MINUS, _WIDE_MINUS = "\u2212", "\uff0d"
_MISSING = "\ue5e5"  # the only character without a place in GB 18030
# Private characters that got code points of their own in 2005; in GB 18030 both have the old octets.
_PRIVATE = {0xE81E: 0xFE59, 0xE826: 0xFE61, 0xE82B: 0xFE66, 0xE82C: 0xFE67, 0xE832: 0xFE6D, 0xE843: 0xFE7E}
_PRIVATE |= {0xE854: 0xFE90, 0xE864: 0xFEA0, 0xE794: 0xA6EC, 0xE795: 0xA6ED, 0xE796: 0xA6F3}
_PRIVATE |= {0xE78D + offset: 0xA6D9 + offset for offset in range(7)}
_TO_ASCII, _TO_ROMAN, _TO_KANJI = "%1B(B", "%1B(J", "%1B$B"  # escape sequences of ISO-2022-JP
_SHIFTS = "\x0e\x0f\x1b"  # would be read as other escape sequences


def href(text: str, charset: str) -> str:
    """Return an href without its fragment, the query in the escaped octets of the page's charset."""
    if charset in _UTF8 or (text.isascii() and charset != "ISO-2022-JP"):  # which alone changes some ASCII
        return text
    text = text.translate(_IGNORED).strip(_OUTSIDE)
    head, mark, query = text.partition("#")[0].partition("?")
    if charset == "ISO-2022-JP":
        return head + mark + "".join(_in_iso_2022_jp(query))
    return head + mark + query.translate(_escapes(charset))


class Escapes(dict[int, str]):
    """Escaped octets by code point, for str.translate. ASCII stays: the URL parser escapes it."""

    def __init__(self, octets: dict[str, bytes], complete: bool) -> None:
        super().__init__((ord(char), _escaped(written)) for char, written in octets.items())
        self._complete = complete  # characters beyond U+FFFF have octets too

    def __missing__(self, code: int) -> str:
        if code < 0x80:
            return chr(code)
        if self._complete and code > 0xFFFF:
            return _escaped(_four_octets(code - 0x10000 + 189000))
        if self._complete and 0xD800 <= code < 0xE000:
            return self[ord(_HOLE)]
        return _reference(code)


@functools.cache
def _escapes(charset: str) -> Escapes:
    return Escapes(_octets(charset), complete=charset == "gb18030")


@functools.cache
def _octets(charset: str) -> dict[str, bytes]:
    """Return the octets of every character that the encoder writes, without ASCII."""
    pairs = "GBK" if charset == "gb18030" else charset
    if pairs not in _PAIRS:
        return _inverted(charset, _SINGLE)
    first, second = _PAIRS[pairs]
    codes = [bytes([lead, trail]) for lead in first for trail in second]
    if charset == "Big5":
        octets = _inverted(charset, codes)
        return octets | {char: code for char, code in _inverted(charset, reversed(codes)).items() if char in _LAST}
    if pairs == "GBK":
        return _chinese(charset, codes)
    if charset == "EUC-KR":
        return _inverted(charset, codes)
    octets = _inverted(charset, (_SINGLE if charset == "Shift_JIS" else []) + codes) | _JAPANESE
    return octets | {_MINUS: octets[_WIDE_MINUS]}


def _chinese(charset: str, codes: list[bytes]) -> dict[str, bytes]:
    """Return the octets of GBK, or of GB 18030 without the characters beyond U+FFFF."""
    table = _inverted("gb18030", codes)
    for code, octets in _PRIVATE.items():
        table[chr(code)] = octets.to_bytes(2)
    if charset == "GBK":
        table["€"] = b"\x80"
    else:
        table = _inverted("gb18030", map(_four_octets, range(39420))) | table
        table[_HOLE] = b"\x841\xa47"  # the character itself has a place too
    table.pop(_MISSING, None)
    return table


def _inverted(charset: str, codes: Iterable[bytes]) -> dict[str, bytes]:
    """Decode these codes, each of one character; return the first code of each character."""
    codes = list(codes)
    decoded = b"\n".join(codes).decode(f"whatwg-{charset}").split("\n")
    codes_by_character: dict[str, bytes] = {}
    for char, code in zip(decoded, codes, strict=True):
        if len(char) == 1 and char != _HOLE:
            codes_by_character.setdefault(char, code)
    return codes_by_character


def _four_octets(pointer: int) -> bytes:
    """Return the octets at a place of the part of GB 18030 that is not GBK."""
    pointer, last = divmod(pointer, 10)
    pointer, third = divmod(pointer, 126)
    first, second = divmod(pointer, 10)
    return bytes([first + 0x81, second + 0x30, third + 0x81, last + 0x30])


def _in_iso_2022_jp(query: str) -> Iterator[str]:
    """Yield a query in ISO-2022-JP: characters of EUC-JP without the high bits, between escape sequences."""
    kanji, state = _octets("EUC-JP"), _TO_ASCII
    for char in query:
        code = _full_width(char)
        octets = b"" if code in _JAPANESE else bytes(octet & 0x7F for octet in kanji.get(code, b""))
        wanted = _TO_KANJI if octets else _TO_ROMAN if code in _JAPANESE else _TO_ASCII
        if code in _SHIFTS or (wanted is _TO_ASCII and not char.isascii()):
            if state is _TO_KANJI:
                yield (state := _TO_ASCII)
            yield _reference(0xFFFD if code in _SHIFTS else ord(char))
            continue
        if wanted is _TO_ASCII and state is _TO_ROMAN and char not in "\\~":
            wanted = state
        if wanted is not state:
            yield (state := wanted)
        yield _escaped(octets or _JAPANESE.get(code) or b"") or char
    if state is not _TO_ASCII:
        yield _TO_ASCII


def _full_width(char: str) -> str:
    """Return a half-width katakana in its full width: ISO-2022-JP has no other."""
    if "\uff61" <= char <= "\uff9f":
        return {"\uff9e": "\u309b", "\uff9f": "\u309c"}.get(char) or unicodedata.normalize("NFKC", char)
    return char


def _escaped(octets: bytes) -> str:
    return "".join(_OCTETS[octet] for octet in octets)


def _reference(code: int) -> str:
    """Return the escaped character reference for a character that the charset lacks."""
    return f"%26%23{0xFFFD if 0xD800 <= code < 0xE000 else code}%3B"
