"""Words and n-grams as 64-bit hashes: the reference of the kernel's `ngrams`, in numpy, five times as slow.

A word is a polynomial over its octets, an n-gram a polynomial over its words, both modulo 2^64. The hash of any run is
then the difference of two running sums, divided by a power of the base. Hashes are stored in tables and redo files:
they must never change.
"""

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from windrow import scripts
from windrow.dedup.octets import OCTETS

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Octets = npt.NDArray[np.uint8]

PIECE = 1 << 20  # bytes hashed at once: the arrays below take about 40 times the memory of their text
_BASE_OCTET = 0x9E3779B97F4A7C15  # the bases are odd, so each has an inverse modulo 2^64
_BASE_WORD = 0xD1342543DE82EF95
_INVERSE_OCTET = pow(_BASE_OCTET, -1, 1 << 64)
_INVERSE_WORD = pow(_BASE_WORD, -1, 1 << 64)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_LETTER, _WIDE = 1, 2  # flags of `_LEADS`


def ngrams(paragraphs: Sequence[bytes], ngram: int, natural: bool) -> tuple[bytes, bytes, bytes]:
    """Return the fields of an `Ngrams`. `natural`: white space separates words; otherwise only line ends do."""
    lengths, words = _words(list(paragraphs), natural)
    hashes = _join(words, ngram)
    return lengths.tobytes(), hashes.tobytes(), _repeated(hashes)


def _join(words: Hashes, ngram: int) -> Hashes:
    """Return the hash of each run of n words."""
    count = len(words) - ngram + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    sums = np.zeros(len(words) + 1, np.uint64)
    np.cumsum(words * _powers(_BASE_WORD, len(words)), out=sums[1:])
    return _mixed((sums[ngram:] - sums[:count]) * _powers(_INVERSE_WORD, count))


def _repeated(hashes: Hashes) -> bytes:
    """Flag the hashes that occur earlier in the array; return no bytes if none does."""
    if len(set(hashes.tolist())) == len(hashes):  # most documents; sorting takes twice as long
        return b""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes.take(order)
    repeated = np.zeros(len(hashes), np.bool_)
    repeated[order[1:][ordered[1:] == ordered[:-1]]] = True
    return repeated.tobytes()


def _words(paragraphs: list[bytes], natural: bool) -> tuple[Numbers, Hashes]:
    """Return the number of words of each paragraph, and the hashes of all words."""
    counts, hashes = [], []
    for piece in _pieces(paragraphs, natural):
        text = np.frombuffer(b"\n" + b"\n".join(piece) + b"\n", np.uint8)
        before, last = _edges(text, natural)
        sums = _OCTETS.take(text)
        sums *= _powers(_BASE_OCTET, len(text))
        np.cumsum(sums, out=sums)
        hashes.append(_mixed((sums.take(last) - sums.take(before)) * _powers(_INVERSE_OCTET, len(text)).take(before)))
        ends = np.searchsorted(before, np.cumsum(np.fromiter(map(len, piece), np.int64, len(piece)) + 1))
        ends[1:] -= ends[:-1].copy()
        counts.append(ends)
    if not counts:
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    if len(counts) == 1:
        return counts[0], hashes[0]
    return _rejoined(paragraphs, natural, counts), np.concatenate(hashes)


def _pieces(paragraphs: list[bytes], natural: bool) -> list[list[bytes]]:
    """Group paragraphs into pieces of about PIECE bytes; cut a longer paragraph between words."""
    if sum(map(len, paragraphs)) <= PIECE:
        return [paragraphs] if paragraphs else []
    pieces: list[list[bytes]] = [[]]
    size = 0
    for paragraph in paragraphs:
        for part in _parts(paragraph, natural):
            if size + len(part) > PIECE and pieces[-1]:
                pieces.append([])
                size = 0
            pieces[-1].append(part)
            size += len(part)
    return pieces


def _parts(paragraph: bytes, natural: bool) -> list[bytes]:
    """Cut a paragraph into parts: never within a character, and within a word only if the word alone exceeds PIECE."""
    parts = []
    while len(paragraph) > PIECE:
        cut = max(paragraph.rfind(b" ", 0, PIECE) if natural else 0, paragraph.rfind(b"\n", 0, PIECE))
        cut = PIECE if cut <= 0 else cut
        while cut < len(paragraph) and paragraph[cut] & 0xC0 == 0x80:
            cut += 1
        parts.append(paragraph[:cut])
        paragraph = paragraph[cut:]
    return [*parts, paragraph]


