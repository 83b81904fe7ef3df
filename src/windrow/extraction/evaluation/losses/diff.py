"""Align the words of two texts.

Word 4-grams that occur once in each text are anchors; the longest series of anchors in the same order holds. The words
between two anchors are compared by difflib if they are few. So the time is almost linear in the length of the texts,
and frequent words are not aligned across half a page.
"""

import bisect
import collections
import difflib
from collections.abc import Sequence

from windrow.extraction.evaluation import evaluate

_MOST = 250_000  # words times words between two anchors; beyond that they are taken for different


def matches(first: Sequence[str], second: Sequence[str]) -> dict[int, int]:
    """Return pairs of equal words in the same order: index in the first text -> index in the second."""
    pairs = _increasing(_anchors(first, second))
    found: dict[int, int] = {}
    start, other = 0, 0
    for left, right in [*pairs, (len(first), len(second))]:
        if left < start or right < other:  # inside the last anchor
            continue
        found |= _between(first, second, (start, left), (other, right))
        start, other = left, right
        while start < len(first) and other < len(second) and first[start] == second[other]:
            found[start] = other
            start, other = start + 1, other + 1
    return found


def _anchors(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    places = [_once(evaluate.ngrams(words)) for words in (first, second)]
    return [(place, places[1][ngram]) for ngram, place in places[0].items() if ngram in places[1]]


def _once(ngrams: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    counts = collections.Counter(ngrams)
    return {ngram: index for index, ngram in enumerate(ngrams) if counts[ngram] == 1}


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of the pairs, which are in order of the first member, that increases in the second."""
    ends: list[int] = []  # ends[n]: the least last member of an increasing series of n + 1 pairs
    last: list[int] = []  # the number of the pair that ends it
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect.bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    series = []
    number = last[-1] if last else -1
    while number >= 0:
        series.append(pairs[number])
        number = before[number]
    return series[::-1]


def _between(
    first: Sequence[str], second: Sequence[str], left: tuple[int, int], right: tuple[int, int]
) -> dict[int, int]:
    one, two = first[slice(*left)], second[slice(*right)]
    if not one or not two or len(one) * len(two) > _MOST:
        return {}
    blocks = difflib.SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks()
    return {left[0] + block.a + step: right[0] + block.b + step for block in blocks for step in range(block.size)}
