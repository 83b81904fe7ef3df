"""Which lines of a page are main text: those whose own text occurs in the gold text."""

import re
from collections.abc import Iterator

import numpy as np

from windrow.extraction.main.lines import source
from windrow.extraction.main.lines.source import Flags, TextLines

_SHARE = 0.5  # of a line's character sequences that must occur in the gold text
_FEWEST = 3  # sequences; a line with fewer is topical if it is a whole line of the gold text
_DENSE, _SPARSE = 6, 12  # characters per sequence: in scripts with words of one or two characters, and in others
_other = re.compile(r"[\W_]+")
_dense = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def labels(lines: TextLines, gold: str) -> Flags:
    """Return which lines are topical, by letters and digits alone.

    A line is split where links were deleted, so that neither markup nor deleted links make a difference.
    """
    whole = _letters(gold)
    length = _length(whole)
    sequences = set(_sequences(whole, length))
    gold_lines = {_letters(line) for line in gold.splitlines()}
    topical = np.zeros(len(lines.marked), dtype=bool)
    for number, marked in enumerate(lines.marked):
        pieces = [_letters(piece) for piece in source.pieces(marked)]
        found = [sequence in sequences for piece in pieces for sequence in _sequences(piece, length)]
        enough = len(found) >= _FEWEST and sum(found) >= _SHARE * len(found)
        text = "".join(pieces)
        topical[number] = enough or (len(text) > 1 and text in gold_lines)
    return topical


def holds(page: str, gold: str) -> bool:
    """Return whether at least half of the gold text occurs in the page; if not, it was made from another page."""
    wanted, shown = _letters(gold), _letters(source.visible(page))
    length = min(_length(wanted), max(len(wanted), 1))
    there = set(_sequences(shown, length))
    found = [sequence in there for sequence in _sequences(wanted, length)]
    return sum(found) >= _SHARE * len(found)


def _length(text: str) -> int:
    return _DENSE if 2 * len(_dense.findall(text)) > len(text) else _SPARSE


def _sequences(text: str, length: int) -> Iterator[str]:
    return (text[start : start + length] for start in range(len(text) - length + 1))


def _letters(text: str) -> str:
    return _other.sub("", text)
