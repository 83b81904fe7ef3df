"""Interpolated modified Kneser-Ney in plain Python, written from the formulas alone: what training is compared with."""

import collections
import itertools
import math

Ngram = tuple[str, ...]
UNKNOWN, START, END = "<unk>", "<s>", "</s>"


class PlainModel:
    """p(word | context) for all words of the vocabulary and contexts of any length."""

    def __init__(self, sequences: list[list[str]], order: int) -> None:
        self.order = order
        raw: collections.Counter[Ngram] = collections.Counter()
        for words in sequences:
            tagged = [START, *words, END]
            for size in range(1, order + 1):
                for start in range(len(tagged) - size + 1):
                    raw[tuple(tagged[start : start + size])] += 1
        self.vocabulary = {UNKNOWN, START, END} | {ngram[0] for ngram in raw if len(ngram) == 1}
        before: collections.defaultdict[Ngram, set[str]] = collections.defaultdict(set)
        for ngram in raw:
            before[ngram[1:]].add(ngram[0])
        self.counts = {
            ngram: number if len(ngram) == order or ngram[0] == START else len(before[ngram])
            for ngram, number in raw.items()
        }
        self.counts[(START,)] = self.counts[(UNKNOWN,)] = 0
        self.discounts = {size: self._discounts(size) for size in range(1, order + 1)}
        self.after: collections.defaultdict[Ngram, list[Ngram]] = collections.defaultdict(list)
        for ngram in self.counts:
            self.after[ngram[:-1]].append(ngram)

    def _discounts(self, size: int) -> tuple[float, ...]:
        of = collections.Counter(number for ngram, number in self.counts.items() if len(ngram) == size)
        if not (of[1] and of[2] and of[3]):
            return 0.0, 0.5, 1.0, 1.5
        share = of[1] / (of[1] + 2 * of[2])
        found = [k - (k + 1) * share * of[k + 1] / of[k] for k in (1, 2, 3)]
        return (0.0, *found) if all(0 <= d <= k for k, d in enumerate(found, 1)) else (0.0, 0.5, 1.0, 1.5)

    def _discount(self, ngram: Ngram) -> float:
        return self.discounts[len(ngram)][min(3, self.counts[ngram])]

    def probability(self, word: str, context: Ngram) -> float:
        """Return p(word | context), the context cut to what the order allows."""
        context = context[len(context) - self.order + 1 :] if len(context) >= self.order else context
        shorter = self.probability(word, context[1:]) if context else 1 / (len(self.vocabulary) - 1)
        total = sum(self.counts[ngram] for ngram in self.after[context])
        if not total:
            return shorter
        left = sum(self._discount(ngram) for ngram in self.after[context])
        ngram = (*context, word)
        own = self.counts[ngram] - self._discount(ngram) if ngram in self.counts else 0.0
        return (own + left * shorter) / total

    def backoff(self, context: Ngram) -> float:
        """Return what the shorter context's probability is multiplied by."""
        total = sum(self.counts[ngram] for ngram in self.after[context])
        return sum(self._discount(ngram) for ngram in self.after[context]) / total if total else 1.0

    def log10(self, words: list[str]) -> list[float]:
        """Return log10 of the probability of each word and of the end."""
        known = [word if word in self.vocabulary else UNKNOWN for word in words]
        tagged = [START, *known, END]
        return [math.log10(self.probability(tagged[place], tuple(tagged[:place]))) for place in range(1, len(tagged))]

    def contexts(self) -> list[Ngram]:
        return sorted({ngram[:-1] for ngram in self.counts}, key=len)


def sizes(model: PlainModel) -> list[int]:
    """Return the number of n-grams of each order."""
    grouped = itertools.groupby(sorted(map(len, model.counts)))
    return [len(list(group)) for _, group in grouped]
