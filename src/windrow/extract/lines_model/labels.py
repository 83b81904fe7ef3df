"""Which lines of a page are main text: those whose own text stands in the gold text."""

import re

import numpy as np

from windrow.extract.lines_model import source
from windrow.extract.lines_model.source import Flags, Lines

_SHARE = 0.5  # of a line's character sequences that must stand in the gold text
_FEWEST = 3  # sequences; a shorter line is topical if it is a whole line of the gold text
_DENSE, _SPARSE = 6, 12  # characters in a sequence: of scripts that write a word in one or two, and of the others
_other = re.compile(r"[\W_]+")
_dense = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def labels(lines: Lines, gold: str) -> Flags:
    """By letters and digits alone, in pieces where links were deleted, so that neither markup nor the holes it leaves make a difference."""
    whole = _letters(gold)
    length = _DENSE if 2 * len(_dense.findall(whole)) > len(whole) else _SPARSE
    sequences = {whole[start : start + length] for start in range(len(whole) - length + 1)}
    gold_lines = {_letters(line) for line in gold.splitlines()}
    topical = np.zeros(len(lines.marked), dtype=bool)
    for number, marked in enumerate(lines.marked):
        pieces = [_letters(piece) for piece in source.pieces(marked)]
        found = [piece[start : start + length] in sequences for piece in pieces for start in range(len(piece) - length + 1)]
        enough = len(found) >= _FEWEST and sum(found) >= _SHARE * len(found)
        text = "".join(pieces)
        topical[number] = enough or (len(text) > 1 and text in gold_lines)
    return topical


def _letters(text: str) -> str:
    return _other.sub("", text)
