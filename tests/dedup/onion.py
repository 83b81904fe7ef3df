"""Onion's rule once more, slowly: exact word n-grams in plain sets, written from its description and sharing nothing with the source."""

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

    def judge(self, paragraphs: Sequence[Sequence[str]]) -> tuple[list[bool], list[float]]:
        """Whether each paragraph (a list of words) is a duplicate, and its share of words seen before."""
        endings = self.endings(paragraphs)
        local: set[tuple[str, ...]] = set()
        duplicate, shares = [], []
        for paragraph, ends in zip(paragraphs, endings, strict=True):
            bad: set[int] = set()
            for place, gram in enumerate(ends):
                if gram and (gram in local or gram in self.seen):
                    bad.update(range(max(0, place - self.ngram + 1), place + 1))
                if gram:
                    local.add(gram)
            shares.append(len(bad) / len(paragraph) if paragraph else 0.0)
            duplicate.append(shares[-1] > self.threshold)
        if self.smoothing:
            self.smooth(duplicate, [len(paragraph) for paragraph in paragraphs])
        for gone, ends in zip(duplicate, endings, strict=True):
            if not gone:
                self.seen.update(gram for gram in ends if gram)
        return duplicate, shares

    def endings(self, paragraphs: Sequence[Sequence[str]]) -> list[list[tuple[str, ...] | None]]:
        """The n-gram that ends at each word; they reach over the borders of paragraphs."""
        before: list[str] = []
        found: list[list[tuple[str, ...] | None]] = []
        for paragraph in paragraphs:
            found.append([])
            for word in paragraph:
                before.append(word)
                found[-1].append(tuple(before[-self.ngram :]) if len(before) >= self.ngram else None)
        return found

    def smooth(self, duplicate: list[bool], lengths: list[int]) -> None:
        fences = [-1, *(place for place, gone in enumerate(duplicate) if gone), len(duplicate)]
        for left, right in itertools.pairwise(fences):
            run = range(left + 1, right)
            if sum(lengths[place] for place in run) <= self.smoothing:
                for place in run:
                    duplicate[place] = True
