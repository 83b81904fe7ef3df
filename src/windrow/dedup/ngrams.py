"""Text that was seen before: checksums for exact duplicates, onion's rule over word n-grams for near-duplicate paragraphs.

The rule is that of onion (Pomikálek 2011): a paragraph is a duplicate when more than half of its words lie in n-grams that were met before,
in an earlier document or earlier in its own, and a short run of new paragraphs beside duplicates goes with them. Beyond it, the little
that is new in a document may go too (`Rule.whole`): a scrap out of its context, or spam made of the same sentences. `grams` is the dear
half and needs only the document, so a worker process runs it; `settle` needs the table of everything seen and runs in its one owner. Both
have their loops in the C kernel `_ngrams` where it was built; the numpy code here is its twin, gives the same, and takes seven times as
long.
"""

import functools
import itertools
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import xxhash

from windrow import config
from windrow.dedup.table import Found, Table

try:
    from windrow.dedup import _ngrams
except ImportError:  # there was no compiler: the twin does it
    _ngrams = None  # type: ignore[assignment]

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Octets = npt.NDArray[np.uint8]

PIECE = 1 << 20  # bytes hashed at once: the arrays below take some 40 times their text
_BASE_OCTET = 0x9E3779B97F4A7C15  # odd, so each has an inverse modulo 2^64
_BASE_WORD = 0xD1342543DE82EF95
_BACK_OCTET = pow(_BASE_OCTET, -1, 1 << 64)
_BACK_WORD = pow(_BASE_WORD, -1, 1 << 64)
_LETTER, _WIDE = 1, 2
_MIX = np.uint64(0xD6E8FEB86659FD93)
_MOST = 64  # words of an n-gram that the kernel has room for


class Rule(msgspec.Struct, frozen=True):
    """The parameters of onion's rule; the defaults are those it was published with."""

    ngram: int = 7  # words
    threshold: float = 0.5  # share of a paragraph's words; a duplicate has more
    smoothing: int = 20  # words of new text between duplicates that go with them; 0: none
    whole: float = (
        1.0  # share of a document's words in duplicates from which the rest goes with them, ours; 1, as in onion: never
    )

    @classmethod
    def of(cls, options: config.Dedup) -> "Rule":
        return cls(options.ngram, options.threshold, options.smoothing, options.max_seen)


class Grams(msgspec.Struct, frozen=True, gc=False):
    """A document as the rule sees it; plain bytes, so that it travels between processes as it is."""

    lengths: bytes  # words of each paragraph, int64
    hashes: bytes  # of the n-gram that ends at each word, from the n-th word on, uint64
    repeated: bytes  # whether that n-gram stood earlier in the document, a byte each; empty: none did


class Ruling(msgspec.Struct, frozen=True, gc=False):
    """What the rule says of a document's paragraphs."""

    duplicate: tuple[bool, ...]
    shares: tuple[float, ...]  # of each paragraph's words, those in n-grams seen before
    lengths: tuple[int, ...]  # words of each paragraph
    words: int
    removed: int  # words in duplicate paragraphs
    left: int  # words that stay: the others, or none where the whole document goes

    @property
    def share(self) -> float:
        """Of the words, those in duplicate paragraphs."""
        return self.removed / max(1, self.words)


def body_key(body: bytes) -> int:
    """Equal for equal bodies."""
    return xxhash.xxh3_64_intdigest(body)


def text_key(paragraphs: Sequence[str]) -> int:
    """Equal for equal clean text."""
    return xxhash.xxh3_64_intdigest("\n".join(paragraphs).encode("utf-8", "surrogatepass"))


def grams(paragraphs: Sequence[str], ngram: int = 7) -> Grams:
    """The n-grams of a document, paragraph by paragraph. Words are parted by white space; a letter of a script that is written without
    spaces (Chinese, Japanese, Thai, Lao, Tibetan, Burmese, Khmer) is a word of its own."""
    if _ngrams and ngram <= _MOST:
        return Grams(*_ngrams.grams(paragraphs, ngram, True, _TABLE))
    return batch([paragraphs], ngram)[0]


