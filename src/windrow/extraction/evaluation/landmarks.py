"""Two kinds of blocks that show what an extractor did wrong: headlines of the page, and comments of its readers."""

from collections.abc import Sequence

import msgspec

from windrow.extraction import walk
from windrow.extraction.evaluation import evaluate
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.readers import html

_COMMENT = 1 << list(walk.HINTS).index("comment")
_MIN_COMMENT = 5  # words; a shorter block is a name or a button


class Landmarks(msgspec.Struct, frozen=True):
    """Blocks of a page, each as words with blanks around them."""

    headlines: tuple[str, ...] = ()  # in the gold text
    comments: tuple[str, ...] = ()  # not in the gold text


def joined(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def kept(blocks: Sequence[str], words: Sequence[str]) -> tuple[int, int]:
    """Return how many of the blocks are in a text, and how many there are."""
    whole = joined(words) if blocks else ""
    return sum(block in whole for block in blocks), len(blocks)


def find(sample: Sample) -> Landmarks:
    """Return the headlines and comments of a page, each once."""
    tree = html.read(sample.capture(), 0, details=False, shaped=False).tree
    if tree is None or sample.partial:
        return Landmarks()
    blocks = walk.walk(walk.markup(tree))
    gold = joined(evaluate.words(sample.gold, sample.language))
    headlines, comments = {}, {}
    for text, level, hints in zip(blocks.texts, blocks.column("heading"), blocks.column("hints"), strict=True):
        if level != 1 and not hints & _COMMENT:
            continue
        found = evaluate.words(text, sample.language)
        block = joined(found)
        if level == 1 and found and block in gold:
            headlines[block] = True
        elif hints & _COMMENT and len(found) >= _MIN_COMMENT and block not in gold:
            comments[block] = True
    return Landmarks(tuple(headlines), tuple(comments))
