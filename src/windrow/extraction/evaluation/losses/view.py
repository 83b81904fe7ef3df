"""The blocks of a page with the decisions about them, and the row of the page in the index."""

from collections.abc import Callable, Sequence

import msgspec

from windrow.extraction.evaluation import evaluate, landmarks
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.score import PageScore
from windrow.records import Page

_MOST = 2000  # blocks that are shown
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
    share: float | None  # of its 4-grams that the gold text has; None if that is not known
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
    share = _passages(sample) if sample.partial else _shares(sample)
    good = {paragraph.text for paragraph in page.paragraphs if paragraph.kind == "good"}
    found = []
    for one in page.paragraphs[:_MOST]:
        part = share(one.text)
        wrong = ""
        if one.kind == "good" and part is not None and part < _IN_GOLD:
            wrong = "kept"
        elif one.kind != "good" and part is not None and part >= _IN_GOLD and one.text not in good:
            wrong = "dropped"
        found.append(Block(text=one.text, kind=one.kind, own=one.own, path=one.path, share=part, wrong=wrong))
    return found


def _shares(sample: Sample) -> Callable[[str], float | None]:
    """Return the function from the text of a block to the share of it that the gold text has."""
    gold = evaluate.words(sample.gold, sample.language)
    ngrams, whole = set(evaluate.ngrams(gold)), landmarks.joined(gold)

    def share(text: str) -> float | None:
        words = evaluate.words(text, sample.language)
        parts = evaluate.ngrams(words)
        if len(parts) < 2:  # a short block is one n-gram, which need not be one of the gold text's
            return float(landmarks.joined(words) in whole) if words else None
        return sum(part in ngrams for part in parts) / len(parts)

    return share


def _passages(sample: Sample) -> Callable[[str], float | None]:
    """Return the same where the gold text consists of passages: 1 with a wanted one, 0 with an unwanted one."""
    wanted, unwanted = (
        [flat for passage in passages if (flat := evaluate.flat(passage))]
        for passages in (sample.wanted, sample.unwanted)
    )

    def share(text: str) -> float | None:
        whole = evaluate.flat(text)
        if any(one in whole for one in wanted):
            return 1.0
        return 0.0 if any(one in whole for one in unwanted) else None

    return share