def _rejoined(paragraphs: list[bytes], natural: bool, counts: list[Numbers]) -> Numbers:
    """Return the words per paragraph from the words per part."""
    parts = iter(np.concatenate(counts).tolist())
    return np.array([sum(next(parts) for _ in _parts(paragraph, natural)) for paragraph in paragraphs], np.int64)


def _edges(text: Octets, natural: bool) -> tuple[Numbers, Numbers]:
    """Return for each word the position before its first octet, and the position of its last."""
    blank = _BLANK.take(text) if natural else text == 10
    if natural and len(leads := _IS_LEAD.take(text).nonzero()[0]):
        kinds = _LEADS.take(text.take(leads).astype(np.uint16) << np.uint16(8) | text.take(leads + 1))
        _mark_wide_blanks(blank, text, leads[(kinds & _WIDE) != 0])
        letters = leads[((kinds & _LETTER) != 0) & (text.take(leads + 2, mode="clip") >= 0x80)]
        if len(letters):
            return _letter_edges(text, blank, letters)
    edges = np.flatnonzero(blank[1:] != blank[:-1])
    return edges[::2], edges[1::2]


def _mark_wide_blanks(blank: Flags, text: Octets, places: Numbers) -> None:
    """Mark the blanks of two or three octets: no-break space, typographic spaces, the ideographic space."""
    for step in (1, 2):
        if step == 2:
            places = places[text.take(places) >= 0xE0]
        codes = np.zeros(len(places), np.uint32)
        for octet in range(step + 1):
            codes |= text.take(places + octet, mode="clip").astype(np.uint32) << np.uint32(16 - 8 * octet)
        found = places[_BLANKS.take(np.searchsorted(_BLANKS, codes), mode="clip") == codes]
        for octet in range(step + 1):
            blank[found + octet] = True


def _letter_edges(text: Octets, blank: Flags, places: Numbers) -> tuple[Numbers, Numbers]:
    """Return the edges of words if the letters at these places are words of their own."""
    starts = np.zeros(len(text) + 1, np.bool_)
    starts[places] = True
    starts[np.minimum(places + np.where(text.take(places) < 0xF0, 3, 4), len(text))] = True
    starts = starts[:-1]
    starts[1:] |= blank[:-1]
    starts &= ~blank
    ends = ~blank[:-1] & (blank[1:] | starts[1:])
    return np.flatnonzero(starts) - 1, np.flatnonzero(ends)


def _mixed(hashes: Hashes) -> Hashes:
    """Break the linearity of the polynomial, and spread every bit to the upper half, which the table uses."""
    hashes ^= hashes >> np.uint64(32)
    hashes *= _MIX
    hashes ^= hashes >> np.uint64(29)
    return hashes


def _powers(base: int, size: int) -> Hashes:
    return _power_table(base, max(16, size.bit_length()))[:size]


@functools.lru_cache(maxsize=32)
def _power_table(base: int, bits: int) -> Hashes:
    """Return 1, base, base², … modulo 2^64."""
    table = np.full(1 << bits, base, np.uint64)
    table[0] = 1
    return np.multiply.accumulate(table)


def _lead_table() -> Octets:
    """Classify characters by their first two octets in UTF-8: letters of scripts without spaces, possible blanks."""
    kinds = np.zeros(1 << 16, np.uint8)
    for first, last in scripts.UTF8_PAIRS:
        for lead in range(first >> 8, (last >> 8) + 1):
            kinds[max(first, lead << 8 | 0x80) : min(last, lead << 8 | 0xBF) + 1] = _LETTER
    for blank in _WIDE_BLANKS:
        kinds[int.from_bytes(blank[:2], "big")] |= _WIDE
    return kinds


_OCTETS = np.frombuffer(OCTETS, np.uint64)
_BLANK = np.array([octet < 128 and chr(octet).isspace() for octet in range(256)])
_WIDE_BLANKS = [chr(code).encode() for code in range(0x80, 0xD800) if chr(code).isspace()]
_BLANKS = np.array(sorted(int.from_bytes(blank.ljust(3, b"\0"), "big") for blank in _WIDE_BLANKS), np.uint32)
_LEADS = _lead_table()
_IS_LEAD = _LEADS.reshape(256, 256).max(axis=1) > 0
