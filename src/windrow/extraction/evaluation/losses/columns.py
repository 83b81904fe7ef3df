"""Gold text, our text and the peer's text in rows: a line of the gold text, and what the others have at that place."""

import bisect
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

import msgspec

from windrow.extraction.evaluation import evaluate
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.losses import diff
from windrow.records import Page

_MOST = 100_000  # characters of a text that are shown
_WORD = re.compile(r"\w+")


class MarkedText(msgspec.Struct, frozen=True):
    """A run of text with one mark."""

    text: str
    mark: str = ""  # "missing", "extra", "moved": at another place in the other text; empty: in both


class TextRow(msgspec.Struct, frozen=True):
    """A line of the gold text, or what stands between two lines of it in the other texts."""

    gold: tuple[MarkedText, ...] = ()
    ours: tuple[MarkedText, ...] = ()
    other: tuple[MarkedText, ...] = ()


class PlacedWords(msgspec.Struct, frozen=True):
    """The words of a text, each with the place where its piece of the text begins."""

    text: str
    keys: list[str]
    starts: list[int]

    def piece(self, number: int) -> str:
        """Return a word, what follows it on its line, and what stands before the first word of a line."""
        return self.text[self.starts[number] : self.starts[number + 1] if number + 1 < len(self.starts) else None]


def rows(sample: Sample, ours: Page, other: Page | None) -> list[TextRow]:
    """Return the three texts in rows. Of a page with passages only, the passages come first, then the texts."""
    texts = [evaluate.text(ours), evaluate.text(other) if other else ""]
    if sample.partial:
        return [*_passages(sample, texts), TextRow((), *((MarkedText(text[:_MOST]),) for text in texts))]
    gold, first, second = (_words(text, sample.language) for text in (sample.gold, *texts))
    ends = [index for index, one in enumerate(gold.text) if one == "\n"]
    lines = [2 * bisect.bisect_left(ends, start) for start in gold.starts]
    pairs = diff.matches(gold.keys, first.keys)
    places = {
        "gold": _cells(gold, lines, _marks(gold, pairs, first, set(pairs.values()), "missing")),
        "ours": _side(gold, first, pairs, lines),
        "other": _side(gold, second, diff.matches(gold.keys, second.keys), lines),
    }
    numbers = sorted({number for cells in places.values() for number in cells})
    return [TextRow(**{name: cells.get(number, ()) for name, cells in places.items()}) for number in numbers]


def _side(
    gold: PlacedWords, side: PlacedWords, pairs: dict[int, int], lines: Sequence[int]
) -> dict[int, tuple[MarkedText, ...]]:
    """Return our text or the peer's by row: a line of the gold text has an even number, what follows it an odd one."""
    line_of = {place: lines[number] for number, place in pairs.items()}
    known = sorted(line_of)
    found = []
    for number in range(len(side.keys)):
        at = bisect.bisect_right(known, number)
        before = line_of[known[at - 1]] if at else -2
        after = line_of[known[at]] if at < len(known) else -1
        found.append(line_of.get(number, before if before == after else before + 1))
    return _cells(side, found, _marks(side, line_of, gold, pairs, "extra"))


def _marks(
    words: PlacedWords, shared: Collection[int], other: PlacedWords, theirs: Collection[int], mark: str
) -> list[str]:
    """Return the mark of each word; `shared` and `theirs` are the aligned words of both texts.

    A run of words that is not aligned, but not aligned in the other text either, has been moved.
    """
    alone = {ngram for run in _runs(other, theirs) for ngram in evaluate.ngrams([other.keys[one] for one in run])}
    marks = [""] * len(words.keys)
    for run in _runs(words, shared):
        for one in run:
            marks[one] = mark
        for start, ngram in enumerate(evaluate.ngrams([words.keys[one] for one in run])):
            if ngram in alone:
                for one in run[start : start + len(ngram)]:
                    marks[one] = "moved"
    return marks


def _runs(words: PlacedWords, shared: Collection[int]) -> list[list[int]]:
    """Return the runs of words that are not aligned."""
    found: list[list[int]] = []
    for number in range(len(words.keys)):
        if number in shared:
            continue
        if found and found[-1][-1] == number - 1:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def _cells(words: PlacedWords, numbers: Sequence[int], marks: Sequence[str]) -> dict[int, tuple[MarkedText, ...]]:
    """Return the pieces of each row: neighbours with the same mark are one piece."""
    cells: dict[int, list[list[str]]] = {}
    for index, (number, mark) in enumerate(zip(numbers, marks, strict=True)):
        pieces = cells.setdefault(number, [])
        if pieces and pieces[-1][0] == mark:
            pieces[-1].append(words.piece(index))
        else:
            pieces.append([mark, words.piece(index)])
    return {
        number: tuple(MarkedText("".join(texts), mark) for mark, *texts in pieces) for number, pieces in cells.items()
    }


def _passages(sample: Sample, texts: Iterable[str]) -> list[TextRow]:
    """Return a row per passage: what is wanted and was missed is missing, what is unwanted and was kept is extra."""
    whole = list(map(evaluate.flat, texts))
    found = []
    for wanted, passages in ((True, sample.wanted), (False, sample.unwanted)):
        for passage in passages:
            inside = [evaluate.flat(passage) in text for text in whole]
            cells = [
                MarkedText("found", "" if wanted else "extra")
                if one
                else MarkedText("not found", "missing" if wanted else "")
                for one in inside
            ]
            label = MarkedText(f"{'wanted' if wanted else 'unwanted'}: {passage}")
            found.append(TextRow((label,), (cells[0],), (cells[1],)))
    return found


def _words(text: str, language: str) -> PlacedWords:
    shown = unicodedata.normalize("NFC", text[:_MOST])
    if language in evaluate.UNSPACED:
        places = [(index, one.lower()) for index, one in enumerate(shown) if one.isalnum()]
    else:
        places = [(match.start(), match[0].lower()) for match in _WORD.finditer(shown)]
    starts: list[int] = []
    end = 0
    for place, key in places:
        line = shown.rfind("\n", end, place) + 1
        starts.append(line or (place if starts else 0))
        end = place + len(key)
    return PlacedWords(shown, [key for _, key in places], starts)
