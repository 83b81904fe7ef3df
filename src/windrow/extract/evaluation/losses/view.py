"""The blocks of a page with the decisions about them, and the row of the page in the index."""

from collections.abc import Sequence

import msgspec

from windrow.data import Page
from windrow.extract.evaluation import evaluate, landmarks
from windrow.extract.evaluation.gold import Sample
from windrow.extract.evaluation.score import PageScore

_MOST_BLOCKS = 2000
_IN_GOLD = 0.5  # share of the 4-grams of a block that the gold text has


class Loss(msgspec.Struct, frozen=True):
    """A page on which the first extractor loses F1 to the best peer, or to 1 without peers."""

    lost: float
    ours: PageScore
    other: PageScore | None


class LossPage(msgspec.Struct, frozen=True):
    """A row of the index."""

    loss: Loss
    title: str
    url: str
    dropped: int  # blocks of the gold text that were dropped
    kept: int  # blocks that were kept and are not in the gold text


class Block(msgspec.Struct, frozen=True):
    """A block of the page, and whether the decision about it was wrong."""

    text: str
    kind: str
    own: str
    path: str
    share: float | None  # of its 4-grams that the gold text has; None if the gold text is not known
    wrong: str = ""  # "dropped", "kept", or empty


def summary(loss: Loss, sample: Sample, title: str, found: Sequence[Block]) -> LossPage:
    wrong = [block.wrong for block in found]
    return LossPage(
        loss=loss,
        title=title or sample.title or sample.name,
        url=sample.url,
        dropped=wrong.count("dropped"),
        kept=wrong.count("kept"),
    )


def blocks(sample: Sample, page: Page) -> list[Block]:
    """Return the blocks of a page. One that is in the gold text should be good, unless its text is kept elsewhere."""
    gold = evaluate.words(sample.gold, sample.language)
    ngrams, whole = set(evaluate.ngrams(gold)), landmarks.joined(gold)
    good = {one.text for one in page.paragraphs if one.kind == "good"}
    found = []
    for one in page.paragraphs[:_MOST_BLOCKS]:
        words = evaluate.words(one.text, sample.language)
        parts = evaluate.ngrams(words)
        share = sum(part in ngrams for part in parts) / len(parts) if parts else 0.0
        if len(parts) == 1:  # a short block is one n-gram, which need not be one of the gold text's
            share = float(landmarks.joined(words) in whole)
        wrong = ""
        if not sample.partial and words:
            if one.kind == "good" and share < _IN_GOLD:
                wrong = "kept"
            elif one.kind != "good" and share >= _IN_GOLD and one.text not in good:
                wrong = "dropped"
        shown = None if sample.partial else share
        found.append(Block(text=one.text, kind=one.kind, own=one.own, path=one.path, share=shown, wrong=wrong))
    return found
