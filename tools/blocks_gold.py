"""Find the blocks of a page that its gold text holds: the labels for tools/train_blocks.py."""

import bisect
import collections
from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

_NGRAM = 4  # words in a row: so many do not match by chance
_SHARE = 0.34  # of a block's words; a smaller share is chance
_CELLS = 4_000_000_000  # words of the page times words of the gold text; with more, the order is not aligned
_CANDIDATES = 40  # places tried for one n-gram
_SHORT = 8  # words; a shorter block counts if it is next to blocks that were found
_LONG = 6  # words; a longer block may occur out of order
_FAR = 60  # words from its neighbours, with four more per block between them


class Alignment:
    """Blocks and gold text as words; each word of the gold text belongs to at most one block."""

    def __init__(self, blocks: Sequence[Sequence[str]], gold: Sequence[str]) -> None:
        self.blocks = blocks
        self.gold = gold
        self.claimed = bytearray(len(gold))
        self.covered = [0.0] * len(blocks)  # share of the words of each block
        self.places: dict[int, int] = {}  # of the blocks found, their place in the gold text

    def claim(self, block: int, spans: Sequence[tuple[int, int]], share: float) -> None:
        self.covered[block] = share
        self.places[block] = spans[0][0]
        for start, end in spans:
            self.claimed[start:end] = b"\1" * (end - start)


def labels(blocks: Sequence[Sequence[str]], gold: Sequence[str]) -> list[float]:
    """Return for each block the share of its words that the gold text holds.

    The search is first in the order of the page, then for long blocks out of order, then for short blocks next to those
    found. Of equal blocks, such as a headline and its copy in a menu, the one nearest to its neighbours is taken.
    """
    found = Alignment(blocks, gold)
    if gold and any(blocks):
        _in_order(found)
        _elsewhere(found)
        _short(found)
        _move_copies(found)
    return found.covered


def _in_order(found: Alignment) -> None:
    words = [(word, block) for block, words in enumerate(found.blocks) for word in words]
    if len(words) * len(found.gold) > _CELLS:
        return
    runs: dict[int, list[tuple[int, int]]] = collections.defaultdict(list)  # of each block, in the gold text
    for piece in LCSseq.opcodes([word for word, _ in words], found.gold):
        if piece.tag == "equal":
            start = piece.src_start
            while start < piece.src_end:
                block = words[start][1]
                end = start
                while end < piece.src_end and words[end][1] == block:
                    end += 1
                place = piece.dest_start + start - piece.src_start
                runs[block].append((place, place + end - start))
                start = end
    for block, spans in runs.items():
        length = len(found.blocks[block])
        least = length if length <= 3 else 3 if length <= _SHORT else _NGRAM
        spans = [(start, end) for start, end in spans if end - start >= least]
        share = sum(end - start for start, end in spans) / length
        if share >= _SHARE:
            found.claim(block, spans, share)


def _elsewhere(found: Alignment) -> None:
    gold = found.gold
    ngrams: dict[tuple[str, ...], list[int]] = collections.defaultdict(list)
    for place in range(len(gold) - _NGRAM + 1):
        if not found.claimed[place]:
            ngrams[tuple(gold[place : place + _NGRAM])].append(place)
    missing = [block for block, words in enumerate(found.blocks) if len(words) >= _LONG and found.covered[block] < 0.5]
    for block in sorted(missing, key=lambda block: -len(found.blocks[block])):
        spans = _spans(found, found.blocks[block], ngrams)
        share = sum(end - start for start, end in spans) / len(found.blocks[block])
        if share > max(_SHARE, found.covered[block]):
            found.claim(block, spans, share)
        else:
            found.covered[block] = max(found.covered[block], share)


def _spans(found: Alignment, words: Sequence[str], ngrams: dict[tuple[str, ...], list[int]]) -> list[tuple[int, int]]:
    """Return the longest runs of a block's words in the gold text, from the left."""
    spans = []
    start = 0
    while start + _NGRAM <= len(words):
        runs = [
            (_run(found, words, start, place), place)
            for place in ngrams.get(tuple(words[start : start + _NGRAM]), ())[:_CANDIDATES]
        ]
        length, place = max(runs, key=lambda run: (run[0], -run[1]), default=(0, 0))
        if length >= _NGRAM:
            spans.append((place, place + length))
        start += length if length >= _NGRAM else 1
    return spans


def _run(found: Alignment, words: Sequence[str], start: int, place: int) -> int:
    length = 0
    most = min(len(words) - start, len(found.gold) - place)
    while length < most and words[start + length] == found.gold[place + length] and not found.claimed[place + length]:
        length += 1
    return length


def _short(found: Alignment) -> None:
    """Give each short block the free place nearest to its neighbours' places."""
    free: dict[str, list[int]] = collections.defaultdict(list)
    for place, word in enumerate(found.gold):
        if not found.claimed[place]:
            free[word].append(place)
    known = sorted(found.places)
    candidates = []
    for block, words in enumerate(found.blocks):
        if block not in found.places and 0 < len(words) < _SHORT:
            expected = _expected(found, known, block)
            for place in free.get(words[0], ())[:200]:
                if list(found.gold[place : place + len(words)]) == list(words):
                    candidates.append((min((abs(place - one) + far for one, far in expected), default=0), block, place))
    for distance, block, place in sorted(candidates):
        end = place + len(found.blocks[block])
        if block not in found.places and distance <= _FAR and not any(found.claimed[place:end]):
            found.claim(block, [(place, end)], 1.0)


def _expected(found: Alignment, known: Sequence[int], block: int) -> list[tuple[int, int]]:
    """Return the places next to those of the blocks found above and below, and the distance of those blocks."""
    number = bisect.bisect(known, block)
    expected = []
    if number:
        above = known[number - 1]
        expected.append((found.places[above] + len(found.blocks[above]), 4 * (block - above)))
    if number < len(known):
        below = known[number]
        expected.append((found.places[below], 4 * (below - block)))
    return expected


def _move_copies(found: Alignment) -> None:
    """Replace each block that was found by an equal one that is nearer to its neighbours in the text."""
    copies: dict[tuple[str, ...], list[int]] = collections.defaultdict(list)
    for block, words in enumerate(found.blocks):
        if words and block not in found.places:
            copies[tuple(words)].append(block)
    order = sorted(found.places, key=lambda block: (found.places[block], block))
    for number in range(len(order) - 1, -1, -1):
        block = order[number]
        free = copies.get(tuple(found.blocks[block]), [])
        beside = [*order[max(number - 1, 0) : number], *order[number + 1 : number + 2]]
        if not free or not beside or found.covered[block] < 1:
            continue
        best = min(free, key=lambda copy: _distance(copy, beside))
        if _distance(best, beside) < _distance(block, beside):
            free[free.index(best)] = block
            order[number] = best
            found.places[best] = found.places.pop(block)
            found.covered[best], found.covered[block] = found.covered[block], 0.0


def _distance(block: int, beside: Sequence[int]) -> int:
    return min(abs(block - other) for other in beside)