def batch(documents: Sequence[Sequence[str]], ngram: int = 7) -> list[Grams]:
    """The same for many documents in one go, which costs numpy less than each by itself."""
    if _ngrams and ngram <= _MOST:
        return [Grams(*_ngrams.grams(paragraphs, ngram, True, _TABLE)) for paragraphs in documents]
    octets = [paragraph.encode("utf-8", "surrogatepass") for document in documents for paragraph in document]
    return _slice(octets, [len(document) for document in documents], ngram, True)


def batch_octets(documents: Sequence[Sequence[bytes]], ngram: int, tokens: bool) -> list[Grams]:
    """The same for paragraphs in UTF-8. `tokens`: each is ready tokens, one a line, as in a vertical file."""
    if _ngrams and ngram <= _MOST:
        return [Grams(*_ngrams.grams(paragraphs, ngram, not tokens, _TABLE)) for paragraphs in documents]
    octets = [paragraph for document in documents for paragraph in document]
    return _slice(octets, [len(document) for document in documents], ngram, not tokens)


def whole(document: Grams) -> Grams:
    """The document as a single paragraph, to be kept or removed as one."""
    words = int(np.frombuffer(document.lengths, np.int64).sum())
    return Grams(np.array([words], np.int64).tobytes(), document.hashes, document.repeated)


def settle(table: Table, document: Grams, rule: Rule) -> Ruling:
    """Judges a document's paragraphs by what the table has seen, and adds the n-grams of those that stay."""
    if _ngrams:
        octets = document.lengths, document.hashes, document.repeated
        young, old = table.states()
        found = _ngrams.settle(octets, (rule.ngram, rule.threshold, rule.smoothing, rule.whole), young, old)
        table.put_fresh(np.frombuffer(found[6], np.uint64))
        return Ruling(*found[:6])
    return settle_all(table, [document], rule)[0]


def settle_all(table: Table, documents: Sequence[Grams], rule: Rule) -> list[Ruling]:
    """The same for documents one after the other, for numpy at less cost: the table is asked once, and once added to."""
    if _ngrams:
        return [settle(table, document, rule) for document in documents]
    lot = _Lot(table, documents, rule.ngram)
    rulings = []
    for number, document in enumerate(documents):
        counts = np.frombuffer(document.lengths, np.int64).tolist()
        covered = lot.covered(number)
        duplicate = [part > 0 and part / count > rule.threshold for count, part in zip(counts, covered, strict=True)]
        _smooth(duplicate, counts, rule.smoothing)
        shares = tuple([part / count if part else 0.0 for count, part in zip(counts, covered, strict=True)])
        words, removed = sum(counts), sum(itertools.compress(counts, duplicate))
        left = words - removed
        if removed > rule.whole * words:
            duplicate, left = [True] * len(duplicate), 0
        lot.keep(number, duplicate if removed else None)
        rulings.append(Ruling(tuple(duplicate), shares, tuple(counts), words, removed, left))
    lot.put()
    return rulings


