"""Eq. 6 to 8 of the paper: what two texts have in common, as bags of words weighted by their length in bytes."""

import collections
import re
from typing import NamedTuple

Bag = collections.Counter[str]

# In scripts without blanks between words, each character is a word.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
_word = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


class Agreement(NamedTuple):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def bag(text: str) -> Bag:
    return collections.Counter(_word.findall(text))


def size(words: Bag) -> int:
    """Return the bytes of all words."""
    return sum(len(word.encode("utf-8", "replace")) * count for word, count in words.items())


def agreement(found: Bag, gold: Bag) -> Agreement:
    """Compare two bags. If both are empty the agreement is 1; if one is empty it is 0."""
    both, own, wanted = size(found & gold), size(found), size(gold)
    if not own or not wanted:
        same = float(own == wanted)
        return Agreement(same, same)
    return Agreement(both / own, both / wanted)
