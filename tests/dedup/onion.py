"""Onion's rule a second time, slow and exact: n-grams in plain sets, written from its description, as an oracle."""

import itertools
import re
from collections.abc import Sequence

UNSPACED = "\u0e00-\u0fff\u1000-\u107f\u1780-\u17ff\u3001-\u9fff\uf900-\ufaff\U00020000-\U0002ffff"
WORD = re.compile(f"[{UNSPACED}]|[^\\s{UNSPACED}]+")


def words(text: str) -> list[str]:
    return WORD.findall(text)


class Onion:
    def __init__(self, ngram: int = 7, threshold: float = 0.5, smoothing: int = 20) -> None:
        self.ngram, self.threshold, self.smoothing = ngram, threshold, smoothing
        self.seen: set[tuple[str, ...]] = set()

    def mark(self, paragraphs: Sequence[Sequence[str]]) -> tuple[list[bool], list[float]]:
        """Return whether each paragraph (a list of words) is a duplicate, and its share of words seen before."""
        endings = self.endings(paragraphs)
        local: set[tuple[str, ...]] = set()
        duplicate, shares = [], []
        for paragraph, ends in zip(paragraphs, endings, strict=True):
            covered: set[int] = set()
            for place, ngram in enumerate(ends):
                if ngram and (ngram in local or ngram in self.seen):
                    covered.update(range(max(0, place - self.ngram + 1), place + 1))
                if ngram:
                    local.add(ngram)
            shares.append(len(covered) / len(paragraph) if paragraph else 0.0)
            duplicate.append(shares[-1] > self.threshold)
        if self.smoothing:
            self.smooth(duplicate, [len(paragraph) for paragraph in paragraphs])
        for removed, ends in zip(duplicate, endings, strict=True):
            if not removed:
                self.seen.update(ngram for ngram in ends if ngram)
        return duplicate, shares

    def endings(self, paragraphs: Sequence[Sequence[str]]) -> list[list[tuple[str, ...] | None]]:
        """Return the n-gram that ends at each word; n-grams cross the borders of paragraphs."""
        before: list[str] = []
        found: list[list[tuple[str, ...] | None]] = []
        for paragraph in paragraphs:
            found.append([])
            for word in paragraph:
                before.append(word)
                found[-1].append(tuple(before[-self.ngram :]) if len(before) >= self.ngram else None)
        return found

    def smooth(self, duplicate: list[bool], lengths: list[int]) -> None:
        fences = [-1, *(place for place, removed in enumerate(duplicate) if removed), len(duplicate)]
        for left, right in itertools.pairwise(fences):
            run = range(left + 1, right)
            if sum(lengths[place] for place in run) <= self.smoothing:
                for place in run:
                    duplicate[place] = True