class _Lot:
    """Documents that are judged together: what the table knew of them before, and what they know of each other."""

    def __init__(self, table: Table, documents: Sequence[Grams], ngram: int) -> None:
        self.table, self.ngram = table, ngram
        self.lengths = [np.frombuffer(document.lengths, np.int64) for document in documents]
        self.grams = [0, *itertools.accumulate(len(document.hashes) // 8 for document in documents)]
        self.found = table.find(np.frombuffer(b"".join([document.hashes for document in documents]), np.uint64))
        self.repeated = any(document.repeated for document in documents)
        self.before = self.found.seen.copy()
        for number, document in enumerate(documents):
            if document.repeated:
                self.before[self._slice(number)] |= np.frombuffer(document.repeated, np.bool_)
        self.shared = _shared(self.found) if len(documents) > 1 else None
        self.kept = np.ones(len(self.before), np.bool_)
        self.added: set[int] = set()  # of the shared ones, those that a document of this lot brought in
        self.paragraphs = [0, *itertools.accumulate(map(len, self.lengths))]
        self.counts = self._count(self.lengths, [self.before[self._slice(number)] for number in range(len(documents))])

    def covered(self, number: int) -> list[int]:
        """How many words of each paragraph lie in a seen n-gram that ends in the same paragraph."""
        own = self._slice(number)
        if self.shared is not None and self.added and self.shared[own].any():
            places = np.flatnonzero(self.shared[own])
            hits = [identity in self.added for identity in self.found.identities[own][places].tolist()]
            if any(hits):
                before = self.before[own]
                before[places[hits]] = True
                return self._count([self.lengths[number]], [before])
        return self.counts[self.paragraphs[number] : self.paragraphs[number + 1]]

    def keep(self, number: int, duplicate: list[bool] | None) -> None:
        own = self._slice(number)
        if duplicate is not None:
            self.kept[own] = np.repeat(~np.array(duplicate), self.lengths[number])[self.ngram - 1 :]
        if self.shared is not None:
            places = (self.shared[own] & self.kept[own]).nonzero()[0]
            identities = self.found.identities[own].take(places).tolist()
            for place, identity in zip(places.tolist(), identities, strict=True):
                if identity in self.added:
                    self.kept[self.grams[number] + place] = False  # it goes into the table once
                self.added.add(identity)

    def put(self) -> None:
        self.table.put(self.found, self.kept, self.repeated and self.shared is None)

    def _slice(self, number: int) -> slice:
        return slice(self.grams[number], self.grams[number + 1])

    def _count(self, lengths: list[Numbers], before: list[Flags]) -> list[int]:
        """For the paragraphs of some documents: words that a seen n-gram reaches, which ends at them or after them in their paragraph."""
        if not any(flags.any() for flags in before):
            return [0] * sum(map(len, lengths))
        paragraphs = np.concatenate(lengths)
        ends = np.cumsum(paragraphs)
        words = int(ends[-1])
        ended = np.zeros(words, np.bool_)
        start = 0
        for own, flags in zip(lengths, before, strict=True):
            length = int(own.sum())
            ended[start + self.ngram - 1 : start + length] = flags
            start += length
        counted = np.zeros(words + 1, np.int64)
        np.cumsum(ended, out=counted[1:])
        reach = np.minimum(np.arange(self.ngram, self.ngram + words), np.repeat(ends, paragraphs))
        covered = np.zeros(words + 1, np.int64)
        np.cumsum(counted.take(reach) > counted[:-1], out=covered[1:])
        found: list[int] = (covered.take(ends) - covered.take(ends - paragraphs)).tolist()
        return found


def _shared(found: Found) -> Flags | None:
    """Which of those new to the table stand in several places; None: none do."""
    fresh = (~found.seen).nonzero()[0]
    identities = found.identities.take(fresh)
    crowded = _crowded(identities)
    order = crowded[np.argsort(identities.take(crowded))]
    ordered = identities.take(order)
    same = ordered[1:] == ordered[:-1]
    if not same.any():
        return None
    shared = np.zeros(len(found.seen), np.bool_)
    shared[fresh[order[1:][same]]] = shared[fresh[order[:-1][same]]] = True
    return shared


def _crowded(hashes: Hashes) -> Numbers:
    """The places of those that fall together when thrown into four times as many boxes: all that are equal, and few others to sort."""
    boxes = np.empty(1 << (4 * len(hashes)).bit_length(), np.int64)
    own = np.arange(len(hashes))
    box = (hashes & np.uint64(len(boxes) - 1)).view(np.int64)
    boxes[box] = own
    last = boxes.take(box)
    pushed = (last != own).nonzero()[0]
    crowded = np.zeros(len(hashes), np.bool_)
    crowded[pushed] = crowded[last.take(pushed)] = True
    return crowded.nonzero()[0]


def _smooth(duplicate: list[bool], counts: list[int], limit: int) -> None:
    """Marks runs of new paragraphs of at most `limit` words between duplicates or the document's ends."""
    if not limit:
        return
    start, run = 0, 0
    for place in range(len(counts) + 1):
        if place < len(counts) and not duplicate[place]:
            run += counts[place]
            continue
        if run <= limit:
            duplicate[start:place] = [True] * (place - start)
        start, run = place + 1, 0


def _slice(octets: list[bytes], sizes: list[int], ngram: int, natural: bool) -> list[Grams]:
    """One Grams for each run of paragraphs. The n-grams of a run are contiguous, those that reach over its end are left out."""
    lengths, words = _words(octets, natural)
    joined = _join(words, ngram)
    ends = np.cumsum(lengths)
    made, paragraph, first = [], 0, 0
    for size in sizes:
        own = lengths[paragraph : paragraph + size]
        paragraph += size
        last = int(ends[paragraph - 1]) if paragraph else 0
        hashes = joined[first : max(first, last - ngram + 1)]
        made.append(Grams(own.tobytes(), hashes.tobytes(), _repeated(hashes)))
        first = last
    return made


def _repeated(hashes: Hashes) -> bytes:
    """Which hashes stand earlier in the array; empty where none does."""
    crowded = _crowded(hashes)
    order = crowded[np.argsort(hashes.take(crowded), kind="stable")]
    ordered = hashes.take(order)
    again = order[1:][ordered[1:] == ordered[:-1]]
    if not len(again):
        return b""
    repeated = np.zeros(len(hashes), np.bool_)
    repeated[again] = True
    return repeated.tobytes()


def _words(paragraphs: list[bytes], natural: bool) -> tuple[Numbers, Hashes]:
    """How many words each paragraph has, and the hashes of all words."""
    counts, hashes = [], []
    for piece in _pieces(paragraphs, natural):
        text = np.frombuffer(b"\n" + b"\n".join(piece) + b"\n", np.uint8)
        before, last = _edges(text, natural)
        sums = _OCTETS.take(text)
        sums *= _powers(_BASE_OCTET, len(text))
        np.cumsum(sums, out=sums)
        hashes.append(_mixed((sums.take(last) - sums.take(before)) * _powers(_BACK_OCTET, len(text)).take(before)))
        ends = np.searchsorted(before, np.cumsum(np.fromiter(map(len, piece), np.int64, len(piece)) + 1))
        ends[1:] -= ends[:-1].copy()
        counts.append(ends)
    if not counts:
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    if len(counts) == 1:
        return counts[0], hashes[0]
    return _rejoined(paragraphs, natural, counts), np.concatenate(hashes)


def _pieces(paragraphs: list[bytes], natural: bool) -> list[list[bytes]]:
    """Paragraphs in lots of about PIECE bytes; one that is longer is cut between words."""
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
    """Never within a letter; within a word only if it alone is longer than PIECE."""
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
    """The counts of paragraphs some of which were cut into parts."""
    parts = iter(np.concatenate(counts).tolist())
    return np.array([sum(next(parts) for _ in _parts(paragraph, natural)) for paragraph in paragraphs], np.int64)


def _edges(text: Octets, natural: bool) -> tuple[Numbers, Numbers]:
    """For each word the place before its first octet, and that of its last."""
    blank = _BLANK.take(text) if natural else text == 10
    if natural and len(leads := _LEADS.take(text).nonzero()[0]):
        marks = _MARKS.take(text.take(leads).astype(np.uint16) << np.uint16(8) | text.take(leads + 1))
        _widen(blank, text, leads[(marks & _WIDE) != 0])
        letters = leads[((marks & _LETTER) != 0) & (text.take(leads + 2, mode="clip") >= 0x80)]
        if len(letters):
            return _letters(text, blank, letters)
    edges = np.flatnonzero(blank[1:] != blank[:-1])
    return edges[::2], edges[1::2]


def _widen(blank: Flags, text: Octets, places: Numbers) -> None:
    """Marks the blanks of two or three octets too: no-break space, those of typography, the ideographic one."""
    for step in (1, 2):
        if step == 2:
            places = places[text.take(places) >= 0xE0]
        codes = np.zeros(len(places), np.uint32)
        for octet in range(step + 1):
            codes |= text.take(places + octet, mode="clip").astype(np.uint32) << np.uint32(16 - 8 * octet)
        found = places[_BLANKS.take(np.searchsorted(_BLANKS, codes), mode="clip") == codes]
        for octet in range(step + 1):
            blank[found + octet] = True


def _letters(text: Octets, blank: Flags, places: Numbers) -> tuple[Numbers, Numbers]:
    """The edges of words where letters at some places are words."""
    starts = np.zeros(len(text) + 1, np.bool_)
    starts[places] = True
    starts[np.minimum(places + np.where(text.take(places) < 0xF0, 3, 4), len(text))] = True
    starts = starts[:-1]
    starts[1:] |= blank[:-1]
    starts &= ~blank
    ends = ~blank[:-1] & (blank[1:] | starts[1:])
    return np.flatnonzero(starts) - 1, np.flatnonzero(ends)


def _join(words: Hashes, ngram: int) -> Hashes:
    """The hash of each run of n words: a polynomial in the hashes of its words, from the differences of running sums."""
    count = len(words) - ngram + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    sums = np.zeros(len(words) + 1, np.uint64)
    np.cumsum(words * _powers(_BASE_WORD, len(words)), out=sums[1:])
    return _mixed((sums[ngram:] - sums[:count]) * _powers(_BACK_WORD, count))


def _mixed(hashes: Hashes) -> Hashes:
    """Not linear any more, and every bit in the upper half, which the table goes by."""
    hashes ^= hashes >> np.uint64(32)
    hashes *= _MIX
    hashes ^= hashes >> np.uint64(29)
    return hashes


def _powers(base: int, size: int) -> Hashes:
    return _power_table(base, max(16, size.bit_length()))[:size]


@functools.lru_cache(maxsize=32)
def _power_table(base: int, bits: int) -> Hashes:
    """1, base, base², … modulo 2^64."""
    table = np.full(1 << bits, base, np.uint64)
    table[0] = 1
    return np.multiply.accumulate(table)


def _octet_table() -> Hashes:
    """A random number for each octet, the same everywhere and for ever: tables and redo files hold what is made of them."""
    return np.array([xxhash.xxh3_64_intdigest(bytes([octet]), seed=7) for octet in range(256)], np.uint64)


def _marks() -> Octets:
    """By the first two octets of a letter in UTF-8: is its script written without spaces, or may it be a blank?"""
    marks = np.zeros(1 << 16, np.uint8)
    for first, last in (
        (0xE0B8, 0xE0BF),
        (0xE180, 0xE181),
        (0xE19E, 0xE19F),
        (0xE380, 0xE9BF),
        (0xEFA4, 0xEFAB),
        (0xF0A0, 0xF0AF),
    ):
        for lead in range(first >> 8, (last >> 8) + 1):
            marks[max(first, lead << 8 | 0x80) : min(last, lead << 8 | 0xBF) + 1] = _LETTER
    for blank in _WIDE_BLANKS:
        marks[int.from_bytes(blank[:2], "big")] |= _WIDE
    return marks


_OCTETS = _octet_table()
_TABLE = _OCTETS.tobytes()
_BLANK = np.array([octet < 128 and chr(octet).isspace() for octet in range(256)])
_WIDE_BLANKS = [chr(code).encode() for code in range(0x80, 0xD800) if chr(code).isspace()]
_BLANKS = np.array(sorted(int.from_bytes(blank.ljust(3, b"\0"), "big") for blank in _WIDE_BLANKS), np.uint32)
_MARKS = _marks()
_LEADS = _MARKS.reshape(256, 256).max(axis=1) > 0
