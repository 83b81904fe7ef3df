"""Compare a text with the gold text: precision, recall and F1 over bags of words and of word 4-grams."""

import collections
import re
import unicodedata
from collections.abc import Collection, Sequence

import msgspec

from windrow.extraction.evaluation.gold import Sample
from windrow.records import Page

# Languages without blanks between words: they are counted by character.
UNSPACED = frozenset(("zh", "ja", "th", "lo", "km", "my", "bo"))
_WORD = re.compile(r"\w+")
_NGRAM = 4  # words


class Overlap(msgspec.Struct, frozen=True):
    precision: float
    recall: float
    f1: float


def words(text: str, language: str) -> list[str]:
    """Return the words to be compared. Composed and decomposed letters are the same: programs differ in this."""
    lowered = unicodedata.normalize("NFC", text).lower()
    return [one for one in lowered if one.isalnum()] if language in UNSPACED else _WORD.findall(lowered)


def bag(gold: Collection[object], found: Collection[object]) -> Overlap:
    """Compare two bags: items in both count, in any order."""
    both = sum((collections.Counter(gold) & collections.Counter(found)).values())
    if not both:
        same = float(not gold and not found)
        return Overlap(same, same, same)
    return Overlap(both / len(found), both / len(gold), 2 * both / (len(gold) + len(found)))


def ngrams(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    """Return all word 4-grams; a shorter text is one n-gram."""
    if len(tokens) <= _NGRAM:
        return [tuple(tokens)] if tokens else []
    return list(zip(*(tokens[start:] for start in range(_NGRAM)), strict=False))


def flat(text: str) -> str:
    """Return a text as one line with composed letters, in which a passage can be found."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def passages(sample: Sample, text: str) -> tuple[int, int, int, int]:
    whole = flat(text)
    wanted = sum(flat(one) in whole for one in sample.wanted)
    unwanted = sum(flat(one) in whole for one in sample.unwanted)
    return wanted, len(sample.wanted) - wanted, unwanted, len(sample.unwanted) - unwanted


def summed(hits: Sequence[tuple[int, int, int, int]]) -> Overlap:
    """Return the scores of all passages together, as trafilatura's own evaluation does."""
    found, missed, wrong, _ = (sum(column) for column in zip(*hits, strict=True))
    if not found:
        return Overlap(0.0, 0.0, 0.0)
    return Overlap(found / (found + wrong), found / (found + missed), 2 * found / (2 * found + wrong + missed))


def text(page: Page) -> str:
    """Return the paragraphs of a page that are kept, one per line."""
    return "\n".join(paragraph.text for paragraph in page.paragraphs if paragraph.kept)
